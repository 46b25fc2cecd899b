"""Windows of the changed lines of a diff, each as one text for an encoder."""

import math
from collections.abc import Iterable
from typing import Final

from crscore.records import Diff, DiffLine, LineKind

MIN_WINDOW_LINES: Final = 3
"""Minimum number of changed lines of a window."""
# Each window takes as much time to encode as a claim.
MAX_WINDOWS: Final = 4
"""Maximum number of windows of a change."""
MAX_WINDOW_CHARS: Final = 160
"""Maximum characters of a window."""


def list_windows(diff: Diff) -> tuple[str, ...]:
    """Return windows of the changed lines.

    A change without changed lines yields its last lines, because the hunk that GitHub shows with a
    comment ends at the commented line.

    Returns:
        At most `MAX_WINDOWS` texts in diff order, each of at most `MAX_WINDOW_CHARS` characters.
    """
    texts = _stripped(diff.lines(LineKind.ADDED, LineKind.REMOVED))
    texts = texts or _stripped(diff.lines())[-MIN_WINDOW_LINES:]
    count = min(MAX_WINDOWS, math.ceil(len(texts) / MIN_WINDOW_LINES))
    size = math.ceil(len(texts) / count) if count else 1
    return tuple(
        # Long windows are cut: a sentence encoder reads only the start of a long text.
        " ".join(texts[start : start + MIN_WINDOW_LINES * 2])[:MAX_WINDOW_CHARS]
        for start in range(0, len(texts), size)
    )


def _stripped(lines: Iterable[DiffLine]) -> list[str]:
    return [text for line in lines if (text := line.text.strip())]
