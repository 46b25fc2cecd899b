"""Presence: remarks that code remains, is there twice, or is of a kind."""

import re
from collections import Counter
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import Ground, confirm, pattern, refute
from crscore.verdicts.checks.clauses import scope_of, scopes, stated
from crscore.verdicts.code import tokens_of
from crscore.verdicts.statements import MIN_TOKENS, Phrase

_STILL: Final = pattern(r"\b<still>\b")
_TWICE: Final = pattern(r"\b<twice>\b")
_TRAITS: Final = {
    "trailing_space": r"[^\S\n]$",
    "broad_catch": r"\bexcept\s*:|\bexcept\s*\(?(?:Base)?Exception\b|\brescue\s*(?:=>|$)"
    r"|\bcatch\s*(?:\{|\(\s*(?:final\s+)?(?:\w+\.)*(?:Exception|Throwable|Error|\.\.\.)(?!\w)"
    r"|\(\s*\w+\s*\)\s*\{)",
    "debug_print": r"(?i:print|puts\b|console|\bdbg\b|debug|\blog|dump|\becho\b|write)",
    "commented_out": r"#|//|/\*|\*|--|;|%|\bREM\b",
}
"""What code of one kind has in its lines, by the words for it."""
_TRAIT_CHECKS: Final = [
    (pattern(rf"\b<{name}>\b"), re.compile(code)) for name, code in _TRAITS.items()
]


def check_still(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Refute that code remains, where only the old version has it."""
    for _, scope in scopes(phrase, _STILL, ground):
        for code in scope.objects:
            old = scope.find(code, Side.OLD)
            if old and not scope.find(code, Side.NEW):
                claim = f"{quote(code)} is still in {scope.title}"
                fact = f"The new version of {scope.title} has no {quote(code)}."
                return refute(claim, fact, old)
    return None


def check_twice(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Confirm that code is there twice; what is written once may run twice."""
    cue = _TWICE.search(phrase.masked)
    if cue is None or not ground.code.is_whole or not stated(phrase):
        return None
    scope = scope_of(phrase, phrase.masked, cue.start(), ground)
    for code in scope.objects:
        places = scope.find(code, Side.NEW)
        lines = Counter(place.code.strip() for place in places)
        twins = [place for place in places if lines[place.code.strip()] > 1]
        if twins and (scope.names or len(tokens_of(code)) > MIN_TOKENS):
            claim = f"{quote(code)} is in {scope.title} twice"
            return confirm(claim, f"{quote(code)} is in equal lines.", twins)
    return None


def check_trait(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Decide whether code of a kind, such as a broad `except`, is in a place."""
    for words, code in _TRAIT_CHECKS:
        for cue, scope in scopes(phrase, words, ground):
            lines = [place for place in scope.places(Side.NEW) if code.search(place.code)]
            claim = f"there is {cue[0].lower()} in {scope.title}"
            if not lines:
                return refute(claim, f"No line of {scope.title} is of that kind now.")
            objects = {place for text in scope.objects for place in scope.find(text, Side.NEW)}
            exact = [place for place in lines if place in objects]
            if exact or (scope.names and not scope.objects):
                fact = f"Lines of {scope.title} are of that kind."
                return confirm(claim, fact, exact or lines)
    return None


CHECKS: Final = (check_still, check_twice, check_trait)
