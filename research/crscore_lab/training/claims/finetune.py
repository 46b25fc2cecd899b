"""`crscore train claims`: from rows and a base model to a folder for the engines."""

import importlib.metadata
import importlib.resources
import json
import platform
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import jinja2

from crscore import io
from crscore.errors import GenerationError, InputError
from crscore.llm import chat_text
from crscore.version import __version__
from crscore_lab.training.claims import base_model, sft
from crscore_lab.training.claims.base_model import BaseModel, ModelSource
from crscore_lab.training.claims.examples import ChatTemplate, Encoded, PromptFormat, split_groups
from crscore_lab.training.claims.rows import Rows, TrainingRow
from crscore_lab.training.claims.settings import Settings, hash_run

FORMAT: Final = 1
"""Version of the record."""
_PACKAGES: Final = (
    "torch", "transformers", "peft", "trl", "accelerate", "tokenizers", "safetensors",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Finished run."""

    record: dict[str, Any]
    """Content of `training.json`."""
    already: bool
    """Whether the run was already finished, so that nothing was done."""
    seconds_per_step: float | None = None
    """Mean over the steps of this process; None when there were none."""


class _Examples(NamedTuple):
    train: list[Encoded]
    held_out: list[Encoded]
    counts: dict[str, Any]
    """`data` of the record."""


def train(
    rows: Rows,
    source: ModelSource,
    settings: Settings,
    *,
    out: Path,
    prompt_format: PromptFormat,
    report: Callable[[str], None],
    keep_checkpoints: bool = False,
) -> Trained:
    """Fine-tune a model, or resume an interrupted run in the same folder.

    Args:
        rows: Training rows.
        source: The base model.
        settings: Training settings.
        out: Output folder; new, empty, or holding the same run.
        prompt_format: The prompt, as the generator uses it.
        report: Called with each line of progress.
        keep_checkpoints: Keep the checkpoints when the run is finished.

    Returns:
        The finished run's record. The folder has safetensors, tokenizer, `README.md` and
        `training.json`, which is written last.

    Raises:
        ConfigError: A setting does not fit the model.
        DependencyError: A package is missing.
        ModelNotFoundError: The base model is not available.
        GenerationError: The base model cannot be loaded or prompted.
        InputError: The folder holds something else, or no training row is left.
    """
    base = base_model.load_base(source, settings)
    choices = {"prompt": prompt_format.as_json(), "settings": settings.as_json()}
    run = hash_run({"rows": rows.sha256, "base": base.identity} | choices)
    finished = sft.read_record(out / sft.RECORD)
    if finished is not None:
        if finished.get("run") != run:
            raise InputError(f"{out} holds another finished run; choose another folder with -o")
        return Trained(record=finished, already=True)
    examples = _make_examples(rows, base, settings, prompt_format)
    report(_counts_text(examples.counts))
    tuned = sft.tune(
        base, examples.train, examples.held_out, settings, out=out, run=run, report=report
    )
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    record = {
        "format": FORMAT,
        "run": run,
        "base": {"model": source.name, "revision": base.revision, "identity": base.identity},
        "prompt": choices["prompt"],
        "data": {"sha256": rows.sha256} | examples.counts,
        "settings": choices["settings"],
        "losses": tuned.losses,
        "versions": {"crscore": __version__, "python": platform.python_version()} | versions,
    }
    _save(tuned.model, base, record, out)
    if not keep_checkpoints:
        shutil.rmtree(sft.checkpoints_folder(out), ignore_errors=True)
    return Trained(record=record, already=False, seconds_per_step=tuned.seconds_per_step)


def render_card(record: Mapping[str, Any]) -> str:
    """Return the model card of a finished run: Markdown, with the metadata header for the hub.

    Args:
        record: Content of `training.json`.
    """
    environment = jinja2.Environment(  # noqa: S701  (Markdown, not HTML)
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # A JSON string is a YAML string.
    environment.filters |= {"json": json.dumps, "quote": shlex.quote, "count": "{:,}".format}
    template = importlib.resources.files(__package__).joinpath("card.md.jinja")
    return environment.from_string(template.read_text(encoding="utf-8")).render(record)


def _make_examples(
    rows: Rows, base: BaseModel, settings: Settings, prompt_format: PromptFormat
) -> _Examples:
    # The model has no positions for more tokens, whatever the setting allows.
    context = getattr(base.model.config, "max_position_embeddings", settings.max_length)
    max_length = min(settings.max_length, context)
    template = ChatTemplate(base.tokenizer, base.model.generation_config.eos_token_id)
    special = chat_text.special_tokens(base.tokenizer)
    encoded_rows: list[tuple[TrainingRow, Encoded]] = []
    left_out = {"too_long": 0, "several_parts": 0, "one_section": 0}
    for row in rows.rows:
        if settings.both_sections and not row.implications:
            left_out["one_section"] += 1
            continue
        chat = prompt_format.chat(row, seed=settings.seed, special=special)
        if chat is None:
            # The generator would ask about it in parts, which the row's claims do not match.
            left_out["several_parts"] += 1
            continue
        encoded = template.encode(chat, prompt_format.answer(row))
        if len(encoded.ids) > max_length:
            left_out["too_long"] += 1
        else:
            encoded_rows.append((row, encoded))
    if not encoded_rows:
        raise InputError(
            f"no row is left to learn from: {left_out}, at most {max_length:,} tokens a row"
        )
    groups = [row.group for row, _ in encoded_rows]
    split = split_groups(groups, share=settings.val_split, seed=settings.seed)
    return _Examples(
        train=[encoded_rows[index][1] for index in split.train],
        held_out=[encoded_rows[index][1] for index in split.held_out],
        counts={
            "rows": len(rows.rows),
            "train": len(split.train),
            "held_out": len(split.held_out),
            "left_out": left_out,
            "broken_off": sum(row.cut for row, _ in encoded_rows),
        },
    )


def _counts_text(counts: Mapping[str, Any]) -> str:
    left_out = counts["left_out"]
    return (
        f"{counts['rows']:,} rows: {counts['train']:,} to learn from, "
        f"{counts['held_out']:,} held out; left out {left_out['too_long']:,} too long, "
        f"{left_out['several_parts']:,} in several parts, "
        f"{left_out['one_section']:,} without implications"
    )


def _save(tuned: Any, base: BaseModel, record: dict[str, Any], out: Path) -> None:
    try:
        tuned.save_pretrained(str(out))
        base.tokenizer.save_pretrained(str(out))
    except OSError as exc:
        raise GenerationError(f"the weights cannot be written to {out}: {exc}") from exc
    for weights in out.glob("*.safetensors"):
        weights.chmod(0o644)  # the library makes them readable by their owner only
    # This replaces peft's model card.
    io.write_bytes(render_card(record).encode(), str(out / "README.md"))
    # The last file: where it exists, the run is done.
    content = json.dumps(record, indent=2) + "\n"
    io.write_bytes(content.encode(), str(out / sft.RECORD))
