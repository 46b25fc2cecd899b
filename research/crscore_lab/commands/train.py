"""`crscore train`: train the parts of crscore that learn from data."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore import io, plugins, progress
from crscore.commands._options import COUNT, PATH, option
from crscore.commands._settings import add_options, load_settings, setting_options
from crscore.commands._terminal import CommandGroup

if TYPE_CHECKING:
    from collections.abc import Callable

_SEED: Final = option("--seed N", "Random seed.", type=click.IntRange(0), default=0)
_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_FOLDER: Final = click.Path(path_type=Path, file_okay=False)
_POSITIVE: Final = click.FloatRange(0, min_open=True)

# Name, type, default and help of each option. The first seven are those of the paper, which gives
# their defaults.
_CLAIMS_OPTIONS: Final = (
    ("--epochs", _POSITIVE, 5.0, "Passes over the rows."),
    ("--batch", COUNT, 2, "Rows per forward pass."),
    ("--accumulate", COUNT, 1, "Forward passes per optimizer step."),
    ("--max-length", COUNT, 1500, "Maximum tokens of a row; longer rows are left out."),
    ("--val-split", click.FloatRange(0, 1, max_open=True), 0.1, "Share of the changes held out."),
    ("--eval-steps", COUNT, 100, "Steps between checkpoints."),
    ("--seed", click.IntRange(0), 42, "Random seed."),
    ("--full", bool, False, "Train all weights instead of a LoRA adapter."),
    ("--lora-rank", COUNT, 16, "Rank of the LoRA adapter."),
    ("--learning-rate", _POSITIVE, None, "Peak rate (default: 2e-4; with --full: 2e-5)."),
    ("--dtype", click.Choice(["auto", "float32", "bfloat16"]), "auto", "auto: bfloat16 on GPUs."),
    ("--gradient-checkpointing", bool, False, "Use less memory and more time."),
    ("--prompt", str, "claims.v1", "Prompt of the requests."),
    ("--form", click.Choice(["json", "sections"]), "json", "Format; sections is the paper's."),
    ("--few-shots/--no-few-shots", bool, False, "Include the prompt's examples."),
)


def _output(metavar: str, text: str, kind: Any = str) -> Callable[..., Any]:
    return click.option(
        "-o", "--output", "target", required=True, metavar=metavar, type=kind, help=text
    )


@click.group(name="train", cls=CommandGroup)
def command() -> None:
    """Train a part of crscore on data.

    Examples:
        crscore train matcher study.jsonl.gz -o matcher.npz
    """


@command.command(name="matcher")
@click.argument("data", type=PATH)
@_output("FILE", "Write the weights here (.npz).")
@_SEED
@setting_options("encoder", "revision", "offline")
def matcher(data: Path, *, target: str, seed: int, **flags: Any) -> int:
    """Train the calibrated matcher on the rated reviews in DATA.

    DATA has the format of `crscore validate`. The same data, encoder and seed give the same file,
    byte for byte.

    Examples:
        crscore train matcher study.jsonl.gz -o matcher.npz
    """
    from crscore import scorer  # noqa: PLC0415  (not needed for --help)
    from crscore.matchers import calibrated  # noqa: PLC0415
    from crscore_lab.study.data import study  # noqa: PLC0415
    from crscore_lab.training import matcher  # noqa: PLC0415
    from crscore_lab.training.fit import boosting  # noqa: PLC0415

    io.check_output(target)
    # Checked here, because encoding the study takes long and is in vain without the package.
    boosting.require_lightgbm()
    settings = load_settings(None, flags)
    rated = study.read_study(data)
    with progress.track("training the matcher"):
        learned = matcher.train(rated, encoder=scorer.make_encoder(settings), seed=seed)
    _write_weights(calibrated.to_bytes(learned), target)
    click.echo(
        f"learned from {len(rated.changes):,} changes (sha256 {rated.sha256}), "
        f"encoder {learned.encoder}, seed {seed}"
    )
    return 0


@command.command(name="code")
@click.argument("data", type=PATH)
@_output("DIR", "Write the encoder here.", _FOLDER)
@click.option("--model", required=True, metavar="NAME", help="Hugging Face encoder to train.")
@click.option("--epochs", type=COUNT, default=1, show_default=True, help="Passes over the data.")
@_SEED
def code(data: Path, *, target: Path, model: str, epochs: int, seed: int) -> int:
    """Train an encoder for CodeScore-R on DATA: JSON Lines of code and language.

    Trains on the functions in Python and Java, with equivalent and mutated copies of each.

    Examples:
        crscore train code programs.jsonl --model microsoft/unixcoder-base -o DIR
    """
    from crscore_lab.training.code import conce, examples  # noqa: PLC0415  (not needed for --help)

    functions = examples.make_examples(examples.read_rows(data), seed=seed)
    digest = hashlib.sha256(data.read_bytes()).hexdigest()
    conce.train_encoder(functions, model=model, folder=target, epochs=epochs, seed=seed)
    click.echo(
        f"{target}: {model}, trained for {epochs} epochs\n"
        f"learned from {len(functions):,} functions (data sha256 {digest}), seed {seed}"
    )
    return 0


@command.command(name="usefulness")
@click.argument("data", type=_FOLDER)
@_output("FILE", "Write the weights of the headline here (.npz).")
@click.option(
    "--matcher", "matcher_target", required=True, metavar="FILE",
    help="Write the weights of the calibrated matcher here (.npz).",
)  # fmt: skip
@setting_options("encoder", "revision", "offline")
def usefulness(data: Path, *, target: str, matcher_target: str, **flags: Any) -> int:
    """Train the headline and the calibrated matcher on the comments and commits in the folder DATA.

    Both are trained, because each needs the other. This takes half an hour on two cores. On one
    machine, the same data and encoder give the same two files.

    Examples:
        crscore train usefulness DATA -o usefulness.npz --matcher matcher.npz
    """
    from crscore import scorer  # noqa: PLC0415  (not needed for --help)
    from crscore.matchers import calibrated  # noqa: PLC0415
    from crscore.statistics import ranks  # noqa: PLC0415
    from crscore.usefulness import model  # noqa: PLC0415
    from crscore_lab.training import network, usefulness  # noqa: PLC0415
    from crscore_lab.training.data import corpus  # noqa: PLC0415
    from crscore_lab.training.fit import boosting  # noqa: PLC0415

    io.check_output(target)
    io.check_output(matcher_target)
    ranks.require_scipy("optimize", "'crscore[validate]'")
    boosting.require_lightgbm()
    network.require_packages()
    settings = load_settings(None, flags)
    texts = corpus.read_corpus(data)
    with progress.track("training on real comments"):
        learned, matcher = usefulness.train(texts, encoder=scorer.make_encoder(settings))
    _write_weights(model.to_bytes(learned), target)
    _write_weights(calibrated.to_bytes(matcher), matcher_target)
    click.echo(
        f"learned from {len(texts.posts):,} texts (sha256 {texts.sha256}), "
        f"encoder {learned.encoder}"
    )
    return 0


@command.command(name="bench")
@click.argument("judgements", type=PATH)
@_output("FILE", "Write the weights here (.npz).")
@_SEED
def bench(judgements: Path, *, target: str, seed: int) -> int:
    """Train the matching of findings and problems of `crscore bench` on JUDGEMENTS.

    First, the encoder is tuned on invented texts; then the decision is learned from the judges.
    Prints the agreement with the judges on changes held out of the training, in 10 folds. The same
    data and seed give the same file.

    Examples:
        crscore train bench judgements.jsonl.gz -o weights.npz
    """
    from crscore.encoders.minilm import MiniLM  # noqa: PLC0415  (not needed for --help)
    from crscore.usefulness import model, reader  # noqa: PLC0415
    from crscore_lab import judgements as judging  # noqa: PLC0415
    from crscore_lab.training import bench as training  # noqa: PLC0415

    io.check_output(target)
    with progress.track("training the matching"):
        rarity = model.read_weights(reader.SHIPPED).rarity
        learned = training.train(judgements, encoder=MiniLM(), rarity=rarity, seed=seed)
    _write_weights(training.to_bytes(learned.model), target)
    click.echo(judging.render_agreement(learned.held_out, "held-out changes"))
    click.echo(f"unsure: {learned.unsure:.3f} of these, with probabilities in {learned.model.band}")
    return 0


@command.command(name="ranking")
@click.argument("commits", type=PATH)
@_output("FILE", "Write the weights here (.toml).")
def ranking(commits: Path, *, target: str) -> int:
    """Train the ranking of claims: which of them a reviewer would mention.

    COMMITS is JSON Lines, gzip, with the fields repository, commit, subject and diff. Prints how
    well the weights rank claims of repositories held out of the training.

    Examples:
        crscore train ranking commits.jsonl.gz -o ranking.toml
    """
    from crscore.statistics import ranks  # noqa: PLC0415
    from crscore_lab.training import ranking  # noqa: PLC0415  (not needed for --help)

    io.check_output(target)
    ranks.require_scipy("optimize", "'crscore[validate]'")
    with progress.track("training the ranking"):
        learned = ranking.train(commits)
    _write_weights(ranking.to_toml(learned).encode(), target)
    click.echo(learned.report)
    return 0


@command.command(name="claims", context_settings={"show_default": True})
@click.argument("rows", type=PATH)
@click.option("--model", required=True, metavar="NAME", help="Base model: a name, or a folder.")
@click.option("--revision", metavar="REV", help="Commit, branch or tag of a named model.")
@_output("DIR", "Write here; an interrupted run is resumed.", _FOLDER)
@add_options(
    *(
        click.option(flag, type=kind, default=default, is_flag=kind is bool or None, help=text)
        for flag, kind, default, text in _CLAIMS_OPTIONS
    )
)
@setting_options("offline")
def claims(rows: Path, *, target: Path, offline: bool | None, **options: Any) -> int:
    """Fine-tune a causal language model on ROWS of changes and their claims.

    ROWS is JSON Lines, plain or gzip, with the fields `patch` and `completion`, or `patch`,
    `claims` and `implications`. The defaults of the options up to --seed are the paper's. The loss
    is computed on the answers alone. The checkpoint with the lowest held-out loss is kept.

    Examples:
        crscore train claims rows.jsonl --model NAME -o DIR
    """
    from crscore_lab.training.claims import finetune  # noqa: PLC0415  (not needed for --help)

    model, revision = options.pop("model"), options.pop("revision")
    record = finetune.fine_tune(
        rows,
        model,
        finetune.FineTuning(**options),
        out=target,
        revision=revision,
        offline=load_settings(None, {"offline": offline}).offline,
        report=_report,
    )
    losses, counts = record["losses"], record["counts"]
    click.echo(f"{target}: {counts['train']:,} rows, {losses['steps']:,} steps on {model}")
    if losses["after"] is not None:
        click.echo(
            f"loss on {counts['held_out']:,} held-out rows: {losses['before']:.4f} before, "
            f"{losses['after']:.4f} after (step {losses['best_step']:,})"
        )
    return 0


@command.command(name="labels", context_settings={"show_default": True})
@click.argument("diffs", type=PATH)
@_output("ROWS", "Add rows here; changes that have a row are skipped.", _FILE)
@option("--limit N", "Ask about N changes, chosen at random by --seed.", type=COUNT)
@option("--min-chars N", "Skip patches of fewer characters.", type=COUNT, default=10)
@option("--max-chars N", "Skip patches of more characters.", type=COUNT, default=1000)
@option("--seed N", "Random seed.", type=click.IntRange(0), default=42)
@setting_options(
    *("model", "concurrency", "model_timeout", "temperature", "max_new_tokens", "form", "prompt"),
    "offline", temperature=0.2, max_new_tokens=256,
)  # fmt: skip
def labels(
    diffs: Path,
    *,
    target: Path,
    limit: int | None,
    min_chars: int,
    max_chars: int,
    seed: int,
    **flags: Any,
) -> int:
    """Make training rows for `crscore train claims` with an OpenAI-compatible server.

    DIFFS is JSON Lines with a field `patch` or `diff`, or a folder of .diff files. The address and
    the key of the server are in OPENAI_BASE_URL and OPENAI_API_KEY. The defaults of sampling and
    lengths are the paper's. Run the command again to resume, or to retry failed requests.

    Examples:
        crscore train labels diffs.jsonl --model NAME -o rows.jsonl
    """
    from crscore import scorer  # noqa: PLC0415  (not needed for --help)
    from crscore_lab.training.claims import labels  # noqa: PLC0415

    options = scorer.model_options(load_settings(None, flags))
    generator = plugins.create("claims", "openai", offered=options)
    sampling = replace(generator.sampling, top_p=labels.TOP_P, seed=seed)
    changes = labels.read_changes(
        diffs, min_chars=min_chars, max_chars=max_chars, limit=limit, seed=seed
    )
    _report(f"{len(changes):,} changes to label")
    generator = replace(generator, sampling=sampling)
    existing, added = labels.label_changes(changes, target, generator, _report)
    click.echo(f"{target}: {added:,} rows added, {existing:,} existed")
    if missing := len(changes) - existing - added:
        click.echo(f"{missing:,} have no row: the model failed or wrote no claim; run labels again")
    return 0


def _write_weights(content: bytes, target: str) -> None:
    io.write_bytes(content, target)
    digest = hashlib.sha256(content).hexdigest()
    click.echo(f"{target}: {len(content):,} bytes, sha256 {digest}")


def _report(line: str) -> None:
    click.echo(f"crscore: {line}", err=True)
