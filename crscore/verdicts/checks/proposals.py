"""Proposals: what is asked for and already so, or provably not yet."""

import re
from difflib import SequenceMatcher
from typing import Final

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.verdicts.checks.base import Ground, confirm, pattern, refute
from crscore.verdicts.checks.requests import REMOVES, SHAPES, Request, request_of, stems_of
from crscore.verdicts.code import FileText, Place, tokens_of
from crscore.verdicts.statements import Phrase, Piece

NEAR_LINES: Final = 5
"""Lines around a line in which the rest of a request is looked for."""
CONTEXT_LINES: Final = 3
"""Lines around a changed line that a reviewer sees."""
MIN_SHARE: Final = 0.6
"""Minimum share of a request's plain words that the code has."""
MIN_WORDS: Final = 3
"""Minimum plain words on the line, of a request without code."""
MIN_REWRITTEN: Final = 5
"""Minimum tokens of code that is proposed for a line."""
MIN_NAMES: Final = 2
"""Minimum names that the line and the proposed code share."""
MIN_SAME: Final = 0.7
"""Minimum share of the tokens, of the shorter of the two, that they share."""

_WRITES: Final = pattern(
    r"\b(?:make (?:it|this|that)|write|use|suggest|should be|how about|why not|i'd|prefer)"
    r"(?: it| this| just| something like| as)* (?P<code>§)"
)
_ELLIPSIS: Final = re.compile(r"\.{3}|…")
_NAME: Final = re.compile(r"[\w-]+")


def check_already(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is asked for and already there."""
    request = request_of(phrase, ground)
    if request is None or request.kind == REMOVES or not request.is_specific:
        return None
    places = [
        place
        for text in ground.code.texts(Side.NEW)
        for place in _lines(text, request)
        if _fits(place, request, ground)
    ]
    if not places:
        return None
    best = max(places, key=lambda place: _weight(place.text.lines[place.line], request))
    shown = sorted({best, _line_with_rest(best, request)}, key=lambda place: place.line)
    lines = " and line ".join(
        f"{place.line} is {quote(place.text.lines[place.line].strip())}" for place in shown
    )
    return refute("what it asks for is not there", f"Line {lines}.", shown)


def check_rewritten(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is proposed for a changed line that is almost so."""
    match = _WRITES.search(phrase.masked)
    piece = phrase.piece(match["code"]) if match else None
    if piece is None or len(tokens_of(piece.code)) < MIN_REWRITTEN or not ground.code.is_whole:
        return None
    names = (near.last for near in phrase.pieces if near is not piece and near.last)
    if ground.code.find(piece.code, Side.NEW) or not all(map(ground.code.knows, names)):
        return None
    places = {
        Place(text, number): _likeness(text.lines.get(number, ""), piece)
        for text in ground.code.texts(Side.NEW)
        for number in sorted(text.changed)
    }
    best = max(places, key=lambda place: places[place], default=None)
    if best is None or not places[best]:
        return None
    line = quote(best.text.lines[best.line].strip())
    return confirm(f"the code is not {quote(piece.code)}", f"Line {best.line} is {line}.", [best])


def _line_with_rest(place: Place, request: Request) -> Place:
    """Return the near line with most words of a request that a line lacks, or the line."""
    lines = place.text.lines
    rest = request.words - stems_of(lines[place.line])
    window = range(place.line - NEAR_LINES, place.line + NEAR_LINES + 1)
    near = [place, *(Place(place.text, number) for number in window if number in lines)]
    return max(near, key=lambda near_place: len(rest & stems_of(lines[near_place.line])))


def _lines(text: FileText, request: Request) -> list[Place]:
    """Return the lines that a reviewer sees, those of named units, and those with its code."""
    numbers = {
        number
        for line in text.changed
        for number in range(line - CONTEXT_LINES, line + CONTEXT_LINES + 1)
    }
    for name in {piece.last for piece in (*request.subjects, *request.pieces)} - {""}:
        for region in text.regions_named(name):
            numbers.update(range(region.start, region.end + 1))
    if request.is_verbatim:
        numbers.update(text.find(request.pieces[0].code))
    if request.kind == "imports" and any(text.path.endswith(p.code) for p in request.pieces):
        numbers.update(text.lines)
    return [Place(text, number) for number in sorted(numbers & text.lines.keys())]


def _fits(place: Place, request: Request, ground: Ground) -> bool:
    """Return whether a line does what is asked for, where it is asked for."""
    line = place.text.lines[place.line]
    main, further_pieces = request.pieces[:1], request.pieces[1:]
    if not SHAPES[request.kind].search(line) or not all(_has(line, piece) for piece in main):
        return False
    window = range(place.line - NEAR_LINES, place.line + NEAR_LINES + 1)
    around = "\n".join(place.text.lines.get(number, "") for number in window)
    namesakes = [piece for piece in (*request.subjects, *further_pieces) if _names(piece, place)]
    if not all(piece in namesakes or _has(around, piece) for piece in further_pieces):
        return False
    units = [p for p in request.subjects if p.last and ground.code.regions_named(p.last)]
    if (request.is_elsewhere or units) and not namesakes:
        return False
    words = request.words
    shared = words & stems_of(f"{around} {place.text.path.replace('/', ' ')}")
    if not main:
        return shared == words and len(words & stems_of(line)) >= MIN_WORDS
    is_sure = bool(namesakes) and (request.is_verbatim or request.kind != "adds")
    return is_sure or len(shared) >= MIN_SHARE * len(words)


def _weight(line: str, request: Request) -> int:
    """Return how much of a request is on a line."""
    return len(stems_of(line) & request.words) + sum(_has(line, p) for p in request.pieces)


def _names(piece: Piece, place: Place) -> bool:
    """Return whether a piece names the unit or the file of a line."""
    path = place.text.path
    if path.endswith(piece.code) or f"/{piece.code}." in f"/{path}":
        return True
    regions = place.text.regions_named(piece.last) if piece.last else []
    return any(region.start <= place.line <= region.end for region in regions)


def _has(text: str, piece: Piece) -> bool:
    """Return whether a text has a piece of code, or all words of a name in another style."""
    tokens = f" {' '.join(tokens_of(text))} "
    parts = (" ".join(tokens_of(part)) for part in _ELLIPSIS.split(piece.code))
    if all(f" {part} " in tokens for part in parts if part):
        return True
    stems = stems_of(piece.code)
    return bool(_NAME.fullmatch(piece.code)) and len(stems) > 1 and stems <= stems_of(text)


def _likeness(line: str, piece: Piece) -> float:
    """Return the share of tokens in order that a line and a piece share; 0 for too few."""
    tokens, proposed = tokens_of(line.strip().rstrip(";,")), tokens_of(piece.code)
    blocks = SequenceMatcher(None, tokens, proposed, autojunk=False).get_matching_blocks()
    shared = [token for block in blocks for token in tokens[block.a : block.a + block.size]]
    names = {token for token in shared if token[0].isalpha()}
    is_near = len(shared) >= MIN_SAME * min(len(tokens), len(proposed))
    return (
        2 * len(shared) / (len(tokens) + len(proposed))
        if is_near and len(names) >= MIN_NAMES
        else 0
    )


CHECKS: Final = (check_already, check_rewritten)
