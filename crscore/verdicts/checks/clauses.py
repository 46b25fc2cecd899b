"""Clauses of a sentence: what they state of which code, and where they place it."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from crscore.claims.structural.english import quoted
from crscore.diff.languages import language_of
from crscore.records import Side
from crscore.verdicts.checks.base import MASKED, Ground, pattern
from crscore.verdicts.code import FileText, Place, Region
from crscore.verdicts.statements import Phrase, Piece

_BORDER: Final = pattern(
    r"(?:[;:!]|(?<!e\.g)\.|\?(?!$))(?=\s|$)|\s[-–—]\s|,\s(?=<joins>\b)|,?\s(?=<splits>\b)"
)
_UNSURE: Final = pattern(r"\b<unsure>\b|n't\b|^\W*(?:<softly> )*(?:<adding>)\b")
_MORE: Final = pattern(
    r"^\W*(?:<consequences>|<contrasts>)\b.*§"
    r"|^(?!\W*<consequences>\b)(?=.*§).*(?:\b(?:<denies>|<alters>)\b|n't\b)"
)
_PLACED: Final = pattern(
    r"\b<inside>(?: (?:the|both|its|our|new|old))* (?:§(?: call)?(?:,| and| or| of| in)* )*$"
)
_TEXT: Final = re.compile(r"[\"“]([^\"“”\n§]{3,120})[\"”]|(?<!\w)'([^'\n§]{3,120})'(?!\w)")
_NO_FILE: Final = re.compile(r"\w+://\S+|\b[A-Z]\w*\.js\b")
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
    texts = [text for path in paths for text in ground.code.texts_at(path)]
    return texts or list(ground.code.texts(Side.NEW))


def names_other_file(phrase: Phrase, ground: Ground) -> bool:
    """Return whether a sentence names a file that is not in the change."""
    # Without the line or the test in `file.py:12` and `file.py::test`.
    codes = (piece.code.partition(":")[0] for piece in phrase.pieces)
    names = [
        *_PATH.findall(_NO_FILE.sub(" ", phrase.masked)),
        *(code for code in codes if _PATH.fullmatch(code)),
    ]
    return any(
        language_of(path)
        and not any(ground.code.texts_at(path.lstrip("./"), side) for side in Side)
        and not ground.code.find(path)  # a member, such as `response.text`
        for path in names
    )


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
    masks = [(mask, phrase.piece(mask[0])) for mask in re.finditer(MASKED, clause)]
    pieces = [(mask.start(), piece) for mask, piece in masks if piece and piece.words]
    units = {piece.code: _units(piece, ground) for _, piece in pieces}
    placed = {at for at, piece in pieces if units[piece.code] and _PLACED.search(clause, 0, at)}
    # "Are `f` and `g` still needed in `C`?": only without `C`, `f` is a place.
    owners = placed or {at for at, piece in pieces if units[piece.code] and at < subject_end}
    files = {path: _texts(path, ground) for path in _PATH.findall(clause)}
    files |= {piece.code: _texts(piece.code, ground) for _, piece in pieces}
    files = {path: regions for path, regions in files.items() if regions}
    rest = [(at, piece.code) for at, piece in pieces if piece.code not in files]
    units = {code: units[code] for at, code in rest if at in owners}
    objects = [code for at, code in rest if at not in owners]
    objects += [double or single for double, single in _TEXT.findall(clause)]
    texts = {id(region.text) for regions in files.values() for region in regions}
    regions = [
        region
        for group in (units or files).values()
        for region in group
        if not texts or id(region.text) in texts
    ]
    if not regions:
        everywhere = tuple(text.whole for text in ground.code.texts())
        return Scope((), everywhere, tuple(objects))
    return Scope(tuple(units or files), tuple(regions), tuple(objects))


def scopes(
    phrase: Phrase, cue: re.Pattern[str], ground: Ground
) -> Iterator[tuple[re.Match[str], Scope]]:
    """Yield the cue and the scope of each stated clause with a cue; none from hunks alone."""
    for clause in stated(phrase) if ground.code.is_whole else ():
        if match := cue.search(clause):
            yield match, scope_of(phrase, clause, match.start(), ground)


def _texts(path: str, ground: Ground) -> list[Region]:
    return [text.whole for side in Side for text in ground.code.texts_at(path, side)]


def _units(piece: Piece, ground: Ground) -> list[Region]:
    """Return the units of a name of the new version, in both versions."""
    if piece.is_verbatim or not ground.code.regions_named(piece.last):
        return []
    return [unit for side in Side for unit in ground.code.regions_named(piece.last, side)]
