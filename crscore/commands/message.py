"""`crscore message FILE`: what of the staged change a commit message does not mention."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore import io
from crscore.commands._github import print_message
from crscore.commands._settings import load_settings, setting_options
from crscore.commands._terminal import GroupedCommand
from crscore.errors import CRScoreError

if TYPE_CHECKING:
    from crscore.records import Result

EXIT_GATE: Final = 1
_MAX_POINTS: Final = 5
# "# ------------------------ >8 ------------------------", after any comment character
_SCISSORS: Final = re.compile(rb"\S -{24} >8 -{24}\s*")
# Where git points hooks: `git commit -a` and `git commit PATH` have an index of their own.
_PLACES: Final = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE")


@click.command(
    name="message",
    cls=GroupedCommand,
    short_help="Compare a commit message with its change.",
    examples=('crscore message "$1"', "crscore message --fail-under 40 .git/COMMIT_EDITMSG"),
)
@click.argument("file")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="N",
    help="Exit with 1 if the message is about this change with less than N of 100.",
)
@setting_options("encoder", "claims", "offline", "config")
def command(file: str, *, fail_under: float | None, config_file: Path | None, **flags: Any) -> int:
    """Measure how far FILE, a commit message, is about the staged change, and list what it omits.

    For the stage commit-msg of pre-commit, or a hook of git's own. Merges, fixups and commits
    without a staged change pass. Without --fail-under, every commit does.
    """
    settings = load_settings(config_file, flags | {"analyzers": "none"})
    data, _ = io.read_input(
        file, content="message", limit="max_review_bytes", max_bytes=settings.max_review_bytes
    )
    _git("rev-parse", "--git-dir")  # outside of a repository, `git diff` prints its usage
    message = _strip(data)
    change = _git("diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv")
    # git wrote these messages, not the author.
    if not change or message.startswith((b"Merge ", b"fixup! ", b"squash! ", b"amend! ")):
        return 0
    from crscore.scorer import Scorer  # noqa: PLC0415

    try:
        result = Scorer(settings).score(change, message)
    except CRScoreError as exc:
        if fail_under is not None:
            raise
        print_message(f"the message is not scored: {exc}")  # the commit proceeds
        return 0
    about = None if result.usefulness is None else round(100 * result.usefulness.about)
    for line in _lines(result, about):
        click.echo(line)
    if fail_under is None:
        return 0
    if about is None:
        # Without weights for the encoder no message can be judged; one without sentences says
        # nothing.
        return 0 if result.sentences else EXIT_GATE
    if about >= fail_under:
        return 0
    click.echo(f"crscore: the message is about this change with {about}, below {fail_under:g}")
    return EXIT_GATE


def _strip(data: bytes) -> bytes:
    """Remove what git removes from a message: comments, and the change below the scissors."""
    lines = data.splitlines(keepends=True)
    cut = next((at for at, line in enumerate(lines) if _SCISSORS.fullmatch(line)), len(lines))
    return _git("stripspace", "--strip-comments", stdin=b"".join(lines[:cut]))


def _git(*arguments: str, stdin: bytes = b"") -> bytes:
    from crscore.diff import git  # noqa: PLC0415

    places = {name: os.environ[name] for name in _PLACES if name in os.environ}
    max_bytes = 50_000_000
    return git.run_git(
        arguments, folder=Path.cwd(), variables=places, input_bytes=stdin, max_bytes=max_bytes
    )


def _lines(result: Result, about: int | None) -> list[str]:
    from crscore.reports import escape, view  # noqa: PLC0415

    if about is None:
        return [f"crscore: no score, as {result.scores.reason or 'the encoder has no weights'}"]
    points = [point for _, point in view.unaddressed(result)]
    lines = [f"{view.places(point)}: {view.in_short(point)}" for point in points[:_MAX_POINTS]]
    remaining = len(points) - len(lines)
    return [
        f"About this change: {about} of 100",
        *(["Not mentioned:"] if lines else []),
        *(f"  {escape.one_line(line)}" for line in lines),
        *([f"  ... and {remaining} more"] if remaining else []),
    ]
