"""Clauses of a sentence: what they state of which code, and where they place it."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from crscore.claims.structural.english import quoted
from crscore.records import Side
from crscore.verdicts.checks.base import MASKED, Ground, pattern
from crscore.verdicts.code import FileText, Place, Region
from crscore.verdicts.statements import Phrase, Piece

_BORDER: Final = pattern(
    r"(?:[;:!]|(?<!e\.g)\.|\?(?!$))(?=\s|$)|\s[-–—]\s|,\s(?=<joins>\b)|,?\s(?=<splits>\b)"
)
_UNSURE: Final = pattern(r"\b<unsure>\b|n't\b")
_MORE: Final = pattern(
    r"^\W*(?:<consequences>|<contrasts>)\b.*§"
    r"|^(?!\W*<consequences>\b)(?=.*§).*(?:\b(?:<denies>|<alters>)\b|n't\b)"
)
_PLACED: Final = pattern(
    r"\b<inside>(?: (?:the|both|its|our|new|old))* (?:§(?: call)?(?:,| and| or| of| in)* )*$"
)
_TEXT: Final = re.compile(r"[\"“]([^\"“”\n§]{3,120})[\"”]|(?<!\w)'([^'\n§]{3,120})'(?!\w)")
_PATH: Final = re.compile(r"[\w./+-]*\w\.[A-Za-z]\w{0,7}\b")


def clauses_of(phrase: Phrase) -> list[str]:
    """Return the clauses of a masked sentence."""
    parts = _BORDER.split(phrase.masked)
    return [part for part in parts if part.strip()]


def stated(phrase: Phrase) -> list[str]:
    """Return the clauses that state something, with neither negation nor hedge."""
    return [clause for clause in clauses_of(phrase) if not _UNSURE.search(clause)]


def claims_more(ground: Ground) -> bool:
    """Return whether a remark denies or changes code, contrasts it or concludes of it."""
    return any(
        _MORE.search(clause) for phrase in ground.statement.phrases for clause in clauses_of(phrase)
    )


def pieces_of(clause: str, phrase: Phrase) -> list[Piece]:
    """Return the pieces of code of a clause."""
    pieces = map(phrase.piece, re.findall(MASKED, clause))
    return [piece for piece in pieces if piece and piece.words]


def names_place(piece: Piece, place: Place) -> bool:
    """Return whether a piece names the file or a unit around a line."""
    is_file = f"/{place.text.path}".endswith(f"/{piece.code}")
    units = place.text.regions_named(piece.last) if piece.last else []
    return is_file or any(unit.has(place) for unit in units)


def texts_of(phrase: Phrase, ground: Ground) -> list[FileText]:
    """Return the new texts that a sentence may be about: named, commented on, or all."""
    comment = ground.statement.comment
    names = (piece.code for piece in phrase.pieces if _PATH.fullmatch(piece.code))
    paths = [*_PATH.findall(phrase.masked), *names] or ([comment.path] if comment.path else [])
    named = [text for path in paths for text in ground.code.texts_at(path)]
    return named or list(ground.code.texts(Side.NEW))


class Scope(NamedTuple):
    """Units, else files, that a clause names; the whole change where it names none."""

    names: tuple[str, ...]
    regions: tuple[Region, ...]
    """Regions of both versions."""
    objects: tuple[str, ...]
    """Code and quoted text of the clause that names no place."""

    def places(self, side: Side) -> Iterator[Place]:
        """Yield the lines of a side."""
        for region in self.regions:
            if region.text.side is side:
                yield from region.places()

    def find(self, code: str, side: Side) -> list[Place]:
        """Return the lines of a side on which a piece of code starts."""
        regions = (region for region in self.regions if region.text.side is side)
        return [place for region in regions for place in region.find(code)]

    @property
    def title(self) -> str:
        """What to call it in a sentence."""
        return quoted(self.names) if self.names else "the changed files"


def scope_of(phrase: Phrase, clause: str, subject_end: int, ground: Ground) -> Scope:
    """Read where a clause places what.

    Args:
        phrase: Its sentence.
        clause: The clause.
        subject_end: Up to here a unit is the subject, behind it a preposition must place it.
        ground: What the sentence is held against.
    """
    files: dict[str, list[Region]] = {}
    units: dict[str, list[Region]] = {}
    objects = []
    for path in _PATH.findall(clause):
        if texts := _texts(path, ground):
            files[path] = texts
    masks = [(mask, phrase.piece(mask[0])) for mask in re.finditer(MASKED, clause)]
    pieces = [
        (mask, piece, _units(piece, ground)) for mask, piece in masks if piece and piece.words
    ]
    placed = [each[0] for each in pieces if each[2] and _PLACED.search(clause[: each[0].start()])]
    for mask, piece, regions in pieces:
        code, before = piece.code, clause[: mask.start()]
        # "Are `f` and `g` still needed in `C`?": only without `C`, `f` is a place.
        is_place = mask in placed or (not placed and mask.start() < subject_end)
        if texts := _texts(code, ground):
            files[code] = texts
        elif is_place and (regions := _units(piece, ground)):
            units[code] = regions
        else:
            # A name in double quotes is text of the program.
            is_text = before.endswith('"') and clause[mask.end() :].startswith('"')
            objects.append(f'"{code}"' if is_text else code)
    objects += [double or single for double, single in _TEXT.findall(clause)]
    inside = {id(region.text) for regions in files.values() for region in regions}
    regions = [
        region
        for named in (units or files).values()
        for region in named
        if not inside or id(region.text) in inside
    ]
    names = tuple(units or files) if regions else ()
    everywhere = regions or [text.whole for text in ground.code.texts()]
    return Scope(names, tuple(everywhere), tuple(objects))


def _texts(path: str, ground: Ground) -> list[Region]:
    texts = (text for side in Side for text in ground.code.texts_at(path, side))
    return [text.whole for text in texts if path]


def _units(piece: Piece, ground: Ground) -> list[Region]:
    """Return the units of a name of the new version, in both versions."""
    if piece.is_verbatim or not ground.code.regions_named(piece.last):
        return []
    return [unit for side in Side for unit in ground.code.regions_named(piece.last, side)]
