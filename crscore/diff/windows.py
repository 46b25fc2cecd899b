"""Groups the changed lines of a diff into windows, each of them one text for an encoder."""

import math
from collections.abc import Iterable
from typing import Final

from crscore.records import Diff, DiffLine, LineKind

LINES_PER_WINDOW: Final = 3
"""Number of changed lines for which there is a window, up to `MAX_WINDOWS` windows. A window has up
to twice as many lines, so the windows of a small change overlap."""
# Each window takes as much time to encode as a claim.
MAX_WINDOWS: Final = 4
"""Maximum number of windows of a change."""
MAX_WINDOW_CHARS: Final = 160
"""Maximum number of characters of a window."""


def list_windows(diff: Diff) -> tuple[str, ...]:
    """Return windows of the changed lines.

    If the diff has no changed lines, its last lines are used: it may be the part of a hunk that
    GitHub shows with a comment, which ends at the commented line.

    Returns:
        At most `MAX_WINDOWS` texts in diff order, each of at most `MAX_WINDOW_CHARS` characters.
    """
    texts = _strip_lines(diff.lines(LineKind.ADDED, LineKind.REMOVED))
    texts = texts or _strip_lines(diff.lines())[-LINES_PER_WINDOW:]
    count = min(MAX_WINDOWS, math.ceil(len(texts) / LINES_PER_WINDOW))
    size = math.ceil(len(texts) / count) if count else 1
    return tuple(
        # Long windows are cut: a sentence encoder reads only the start of a long text.
        " ".join(texts[start : start + LINES_PER_WINDOW * 2])[:MAX_WINDOW_CHARS]
        for start in range(0, len(texts), size)
    )


def _strip_lines(lines: Iterable[DiffLine]) -> list[str]:
    return [text for line in lines if (text := line.text.strip())]
