"""Places and quotes: code that is said to stand somewhere."""

import re
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt
from crscore.verdicts.checks.base import (
    MASKED,
    PROPOSES,
    TELLS_OF_OLD,
    Ground,
    confirm,
    refute,
)
from crscore.verdicts.statements import Phrase

NEAR_LINES: Final = 3
"""Lines by which a number may be off."""
_LINE: Final = re.compile(
    r"\blines? (?P<line>\d{1,6})\b(?!\s*(?:and|to|-|–|,|/)\s*\d)", re.IGNORECASE
)


def check_line(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Quoted code on a numbered line: is it there?"""
    numbers = _LINE.findall(phrase.masked)
    spans = [piece for piece in phrase.pieces if piece.is_verbatim]
    if len(numbers) != 1 or not spans or PROPOSES.search(phrase.masked):
        return None
    number = int(numbers[0])
    piece = max(spans, key=lambda span: len(span.code))
    places = ground.code.find(piece.code)
    here = [place for place in places if place.line == number]
    says = f"{quote(piece.code)} is in line {number}"
    if here and all(ground.code.find(other.code) for other in phrase.pieces):
        return confirm(says, f"Line {number} has {quote(piece.code)}.", here)
    is_sure = len(spans) == 1 and not TELLS_OF_OLD.search(phrase.masked)
    if places and not here and is_sure and all(abs(p.line - number) > NEAR_LINES for p in places):
        lines = " and ".join(str(line) for line in sorted({place.line for place in places})[:3])
        return refute(says, f"{quote(piece.code)} is in line {lines}.", places)
    return None


_ASSERTED: Final = re.compile(
    r"\b(?:calls?|invokes?|uses?|reads?|passes|hands|returns?|takes?|accepts?|imports?|evaluates|checks|compares|throws|raises"
    r"|catches|logs|writes|still|keeps?|contains?|has|does|builds|defines|declares|sets|assigns|initiali[sz]es|expects|gets|receives|runs|is|at)"
    r"(?: (?:the|a|an|its|their|only|just|directly|with|to|on|from|plain|bare|literal|there|of|call|calls|line|field|name|expression|by|in|as))*\s*[(*]*" rf"(?P<object>{MASKED})",
    re.IGNORECASE,
)  # fmt: skip


def check_nowhere(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be there, and is nowhere in either version."""
    if (
        not ground.code.is_whole
        or PROPOSES.search(phrase.masked)
        or TELLS_OF_OLD.search(phrase.masked)
    ):
        return None
    for match in _ASSERTED.finditer(phrase.masked):
        piece = phrase.piece(match["object"])
        if piece is None or not piece.is_verbatim or ground.code.find(piece.code):
            continue
        says = f"the code has {quote(piece.code)}"
        return refute(says, f"{quote(piece.code)} is in neither version of the changed files.")
    return None


CHECKS: Final = (check_line, check_nowhere)
