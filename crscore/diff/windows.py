"""Groups the changed lines of a diff into windows, each of them one text for an encoder."""

import math
from collections.abc import Iterable
from typing import Final

from crscore.records import Diff, DiffLine, LineKind

MIN_WINDOW_LINES: Final = 3
"""Minimum number of changed lines between the starts of two windows. A window has up to twice as
many lines, so the windows of a small change overlap."""
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
    texts = texts or _strip_lines(diff.lines())[-MIN_WINDOW_LINES:]
    count = min(MAX_WINDOWS, math.ceil(len(texts) / MIN_WINDOW_LINES))
    size = math.ceil(len(texts) / count) if count else 1
    return tuple(
        # Long windows are cut: a sentence encoder reads only the start of a long text.
        " ".join(texts[start : start + MIN_WINDOW_LINES * 2])[:MAX_WINDOW_CHARS]
        for start in range(0, len(texts), size)
    )


def _strip_lines(lines: Iterable[DiffLine]) -> list[str]:
    return [text for line in lines if (text := line.text.strip())]
