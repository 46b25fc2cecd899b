"""`crscore score DIFF REVIEW`: score one review of one change."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crscore import io, plugins
from crscore.commands import _terminal
from crscore.commands._inputs import (
    add_sources,
    check_address,
    check_stdin,
    read_both,
    read_sarif_files,
    sarif_option,
)
from crscore.commands._settings import FILE, SCORING, load_settings, setting_options
from crscore.settings import SETTINGS
from crscore.text import count_noun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.records import Result
    from crscore.reports.base import Report
    from crscore.settings import Config


@click.command(
    name="score",
    cls=_terminal.GroupedCommand,
    groups={"Code": ("language", "path", "source_root", "old", "new")},
    common=(
        "format",
        "output",
        "explain",
        "source_root",
        "analyzers",
        "claims",
        "sarif",
        "fail_under",
        "on_nothing",
        "offline",
    ),
    short_help="Score a review of a change, or many.",
    examples=(
        "crscore change.diff review.md",
        "git diff main... | crscore - review.md --source-root .",
        "crscore change.diff comments.json --format html -o report.html",
        "crscore change.diff review.md --fail-under 30",
        "crscore pairs.jsonl --format json -o results.jsonl",
    ),
)
@click.argument("diff", required=False, type=FILE, metavar="DIFF")
@click.argument("review", required=False, type=FILE, metavar="REVIEW")
@setting_options("format")
@_terminal.output_option
@setting_options("explain", "signature", "fail_under", "fail_under_relevance", "on_nothing")
@click.option("--language", metavar="NAME", help="Language of a bare hunk.")
@click.option("--path", metavar="PATH", help="Path of a bare hunk.")
@click.option(
    "--source-root", metavar="DIR", help="Folder with the code after (or before) the change."
)
@click.option("--old", metavar="FILE", help="Complete old file, for a change of one file.")
@click.option("--new", metavar="FILE", help="Complete new file, for a change of one file.")
@sarif_option
@_terminal.quiet_option
@click.option("-v", "--verbose", is_flag=True, help="Print each step and its duration to stderr.")
@setting_options(*SCORING, "offline", "config")
def command(
    diff: str | None,
    review: str | None,
    *,
    config_file: Path | None,
    output: str | None,
    verbose: bool,
    language: str | None,
    path: str | None,
    source_root: str | None,
    old: str | None,
    new: str | None,
    sarif_files: tuple[str, ...],
    **flags: Any,
) -> int:
    """Score REVIEW, a code review of the change DIFF, or many pairs in one file.

    DIFF is the output of git diff, git show, git format-patch, diff -u or GitHub, or a bare hunk.
    REVIEW is Markdown or plain text, or JSON or JSON Lines of review comments. Either can be - for
    standard input. A single argument PAIRS.jsonl (or -) has one pair per line: {"diff": ...,
    "review": ...}.
    """
    settings = load_settings(config_file, flags)
    if diff is None:
        raise click.UsageError("the diff and the review are missing: crscore DIFF REVIEW")
    if review is None:
        # Options for a single review have no effect on a file of pairs.
        of_one = {
            **{"--language": language, "--path": path, "--source-root": source_root},
            **{"--old": old, "--new": new, "--sarif": sarif_files, "--verbose": verbose},
            **{"--explain": flags["explain"], "--signature": flags["signature"]},
        }
        return _score_pairs(
            settings, diff, output, [name for name, is_set in of_one.items() if is_set]
        )
    check_stdin([diff, review, old, new, *sarif_files])
    if settings.encoder == SETTINGS["encoder"].default:
        from crscore.encoders.minilm import MiniLM  # noqa: PLC0415

        # The encoder loads its model while other modules are imported and the change is read.
        MiniLM(offline=settings.offline).preload()
    options = {"explain": settings.explain, "signature": settings.signature}
    offered = {**options, **_terminal.report_style(to_terminal=output is None)}
    report: Report = plugins.create("reports", settings.format, offered=offered)
    clock = _Clock(verbose)
    (data, source), (review_data, review_source) = read_both(settings, diff, review)
    # Imported here so that `--help` and the message about a wrong option appear immediately.
    from crscore.scorer import Scorer  # noqa: PLC0415
    from crscore.verdicts.repository import Repository  # noqa: PLC0415

    scorer = Scorer(settings, reports=read_sarif_files(settings, sarif_files))
    change = scorer.read_diff(data, source=source, language=language, path=path)
    comments = scorer.read_review(review_data, source=review_source)
    change = add_sources(change, settings, source_root, old, new)
    clock.report("read the input")
    # A folder without any file of the change proves nothing about the change.
    fits = any(file.new_source or file.old_source for file in change.files)
    folder = Repository.of_folder(Path(source_root)) if source_root is not None and fits else None
    result = scorer.score(change, comments, repository=folder)
    clock.report(
        f"scored {count_noun(len(result.sentences), 'sentence')} against "
        f"{count_noun(len(result.references), 'reference')}"
    )
    io.write_text(report.render([result]), output)
    clock.report("wrote the report")
    from crscore.reports import view  # noqa: PLC0415

    for note in view.notes(result):
        _terminal.print_note(f"note: {note}")
    return _gate(result, settings, "the review")


def _score_pairs(settings: Config, name: str, output: str | None, of_one: Sequence[str]) -> int:
    check_address(name)
    if name != io.STDIN and not name.removesuffix(".gz").endswith((".jsonl", ".json")):
        missing = "the review" if Path(name).exists() else f"{name} does not exist, and the review"
        raise click.UsageError(
            f"{missing} is missing: crscore DIFF REVIEW, or crscore score PAIRS.jsonl"
        )
    if of_one:
        raise click.UsageError(f"{of_one[0]} applies to a single review: crscore DIFF REVIEW")
    from crscore.commands._many import score_pairs  # noqa: PLC0415
    from crscore.scorer import Scorer  # noqa: PLC0415

    return score_pairs(Scorer(settings), settings, name, output, gate=_gate)


class _Clock:
    """Timer that prints the duration of each step to stderr."""

    def __init__(self, speak: bool) -> None:
        self.speak, self.last = speak, time.perf_counter()

    def report(self, message: str) -> None:
        now = time.perf_counter()
        if self.speak:
            click.echo(f"crscore: {message} in {now - self.last:.2f} s", err=True)
        self.last = now


def _gate(result: Result, settings: Config, name: str) -> int:
    from crscore.scoring import gate  # noqa: PLC0415

    useful = result.usefulness
    verdict = gate.check_thresholds(
        name,
        standing=None if useful is None else useful.standing,
        relevance=result.relevance,
        reason=result.scores.reason,
        fail_under=settings.fail_under,
        fail_under_relevance=settings.fail_under_relevance,
        on_nothing=settings.on_nothing,
    )
    # Printed even with -q: a gate that passes silently is not a gate.
    for line in (*verdict.notices, *verdict.failed):
        _terminal.print_message(line)
    return _terminal.EXIT_GATE if verdict.failed else 0
