"""`crscore train claims`: fine-tune a language model to write claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crscore.commands import _settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.training.claims.finetune import Trained

_POSITIVE = click.FloatRange(0, min_open=True)
_COUNT = click.IntRange(1)
_SHARE = click.FloatRange(0, 1, max_open=True)


def _run_options(chosen: Callable[..., Any]) -> Callable[..., Any]:
    """Add what the paper says, with its values."""
    for option in reversed(
        (
            click.option("--epochs", type=_POSITIVE, default=5.0, help="Times each row is seen."),
            click.option("--batch", type=_COUNT, default=2, help="Rows of a forward pass."),
            click.option("--accumulate", type=_COUNT, default=1, help="Forward passes of a step."),
            click.option(
                "--max-length",
                type=_COUNT,
                default=1500,
                help="Tokens of a row; longer are left out.",
            ),
            click.option(
                "--val-split",
                type=_SHARE,
                default=0.1,
                help="Share of the changes held out.",
            ),
            click.option(
                "--eval-steps", type=_COUNT, default=100, help="Steps between checkpoints."
            ),
            click.option(
                "--seed", type=click.IntRange(0), default=42, help="Of all that is drawn."
            ),
        )
    ):
        chosen = option(chosen)
    return chosen


def _weight_options(chosen: Callable[..., Any]) -> Callable[..., Any]:
    """Add what the paper leaves open."""
    for option in reversed(
        (
            click.option("--full", is_flag=True, help="Move all weights, not an adapter's."),
            click.option("--lora-rank", type=_COUNT, default=16, help="Width of the adapter."),
            click.option(
                "--lora-alpha", type=_COUNT, default=32, help="Its weight, over its width."
            ),
            click.option(
                "--lora-dropout",
                type=_SHARE,
                default=0.05,
                help="Of it.",
            ),
            click.option(
                "--lora-targets",
                default="all-linear",
                metavar="NAMES",
                help="Layers to adapt, with commas.",
            ),
            click.option(
                "--learning-rate",
                type=_POSITIVE,
                help="At its peak (default: 2e-4; with --full 2e-5).",
            ),
            click.option(
                "--warmup",
                type=_SHARE,
                default=0.03,
                help="Share of the steps in which the rate rises; then it falls along a cosine.",
            ),
            click.option(
                "--weight-decay", type=click.FloatRange(0), default=0.0, help="Of each step."
            ),
            click.option(
                "--dtype",
                type=click.Choice(["auto", "float32", "bfloat16"]),
                default="auto",
                help="auto: bfloat16 where a GPU can do it.",
            ),
            click.option(
                "--gradient-checkpointing",
                is_flag=True,
                help="Less memory for more time: compute activations twice.",
            ),
        )
    ):
        chosen = option(chosen)
    return chosen


def _asking_options(chosen: Callable[..., Any]) -> Callable[..., Any]:
    """Add how the model is asked."""
    for option in reversed(
        (
            click.option("--prompt", default="claims.v1", metavar="NAME", help="What it is asked."),
            click.option(
                "--form",
                type=click.Choice(["json", "sections"]),
                default="json",
                help="How it answers: as generators ask, or in the published two sections.",
            ),
            click.option(
                "--few-shots/--no-few-shots", default=False, help="Show the prompt's examples."
            ),
            click.option(
                "--both-sections", is_flag=True, help="Leave out rows without implications."
            ),
        )
    ):
        chosen = option(chosen)
    return chosen


@click.command(name="claims", context_settings={"show_default": True})
@click.argument("rows", type=click.Path(path_type=Path))
@click.option("--model", required=True, metavar="NAME", help="The base model: a name, or a folder.")
@click.option("--revision", metavar="REV", help="Commit, branch or tag of a named model.")
@click.option(
    "-o",
    "--output",
    "target",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write here; a run that was stopped goes on.",
)
@_run_options
@_weight_options
@_asking_options
@click.option("--keep-checkpoints", is_flag=True, help="Leave them in DIR when all is done.")
@click.option("--offline/--online", default=None, help="Open no socket.")
def command(rows: Path, *, target: Path, offline: bool | None, **given: Any) -> int:
    """Fine-tune a causal language model on ROWS of changes and their claims.

    ROWS is JSON Lines, plain or gzip: `patch` and `completion`, or `patch`, `claims` and
    `implications`. Epochs, batch, length, split, evaluation and seed are the paper's. The loss
    is on the answer alone; the best checkpoint is kept.
    """
    from crscore.claims.llm import prompt  # noqa: PLC0415  (after --help and wrong options)
    from crscore.training.claims import finetune, model  # noqa: PLC0415
    from crscore.training.claims import rows as reading  # noqa: PLC0415
    from crscore.training.claims.examples import Asking  # noqa: PLC0415

    model.require()
    resolved = _settings.settings(None, {"offline": offline})
    done = finetune.train(
        reading.read_rows(rows),
        model.Source(name=given["model"], revision=given["revision"], offline=resolved.offline),
        _chosen(given),
        out=target,
        asking=Asking(
            prompt=prompt.load_prompt(given["prompt"]),
            form=given["form"],
            few_shots=given["few_shots"],
        ),
        say=lambda line: click.echo(f"crscore: {line}", err=True),
        keep_checkpoints=given["keep_checkpoints"],
    )
    click.echo(_summary_text(done, target))
    return 0


def _chosen(given: dict[str, Any]) -> Any:
    from crscore.training.claims.settings import Lora, Settings  # noqa: PLC0415

    targets = tuple(name.strip() for name in given["lora_targets"].split(",") if name.strip())
    if not targets:
        raise click.BadParameter("names at least one layer", param_hint="--lora-targets")
    return Settings(
        **{key: given[key] for key in ("epochs", "batch", "accumulate", "max_length", "val_split")},
        **{key: given[key] for key in ("eval_steps", "seed", "warmup", "full", "both_sections")},
        rate=given["learning_rate"],
        decay=given["weight_decay"],
        precision=given["dtype"],
        checkpointing=given["gradient_checkpointing"],
        lora=Lora(
            rank=given["lora_rank"],
            alpha=given["lora_alpha"],
            dropout=given["lora_dropout"],
            targets=targets,
        ),
    )


def _summary_text(done: Trained, target: Path) -> str:
    losses, data = done.record["losses"], done.record["data"]
    lines = [f"{target}: " + ("was finished before" if done.already else "done")]
    lines.append(
        f"{data['train']:,} rows, {losses['steps']:,} steps on {done.record['base']['identity']}"
    )
    if losses["after"] is not None:
        lines.append(
            f"loss on {data['held_out']:,} held-out rows: {losses['before']:.4f} before, "
            f"{losses['after']:.4f} after (step {losses['best_step']:,})"
        )
    if done.seconds_a_step is not None:
        lines.append(f"{done.seconds_a_step:.2f} s a step, with measuring and saving")
    return "\n".join(lines)
