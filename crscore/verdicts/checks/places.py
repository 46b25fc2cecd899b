"""Places and quotes: remarks on where code is."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.english import quote, quoted
from crscore.records import Receipt, Side
from crscore.syntax.outline import Kind
from crscore.verdicts.checks.base import MASKED, Ground, confirm, pattern, refute
from crscore.verdicts.checks.clauses import (
    claims_more,
    scope_of,
    stated,
    texts_of,
)
from crscore.verdicts.code import Place, Region, tokens_of
from crscore.verdicts.statements import MIN_TOKENS, MIN_VERBATIM_TOKENS, Phrase, Piece

NEAR_LINES: Final = 3
"""Lines by which a number may be off."""
QUOTED_TOKENS: Final = 8
"""Tokens from which a piece of code is a quotation of one place only."""
MIN_QUOTED: Final = 0.7
"""Share of its tokens from which code is a wrong quotation of a line."""
_OPERATOR: Final = re.compile(r"[=:<>|&+*]")
_PROPOSED: Final = pattern(
    r"\b(?:<hypothetical>|<meant>)\b|§ (?:instead|→|->|rather)|^\W*(?:<softly> )*(?:<adding>)\b"
    r"|→|\?$"
)
_WORDS_BESIDE: Final = re.compile(r"[a-z]{2}")
_CHANGES: Final = pattern(r"\b(?:<exchanges>|<removes>|<denies>|<history>)\b")
_NAME: Final = re.compile(r"[\w$/][\w$.:/#<>-]*")
_LINE: Final = pattern(
    r"\blines? (\d{1,6})(?:(?:,? and | to |[-–/])(\d{1,6}))?\b|[\w§]:(\d{1,6})\b"
    r"|^\W*(?:[a-z]{2,5}, )?(\d{2,6}) (?=[a-z-]+s\b)"
)
_STATES: Final = pattern(
    r"\b(?:(?:ends|finishes|closes) in|(?!<relates>\b|as\b)[a-z-]+s"
    r"|(?:you|we|they|lines|both) (?!<meant>\b)[a-z]+)"
    r"(?: (?!<relates>\b|(?:of|in|by|like|than|for|if|that|when|whenever|where)\b)[a-z]+){0,3}"
    r" [(*\[]*(§)"
    r"|\b(?:is|are|gets?) [a-z]+ (?:by|with|via|through|from|to|as) (§)"
    r"|(§) (?:is|are|gets?) (?:\w+ly )?(?:evaluated|called|read|passed|invoked)\b"
)
_WISHED_FOR: Final = pattern(r"\b<meant>\b")
# Code is quoted as it is where a verb says so, or where its place follows.
_QUOTES: Final = pattern(
    r"\b(?:(?:is|are)(?: [a-z]+ed)?|comes? out of|<does>|<acts>|declares|keeps|carries|expects"
    r"|tagged|declared|(?:still|now)(?: [a-z]+){0,3}"
    r"|\w+(?:ed|en|lt|s)(?: [\w-]+){0,4} (?:with|by|as|to|into|through|via))"
    r"(?: (?:the|an?|its|to|new|old|for))*\W*$"
)
_PLACED: Final = pattern(
    r"^[)\]*\"']*(?: \w+){0,2} (?:on line \d|in §"
    r"|(?:is|are) (?:still|committed|called|set|there|used|in|at)\b)"
)
_ASSERTS: Final = pattern(r"\b(?:<still>|<acts>)\b")
_TOGETHER: Final = pattern(r"§(?: [a-z]+){0,2}? <acts>\b[^§]* \W*§")


def _stated_pieces(phrase: Phrase) -> Iterator[tuple[str, re.Match[str], Piece]]:
    """Yield the pieces of code that a clause places in the change."""
    for clause in stated(phrase):
        if _WISHED_FOR.search(clause):
            continue
        for match in _STATES.finditer(clause):
            piece = phrase.piece(match[match.lastindex or 0])
            if piece and piece.words and "?" not in clause:
                yield clause, match, piece


def _numbered(clause: str, phrase: Phrase, ground: Ground) -> list[Region]:
    """Return the lines that a clause numbers, in each file that it may be about."""
    match = _LINE.search(clause)
    numbers = [int(number) for number in match.groups() if number] if match else []
    texts = texts_of(phrase, ground) if numbers else []
    return [Region(text, numbers[0], numbers[-1]) for text in texts]


def _is_near(piece: Piece, lines: Region) -> bool:
    near = lines._replace(start=lines.start - NEAR_LINES, end=lines.end + NEAR_LINES)
    text = "\n".join(place.code for place in near.places()).lower()
    return all(word.lower() in text for word in piece.words)


def check_nowhere(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Refute code that is elsewhere, no longer there, or spelled in another way."""
    for clause, match, piece in _stated_pieces(phrase) if ground.code.is_whole else ():
        code, length = quote(piece.code), len(tokens_of(piece.code))
        scope = scope_of(phrase, clause, match.start(match.lastindex or 0), ground)
        if "..." in piece.code or scope.find(piece.code, Side.NEW):
            continue
        if ground.code.find(piece.code):
            units = [region for region in scope.regions if region.unit]
            if length >= QUOTED_TOKENS and units and not any(map(_is_type, units)):
                heads = [Place(region.text, region.start) for region in units]
                return refute(f"{code} is in {scope.title}", f"{scope.title} has no {code}.", heads)
            continue
        near = ground.code.nearest(piece.code)
        is_name = _NAME.fullmatch(piece.code) or length < MIN_VERBATIM_TOKENS
        is_other = near and ground.code.is_elsewhere(piece.code)
        if near and not is_other and not (is_name and ground.code.knows(piece.last)):
            fact = f"{code} is in neither version; line {near.line} is {quote(near.code)}."
            return refute(f"the code has {code}", fact, [near])
    return None


