"""Ranges of line numbers."""

from collections.abc import Iterable


def join_ranges(ranges: Iterable[tuple[int, int]], *, gap: int = 0) -> list[tuple[int, int]]:
    """Join inclusive ranges that overlap, or start at most `gap` lines after the end of another.

    Example:
        >>> join_ranges([(7, 9), (1, 3), (4, 4), (2, 2)], gap=1)
        [(1, 4), (7, 9)]
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
