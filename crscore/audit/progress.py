"""Progress of a long run on the terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Protocol, Self

from rich import progress
from rich.console import Console

from crscore.progress import TERMINAL, is_terminal
from crscore.reports import escape

_TEXT_CHARS = 60


class Progress(Protocol):
    """Display of how far a run is."""

    def start(self, total: int, what: str) -> None:
        """Begin a part of the run.

        Args:
            total: Steps of the part.
            what: What it does: `Scoring pull requests`.
        """
        ...

    def advance(self) -> None:
        """Count one step."""
        ...

    def text(self, text: str) -> None:
        """Show what the run works on; may be untrusted text."""
        ...


class NoProgress:
    """Shows nothing."""

    def start(self, total: int, what: str) -> None:
        """Show nothing."""

    def advance(self) -> None:
        """Show nothing."""

    def text(self, text: str) -> None:
        """Show nothing."""


class Bar:
    """Progress bar with the time that is left, on standard error; shows nothing elsewhere.

    Args:
        console: Where to show it; None for standard error.
    """

    def __init__(self, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self._progress = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[text]}", markup=False),
            console=console,
            transient=True,
            redirect_stdout=is_terminal(sys.stdout),
            disable=not console.is_terminal,
        )
        self._task: progress.TaskID | None = None
        self._holds = False

    def __enter__(self) -> Self:
        self._holds = TERMINAL.acquire(blocking=False)
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()
        if self._holds:
            TERMINAL.release()

    def start(self, total: int, what: str) -> None:
        """Begin a part of the run: replaces the bar of the last one."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(what, total=total, text="")

    def advance(self) -> None:
        """Count one step."""
        if self._task is not None:
            self._progress.advance(self._task)

    def text(self, text: str) -> None:
        """Show what the run works on."""
        if self._task is not None:
            self._progress.update(self._task, text=escape.one_line(text, _TEXT_CHARS))