def check_quoted(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Refute code that a clause quotes as it is now, and that only nearly is so."""
    for clause in stated(phrase) if ground.code.is_whole else ():
        if _PROPOSED.search(clause) or not _WORDS_BESIDE.search(clause):
            continue
        for mask in re.finditer(MASKED, clause):
            piece = phrase.piece(mask[0])
            before, after = clause[: mask.start()], clause[mask.end() :]
            if piece is None or not (_QUOTES.search(before) or _PLACED.search(after)):
                continue
            for code in _quotations(piece):
                is_here = ground.code.find(code, Side.NEW) or ground.code.texts_at(code)
                if is_here or ground.code.is_elsewhere(code):
                    continue
                if places := ground.code.find(code):
                    if not _CHANGES.search(clause):
                        return refute(
                            f"the code has {quote(code)}",
                            f"Only the old version has {quote(code)}.",
                            places,
                        )
                elif (
                    piece.code == code
                    and not _NAME.fullmatch(code)
                    and (near := ground.code.nearest(code, MIN_QUOTED))
                ):
                    line = f"line {near.line} is {quote(near.code)}"
                    fact = f"{quote(code)} is in neither version; {line}."
                    return refute(f"the code has {quote(code)}", fact, [near])
    return None


def _quotations(piece: Piece) -> list[str]:
    """Return what a piece of code quotes word for word: without what `...` leaves out."""
    parts = re.split(r"\.{3}|…", piece.code) if piece.is_span else []
    return [
        part
        for part in parts
        if len(tokens_of(part)) >= (MIN_TOKENS if _OPERATOR.search(part) else MIN_VERBATIM_TOKENS)
    ]


def _is_type(region: Region) -> bool:
    return region.unit is not None and region.unit.kind is Kind.TYPE


def check_there(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Confirm code in a place, unless the remark claims more."""
    is_known = _is_known(ground)
    for clause in () if claims_more(ground) else stated(phrase):
        cue, numbered = _ASSERTS.search(clause), _numbered(clause, phrase, ground)
        end = len(clause) if numbered else cue.start() if cue else 0
        scope = scope_of(phrase, clause, end, ground)
        places = [set(scope.find(code, Side.NEW)) for code in scope.objects]
        lines = set.intersection(*places) if places else set()
        if numbered:
            lines = {place for place in lines if any(region.has(place) for region in numbered)}
        is_together = len(places) > 1 and _TOGETHER.search(clause)
        is_placed = numbered or (is_known and (is_together or (cue and scope.names)))
        is_long = any(len(tokens_of(code)) >= MIN_TOKENS for code in scope.objects)
        if lines and is_placed and (is_long or is_together or (numbered and scope.names)):
            codes, place = quoted(scope.objects), min(lines, key=lambda place: place.line)
            owner = scope.title if scope.names else f"line {place.line}"
            return confirm(f"{owner} has {codes}", f"Line {place.line} has {codes}.", [place])
    return None


def _is_known(ground: Ground) -> bool:
    """Return whether the new version has all code of a remark."""
    pieces = [piece.code for piece in ground.statement.pieces if piece.words]
    return all(ground.code.find(code, Side.NEW) or ground.code.texts_at(code) for code in pieces)


CHECKS: Final = (check_nowhere, check_quoted, check_there)
