"""`crscore validate`: agreement of the score with people, and a comparison of two runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore import io
from crscore.commands._settings import MODEL, PARTS, load_settings, setting_options
from crscore.commands._terminal import GroupedCommand
from crscore.errors import InputError
from crscore.settings import AUTO, NETWORK, Config

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from msgspec import Struct

    from crscore_lab.study.measures.measurements import Extra
    from crscore_lab.study.run import Trainer

DRAWS: Final = frozenset({"resamples", "seed"})
COMPARISON_OPTIONS: Final = DRAWS | {"paths", "form", "target"}
"""Parameters of a comparison of two results."""
READER_OPTIONS: Final = frozenset({"readers", "prices", "reader_limit", "group"})
"""Parameters that apply only to comments with outcomes."""
RATED_OPTIONS: Final = frozenset({"baselines", "judges", "attacks", "split"})
"""Parameters that apply only to rated reviews."""
COMMON_OPTIONS: Final = frozenset({"offline", "verbose"})
"""Parameters of every use of the command."""
LEARNED_MATCHER: Final = "calibrated"
_FILE: Final = click.Path(path_type=Path)


class SplitCommand(GroupedCommand):
    """Command with `--split`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Convert `--split grouped-cv 5` to `--split grouped-cv:5`."""
        # No argument of a program contains NUL, so joining with it can be undone.
        words = re.sub(r"(--split[=\0][\w-]+)\0(\d+)(?=\0|$)", r"\1:\2", "\0".join(args))
        return super().parse_args(ctx, words.split("\0") if args else [])


@click.command(
    name="validate",
    short_help="Compare the score with people's ratings.",
    cls=SplitCommand,
    context_settings={"show_default": True},
)
@click.argument("paths", metavar="DATA | A.json B.json", nargs=-1, type=_FILE)
@click.option(
    "--claims",
    default="recorded",
    metavar="NAME",
    help="recorded (the data's own claims and findings), or a claim generator; comments use the "
    "settings' claims.",
)
@setting_options("threshold")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "-o", "--output", "target", metavar="FILE", help="Write to this file instead of stdout."
)
@click.option("--baselines/--no-baselines", default=True, help="Show the published baselines.")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="ENGINE:MODEL",
    help="Compare the score with ratings by a language model, which receives the changes and "
    "reviews; may be repeated.",
)
@click.option("--attacks/--no-attacks", default=True, help="Test the score with adversarial texts.")
@click.option(
    "--split",
    metavar="grouped-cv K | leave-one-system-out | leave-one-language-out",
    help="Train the matcher for each part of the data on the other parts; K groups of changes "
    "(default: 10; 5 for leave-one-system-out).",
)
@click.option(
    "--group",
    metavar="FIELD",
    help="Comments: resample groups with the same FIELD [default: the patch].",
)
@click.option(
    "--reader",
    "readers",
    multiple=True,
    metavar="NAME[:ARGUMENT]",
    help="Comments: compare readers (network, openai:MODEL, vllm:MODEL, replay:FILE) with the "
    "comments' outcomes; may be repeated.",
)
@click.option(
    "--reader-price",
    "prices",
    multiple=True,
    metavar="READ,WRITTEN",
    help="Price of a million tokens, for each --reader but network, in order.",
)
@setting_options("reader_limit")
@click.option(
    "--resamples", type=click.IntRange(0), default=1000, help="Number of bootstrap resamples."
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed.")
@click.option("-v", "--verbose", is_flag=True, help="Print each finished part to stderr.")
# Findings of tools change the score, and a study has findings of its own: here tools run only when
# the command line requests them, whatever environment and settings file contain.
@setting_options(*MODEL, *PARTS, "offline", "config", analyzers="none")
def command(
    paths: tuple[Path, ...],
    *,
    config_file: Path | None,
    form: str,
    target: str | None,
    verbose: bool,
    **options: Any,
) -> int:
    """Correlate the score with the human ratings in DATA, or compare two such runs.

    DATA is JSON Lines, plain or gzip, with one change and its rated reviews per line. A.json and
    B.json are the output of two runs with --format json: the comparison shows which agrees better
    with people, by how much, and how many changes it takes to detect that.

    DATA may also be comments with outcomes, one per line: comment (or subject, or body), patch (or
    diff_hunk, or diff), "outcomes", an object of numbers (0 and 1, or a rating) by name, and fields
    that are true or false; optionally language, path, "group" and "writer" (person or bot). The
    report has the AUC or rank correlation of each --reader (default: network) with each outcome,
    floors beside them, paired intervals of their differences, tokens and price.

    Analyzers run only if --analyzers names them. Their findings then replace those recorded in
    the data, and the report shows the effect.

    Needs: pip install 'crscore[validate]'.

    Examples:
        crscore validate study.jsonl.gz
        crscore validate study.jsonl.gz --claims structural --format json -o run.json
        crscore validate a.json b.json
        crscore validate comments.jsonl --reader network --reader openai:MODEL
    """
    from crscore_lab.study.data import comments  # noqa: PLC0415  (after --help)

    io.check_output(target)

    def progress(message: str) -> None:
        if verbose:
            click.echo(f"crscore: {message}", err=True)

    draws = {name: options.pop(name) for name in sorted(DRAWS)}
    claims = options.pop("claims")
    rated, reading = (
        {name: options.pop(name) for name in names} for names in (RATED_OPTIONS, READER_OPTIONS)
    )
    if not reading["readers"]:
        _refuse({"prices", "reader_limit"}, "a run without --reader")
    document: Struct
    if len(paths) == 2:
        _refuse_others(COMPARISON_OPTIONS, "a comparison of two results")
        document = _compare(paths, draws)
    elif len(paths) != 1:
        raise click.UsageError(
            f"expected one study or two results of validate, got {len(paths)} files"
        )
    elif comments.is_comments(paths[0]):
        _refuse(RATED_OPTIONS, "a comparison of readers")
        # These data have no recorded claims, which are the option's default.
        options |= {"claims": claims} if _is_given("claims") else {}
        settings = load_settings(config_file, options | {"reader_limit": reading["reader_limit"]})
        document = _judge(paths[0], settings, reading | draws, progress)
    else:
        _refuse(READER_OPTIONS, "a study of rated reviews")
        settings = load_settings(config_file, options)
        document = _validate(paths[0], settings, rated | {"claims": claims} | draws, progress)
    from crscore_lab.study import report as reports  # noqa: PLC0415  (after --help)

    io.write_text(reports.render(document, form), target)
    return 0


def _refuse_others(accepted: frozenset[str], use: str) -> None:
    """Reject all options but these and the common ones."""
    names = {option.name or "" for option in click.get_current_context().command.params}
    _refuse(names - accepted - COMMON_OPTIONS, use)


def _refuse(names: AbstractSet[str], use: str) -> None:
    """Reject options that would have no effect."""
    for option in click.get_current_context().command.params:
        if option.name in names and _is_given(option.name):
            raise click.UsageError(f"{option.opts[0]} has no effect on {use}; leave it out")


def _is_given(name: str) -> bool:
    # Checked by source, since a value equal to the default may have been given.
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def _compare(paths: tuple[Path, ...], draws: dict[str, Any]) -> Struct:
    from crscore_lab.study.data.saved_runs import read_saved_run  # noqa: PLC0415
    from crscore_lab.study.measures import comparison  # noqa: PLC0415

    first, second = map(read_saved_run, paths)
    return comparison.compare(first, second, **draws)


def _judge(
    data: Path, settings: Config, reading: dict[str, Any], progress: Callable[[str], None]
) -> Struct:
    from crscore import scorer  # noqa: PLC0415
    from crscore_lab.study.data import comments  # noqa: PLC0415
    from crscore_lab.study.measures import readers  # noqa: PLC0415

    names, prices = reading["readers"] or (NETWORK,), reading["prices"]
    models = [name for name in names if name != NETWORK]
    if len({*names}) < len(names) or len(prices) not in (0, len(models)):
        raise click.UsageError(
            "expected each --reader once, and one --reader-price for each but network, or none"
        )
    costs = dict(zip(models, prices, strict=False))
    scorers = {
        name: scorer.Scorer(settings, reader=name, reader_price=costs.get(name)) for name in names
    }
    read = comments.read_comments(data, scorers[names[0]])
    draws: Any = {name: reading[name] for name in DRAWS}
    return readers.judge(read, scorers, draws, reading["group"], progress)


def _validate(
    data: Path, settings: Config, options: dict[str, Any], progress: Callable[[str], None]
) -> Struct:
    from crscore import scorer  # noqa: PLC0415
    from crscore_lab.study import run  # noqa: PLC0415
    from crscore_lab.study.baselines import judge, published  # noqa: PLC0415
    from crscore_lab.study.data import saved_runs, splits, study  # noqa: PLC0415

    baselines, judges = options.pop("baselines"), options.pop("judges")
    try:
        options["split"] = splits.parse_split(options["split"]) if options["split"] else None
    except ValueError as exc:
        raise click.UsageError(f"--split: {exc}") from exc
    try:
        judge_names = judge.read_judge_names(judges)
    except ValueError as exc:
        raise click.UsageError(f"--judge {exc}") from exc
    if saved_runs.is_run(data):
        raise InputError(f"{data} is a result of validate, not a study; give two to compare them")
    trainer = None if options["split"] is None else _matcher_trainer(settings)
    rated = study.read_study(data)
    extra: list[Extra] = [published.baselines()] if baselines else []
    store = scorer.make_cache(settings) if settings.cache and judge_names else None
    for name in judge_names:
        made_judge = judge.Judge(name, judge.make_engine(name, settings), store)
        extra.append(judge.ask_judge(rated, made_judge, progress=progress))
    chosen_options = run.ValidationOptions(**options)
    return run.run(rated, settings, chosen_options, extra=extra, trainer=trainer, progress=progress)


def _matcher_trainer(settings: Config) -> Trainer:
    """Return the trainer of the matcher in the settings.

    Raises:
        UsageError: The matcher cannot be trained.
    """
    # As in a score: an explicit threshold belongs to the published rule.
    is_learned = settings.matcher == LEARNED_MATCHER or (
        settings.matcher == AUTO and settings.threshold is None
    )
    if not is_learned:
        name = "published" if settings.matcher == AUTO else settings.matcher
        raise click.UsageError(
            f"--split needs a trainable matcher; the matcher {name} learns nothing, so nothing can "
            f"be held out from it (take --matcher {LEARNED_MATCHER} without --threshold)"
        )
    from crscore_lab.training import matcher  # noqa: PLC0415  (heavy, needed here only)

    return matcher.train
