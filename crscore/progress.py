"""Progress of long work: one line on stderr, on a terminal only.

Nothing is printed where stderr is a file or a pipe, where the terminal is dumb, or where a run is
quiet; then `track` costs nothing, and rich is not imported.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def track(
    description: str, total: float | None = None, *, is_bytes: bool = False, quiet: bool = False
) -> Iterator[Callable[[float], None]]:
    """Show a progress bar while the block runs; it is removed at the end.

    Args:
        description: The work: `scoring`.
        total: Units of work; None when that is not known.
        is_bytes: The units are bytes, shown as MB with the speed.
        quiet: Show nothing.

    Yields:
        A function that is told how many more units are done. Safe to call from any thread.
    """
    if quiet or not _is_terminal():
        yield lambda _: None
        return
    from rich import progress  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415

    amounts: list[progress.ProgressColumn] = (
        [progress.DownloadColumn(), progress.TransferSpeedColumn()]
        if is_bytes
        else [progress.MofNCompleteColumn()]
    )
    with progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        *amounts,
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(description, total=total)
        yield lambda done: bar.advance(task, done)


def _is_terminal() -> bool:
    stream = sys.stderr
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
