"""Places and quotes: code that is said to stand somewhere."""

import re
from collections.abc import Sequence
from typing import Final

from crscore.claims.structural.english import quote, quoted
from crscore.records import Receipt, Side, Verdict
from crscore.syntax.outline import Kind, Role
from crscore.verdicts.checks.base import Ground, confirm, pattern, refute
from crscore.verdicts.checks.readings import (
    clauses_of,
    pieces_of,
    readings,
    says_more,
    texts_of,
)
from crscore.verdicts.code import Place, Region, tokens_of
from crscore.verdicts.statements import Phrase, Piece

NEAR_LINES: Final = 3
"""Lines by which a number may be off."""
QUOTED_TOKENS: Final = 8
"""Tokens from which a piece of code is a quotation of one place only."""
_NAME: Final = re.compile(r"[\w$][\w$.:/#>-]*")
_LINE: Final = pattern(
    r"\blines? (\d{1,6})(?:(?:,? and | to |[-–/])(\d{1,6}))?\b|[\w§]:(\d{1,6})\b"
    r"|^\W*(?:[a-z]{2,5}, )?(\d{2,6}) (?=[a-z-]+s\b)"
)
_WORDS: Final = r"(?: (?!<relates>\b|(?:of|in|by|like|than|for)\b)[a-z]+){0,3} [(*\[]*"
_STATES: Final = pattern(
    r"\b(?:(?:ends|finishes|closes) in|(?!<relates>\b)[a-z-]+s|(?:you|we|they|lines|both) [a-z]+)"
    + _WORDS
    + "(?P<piece>§)"
    r"|\b(?:is|are|gets?) [a-z]+ (?:by|with|via|through|from|to|as) (?P<piece2>§)"
    r"|(?P<piece3>§) (?:is|are|gets?) (?:\w+ly )?(?:evaluated|called|read|passed|invoked)\b"
)
_DOES: Final = pattern(
    r"(?P<unit>§)(?:,? (?!calls?\b)[a-z]+){0,3}?,? (?:<acts>|(?:you|we|they) [a-z]+)"
    + _WORDS
    + "(?P<piece>§)"
)
_TOGETHER: Final = pattern(r"§(?: [a-z]+){0,2}? (?!<relates>\b)[a-z-]+s\b[^§]* \W*§")
_INSIDE: Final = pattern(
    r"(?P<piece>§)[^§]{1,60}?\b(?:inside|within|under|in) (?:(?:of|the|a|an|that|this|new) )*"
    r"(?:(?P<word>for|while|if|else|try|catch|except|finally|switch) ?(?:loop|block|branch|clause)"
    r"|(?P<head>§) (?:loop|block|branch|guard|clause)"
    r"|(?:loop|block|branch) (?:of|for|over|under) (?P<head2>§))"
)


