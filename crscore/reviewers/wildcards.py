"""Patterns in which `*` stands for any text: all that profiles and `--author` need."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is the whole text; small and capital letters are the same.

    Takes time linear in the text for each `*`. Nothing but `*` is special: `[bot]` is `[bot]`.

    Example:
        >>> matches("coderabbit*[bot]", "CodeRabbitAI[bot]"), matches("a*", "ba")
        (True, False)
    """
    first, *others = _pieces(pattern)
    text = text.casefold()
    if not others:
        return text == first
    *middle, last = others
    if not text.startswith(first):
        return False
    at = len(first)
    for piece in middle:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return len(text) - len(last) >= at and text.endswith(last)


def matches_any(patterns: Iterable[str], text: str) -> bool:
    """Whether one of the patterns is the whole text.

    Example:
        >>> matches_any(("open (*)", "*prompt*"), "Open (3)")
        True
    """
    return any(matches(pattern, text) for pattern in patterns)


@lru_cache(maxsize=1024)
def _pieces(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.casefold().split("*"))
