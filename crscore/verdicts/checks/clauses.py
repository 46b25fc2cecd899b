"""Clauses of a sentence: what they name, and the part of the change they place it in."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from crscore.claims.structural.english import quoted
from crscore.records import Side
from crscore.verdicts.checks.base import MASKED, Ground, pattern
from crscore.verdicts.code import FileText, Place, Region
from crscore.verdicts.statements import Phrase, Piece

_END: Final = pattern(r"[;:](?=\s|$)|\s[-–—]\s|,?\s\b<clause>\b|[.?!](?=\s|$)")
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


def clauses(phrase: Phrase, cue: re.Pattern[str], ground: Ground) -> Iterator[Clause]:
    """Yield the clauses of a sentence that match a cue; none where only hunks are known."""
    if not ground.code.is_whole:
        return
    start = 0
    for end in (*(match.start() for match in _END.finditer(phrase.masked)), len(phrase.masked)):
        text = phrase.masked[start:end]
        match = cue.search(text)
        if match and not _UNSURE.search(text):
            yield _read(phrase, text, match, ground)
        start = end


def _read(phrase: Phrase, text: str, cue: re.Match[str], ground: Ground) -> Clause:
    files: dict[str, list[Region]] = {}
    units: dict[str, list[Region]] = {}
    objects, named = [], []
    for mask in _MASK.finditer(text):
        piece = phrase.piece(mask[0])
        if piece is None or not piece.words:
            continue
        paths = [_whole(file) for side in Side for file in ground.code.texts_at(piece.code, side)]
        is_placed = mask.start() < cue.start() or bool(_PLACED.search(text[: mask.start()]))
        regions = _units(piece, ground) if is_placed else []
        if paths:
            files[piece.code] = paths
            continue
        named.append(piece.code)
        if regions:
            units[piece.code] = regions
        else:
            objects.append(piece.code)
    objects += [double or single for double, single in _QUOTED.findall(text)]
    named += _MODIFIER.findall(text)
    return Clause(text, cue, tuple(objects), tuple(named), _scope(files, units, ground))


def _units(piece: Piece, ground: Ground) -> list[Region]:
    if piece.is_verbatim:
        return []
    return [unit for side in Side for unit in ground.code.regions_named(piece.last, side)]


def _whole(text: FileText) -> Region:
    return Region(text, 1, max(text.lines, default=0))


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
    return Scope((), tuple(_whole(text) for text in ground.code.texts()))
