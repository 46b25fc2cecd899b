"""What is read from a sentence by patterns: pieces of code by their part in a clause."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.records import Side
from crscore.verdicts.checks.base import MASKED, PROPOSES, Ground, pattern
from crscore.verdicts.code import FileText
from crscore.verdicts.statements import Phrase, Piece

_BORDER: Final = pattern(r"[;:?!.]\s|,\s(?=<joins>\b)|\s(?=<splits>\b)")
_DENIES: Final = pattern(r"\b<denies>\b|n't\b")
_ALTERS: Final = pattern(r"\b<alters>\b")
_FOLLOWS: Final = pattern(r"(?:<consequences>)\b")
_PATH: Final = re.compile(r"[\w./+-]*\w\.[A-Za-z]\w{0,7}\b")


class Reading(dict[str, Piece]):
    """What a pattern reads from a clause: pieces of code by their part in it."""

    def __init__(self, phrase: Phrase, clause: str, match: re.Match[str]) -> None:
        super().__init__(
            (name.rstrip("234"), piece)
            for name, mask in match.groupdict().items()
            if mask and re.match(MASKED, mask) and (piece := phrase.piece(mask)) and piece.words
        )
        self.clause, self.match = clause, match


def clauses_of(phrase: Phrase) -> Iterator[str]:
    """Yield the clauses of a sentence that say how things are."""
    for clause in _BORDER.split(phrase.masked):
        if not PROPOSES.search(clause) and not _DENIES.search(clause):
            yield clause


def readings(reads: re.Pattern[str], phrase: Phrase, *parts: str) -> Iterator[Reading]:
    """Yield what a pattern reads from the clauses of a sentence, where it reads all parts."""
    for clause in clauses_of(phrase):
        for match in reads.finditer(clause):
            reading = Reading(phrase, clause, match)
            if all(part in reading for part in parts):
                yield reading


def pieces_of(clause: str, phrase: Phrase) -> list[Piece]:
    """Return the pieces of code of a clause."""
    pieces = map(phrase.piece, re.findall(MASKED, clause))
    return [piece for piece in pieces if piece and piece.words]


def paths_of(phrase: Phrase) -> list[str]:
    """Return what looks like a path in a sentence."""
    names = (piece.code for piece in phrase.pieces if _PATH.fullmatch(piece.code))
    return [*_PATH.findall(phrase.masked), *names]


def texts_of(phrase: Phrase, ground: Ground) -> list[FileText]:
    """Return the new texts that a sentence may be about: named, commented on, or all."""
    comment = ground.statement.comment
    paths = paths_of(phrase) or ([comment.path] if comment.path else [])
    named = [text for path in paths for text in ground.code.texts_at(path)]
    return named or list(ground.code.texts(Side.NEW))


def says_more(ground: Ground) -> bool:
    """Return whether a remark also denies something or tells of a change, consequences aside."""
    return any(
        _DENIES.search(clause) or _ALTERS.search(clause)
        for phrase in ground.statement.phrases
        for clause in _BORDER.split(phrase.masked)
        if not _FOLLOWS.match(clause)
    )
