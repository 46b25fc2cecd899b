"""Presence: code that is said to be there still, twice, unused or misspelled."""

import re
from itertools import combinations
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import Ground, confirm, pattern, refute
from crscore.verdicts.checks.clauses import Clause, clauses
from crscore.verdicts.code import Place, tokens_of
from crscore.verdicts.statements import Phrase

MIN_TOKENS: Final = 3
"""Tokens from which a piece of code says more than a name: `a.b` has three."""
MIN_UNPLACED_TOKENS: Final = 4
"""The same where a clause names no place."""
NEAR_LINES: Final = 2
"""Lines that a piece of code may be off another one in the same statement."""
_STILL: Final = pattern(r"\b<still>\b")


def check_still(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be there still."""
    for clause in clauses(phrase, _STILL, ground):
        receipt = _refute_gone(clause) or _refute_apart(clause, ground)
        if receipt:
            return receipt
        if all(_is_there(piece.code, ground) for piece in phrase.pieces):
            return _confirm_there(clause, ground)
    return None


def _refute_gone(clause: Clause) -> Receipt | None:
    for code in clause.objects:
        old = clause.scope.find(code, Side.OLD)
        if old and not clause.scope.find(code, Side.NEW):
            return refute(
                f"{quote(code)} is still in {clause.scope.title}",
                f"The new version of {clause.scope.title} has no {quote(code)}.",
                old,
            )
    return None


def _refute_apart(clause: Clause, ground: Ground) -> Receipt | None:
    """Refute that two things still stand together, as a call and its argument."""
    for first, second in combinations(clause.named, 2):
        old = _together(first, second, Side.OLD, ground, near=0)
        if any(place.line in place.text.changed for place in old) and not _together(
            first, second, Side.NEW, ground, near=NEAR_LINES
        ):
            return refute(
                f"{quote(first)} still has {quote(second)}",
                f"{quote(first)} and {quote(second)} are together only in the old version.",
                old,
            )
    return None


def _together(first: str, second: str, side: Side, ground: Ground, *, near: int) -> list[Place]:
    others = ground.code.find(second, side)
    return [
        place
        for place in ground.code.find(first, side)
        if any(
            other.text is place.text and abs(other.line - place.line) <= near for other in others
        )
    ]


def _confirm_there(clause: Clause, ground: Ground) -> Receipt | None:
    scope = clause.scope
    minimum = MIN_TOKENS if scope.names else MIN_UNPLACED_TOKENS
    places = [scope.find(code, Side.NEW) for code in clause.objects]
    if not places or not all(places):
        return None
    if max(len(tokens_of(code)) for code in clause.objects) < minimum:
        return None
    if not scope.names and any(ground.code.find_changed(code, Side.OLD) for code in clause.objects):
        return None
    code = max(clause.objects, key=len)
    return confirm(
        f"{quote(code)} is still in {scope.title}",
        f"The new version of {scope.title} has {quote(code)}.",
        scope.find(code, Side.NEW),
    )


def _is_there(code: str, ground: Ground) -> bool:
    return bool(
        not tokens_of(code)
        or ground.code.find(code, Side.NEW)
        or ground.code.texts_at(code, Side.NEW)
    )


CHECKS: Final = (check_still,)
