"""What a step of a workflow says: log, annotations, job summary and outputs.

It is told at the end whatever happened before, and each part by itself: a file that cannot be
written, or a bug in one part, takes nothing from the others.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import click

from crscore.errors import CRScoreError
from crscore.github.actions import commands, outputs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crscore.github.actions.environment import Outlets
    from crscore.github.actions.outputs import Report
    from crscore.pull_request.overview import Overview

LOG_COLUMNS: Final = 120
MOST_OF_A_LEVEL: Final = 10
"""Messages of one level that GitHub shows of a step."""
MOST_IN_SUMMARY: Final = 20
"""Of our own messages; the log has all."""
_MESSAGE_CHARS: Final = 500
_STOPPED: Final = (
    "The run stopped before its end: a bug in crscore, or it was cancelled. See the log."
)


@dataclass(slots=True)
class Done:
    """What became of the pull requests so far, and what was said of it."""

    told: list[Overview] = field(default_factory=list)
    """For log and summary."""
    kept: dict[int, Report] = field(default_factory=dict)
    """For the outputs, by number; each is renewed as more of it is done."""
    below: list[str] = field(default_factory=list)
    """Whom the gate failed."""
    errors: list[CRScoreError] = field(default_factory=list)
    """The first is what the run ends with."""
    counts: dict[str, int] = field(default_factory=dict)
    """Messages by level: they share GitHub's limit with the annotations."""
    notes: list[str] = field(default_factory=list)
    """Messages for the summary, where nobody reads the log."""
    finished: bool = False
    """False when something that is no error of ours ended the run."""

    def say(self, level: str, text: str) -> None:
        """Show a message beside the run."""
        self.counts[level] = self.counts.get(level, 0) + 1
        click.echo(commands.message(level, one_line(text)))

    def note(self, level: str, text: str) -> None:
        """Show a message beside the run and in its summary."""
        self.notes.append(text)
        self.say(level, text)

    def fail(self, error: CRScoreError, about: str = "") -> None:
        """Note an error, which the run goes on after and ends with."""
        self.errors.append(error)
        self.note("error", f"{about}: {error}" if about else str(error))

    @property
    def room(self) -> int:
        """Messages of any level that GitHub would still show."""
        return MOST_OF_A_LEVEL - max(self.counts.values(), default=0)


def write_report(outlets: Outlets, done: Done, *, annotate: bool) -> None:
    """Write outputs, log, summary and annotations.

    Args:
        outlets: The runner's files.
        done: What there is to tell; an error of a part is added to it.
        annotate: Write annotations on lines of the change.
    """
    parts: tuple[Callable[[], None], ...] = (
        lambda: outputs.write_outputs(outlets.output, tuple(done.kept.values())),
        lambda: _log(done),
        lambda: _summary(outlets.summary, done),
        lambda: _annotations(done, wanted=annotate),
    )
    # A stack calls what it holds from the end, and goes on when one of them raises.
    with ExitStack() as stack:
        for part in reversed(parts):
            stack.callback(_try, part, done)


def _try(part: Callable[[], None], done: Done) -> None:
    try:
        part()
    except CRScoreError as exc:
        done.fail(exc)


def _log(done: Done) -> None:
    from crscore.pull_request.documents import terminal  # noqa: PLC0415

    if not done.told:
        return
    click.echo(commands.shielded(terminal.render_terminal(done.told, width=LOG_COLUMNS)), nl=False)
    names = [f"{found.repository}#{found.number}" for found in done.told if found.partial]
    if names:
        what = ", ".join(names[:5]) + (" and more" if len(names) > 5 else "")
        done.say("warning", f"Not all of {what} could be read; the summary says what is missing.")


def _summary(file: Path | None, done: Done) -> None:
    from crscore.pull_request.documents import summary  # noqa: PLC0415

    if file is None:
        return
    notes = _notes(done)
    room = outputs.summary_room(file) - len(notes.encode("utf-8", "replace"))
    text = summary.render_summary(done.told, room=room) if done.told else ""
    if done.told and not text:
        done.say("warning", "The job summary is full, so the scores are in the log alone.")
    if (text or notes) and not outputs.append_summary(file, f"{text}{notes}"):
        done.say("warning", "The job summary is full, so what went wrong is in the log alone.")


def _notes(done: Done) -> str:
    """Write our own messages as Markdown; strangers' words may be in them."""
    from crscore.reports import escape  # noqa: PLC0415

    texts = [*done.notes, *([] if done.finished else [_STOPPED])]
    if not texts:
        return ""
    lines = [escape.markdown(text, _MESSAGE_CHARS) for text in texts[:MOST_IN_SUMMARY]]
    if len(texts) > len(lines):
        lines.append(f"and {len(texts) - len(lines)} more, which the log has")
    return escape.no_commands("\n**crscore**\n\n" + "".join(f"- {line}\n" for line in lines))


def _annotations(done: Done, *, wanted: bool) -> None:
    from crscore.pull_request.documents import annotations  # noqa: PLC0415

    # On lines of one pull request: those of several would stand on each other's.
    if wanted and len(done.told) == 1 and done.room > 0:
        click.echo(annotations.render_annotations(done.told[0], most=done.room), nl=False)


def one_line(text: str) -> str:
    """Make a line of the log: strangers' words may be in it, and a log acts on some."""
    from crscore.reports import escape  # noqa: PLC0415

    return escape.no_commands(escape.one_line(text))
