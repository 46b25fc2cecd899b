"""Order of a diff's claims, with near-duplicates merged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.records import PseudoReference

ALIKE = 0.85
"""Share of words two claims have in common, in [0, 1], from which the lighter one is dropped."""
MAX_COMPARED = 200
"""Claims that each claim is compared with."""

_WORD = re.compile(r"\w+")


def ranked(references: Sequence[PseudoReference]) -> tuple[PseudoReference, ...]:
    """Sort the most informative claims first; of near-duplicates only the first is kept.

    Ties keep the order of the diff.
    """
    kept: list[tuple[frozenset[str], PseudoReference]] = []
    seen: set[str] = set()
    for item in sorted(references, key=lambda reference: -reference.weight):
        if item.text in seen:
            continue
        seen.add(item.text)
        words = frozenset(_WORD.findall(item.text.lower()))
        if not any(_alike(words, other) for other, _ in kept[-MAX_COMPARED:]):
            kept.append((words, item))
    return tuple(item for _, item in kept)


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    both = len(left & right)
    return 2 * both >= ALIKE * (len(left) + len(right)) and len(left ^ right) <= 1
