"""Absence: what is said to be missing, or never done."""

import re
from collections.abc import Sequence
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import MASKED, Ground, confirm, refute
from crscore.verdicts.code import Place, Region, tokens_of
from crscore.verdicts.statements import Phrase, Piece

_NO: Final = re.compile(
    rf"\b(?:no|without|missing|lacks?|lacking|misses|has no|have no|needs|lost its|lost the|nor)(?: (?:a|an|the|any|its|explicit|such|matching|corresponding|call|calls|to|of|for|single|more|own|proper|check|prior|trailing|use))* (?P<object>{MASKED})",
    re.IGNORECASE,
)


def check_absent(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be missing."""
    match = _NO.search(phrase.masked)
    if match is None:
        return None
    piece = phrase.piece(match["object"])
    if (
        piece is None
        or not piece.is_span
        or re.search(
            r"\b(?:previously|before|used to|was|were|old)\b", phrase.masked, re.IGNORECASE
        )
    ):
        return None
    others = [other for other in phrase.pieces if other is not piece]
    named = [r for other in others if other.last for r in ground.code.regions_named(other.last)]
    return _decide_absence(piece, named, ground)


def _decide_absence(piece: Piece, regions: Sequence[Region], ground: Ground) -> Receipt | None:  # noqa: ARG001
    inside = [
        Place(region.text, line)
        for region in regions
        for line in region.text.find(piece.code)
        if region.start <= line <= region.end
    ]
    unit = regions[0].unit if regions else None
    if unit is None:
        return None
    says = f"{quote(unit.name)} has no {quote(piece.code)}"
    if inside:
        return refute(says, f"{quote(unit.name)} has {quote(piece.code)}.", inside)
    return confirm(
        says,
        f"{quote(piece.code)} is nowhere in {quote(unit.name)}.",
        [Place(regions[0].text, unit.head)],
    )


_NOT_PASSED: Final = re.compile(
    rf"(?P<argument>{MASKED}) (?:is|are|was|isn't|aren't|wasn't) ?(?:not|never|n't)? ?(?:passed|handed|forwarded|given|threaded|propagated)(?: (?:on|along|down|over|through))* to (?:the )?(?P<callee>{MASKED})",
    re.IGNORECASE,
)


def check_not_passed(phrase: Phrase, ground: Ground) -> Receipt | None:
    """An argument that is said not to be passed to a call."""
    match = _NOT_PASSED.search(phrase.masked)
    if match is None or not re.search(r"n't|not|never", match[0]):
        return None
    argument, callee = phrase.piece(match["argument"]), phrase.piece(match["callee"])
    if argument is None or callee is None:
        return None
    calls = [
        (text, fact)
        for text in ground.code.texts(Side.NEW)
        for fact in text.facts()
        if fact.role == "call" and fact.name.endswith(callee.last)
    ]
    says = f"{quote(argument.code)} is not passed to {quote(callee.code)}"
    passing = [
        Place(text, fact.line) for text, fact in calls if argument.last in tokens_of(fact.text)
    ]
    if passing:
        return refute(says, f"{quote(callee.code)} gets {quote(argument.code)}.", passing)
    return None


_DONE: Final = {
    "closed": r"clos|dispos|\bwith\b|\busing\b", "stopped": r"stop|cancel", "released": r"releas|free|delete|dispos|unlock",
    "freed": r"free|releas|delete", "copied": r"copy|clone", "awaited": r"await", "cancelled": r"cancel",
    "checked": r"\bif\b|\bunless\b|\bassert|\?|\bwhen\b|&&|\|\|", "validated": r"valid|\bif\b", "guarded": r"\bif\b|\?|&&",
    "tested": r"assert|expect|test|should", "verified": r"verif|assert|expect|\bif\b", "asserted": r"assert|expect|should",
    "unsubscribed": r"unsubscr|unbind|off\b|remove", "unbound": r"unbind", "locked": r"lock", "escaped": r"escap|quote|encod",
    "logged": r"log|warn|print|debug", "caught": r"catch|except|rescue", "handled": r"\bif\b|catch|except|case|rescue|switch",
    "reset": r"=(?!=)|reset|clear", "set": r"=(?!=)|\bset", "reassigned": r"=(?!=)", "assigned": r"=(?!=)", "initialized": r"=(?!=)|init",
    "initialised": r"=(?!=)|init", "returned": r"return", "trimmed": r"trim|strip", "compared": r"==|!=|\bif\b|compare|equal",
    "imported": r"import|using|require|include|use ", "exported": r"export|public|__all__", "deferred": r"defer", "joined": r"join",
    "flushed": r"flush", "cleared": r"clear|reset|=(?!=)", "incremented": r"\+\+|\+=", "sanitized": r"sanit|escap",
}  # fmt: skip
"""What is done to a name, and how code that does it looks."""
_NEVER: Final = re.compile(
    rf"(?P<subject>{MASKED}|\b[A-Za-z]{{3,}})(?: (?:that|which|in|of|from|for|after|here|inside) [^.;,]{{1,60}}?)? "
    r"(?:(?:is|are|was|gets?|were|has been|being)(?:n't| not| never)|never gets?|is nowhere)(?: (?:being|ever|actually|properly|explicitly|first|even|also|re))* "
    rf"(?P<verb>{'|'.join(_DONE)})\b",
    re.IGNORECASE,
)
_NO_CHECK: Final = re.compile(
    r"\b(?:no|without|missing|lacks?|any|nothing|never)(?: (?:a|an|any|prior|first|explicit|such|more|proper|real|single|further|further|null|nil|None|NULL|undefined|bounds?|length|error|type|empty))*"
    rf" (?:checks?|checking|tests?|guards?|validation|validates|validating|verifies|assertion|checks? for)\b[^.;§]{{0,40}}(?P<subject>{MASKED})",
    re.IGNORECASE,
)
_TEST_OF: Final = re.compile(
    rf"(?:\bno|\bmissing|\bwithout|\black\w*)(?: (?:a|an|any|unit|regression|direct|single|automated))* (?:tests?|coverage|test cases?|specs?)(?: (?:cases?|for|of|covers?|covering|that|which|exercises?|exercising|around|is|are|here))* (?P<subject>{MASKED})|(?P<subject2>{MASKED})(?: (?:itself|still))? (?:is|are|stays?|remains?)(?: (?:completely|still))? (?:untested|not tested|not covered|uncovered|never tested)",
    re.IGNORECASE,
)
_TEST_PATH: Final = re.compile(r"test|spec", re.IGNORECASE)


def check_never_done(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Something that is said never to be done to a name: closed, checked, copied."""
    for match in _NEVER.finditer(phrase.masked):
        subject, verb = match["subject"], match["verb"].lower()
        name = phrase.piece(subject).last if subject.startswith("§") else subject.lower()  # type: ignore[union-attr]
        regions = [
            r
            for piece in phrase.pieces
            for r in ground.code.regions_named(piece.last)
            if piece.last and piece.last != name
        ]
        regions = regions or ground.regions(phrase)
        lines = _lines_with(name, regions, _DONE[verb], exact=subject.startswith("§"))
        if lines:
            says = f"{quote(name)} is not {verb}"
            return refute(
                says, f"{quote(lines[0].text.lines[lines[0].line].strip())} does so.", lines
            )
    return None


def check_unguarded(phrase: Phrase, ground: Ground) -> Receipt | None:
    """A check of a name that is said to be missing."""
    match = _NO_CHECK.search(phrase.masked)
    piece = phrase.piece(match["subject"]) if match else None
    if piece is None or not piece.last:
        return None
    says = f"{quote(piece.code)} is not checked"
    test = _TEST_OF.search(phrase.masked)
    if test and (test["subject"] or test["subject2"]):
        return None
    regions = [
        r
        for other in phrase.pieces
        if other is not piece
        for r in ground.code.regions_named(other.last)
    ] or ground.regions(phrase)
    lines = [
        place
        for place in _lines_with(
            piece.last, regions, r"\bif\b|\bunless\b|\bassert|\?(?!\.)|\bguard\b", exact=True
        )
    ]
    if lines:
        return refute(
            says, f"{quote(lines[0].text.lines[lines[0].line].strip())} checks it.", lines
        )
    return None


def check_untested(phrase: Phrase, ground: Ground) -> Receipt | None:
    """A name of which it is said that no test has it."""
    match = _TEST_OF.search(phrase.masked)
    piece = phrase.piece(match["subject"] or match["subject2"]) if match else None
    if piece is None or not piece.last:
        return None
    says = f"no test has {quote(piece.code)}"
    places = [
        place
        for place in ground.code.find(piece.code, Side.NEW)
        if _TEST_PATH.search(place.text.path)
    ]
    if places:
        return refute(says, f"A test has {quote(piece.code)}.", places)
    return None


def _lines_with(name: str, regions: Sequence[Region], pattern: str, *, exact: bool) -> list[Place]:
    """Return the lines of regions that have a name and match a pattern beside it."""
    found = []
    word = re.compile(
        rf"(?<!\w){re.escape(name)}(?!\w)" if exact else re.escape(name),
        0 if exact else re.IGNORECASE,
    )
    done = re.compile(pattern, re.IGNORECASE)
    for region in regions:
        for number, line in region.lines():
            if word.search(line) and done.search(word.sub("", line)):
                found.append(Place(region.text, number))
    return found


CHECKS: Final = (check_never_done, check_unguarded, check_untested, check_absent, check_not_passed)
