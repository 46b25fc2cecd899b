"""Requests: what a sentence asks the author to add, check, raise, import or remove."""

import re
from typing import Final, NamedTuple

from crscore.text.content import stems_and_names
from crscore.text.words import stem
from crscore.verdicts.checks.base import MASKED, WORDS, Ground, pattern
from crscore.verdicts.code import tokens_of
from crscore.verdicts.statements import MIN_VERBATIM_TOKENS, Phrase, Piece

MIN_STEMS: Final = 3
"""Minimum stems of a request without verbatim code."""
SHAPES: Final = {
    "raises": re.compile(r"\b(?:raise|throw|panic|reject|fail|abort|die)", re.IGNORECASE),
    "returns": re.compile(r"\breturn\b"),
    "checks": re.compile(r"\b(?:if|elif|unless|while|when|assert|guard|switch)\b|\?|&&|\|\|"),
    "imports": re.compile(
        r"\b(?:import|using|include|require|use|from)\b|^\s*(?:[\w.]+ )?[\"'][^\"']+[\"'];?$"
    ),
    "pins": re.compile(r"\d+\.\d+"),
    "adds": re.compile(""),
}
"""How a line looks that does what a kind of request asks for."""
REMOVES: Final = "removes"
"""Kind of a request to remove code."""

_REQUEST: Final = pattern(
    r"(?:^|[.,;:!?)*] |\b(?:<asking>) |\bthat § |§(?: should| must) )(?:(?:<softly>) )*"
    r"(?:(?P<adds><adding>)|(?P<raises><raising>)|(?P<returns><returning>)|(?P<checks><checking>)"
    r"|(?P<imports><importing>)|(?P<pins><pinning>)|(?P<removes><removing>)"
    r"|(?<=there should )be)\b(?P<object>.*)"
)
_NEGATED: Final = re.compile(
    r"(?:\b(?:no|not|never|nothing|without)|n't)\b[^.;:,]*$", re.IGNORECASE
)
_REASON: Final = pattern(r"[,;:.!?]? ?\b(?:<reason>)\b|[;:!?]|\.(?: |$)|, § ")
_CONDITION: Final = pattern(r"\b(?:<condition>)\b")
_PREPOSITION: Final = pattern(r"\b(?:<preposition>)\b")
_ELSEWHERE: Final = pattern(r"\b(?:<elsewhere>)\b")
_IMPORTS: Final = re.compile(r"\b(?:imports?|using|include|require)\b", re.IGNORECASE)
_VERSION: Final = re.compile(r"\d+(?:\.\d+)+")
_GENERIC: Final = frozenset(map(stem, WORDS["generic"].split("|")))
_SAME: Final = {"len": "length", "siz": "length", "count": "length", "nil": "null", "non": "null"}


class Request(NamedTuple):
    """Request, cut into its parts."""

    kind: str
    """Key of `SHAPES`, or `REMOVES`."""
    subjects: tuple[Piece, ...]
    """Code before its verb."""
    pieces: tuple[Piece, ...]
    """Its code, the main piece first."""
    words: frozenset[str]
    """Stems of its plain words, without words that say nothing of the code."""
    is_elsewhere: bool
    """Whether its words allow the same code at another place."""

    @property
    def is_verbatim(self) -> bool:
        """Whether its main piece is more than a name."""
        return bool(self.pieces) and len(tokens_of(self.pieces[0].code)) >= MIN_VERBATIM_TOKENS

    @property
    def is_specific(self) -> bool:
        """Whether code that has all of it can hardly have it by chance."""
        stems = self.words.union(*(stems_of(piece.code) for piece in self.pieces))
        return self.is_verbatim or len(stems) + (self.kind != "adds") >= MIN_STEMS


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of a text, the same for `length` and `len`, for `null` and `nil`."""
    return frozenset(_SAME.get(word, word) for word in stems_and_names(text)[0])


def request_of(phrase: Phrase, ground: Ground) -> Request | None:
    """Return what a sentence asks for; None if it asks for nothing that code could show."""
    match = _REQUEST.search(phrase.masked)
    if match is None or _NEGATED.search(phrase.masked[: match.start("object")]):
        return None
    kind = next((kind for kind in (*SHAPES, REMOVES) if match[kind]), "adds")
    text, reason = _cut(match["object"], _REASON)
    main, _ = _cut(text, _CONDITION)
    content, place = _cut(main, _PREPOSITION)
    is_elsewhere = bool(_ELSEWHERE.search(f"{text} {reason}"))
    pieces = _pieces(main, phrase) or _pieces(text, phrase)
    subjects = _pieces(phrase.masked[: match.start("object")], phrase)
    if kind == "adds" and _IMPORTS.search(main):
        kind = "imports"
        if all(ground.code.texts_at(piece.code) for piece in pieces):
            pieces += [piece for piece in subjects if len(piece.words) > 1]
    if kind == "adds":
        if not _says_something(content, phrase):
            return None
        is_elsewhere |= bool(place) and not _says_something(place, phrase)
    pieces.sort(key=lambda piece: _rank(piece, ground))
    if kind == "pins":
        pieces += [Piece(version, is_span=False) for version in _VERSION.findall(phrase.masked)]
        if len(pieces) == 1 and "bump" in match[kind].lower():
            return None
    words = stems_of(re.sub(MASKED, " ", text)) - _GENERIC
    return Request(kind, tuple(subjects), tuple(pieces), words, is_elsewhere)


def _cut(text: str, separator: re.Pattern[str]) -> tuple[str, str]:
    """Return a text before a separator, and the separator with the words behind it, if any."""
    match = separator.search(text)
    if match is None:
        return text, ""
    end = match.end() if separator is _REASON else len(text)
    return text[: match.start()], text[match.start() : end]


def _pieces(text: str, phrase: Phrase) -> list[Piece]:
    pieces = map(phrase.piece, re.findall(MASKED, text))
    return [piece for piece in pieces if piece and piece.words]


def _rank(piece: Piece, ground: Ground) -> tuple[bool, int]:
    """Return the key that sorts the longest piece first, and paths last."""
    return bool(ground.code.texts_at(piece.code)), -len(tokens_of(piece.code))


def _says_something(text: str, phrase: Phrase) -> bool:
    return bool(_pieces(text, phrase) or stems_of(text) - _GENERIC)
