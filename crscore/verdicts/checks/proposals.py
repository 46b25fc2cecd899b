"""Proposals: what is asked for and already so, or provably not yet."""

import re
from collections.abc import Iterable
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

_CODE: Final = r"(?:§|\"[^\"]{3,}\")"
_EXCHANGE: Final = pattern(
    rf"(?P<new>{_CODE}),? (?:instead of|rather than|in place of)(?: the| a| an)* (?P<old>{_CODE})"
    rf"|(?:change|replace|swap|correct)(?: the| a| an| all)* (?P<old2>{_CODE})"
    rf" (?:to|by|with|into|for)(?: the| a| an)* (?P<new2>{_CODE})"
    rf"|(?P<old3>{_CODE})(?: here)? should (?:be|read|say|become) (?P<new3>{_CODE})"
)
_ASKS: Final = pattern(r"^\W*(?:use|change|replace|swap|correct)\b|\b(?:<asking>)\b")
_WRITES: Final = pattern(
    r"\b(?:make (?:it|this|that)|write|use|suggest|should be|how about|why not|i'd|prefer)"
    r"(?: it| this| just| something like| as)* (?P<code>§)"
)
_MODIFIER: Final = pattern(r"\b(?:<modifier>)\b")
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


def check_modifier(phrase: Phrase, ground: Ground) -> Receipt | None:
    """A modifier that is asked for in front of a function or type."""
    request = request_of(phrase, ground)
    if request is None or len(request.pieces) != 1 or len(request.words) != 1:
        return None
    modifiers = _MODIFIER.findall(phrase.masked)
    regions = ground.code.regions_named(request.pieces[0].last)
    if len(modifiers) != 1 or stems_of(modifiers[0]) != request.words or len(regions) != 1:
        return None
    region, modifier = regions[0], modifiers[0].lower()
    unit = region.unit
    if unit is None or request.is_elsewhere:
        return None
    places = [Place(region.text, unit.head)]
    says = f"{quote(unit.name)} is not {quote(modifier)}"
    if modifier in unit.head_tokens:
        return refute(says, f"{quote(unit.name)} is {quote(modifier)}.", places)
    return confirm(says, f"{quote(unit.name)} is declared without {quote(modifier)}.", places)


def check_gone(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code whose removal is asked for, and that is already gone."""
    request = request_of(phrase, ground)
    if request is None or request.kind != REMOVES or not request.is_verbatim:
        return None
    code = request.pieces[0].code
    pieces = ground.statement.pieces
    paths = {text.path for piece in pieces for text in ground.code.texts_at(piece.code)}
    kept = _within(ground.code.find(code, Side.NEW), paths)
    removed = _within(ground.code.find_changed(code, Side.OLD), paths)
    if kept or not removed or not ground.code.is_whole:
        return None
    return refute(f"{quote(code)} is there", f"The change removes {quote(code)}.", removed)


def check_exchange(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that is to replace other code."""
    match = _EXCHANGE.search(phrase.masked)
    if match is None or not _ASKS.search(phrase.masked) or not ground.code.is_whole:
        return None
    old, new = (
        next(_code_of(match[name], phrase) for name in names if match[name])
        for names in (("old", "old2", "old3"), ("new", "new2", "new3"))
    )
    if min(len(tokens_of(old)), len(tokens_of(new))) <= 1:
        return None
    new_places, old_places = ground.code.find(new, Side.NEW), ground.code.find(old, Side.NEW)
    says = f"the code has {quote(old)} instead of {quote(new)}"
    if old_places and not new_places:
        fact = f"The new version has {quote(old)}, and nowhere {quote(new)}."
        return confirm(says, fact, old_places)
    if not old_places and ground.code.find_changed(new, Side.NEW):
        return refute(
            says, f"The new version has {quote(new)}, and nowhere {quote(old)}.", new_places
        )
    return None


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


def _within(places: Iterable[Place], paths: set[str]) -> list[Place]:
    """Return the places in some files, or all without any."""
    return [place for place in places if not paths or place.text.path in paths]


def _code_of(text: str, phrase: Phrase) -> str:
    piece = phrase.piece(text) if text.startswith("§") else None
    return piece.code if piece else text.strip('"')


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


CHECKS: Final = (check_modifier, check_already, check_gone, check_exchange, check_rewritten)
