"""Clauses of a sentence: what they name, and the part of the change they place it in."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from crscore.claims.structural.english import quoted
from crscore.records import Side
from crscore.verdicts.checks.base import MASKED, Ground, pattern
from crscore.verdicts.code import Place, Region
from crscore.verdicts.statements import Phrase, Piece

_END: Final = pattern(r"[;:](?=\s|$)|\s[-–—]\s|,?\s\b<clause>\b|(?<!e\.g)[.?!](?=\s|$)")
_UNSURE: Final = pattern(r"\b<unsure>\b|n't\b")
_PLACED: Final = pattern(
    r"\b<inside>(?: (?:the|both|its|our|new|old))* (?:§(?: call)?(?:,| and| or| of| in)* )*$"
)
_MODIFIER: Final = pattern(r"(?<![\w-])<modifier>(?![\w-])")
_QUOTED: Final = re.compile(r"[\"“]([^\"“”\n§]{3,120})[\"”]|(?<!\w)'([^'\n§]{3,120})'(?!\w)")
_MASK: Final = re.compile(MASKED)


class Scope(NamedTuple):
    """Units, else files, that a clause names; the whole change where it names none."""

    names: tuple[str, ...]
    regions: tuple[Region, ...]
    """Regions of both versions."""

    def lines(self, side: Side) -> Iterator[tuple[Place, str]]:
        """Yield the lines of a side."""
        for region in self.regions:
            if region.text.side is side:
                for number, line in region.lines():
                    yield Place(region.text, number), line

    def find(self, code: str, side: Side) -> list[Place]:
        """Return the lines of a side on which a piece of code starts."""
        return [
            Place(region.text, line)
            for region in self.regions
            if region.text.side is side
            for line in region.text.find(code)
            if region.start <= line <= region.end
        ]

    @property
    def title(self) -> str:
        """What to call it in a sentence."""
        return quoted(self.names) if self.names else "the changed files"


class Clause(NamedTuple):
    """Clause that asserts something, with neither negation nor hedge."""

    masked: str
    cue: re.Match[str]
    """What it was asked for."""
    objects: tuple[str, ...]
    """Code and quoted text that names no place."""
    named: tuple[str, ...]
    """All its code but files, and modifiers as `static`."""
    scope: Scope


def clauses(
    phrase: Phrase, cue: re.Pattern[str], ground: Ground, *, with_rest: bool = False
) -> Iterator[Clause]:
    """Yield the clauses of a sentence that match a cue; none where only hunks are known.

    Args:
        phrase: The sentence.
        cue: What a clause must match.
        ground: What the sentence is held against.
        with_rest: Whether what the rest of the sentence names belongs to the clause.
    """
    if not ground.code.is_whole:
        return
    start = 0
    for end in (*(match.start() for match in _END.finditer(phrase.masked)), len(phrase.masked)):
        text = phrase.masked[start:end]
        match = cue.search(text)
        if match and not _UNSURE.search(text):
            yield _read(phrase, phrase.masked if with_rest else text, match, ground)
        start = end


def _read(phrase: Phrase, text: str, cue: re.Match[str], ground: Ground) -> Clause:
    files: dict[str, list[Region]] = {}
    units: dict[str, list[Region]] = {}
    objects, named = [], []
    for mask, piece, regions in _pieces(phrase, text, cue, ground):
        paths = _files(piece, ground)
        if paths:
            files[piece.code] = paths
            continue
        named.append(piece.code)
        if regions:
            units[piece.code] = regions
        else:
            # A name in double quotes is text of the program.
            is_text = text[: mask.start()].endswith('"') and text[mask.end() :].startswith('"')
            objects.append(f'"{piece.code}"' if is_text else piece.code)
    objects += [double or single for double, single in _QUOTED.findall(text)]
    named += _MODIFIER.findall(text)
    scope = _scope(files, units, ground)
    return Clause(text, cue, tuple(objects), tuple(named), scope)


def _pieces(
    phrase: Phrase, text: str, cue: re.Match[str], ground: Ground
) -> list[tuple[re.Match[str], Piece, list[Region]]]:
    """Return the pieces of a clause, with the units of those that say where something is."""
    pieces = [(mask, phrase.piece(mask[0])) for mask in _MASK.finditer(text)]
    known = [
        (mask, piece, _units(piece, ground)) for mask, piece in pieces if piece and piece.words
    ]
    placed = [bool(_PLACED.search(text[: mask.start()])) for mask, _, _ in known]
    # "Are `f` and `g` still needed in `C`?": only without `C`, `f` is a place.
    if not any(
        is_placed and regions for is_placed, (_, _, regions) in zip(placed, known, strict=True)
    ):
        placed = [
            mask.start() < cue.start() or is_in
            for is_in, (mask, _, _) in zip(placed, known, strict=True)
        ]
    return [
        (mask, piece, regions if is_placed else [])
        for is_placed, (mask, piece, regions) in zip(placed, known, strict=True)
    ]


def _files(piece: Piece, ground: Ground) -> list[Region]:
    return [
        Region(text, 1, max(text.lines, default=0))
        for side in Side
        for text in ground.code.texts_at(piece.code, side)
    ]


def _units(piece: Piece, ground: Ground) -> list[Region]:
    if piece.is_verbatim or not ground.code.regions_named(piece.last):
        return []
    return [unit for side in Side for unit in ground.code.regions_named(piece.last, side)]


def _scope(files: dict[str, list[Region]], units: dict[str, list[Region]], ground: Ground) -> Scope:
    texts = {id(file.text) for regions in files.values() for file in regions}
    groups = units or files
    regions = [
        region
        for group in groups.values()
        for region in group
        if not texts or id(region.text) in texts
    ]
    if regions:
        return Scope(tuple(groups), tuple(regions))
    return everywhere(ground)


def everywhere(ground: Ground) -> Scope:
    """Return the scope of all texts."""
    return Scope(
        (), tuple(Region(text, 1, max(text.lines, default=0)) for text in ground.code.texts())
    )
