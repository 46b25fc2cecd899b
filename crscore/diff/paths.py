"""Paths of changed files in messages."""

from collections.abc import Sequence
from typing import Final

MAX_SHOWN: Final = 3
"""Maximum number of paths that a message names."""


def format_paths(paths: Sequence[str]) -> str:
    """Format the first few of many paths; an empty path stands for a bare hunk.

    Example:
        >>> format_paths(["a", "b", "c", "d"])
        "'a', 'b', 'c' and 1 more"
    """
    remainder = f" and {len(paths) - MAX_SHOWN} more" if len(paths) > MAX_SHOWN else ""
    return (
        ", ".join(repr(path or "a hunk without --path") for path in paths[:MAX_SHOWN]) + remainder
    )
