"""Progress of long work: one line on stderr, on a terminal only.

Nothing is printed if stderr is a file or a pipe, if the terminal is dumb, if a run is quiet, or in
a program that uses crscore as a library. In these cases `track` costs nothing, and rich is not
imported.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Final, TextIO, TypeAlias

# For a second bar, rich raises a `LiveError`: "Only one live display may be active at once".
TERMINAL: Final = threading.Lock()
"""Lock that is held while a bar is shown, so that nested work shows no second bar."""
ENABLED: Final = threading.Event()
"""Set by the command line if bars may be shown."""
DELAY_S: Final = 0.5
"""Seconds of work before a bar is shown, so that short work shows none."""


Advance: TypeAlias = Callable[..., None]
"""Function that counts units of work as done, one by default."""


@contextlib.contextmanager
def track(description: str, total: float | None = None) -> Iterator[Advance]:
    """Show a progress bar while the block runs: after half a second, and until its end.

    A `track` inside another one shows nothing.

    Args:
        description: The work: `scoring`.
        total: Number of units of work; None if unknown.

    Yields:
        A function that counts units as done, one by default. Any thread may call it.
    """
    if not ENABLED.is_set() or not is_terminal(sys.stderr) or not TERMINAL.acquire(blocking=False):
        yield lambda units=1: None  # noqa: ARG005
        return
    from rich import progress  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415

    has_total = total is not None
    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        *((progress.MofNCompleteColumn(),) if has_total else ()),
        progress.TimeElapsedColumn(),
        *((progress.TimeRemainingColumn(),) if has_total else ()),
        console=Console(stderr=True),
        transient=True,
        # If stdout is a file or a pipe, rich would redirect it to stderr
        redirect_stdout=is_terminal(sys.stdout),
    )
    task = bar.add_task(description, total=total)
    timer = threading.Timer(DELAY_S, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda units=1: bar.advance(task, units)
    finally:
        timer.cancel()
        timer.join()  # otherwise a bar that the timer is just starting would stay
        bar.stop()
        TERMINAL.release()


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal on which a line can be rewritten."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
