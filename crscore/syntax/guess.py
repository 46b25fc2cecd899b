"""Language detection for code whose file name does not determine it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.syntax.fragments import read_fragment
from crscore.syntax.grammars import languages_known
from crscore.syntax.model import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.syntax.model import Language, Tree

MAX_LINES = 120
"""Lines tried."""
MAX_CHARACTERS = 20_000
"""Characters tried; a longer piece is not guessed."""
MAX_ERRORS = 0.03
"""Largest share of bytes that the grammar may fail to read, in [0, 1]."""

_TELLING = frozenset(
    {
        Role.FUNCTION,
        Role.CLASS,
        Role.IMPORT,
        Role.IF,
        Role.LOOP,
        Role.RETURN,
        Role.CALL,
        Role.ASSIGN,
    }
)


def guess(lines: Sequence[str]) -> Language | None:
    """Return the language that parses a piece of code best, or None when none does it well.

    Args:
        lines: Consecutive lines of one side of a hunk.
    """
    tried = lines[:MAX_LINES]
    size = sum(map(len, tried))
    if not 0 < size <= MAX_CHARACTERS:
        return None
    best: tuple[float, float, int] | None = None
    found: Language | None = None
    for language in languages_known():
        tree = read_fragment(language, tried, 1)
        share = tree.errors / size
        rank = (round(share, 3), -_information(tree), language.precedence)
        if share <= MAX_ERRORS and _information(tree) > 0 and (best is None or rank < best):
            best, found = rank, language
    return found


def _information(tree: Tree) -> float:
    """Return the share of tokens in units of a clear role, in [0, 1]."""
    total = sum(len(unit.tokens) for unit in tree.units)
    clear = sum(len(unit.tokens) for unit in tree.units if unit.role in _TELLING)
    return round(clear / total, 2) if total else 0.0
