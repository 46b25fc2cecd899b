"""`crscore validate`: agreement of the score with people, and a comparison of two runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore import io
from crscore.commands._options import PATH, format_option, option, output_option
from crscore.commands._settings import MODEL, PARTS, load_settings, setting_options
from crscore.commands._terminal import GroupedCommand
from crscore.errors import InputError
from crscore.settings import AUTO, NETWORK, Config

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from msgspec import Struct

    from crscore_lab.statistics.resampled import Resampling

COMPARISON_OPTIONS: Final = frozenset({"paths", "layout", "output", "resamples", "seed", "offline"})
"""Parameters of a comparison of two results."""
READER_OPTIONS: Final = frozenset({"readers", "prices", "reader_limit", "group"})
"""Parameters that apply only to comments with outcomes."""
RATED_OPTIONS: Final = frozenset({"baselines", "judges", "attacks", "split"})
"""Parameters that apply only to rated reviews."""
LEARNED_MATCHER: Final = "calibrated"


class SplitCommand(GroupedCommand):
    """Command with `--split`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Convert `--split grouped-cv 5` to `--split grouped-cv:5`."""
        # No argument of a program contains NUL, so joining with it can be undone.
        words = re.sub(r"(--split[=\0][\w-]+)\0(\d+)(?=\0|$)", r"\1:\2", "\0".join(args))
        return super().parse_args(ctx, words.split("\0") if args else [])


@click.command("validate", short_help="Compare the score with people's ratings.", cls=SplitCommand)
@click.argument("paths", metavar="DATA | A.json B.json", nargs=-1, type=PATH)
@option(
    "--claims NAME",
    "recorded (the data's own claims and findings), or a claim generator; comments use the "
    "settings' claims.",
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
    help="Train the matcher for each part of the data on the other parts; K groups of changes "
    "(default: 10; 5 for leave-one-system-out).",
)
@option("--group FIELD", "Comments: resample groups with the same FIELD (default: the patch).")
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
    help="Price of a million tokens, for each --reader but network, in order.",
)
@setting_options("reader_limit")
@option("--resamples N", "Number of bootstrap resamples.", type=click.IntRange(0), default=1000)
@option("--seed N", "Random seed.", type=click.IntRange(0), default=0)
# Findings of tools change the score, and a study has findings of its own: here tools run only when
# the command line requests them, whatever environment and settings file contain.
@setting_options(*MODEL, *PARTS, "offline", "config", analyzers="none")
def command(
    paths: tuple[Path, ...],
    *,
    config_file: Path | None,
    layout: str,
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

    DATA is JSON Lines, plain or gzip, with one change and its rated reviews per line. A.json and
    B.json are the output of two runs with --format json: the comparison shows which agrees better
    with people, by how much, and how many changes it takes to detect that.

    DATA may also be comments with outcomes, one per line: comment (or subject, or body), patch (or
    diff_hunk, or diff), "outcomes", an object of numbers (0 and 1, or a rating) by name, and fields
    that are true or false; optionally language, path, "group" and "writer" (person or bot). The
    report has the AUC or rank correlation of each --reader (default: network) with each outcome,
    floors beside them, paired intervals of their differences, tokens and price.

    Analyzers run only if --analyzers names them. Their findings then replace those recorded in
    the data, and the report counts them; compare with a run without for their effect.

    Needs: pip install 'crscore[validate]'.

    Examples:
        crscore validate study.jsonl.gz
        crscore validate study.jsonl.gz --claims structural --format json -o run.json
        crscore validate a.json b.json
        crscore validate comments.jsonl --reader network --reader openai:MODEL
    """
    from crscore_lab.study import report  # noqa: PLC0415  (after --help)
    from crscore_lab.study.data import comments, saved_runs  # noqa: PLC0415
    from crscore_lab.study.measures import comparison  # noqa: PLC0415

    draws: Resampling = {"resamples": resamples, "seed": seed}
    if not readers:
        _refuse({"prices", "reader_limit"}, "a run without --reader")
    document: Struct
    if len(paths) == 2:
        names = {known.name or "" for known in click.get_current_context().command.params}
        _refuse(names - COMPARISON_OPTIONS, "a comparison of two results")
        document = comparison.compare(*map(saved_runs.read_saved_run, paths), **draws)
    elif len(paths) != 1:
        raise click.UsageError(
            f"expected one study or two results of validate, got {len(paths)} files"
        )
    elif comments.is_comments(paths[0]):
        _refuse(RATED_OPTIONS, "a comparison of readers")
        # These data have no recorded claims, which are the option's default.
        flags |= {"claims": claims} if _is_given("claims") else {}
        settings = load_settings(config_file, flags)
        document = _compare_readers(paths[0], settings, readers or (NETWORK,), prices, group, draws)
    else:
        _refuse(READER_OPTIONS, "a study of rated reviews")
        settings = load_settings(config_file, flags)
        document = _validate(
            paths[0], settings, judges, split, baselines=baselines, claims=claims, attacks=attacks,
            **draws,
        )  # fmt: skip
    io.write_text(report.render(document, layout), output)
    return 0


def _refuse(names: AbstractSet[str], use: str) -> None:
    """Reject options that would have no effect."""
    for known in click.get_current_context().command.params:
        if known.name in names and _is_given(known.name):
            raise click.UsageError(f"{known.opts[0]} has no effect on {use}; leave it out")


def _is_given(name: str) -> bool:
    # Checked by source, since a value equal to the default may have been given.
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def _compare_readers(
    data: Path,
    settings: Config,
    names: tuple[str, ...],
    prices: tuple[str, ...],
    group: str | None,
    draws: Resampling,
) -> Struct:
    from crscore import scorer  # noqa: PLC0415
    from crscore_lab.study.data import comments  # noqa: PLC0415
    from crscore_lab.study.measures import readers  # noqa: PLC0415

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
    return readers.judge(read, scorers, draws, group)


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
        raise InputError(f"{data} is a result of validate, not a study; give two to compare them")
    # As in a score: an explicit threshold belongs to the published rule.
    is_learned = settings.matcher == LEARNED_MATCHER or (
        settings.matcher == AUTO and settings.threshold is None
    )
    if chosen_split and not is_learned:
        name = "published" if settings.matcher == AUTO else settings.matcher
        raise click.UsageError(
            f"--split needs a trainable matcher; the matcher {name} learns nothing, so nothing can "
            f"be held out from it (take --matcher {LEARNED_MATCHER} without --threshold)"
        )
    rated = study.read_study(data)
    extra = [published.baselines()] if baselines else []
    store = scorer.make_cache(settings) if settings.cache and judge_names else None
    for name in judge_names:
        extra.append(
            judge.ask_judge(rated, judge.Judge(name, judge.make_engine(name, settings), store))
        )
    trainer = matcher.train if chosen_split else None
    return run.run(rated, settings, **options, split=chosen_split, extra=extra, trainer=trainer)
