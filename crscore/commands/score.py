"""`crscore score`: scores one review of a change, or many reviews in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crscore import io, plugins
from crscore.commands import _terminal
from crscore.commands._inputs import CodeOptions, check_address, code_options, read_inputs
from crscore.commands._options import output_option, quiet_option
from crscore.commands._settings import FILE, GATES, SCORING, load_settings, setting_options
from crscore.settings import SETTINGS

if TYPE_CHECKING:
    from crscore.records import Result
    from crscore.settings import Config


@click.command(
    name="score",
    cls=_terminal.GroupedCommand,
    groups={"Code": ("language", "path", "source_root")},
    common=(
        "format",
        "output",
        "source_root",
        "analyzers",
        "claims",
        "reader",
        "sarif",
        "fail_under",
        "fail_under_low",
        "on_nothing",
        "offline",
    ),
    short_help="Score a review of a change, or many.",
)
@click.argument("diff", required=False, type=FILE, metavar="DIFF")
@click.argument("review", required=False, type=FILE, metavar="REVIEW")
@setting_options("format")
@output_option
@setting_options("signature", *GATES)
@code_options
@quiet_option
@setting_options(*SCORING, "offline", "config")
def command(
    diff: str | None,
    review: str | None,
    *,
    config_file: Path | None,
    output: str | None,
    code: CodeOptions,
    **flags: Any,
) -> int:
    """Score REVIEW, a code review of the change DIFF, or many pairs in one file.

    DIFF is the output of git diff, git show, git format-patch, diff -u or GitHub, or a bare hunk.
    REVIEW is Markdown or plain text, or JSON or JSON Lines of review comments. One of the two can
    be - for standard input. A single argument PAIRS.jsonl (or -) has one pair per line: {"diff":
    ..., "review": ...}.

    Examples:
        crscore change.diff review.md
        git diff main... | crscore - review.md --source-root .
        crscore change.diff comments.json --format html -o report.html
        crscore change.diff review.md --fail-under 30
        crscore pairs.jsonl --format json -o results.jsonl
    """
    settings = load_settings(config_file, flags)
    if diff is None:
        raise click.UsageError("the diff and the review are missing: crscore DIFF REVIEW")
    if review is None:
        single_only = {name: value for name, value in code._asdict().items() if value}
        single_only |= {"signature": True} if flags["signature"] else {}
        return _score_pairs(settings, diff, output, next(iter(single_only), None))
    if settings.encoder == SETTINGS["encoder"].default:
        from crscore.encoders.minilm import MiniLM  # noqa: PLC0415

        # The encoder loads its model in the background, while modules are imported and files read.
        MiniLM(offline=settings.offline).preload()
    style = _terminal.report_style(to_stdout=output is None)
    offered = {"signature": settings.signature, **style}
    render = plugins.create("reports", settings.format, offered=offered)
    scorer, change, comments, _ = read_inputs(settings, diff, review, code)
    from crscore.reports import view  # noqa: PLC0415  (so that --help is fast)
    from crscore.verdicts.repository import Repository  # noqa: PLC0415

    # A folder that has no file of the change is probably not the repository of the change.
    fits = any(file.new_source or file.old_source for file in change.files)
    repository = Repository.of_folder(Path(code.source_root)) if code.source_root and fits else None
    result = scorer.score(change, comments, repository=repository)
    io.write_text(render([result]), output)
    for note in view.notes(result):
        _terminal.print_note(f"note: {note}")
    return _apply_gate(result, settings, "the review")


def _score_pairs(settings: Config, name: str, output: str | None, unusable: str | None) -> int:
    """Score a file of pairs; `unusable` is a given option that is only for a single review."""
    check_address(name)
    if name != io.DASH and not name.removesuffix(".gz").endswith((".jsonl", ".json")):
        missing = "the review" if Path(name).exists() else f"{name} does not exist, and the review"
        raise click.UsageError(
            f"{missing} is missing: crscore DIFF REVIEW, or crscore score PAIRS.jsonl"
        )
    if unusable:
        flag = f"--{unusable.replace('_', '-')}"
        raise click.UsageError(f"{flag} applies to a single review: crscore DIFF REVIEW")
    from crscore.commands._many import score_pairs  # noqa: PLC0415
    from crscore.scorer import Scorer  # noqa: PLC0415

    return score_pairs(Scorer(settings), settings, name, output, gate=_apply_gate)


def _apply_gate(result: Result, settings: Config, name: str) -> int:
    from crscore.scoring import gate  # noqa: PLC0415

    verdict = gate.check_thresholds(
        name,
        thresholds=settings.thresholds,
        usefulness=result.usefulness,
        relevance=result.relevance,
        reason=result.scores.reason,
        on_nothing=settings.on_nothing,
    )
    return _terminal.print_gate(verdict.failed, verdict.notices)