def check_line(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code on a numbered line: is it there?"""
    receipts = []
    for clause in clauses_of(phrase):
        match, pieces = _LINE.search(clause), pieces_of(clause, phrase)
        if match and pieces:
            numbers = [int(number) for number in match.groups() if number]
            stated = [reading["piece"] for reading in readings(_STATES, phrase, "piece")]
            receipts += [
                _judge_line(Region(text, numbers[0], numbers[-1]), pieces, stated)
                for text in texts_of(phrase, ground)
            ]
    decided = [receipt for receipt in receipts if receipt]
    confirmed = [receipt for receipt in decided if receipt.verdict is Verdict.CONFIRMED]
    if confirmed:
        return None if says_more(ground) else confirmed[0]
    return decided[0] if len(decided) == 1 else None


def _judge_line(lines: Region, pieces: Sequence[Piece], stated: Sequence[Piece]) -> Receipt | None:
    text, number = lines.text, lines.start
    others = [piece for piece in pieces if not _is_around(piece, lines)]
    here = [p for p in others if any(number <= at <= lines.end for at in text.find(p.code))]
    place, line = Place(text, number), text.lines.get(number, "")
    if here and len(here) == len(others) and (len(pieces) > 1 or _is_long(here[0])):
        code = quote(max((piece.code for piece in here), key=len))
        return confirm(f"{code} is in line {number}", f"Line {number} has {code}.", [place])
    for piece in others:
        is_line_meant = len(others) < len(pieces) or here or _has_rival(piece, line)
        if is_line_meant and piece in stated and not _is_near(piece, lines):
            says = f"{quote(piece.code)} is in line {number}"
            return refute(says, f"Line {number} is {quote(line)}.", [place])
    return None


def _is_long(piece: Piece, tokens: int = 4) -> bool:
    return len(tokens_of(piece.code)) >= tokens


def _is_around(piece: Piece, lines: Region) -> bool:
    units = lines.text.regions_named(piece.last)
    is_file = lines.text.path.endswith(piece.code)
    return is_file or any(unit.start <= lines.start <= unit.end for unit in units)


def _has_rival(piece: Piece, line: str) -> bool:
    """Return whether a line has another member of what a piece is a member of."""
    owner, _, member = piece.code.rpartition(".")
    return bool(owner) and member not in line and f"{owner}." in line


def _is_near(piece: Piece, lines: Region) -> bool:
    numbers = range(lines.start - NEAR_LINES, lines.end + NEAR_LINES + 1)
    near = "\n".join(lines.text.lines.get(number, "") for number in numbers).lower()
    return all(word.lower() in near for word in piece.words)


def check_nowhere(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to be there, is in neither version, and has a near spelling there."""
    if not ground.code.is_whole:
        return None
    for reading in readings(_STATES, phrase, "piece"):
        piece = reading["piece"]
        if "..." in piece.code or ground.code.find(piece.code):
            continue
        near = ground.code.nearest(piece.code)
        is_name = _NAME.fullmatch(piece.code) or not _is_long(piece)
        if near and not (is_name and ground.code.knows(piece.last)):
            line = quote(near.text.lines[near.line])
            fact = f"{quote(piece.code)} is in neither version; line {near.line} is {line}."
            return refute(f"the code has {quote(piece.code)}", fact, [near])
    return None


def check_in_unit(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that a function is said to have."""
    for reading in readings(_DOES, phrase, "unit", "piece"):
        unit, piece = reading["unit"].last, reading["piece"]
        regions = ground.code.regions_named(unit) if reading["unit"].code.endswith(unit) else []
        says = f"{quote(unit)} has {quote(piece.code)}"
        inside = [place for region in regions for place in region.find(piece.code)]
        if inside and _is_long(piece, 3) and not says_more(ground):
            return confirm(says, f"{says}.", inside)
        text = "\n".join(line for region in regions for _, line in region.lines()).lower()
        is_elsewhere = _is_long(piece, QUOTED_TOKENS) and ground.code.find(piece.code)
        is_known = piece.last.lower() in text or _is_imported(piece, regions)
        is_whole = all(r.unit and r.unit.kind is not Kind.TYPE for r in regions)
        if (
            regions
            and is_whole
            and ground.code.is_read(unit)
            and not inside
            and (is_elsewhere or not is_known)
        ):
            fact = f"{quote(piece.code)} is nowhere in {quote(unit)}."
            return refute(says, fact, [Place(regions[0].text, regions[0].start)])
    return None


def _is_imported(piece: Piece, regions: Sequence[Region]) -> bool:
    return any(
        fact.role is Role.IMPORT and piece.last in f"{fact.name} {fact.text}"
        for region in regions
        for fact in region.text.facts()
    )


def check_inside(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is said to stand in a block."""
    for reading in readings(_INSIDE, phrase, "piece"):
        code, word = reading["piece"].code, reading.match["word"]
        head = word or reading["head"].code if word or "head" in reading else ""
        places = ground.code.find_changed(code, Side.NEW) or ground.code.find(code, Side.NEW)
        is_head = re.compile(rf"(?<!\w){re.escape(head)}(?!\w)")
        around = {p: [h for h in p.text.heads_around(p.line) if is_head.search(h)] for p in places}
        says = f"{quote(code)} stands in the block of {quote(head)}"
        if head and places and all(around.values()) and not says_more(ground):
            return confirm(says, f"{says}.", places)
        if places and not any(around.values()) and ground.code.find(head, Side.NEW):
            return refute(says, f"{quote(code)} stands outside of each such block.", places)
    return None


def check_together(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Pieces of code of which one is said to do something with the others, on one line."""
    for clause in clauses_of(phrase):
        pieces = pieces_of(clause, phrase)
        if not _TOGETHER.search(clause) or not pieces or says_more(ground):
            continue
        lines = set.intersection(*(set(ground.code.find(p.code, Side.NEW)) for p in pieces))
        if lines and len({piece.code for piece in pieces}) > 1:
            codes = quoted([piece.code for piece in pieces])
            place = min(lines, key=lambda each: each.line)
            return confirm(f"{codes} belong together", f"Line {place.line} has {codes}.", [place])
    return None


CHECKS: Final = (
    check_line,
    check_nowhere,
    check_in_unit,
    check_inside,
    check_together,
)
