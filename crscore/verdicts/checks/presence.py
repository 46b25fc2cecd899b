"""Presence: code that is said to be there still, twice, misspelled or imported."""

import re
from collections import Counter
from itertools import combinations
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.syntax.outline import Role
from crscore.verdicts.checks.base import Ground, confirm, pattern, refute
from crscore.verdicts.checks.clauses import Clause, Scope, clauses, everywhere
from crscore.verdicts.code import Place, tokens_of
from crscore.verdicts.statements import Phrase

MIN_TOKENS: Final = 3
"""Tokens from which a piece of code says more than a name: `a.b` has three."""
MIN_UNPLACED_TOKENS: Final = 4
"""The same where a clause names no place."""
MIN_LITERAL: Final = 2
"""Characters from which a literal in a changed line is no coincidence."""
NEAR_LINES: Final = 2
"""Lines that a piece of code may be off another one in the same statement."""
_STILL: Final = pattern(r"\b<still>\b")
_ASSERTS: Final = pattern(r"\b(?:<still>|<asserts>)\b")
_LITERAL: Final = pattern(r"\b<literal>\b")
_CALLS: Final = pattern(r"\b(?:<calls>|<passes>)\b")
_TWICE: Final = pattern(r"\b<twice>\b")
_TRAITS: Final = {
    "trailing_space": r"[^\S\n]$",
    "broad_catch": r"\bexcept\s*:|\bexcept\s*\(?(?:Base)?Exception\b|\brescue\s*(?:=>|$)"
    r"|\bcatch\s*(?:\{|\(\s*(?:final\s+)?(?:\w+\.)*(?:Exception|Throwable|Error|\.\.\.)(?!\w)"
    r"|\(\s*\w+\s*\)\s*\{)",
    "debug_print": r"(?i:print|puts\b|console|\bdbg\b|debug|\blog|dump|\becho\b|write)",
    "commented_out": r"#|//|/\*|\*|--|;|%|\bREM\b",
    "wildcard_import": r"\bimport\b.*\*|::\*|\.\*;|^\s*from\b.*\*",
    "todo": r"(?i:todo|fixme)",
    "non_null": r"[\w)\]]!(?!=)",
}
"""What code of one kind has in its lines, by the words for it."""
_TRAIT_CHECKS: Final = [
    (pattern(rf"\b<{name}>\b"), re.compile(code)) for name, code in _TRAITS.items()
]


def check_still(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be there still."""
    for clause in clauses(phrase, _STILL, ground):
        receipt = (
            _refute_gone(clause)
            or _refute_apart(clause, ground)
            or _refute_uncalled(clause, ground)
        )
        if receipt:
            return receipt
    if all(_is_there(piece.code, ground) for piece in phrase.pieces):
        for clause in clauses(phrase, _ASSERTS, ground):
            receipt = _confirm_there(clause, ground)
            if receipt:
                return receipt
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
    """Refute that two things are still together in a line."""
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


def _refute_uncalled(clause: Clause, ground: Ground) -> Receipt | None:
    """Refute a call in a unit, or an argument of a call, that only the old version has."""
    if not _CALLS.search(clause.masked):
        return None
    for callee in clause.named:
        old, new = (_calls(callee, clause.scope, side) for side in (Side.OLD, Side.NEW))
        if callee in clause.objects and old and not new and clause.scope.names:
            return refute(
                f"{clause.scope.title} still calls {quote(callee)}",
                f"The new version of {clause.scope.title} does not call {quote(callee)}.",
                [place for place, _ in old],
            )
        old, new = (_calls(callee, everywhere(ground), side) for side in (Side.OLD, Side.NEW))
        for code in clause.objects:
            passing = [place for place, text in old if code in tokens_of(text)]
            if passing and new and not any(code in tokens_of(text) for _, text in new):
                return refute(
                    f"{quote(callee)} still gets {quote(code)}",
                    f"No call of {quote(callee)} in the new version has {quote(code)}.",
                    [place for place, _ in new],
                )
    return None


def _calls(callee: str, scope: Scope, side: Side) -> list[tuple[Place, str]]:
    name = tokens_of(callee)[-1]
    return [
        (Place(region.text, fact.line), fact.text)
        for region in scope.regions
        if region.text.side is side
        for fact in region.text.facts(region)
        if fact.role is Role.CALL and tokens_of(fact.name)[-1:] == [name]
    ]


def _confirm_there(clause: Clause, ground: Ground) -> Receipt | None:
    scope = clause.scope
    if not clause.objects or not all(scope.find(code, Side.NEW) for code in clause.objects):
        return None
    code = max(clause.objects, key=lambda code: len(tokens_of(code)))
    is_literal = _LITERAL.search(clause.masked) and code.strip('"').isalnum()
    is_placed = bool(scope.names or is_literal)
    if len(tokens_of(code)) < (MIN_TOKENS if is_placed else MIN_UNPLACED_TOKENS):
        is_changed = ground.code.find_changed(code, Side.NEW)
        if not (is_literal and is_changed and len(code) >= MIN_LITERAL):
            return None
    if not scope.names and ground.code.count(code, Side.NEW) < ground.code.count(code, Side.OLD):
        return None
    return confirm(
        f"{quote(code)} is in {scope.title}",
        f"The new version of {scope.title} has {quote(code)}.",
        scope.find(code, Side.NEW),
    )


def _is_there(code: str, ground: Ground) -> bool:
    return bool(
        not tokens_of(code)
        or ground.code.find(code, Side.NEW)
        or ground.code.texts_at(code, Side.NEW)
    )


def check_twice(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be there twice."""
    for clause in clauses(phrase, _TWICE, ground, with_rest=True):
        for code in clause.objects:
            places = clause.scope.find(code, Side.NEW)
            says = f"{quote(code)} is in {clause.scope.title} twice"
            lines = Counter(place.text.lines[place.line].strip() for place in places)
            repeated = {line for line, count in lines.items() if count > 1}
            if repeated and (clause.scope.names or len(tokens_of(code)) >= MIN_UNPLACED_TOKENS):
                twins = [p for p in places if p.text.lines[p.line].strip() in repeated]
                return confirm(says, f"{quote(code)} is in equal lines.", twins)
            if len(places) == 1 and len(tokens_of(code)) >= MIN_UNPLACED_TOKENS:
                return refute(says, f"{quote(code)} is in {clause.scope.title} once.", places)
    return None


def check_trait(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code of a kind, as a broad `except`, that is said to be in a place."""
    for words, code in _TRAIT_CHECKS:
        for clause in clauses(phrase, words, ground):
            lines = [place for place, line in clause.scope.lines(Side.NEW) if code.search(line)]
            says = f"there is {clause.cue[0].lower()} in {clause.scope.title}"
            if not lines:
                return refute(
                    says, f"No line of {clause.scope.title} in the new version is of that kind."
                )
            named = {
                place for text in clause.objects for place in clause.scope.find(text, Side.NEW)
            }
            exact = [place for place in lines if place in named]
            if exact or (clause.scope.names and not clause.objects):
                return confirm(
                    says, f"Lines of {clause.scope.title} are of that kind.", exact or lines
                )
    return None


CHECKS: Final = (
    check_still,
    check_twice,
    check_trait,
)
