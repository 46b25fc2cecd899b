"""`crscore validate`: agreement of scores with people, and a comparison of two runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore import io
from crscore.commands._options import PATH, format_option, option, output_option
from crscore.commands._settings import COMMON, MODEL, load_settings, setting_options
from crscore.commands._terminal import GroupedCommand
from crscore.errors import InputError
from crscore.settings import AUTO, NETWORK, Config

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from msgspec import Struct

    from crscore_lab.statistics.resampled import Resampling

COMPARISON_OPTIONS: Final = frozenset({"paths", "fmt", "output", "resamples", "seed", "offline"})
"""Parameters that have an effect on a comparison of two results."""
READER_OPTIONS: Final = frozenset({"readers", "prices", "reader_limit", "group"})
"""Parameters that apply only to comments with outcomes."""
RATED_OPTIONS: Final = frozenset({"baselines", "judges", "attacks", "split"})
"""Parameters that apply only to rated reviews."""
LEARNED_MATCHER: Final = "calibrated"


class SplitCommand(GroupedCommand):
    """Command with `--split`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments after converting `--split grouped-cv 5` to `--split grouped-cv:5`."""
        # The arguments are joined by NUL, which none of them can contain.
        words = re.sub(r"(--split[=\0][\w-]+)\0(\d+)(?=\0|$)", r"\1:\2", "\0".join(args))
        return super().parse_args(ctx, words.split("\0") if args else [])


@click.command("validate", short_help="Compare the score with people's ratings.", cls=SplitCommand)
@click.argument("paths", metavar="DATA | A.json B.json", nargs=-1, type=PATH)
@option(
    "--claims NAME",
    "recorded (claims and findings in the data), or a claim generator. Default for files of "
    "comments: that of crscore score.",
    default="recorded",
)
@setting_options("threshold")
@format_option("text", "json")
@output_option
@option("--baselines/--no-baselines", "Show the published baselines.", default=True)
@option(
    "--judge ENGINE:MODEL...",
    "Compare the score with ratings by a language model, which receives the changes and reviews.",
    to="judges",
)
@option("--attacks/--no-attacks", "Test the score with adversarial texts.", default=True)
@click.option(
    "--split",
    metavar="grouped-cv K | leave-one-system-out | leave-one-language-out",
    help="Train the matcher for each fold of the data on the other folds; K groups of changes "
    "(default: 10; 5 for leave-one-system-out).",
)
@option("--group FIELD", "Comments: resample groups with the same FIELD (default: group or patch).")
@option(
    "--reader NAME[:ARGUMENT]...",
    "Comments: compare readers (network, openai:MODEL, vllm:MODEL, replay:FILE) with the "
    "comments' outcomes.",
    to="readers",
)
@click.option(
    "--reader-price",
    "prices",
    multiple=True,
    metavar="READ,WRITTEN",
    help="Prices of a million tokens read and written, for each --reader but network, in order.",
)
@setting_options("reader_limit")
@option("--resamples N", "Number of bootstrap resamples.", type=click.IntRange(0), default=1000)
@option("--seed N", "Random seed.", type=click.IntRange(0), default=0)
# A study contains findings of tools. So tools run only if the command line names them, not if the
# environment or a settings file do.
@setting_options(*MODEL, *COMMON, "offline", "config", analyzers="none")
def command(
    paths: tuple[Path, ...],
    *,
    config_file: Path | None,
    fmt: str,
    output: str | None,
    claims: str,
    readers: tuple[str, ...],
    prices: tuple[str, ...],
    group: str | None,
    resamples: int,
    seed: int,
    baselines: bool,
    judges: tuple[str, ...],
    attacks: bool,
    split: str | None,
    **flags: Any,
) -> int:
    """Correlate the score with the human ratings in DATA, or compare two such runs.

    DATA is JSON Lines, plain or gzip; each line has a change and its rated reviews. A.json and
    B.json are the output of two runs with --format json. The comparison shows which run agrees
    better with people, by how much, and how many changes a study needs to detect the difference.

    DATA may also be comments with outcomes; each line has comment (or subject, or body), patch (or
    diff_hunk, or diff) and "outcomes", an object of numbers (0 and 1, or a rating) by name. Fields
    that are true or false are outcomes, too. Optional fields are language, path, "group" and
    "writer" (person or bot). The report has the AUC or rank correlation of each --reader (default:
    network) and of simple baselines with each outcome, the difference of each from the first
    reader, and the readers' tokens and prices.

    Analyzers run only if --analyzers names them. Their findings then replace those recorded in the
    data, and the report counts them. To see their effect, compare with a run without them.

    Needs: pip install 'crscore[validate]'.

    Examples:
        crscore validate study.jsonl.gz
        crscore validate study.jsonl.gz --claims structural --format json -o run.json
        crscore validate a.json b.json
        crscore validate comments.jsonl --reader network --reader openai:MODEL
    """
    from crscore_lab.study import report  # noqa: PLC0415  (not needed for --help)
    from crscore_lab.study.data import comments, saved_runs  # noqa: PLC0415
    from crscore_lab.study.measures import comparison  # noqa: PLC0415

    resampling: Resampling = {"resamples": resamples, "seed": seed}
    if not readers:
        _refuse({"prices", "reader_limit"}, "a run without --reader")
    document: Struct
    if len(paths) == 2:
        names = {known.name or "" for known in click.get_current_context().command.params}
        _refuse(names - COMPARISON_OPTIONS, "a comparison of two results")
        document = comparison.compare(*map(saved_runs.read_saved_run, paths), **resampling)
    elif len(paths) != 1:
        raise click.UsageError(
            f"expected one study or two results of crscore validate, got {len(paths)} files"
        )
    elif comments.is_comments(paths[0]):
        _refuse(RATED_OPTIONS, "a comparison of readers")
        # The default of --claims is `recorded`, but a file of comments has no recorded claims.
        flags |= {"claims": claims} if _is_given("claims") else {}
        settings, readers = load_settings(config_file, flags), readers or (NETWORK,)
        document = _compare_readers(paths[0], settings, readers, prices, group, resampling)
    else:
        _refuse(READER_OPTIONS, "a study of rated reviews")
        settings = load_settings(config_file, flags)
        document = _validate(
            paths[0], settings, judges, split, baselines=baselines, claims=claims, attacks=attacks,
            **resampling,
        )  # fmt: skip
    io.write_text(report.render(document, fmt), output)
    return 0


def _refuse(names: AbstractSet[str], use: str) -> None:
    """Reject options that would have no effect."""
    for known in click.get_current_context().command.params:
        if known.name in names and _is_given(known.name):
            raise click.UsageError(f"{known.opts[0]} has no effect on {use}; leave it out")


def _is_given(name: str) -> bool:
    # The value does not show it, because a user may have given the default.
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def _compare_readers(
    data: Path,
    settings: Config,
    names: tuple[str, ...],
    prices: tuple[str, ...],
    group: str | None,
    resampling: Resampling,
) -> Struct:
    from crscore import scorer  # noqa: PLC0415
    from crscore_lab.study.data import comments  # noqa: PLC0415
    from crscore_lab.study.measures import readers  # noqa: PLC0415

    models = [name for name in names if name != NETWORK]
    if len({*names}) < len(names) or len(prices) not in (0, len(models)):
        raise click.UsageError(
            "expected each --reader once; and a --reader-price for each but network, or none at all"
        )
    costs = dict(zip(models, prices, strict=False))
    scorers = {
        name: scorer.Scorer(settings, reader=name, reader_price=costs.get(name)) for name in names
    }
    read = comments.read_comments(data, scorers[names[0]])
    return readers.judge(read, scorers, resampling, group)


def _validate(
    data: Path,
    settings: Config,
    judges: tuple[str, ...],
    split: str | None,
    *,
    baselines: bool,
    **options: Any,
) -> Struct:
    from crscore import scorer  # noqa: PLC0415
    from crscore_lab.study import run  # noqa: PLC0415
    from crscore_lab.study.baselines import judge, published  # noqa: PLC0415
    from crscore_lab.study.data import saved_runs, splits, study  # noqa: PLC0415
    from crscore_lab.training import matcher  # noqa: PLC0415

    try:
        chosen_split = splits.parse_split(split) if split else None
        judge_names = judge.read_judge_names(judges)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc
    if saved_runs.is_run(data):
        raise InputError(f"{data} is a result, not a study; give two results to compare them")
    # `auto` takes the published matcher if there is a threshold, as in `crscore score`.
    is_learned = settings.matcher == LEARNED_MATCHER or (
        settings.matcher == AUTO and settings.threshold is None
    )
    if chosen_split and not is_learned:
        name = "published" if settings.matcher == AUTO else settings.matcher
        raise click.UsageError(
            f"--split trains the matcher, but the matcher {name} cannot be trained; use --matcher "
            f"{LEARNED_MATCHER} without --threshold"
        )
    rated = study.read_study(data)
    extra = [published.make_baselines()] if baselines else []
    store = scorer.make_cache(settings) if settings.cache and judge_names else None
    for name in judge_names:
        extra.append(
            judge.ask_judge(rated, judge.Judge(name, judge.make_engine(name, settings), store))
        )
    trainer = matcher.train if chosen_split else None
    return run.run(rated, settings, **options, split=chosen_split, extra=extra, trainer=trainer)
