"""`crscore score DIFF REVIEW`: score one review of one change."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from crscore import io, plugins
from crscore import settings as config
from crscore.commands import _settings
from crscore.errors import ConfigError, InputError, ToolOutputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crscore.records import Comment, Diff, Result
    from crscore.scorer import Scorer
    from crscore.static_analysis.reports import RawReport

EXIT_GATE = 1


@click.command(name="score")
@click.argument("diff")
@click.argument("review")
@click.option("--format", metavar="NAME", help=f"Report: {', '.join(plugins.names('reports'))}.")
@click.option(
    "-o", "--output", "target", metavar="FILE", help="Write the report here, not to stdout."
)
@click.option("--explain/--no-explain", default=None, help="Show all that decided the score.")
@click.option(
    "--fail-under",
    type=float,
    metavar="X",
    help="Exit with code 1 when relevance is below X (0 to 1).",
)
@click.option("--language", metavar="NAME", help="Language of a bare hunk.")
@click.option("--path", metavar="PATH", help="Path of a bare hunk.")
@click.option(
    "--source-root", metavar="DIR", help="Folder with the new (or old) version of the code."
)
@click.option("--old", metavar="FILE", help="The whole old file, for a change of one file.")
@click.option("--new", metavar="FILE", help="The whole new file, for a change of one file.")
@click.option(
    "--sarif",
    "sarif_files",
    metavar="FILE",
    multiple=True,
    help="Findings of any tool, SARIF 2.1.0; may be repeated.",
)
@click.option("-q", "--quiet", is_flag=True, help="No notes on stderr.")
@click.option("-v", "--verbose", is_flag=True, help="Say on stderr what is done and how long.")
@_settings.scoring_options
@_settings.shared_options
def command(
    diff: str,
    review: str,
    *,
    config_file: Path | None,
    target: str | None,
    quiet: bool,
    verbose: bool,
    language: str | None,
    path: str | None,
    source_root: str | None,
    old: str | None,
    new: str | None,
    sarif_files: tuple[str, ...],
    **flags: Any,
) -> int:
    """Score REVIEW, a code review of the change DIFF.

    DIFF is anything git diff, git show, git format-patch, diff -u or GitHub prints, or a bare
    hunk. REVIEW is Markdown or plain text, or JSON or JSON Lines of review comments. Either can
    be - for standard input.
    """
    if [diff, review, old, new, *sarif_files].count(io.STDIN) > 1:
        raise ConfigError("-", "command line", "only one of the inputs can be standard input")
    settings = _settings.settings(config_file, flags)
    target = None if target == io.STDIN else target
    report = _report(settings, to_terminal=target is None)
    io.check_output(target)
    clock = _Clock(verbose)
    scorer, change, comments = _read(settings, diff, review, sarif_files, language, path)
    change = _with_sources(change, settings, source_root, old, new)
    clock.say("read the input")
    result = scorer.score(change, comments)
    clock.say(
        f"scored {len(result.sentences)} sentences against {len(result.references)} references"
    )
    io.write_text(report.render([result]), target)
    clock.say("wrote the report")
    if not quiet:
        for note in result.notes:
            click.echo(f"crscore: note: {note}", err=True)
    return _gate(result, settings.fail_under)


class _Clock:
    """Says on stderr how long each step took."""

    def __init__(self, speak: bool) -> None:
        self.speak, self.last = speak, time.perf_counter()

    def say(self, what: str) -> None:
        now = time.perf_counter()
        if self.speak:
            click.echo(f"crscore: {what} in {now - self.last:.2f} s", err=True)
        self.last = now


def _read(
    settings: config.Config,
    diff: str,
    review: str,
    sarif_files: tuple[str, ...],
    language: str | None,
    path: str | None,
) -> tuple[Scorer, Diff, tuple[Comment, ...]]:
    # Imported here so that `--help` and a wrong option answer at once.
    from crscore.scorer import Scorer  # noqa: PLC0415

    data, source = io.read_input(
        diff, what="diff", limit="max_diff_bytes", allowed=settings.max_diff_bytes
    )
    review_data, review_source = io.read_input(
        review, what="review", limit="max_review_bytes", allowed=settings.max_review_bytes
    )
    scorer = Scorer(settings, reports=_outside(settings, sarif_files))
    change = scorer.read_diff(data, source=source, language=language, path=path)
    return scorer, change, scorer.read_review(review_data, source=review_source)


def _outside(settings: config.Config, names: tuple[str, ...]) -> list[RawReport]:
    """Read what other tools found."""
    if not names:
        return []
    from crscore.static_analysis import sarif  # noqa: PLC0415

    reports: list[RawReport] = []
    for name in names:
        data, source = io.read_input(
            name, what="findings", limit="max_sarif_bytes", allowed=settings.max_sarif_bytes
        )
        try:
            reports.extend(sarif.read_sarif(data, source=source))
        except ToolOutputError as exc:
            raise InputError(f"{source} cannot be read as SARIF: {exc.reason}") from exc
    return reports


def _with_sources(
    change: Diff, settings: config.Config, root: str | None, old: str | None, new: str | None
) -> Diff:
    """Add whole files: below a folder, or the two versions of the one changed file."""
    from crscore.diff import full_files  # noqa: PLC0415

    if root is not None and (old or new):
        raise ConfigError("--source-root", "command line", "cannot stand beside --old and --new")
    if root is not None:
        texts, notes = io.read_sources(root, change, largest=settings.max_source_bytes)
        return full_files.from_tree(change, texts, notes=notes)
    if not old and not new:
        return change
    return full_files.from_pair(change, old=_source(old, settings), new=_source(new, settings))


def _source(name: str | None, settings: config.Config) -> str | None:
    if name is None:
        return None
    data, _ = io.read_input(
        name, what="source", limit="max_source_bytes", allowed=settings.max_source_bytes
    )
    return data.decode("utf-8", errors="replace")


def _report(settings: config.Config, *, to_terminal: bool) -> Any:
    terminal = to_terminal and sys.stdout is not None and sys.stdout.isatty()
    coloured = terminal and not config.no_color()
    options: Mapping[str, str] = {
        "explain": str(settings.explain).lower(),
        "color": str(coloured).lower(),
        "width": str(shutil.get_terminal_size((100, 40)).columns if terminal else 100),
    }
    return plugins.load("reports", settings.format).create(options)


def _gate(result: Result, fail_under: float | None) -> int:
    if fail_under is None:
        return 0
    if result.relevance is None:
        # Said even with -q: a gate that silently lets through is none.
        reason = result.scores.reason
        click.echo(f"crscore: the gate was not applied: no score, {reason}", err=True)
        return 0
    if result.relevance >= fail_under:
        return 0
    click.echo(
        f"crscore: relevance {result.relevance:.3f} is below --fail-under {fail_under:g}", err=True
    )
    return EXIT_GATE
