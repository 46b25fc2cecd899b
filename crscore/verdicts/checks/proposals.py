"""Proposals: requests for code that is there already, or provably not yet."""

import re
from typing import Final, NamedTuple

from crscore.claims.structural.english import quote
from crscore.records import Receipt, Side
from crscore.text.content import stems_and_names
from crscore.text.words import stem
from crscore.verdicts.checks.base import MASKED, WORDS, Ground, confirm, pattern, refute
from crscore.verdicts.checks.clauses import names_place, pieces_of
from crscore.verdicts.code import Place, Region, tokens_of
from crscore.verdicts.statements import MASK, MIN_VERBATIM_TOKENS, Phrase, Piece

NEAR_LINES: Final = 5
"""Lines around a line in which the rest of a request is looked for."""
MIN_SHARE: Final = 0.6
"""Minimum share of a request's plain words that the code has."""
MIN_REWRITTEN: Final = 5
"""Minimum tokens of code that is proposed for a line."""
_REQUEST: Final = pattern(
    # "Passing `x` breaks ..." asks for nothing.
    r"(?:(?:^|[.,;:!?)*] )(?!\w+ing\b)|\b<asking> |\bthat § |§(?: should| must) )(?:<softly> )*"
    r"(?:<adding>)\b(?P<object>.*)"
)
_WRITES: Final = pattern(
    r"\b(?:make (?:it|this|that)|write|use|suggest|should be|how about|why not|i'd|prefer)"
    r"(?: it| this| just| something like| as)* (?P<code>§)"
)
_NEGATED: Final = re.compile(
    r"(?:\b(?:no|not|never|nothing|without)|n't)\b[^.;:,]*$", re.IGNORECASE
)
_REASON: Final = pattern(r"[,;:.!?]? ?\b(?:<reason>)\b|[;:!?]|\.(?: |$)|, § ")
_OTHER_PLACE: Final = pattern(r"\b(?:<elsewhere>)\b")
_PLACE: Final = pattern(r"\b(?:<preposition>)\b(?P<place>.*)")
_GENERIC: Final = frozenset(map(stem, WORDS["generic"].split("|")))


class _Request(NamedTuple):
    code: Piece
    """The longest piece of code that it requests."""
    context: list[Piece]
    subjects: list[Piece]
    """Code before the verb."""
    words: frozenset[str]
    """Stems of its plain words, without words that say nothing of the code."""
    is_elsewhere: bool
    """Whether the same code may be meant at another place."""


def _read_request(phrase: Phrase, ground: Ground) -> _Request | None:
    match = _REQUEST.search(phrase.masked)
    if match is None or _NEGATED.search(phrase.masked[: match.start("object")]):
        return None
    subjects = pieces_of(phrase.masked[: match.start("object")], phrase)
    reason = _REASON.search(match["object"])
    text, rest = match["object"][: reason and reason.start()], reason[0] if reason else ""
    *context, code = sorted(pieces_of(text, phrase), key=_count_tokens) or [
        Piece("", is_span=False)
    ]
    if _count_tokens(code) < MIN_VERBATIM_TOKENS or ground.code.texts_at(code.code):
        return None
    spot = _PLACE.search(text)
    is_vague = spot and MASK not in spot[0] and not _stems_of(spot[0]) - _GENERIC
    is_of_unit = any(p.last and ground.code.regions_named(p.last) for p in subjects)
    is_elsewhere = bool(is_vague or is_of_unit or _OTHER_PLACE.search(text + rest))
    words = _stems_of(re.sub(MASKED, " ", text)) - _GENERIC
    return _Request(code, context, subjects, words, is_elsewhere)


def check_already(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Refute a request for code that is there already, word for word."""
    request = _read_request(phrase, ground)
    for place in ground.code.find(request.code.code, Side.NEW) if request else ():
        if request and _is_meant(place, request):
            fact = f"Line {place.line} is {quote(place.code.strip())}."
            return refute("what it asks for is not there", fact, [place])
    return None


def _is_meant(place: Place, request: _Request) -> bool:
    """Return whether a line is where a request asks for code: in its unit, or near its words."""
    around = Region(place.text, place.line - NEAR_LINES, place.line + NEAR_LINES)
    pieces = (*request.subjects, *request.context)
    owners = [piece for piece in pieces if names_place(piece, place)]
    if not all(piece in owners or around.find(piece.code) for piece in request.context):
        return False
    lines = around.places()
    text = " ".join([*(line.code for line in lines), place.text.path.replace("/", " ")])
    has_words = len(request.words & _stems_of(text)) >= MIN_SHARE * len(request.words)
    is_seen = has_words and any(line.is_changed for line in lines)
    return bool(owners) or (is_seen and not request.is_elsewhere)


def _count_tokens(piece: Piece) -> int:
    return len(tokens_of(piece.code))


def _stems_of(text: str) -> frozenset[str]:
    return stems_and_names(text)[0]


def check_rewritten(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Confirm code that is proposed for a changed line that is almost so."""
    match = _WRITES.search(phrase.masked)
    piece = phrase.piece(match["code"]) if match else None
    if piece is None or _count_tokens(piece) < MIN_REWRITTEN or not ground.code.is_whole:
        return None
    names = (near.last for near in phrase.pieces if near is not piece and near.last)
    is_there = ground.code.find(piece.code, Side.NEW)
    near = ground.code.nearest(piece.code)
    if is_there or near is None or not near.is_changed or not all(map(ground.code.knows, names)):
        return None
    fact = f"Line {near.line} is {quote(near.code.strip())}."
    return confirm(f"the code is not {quote(piece.code)}", fact, [near])


CHECKS: Final = (check_already, check_rewritten)
