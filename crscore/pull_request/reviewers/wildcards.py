"""Patterns in which `*` matches any text, for profiles and `--author`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern matches the whole text, ignoring case.

    Takes time linear in the text for each `*`. Only `*` is special: `[bot]` is `[bot]`.

    Example:
        >>> matches("coderabbit*[bot]", "CodeRabbitAI[bot]"), matches("a*", "ba")
        (True, False)
    """
    return _matches(_pieces(pattern), text.casefold())


def matches_any(patterns: Iterable[str], text: str) -> bool:
    """Return whether one of the patterns matches the whole text.

    Example:
        >>> matches_any(("open (*)", "*prompt*"), "Open (3)")
        True
    """
    folded = text.casefold()
    return any(_matches(_pieces(pattern), folded) for pattern in patterns)


@lru_cache(maxsize=1024)
def _pieces(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.casefold().split("*"))


def _matches(pieces: tuple[str, ...], text: str) -> bool:
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return text == first
    if not text.startswith(first):
        return False
    at = len(first)
    for piece in pieces[1:-1]:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return len(text) - len(last) >= at and text.endswith(last)
