"""Both sides of a changed file, parsed, with the changed lines marked."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crscore.records import LineKind
from crscore.syntax.fragments import read_fragment
from crscore.syntax.tree import parse_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crscore.records import ChangedFile, DiffLine, Hunk
    from crscore.syntax.model import Language, Tree

MAX_SOURCE = 4_000_000
"""Characters of a whole file that are parsed; of a larger one only the hunks are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Changed lines with no unchanged line between them."""

    removed: tuple[DiffLine, ...]
    """Removed lines in order; empty for a pure addition."""
    added: tuple[DiffLine, ...]
    """Added lines in order; empty for a pure removal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Unit of comparison: a whole file, or one hunk of it."""

    file: ChangedFile
    """Changed file that contains it."""
    old: Tree
    """Old side."""
    new: Tree
    """New side."""
    blocks: tuple[Block, ...]
    """Blocks in order."""
    old_block: Mapping[int, int]
    """Index of the block of each removed line."""
    new_block: Mapping[int, int]
    """Index of the block of each added line."""
    offsets: tuple[tuple[int, int], ...]
    """Sorted pairs: first new line, and the offset of the old line from there on."""
    section: str
    """Text that git prints after the second `@@`; empty when the whole file was read."""
    old_flush: int | None = None
    """First unindented old line, where the section's scope has ended."""
    new_flush: int | None = None
    """The same on the new side."""

    def old_line(self, line: int) -> int | None:
        """Return the old number of an unchanged line; None for an added one."""
        if line in self.new_block:
            return None
        place = bisect_right(self.offsets, (line, 1 << 40)) - 1
        return line + self.offsets[place][1] if place >= 0 else line


def areas_of(file: ChangedFile, language: Language) -> Iterator[Area]:
    """Parse a changed file: whole when its sources are given and fit the hunks, else by hunk."""
    if _sources_fit(file):
        ranges_old = [
            (hunk.old_start, hunk.old_start + max(hunk.old_length - 1, 0)) for hunk in file.hunks
        ]
        ranges_new = [
            (hunk.new_start, hunk.new_start + max(hunk.new_length - 1, 0)) for hunk in file.hunks
        ]
        yield _area(
            file,
            parse_source(language, file.old_source or "", lines=ranges_old),
            parse_source(language, file.new_source or "", lines=ranges_new),
            file.hunks,
            "",
        )
        return
    for hunk in file.hunks:
        old = [line.text for line in hunk.lines_of(LineKind.CONTEXT, LineKind.REMOVED)]
        new = [line.text for line in hunk.lines_of(LineKind.CONTEXT, LineKind.ADDED)]
        yield _area(
            file,
            read_fragment(language, old, hunk.old_start),
            read_fragment(language, new, hunk.new_start),
            (hunk,),
            hunk.section,
        )


def _sources_fit(file: ChangedFile) -> bool:
    old, new = file.old_source, file.new_source
    lines = file.lines()
    needs_old = any(line.kind is not LineKind.ADDED for line in lines)
    needs_new = any(line.kind is not LineKind.REMOVED for line in lines)
    if (needs_old and old is None) or (needs_new and new is None):
        return False
    if old is None and new is None:
        return False
    if max(len(old or ""), len(new or "")) > MAX_SOURCE:
        return False
    old_lines, new_lines = (old or "").split("\n"), (new or "").split("\n")
    return all(
        _is_at(old_lines, line.old, line.text) and _is_at(new_lines, line.new, line.text)
        for line in lines
    )


def _is_at(lines: list[str], number: int | None, text: str) -> bool:
    if number is None:
        return True
    return 0 < number <= len(lines) and lines[number - 1].rstrip("\r") == text.rstrip("\r")


def _area(file: ChangedFile, old: Tree, new: Tree, hunks: tuple[Hunk, ...], section: str) -> Area:
    blocks: list[Block] = []
    old_block: dict[int, int] = {}
    new_block: dict[int, int] = {}
    offsets: list[tuple[int, int]] = []
    for hunk in hunks:
        for block in _blocks(hunk):
            old_block.update(
                (line.old, len(blocks)) for line in block.removed if line.old is not None
            )
            new_block.update(
                (line.new, len(blocks)) for line in block.added if line.new is not None
            )
            blocks.append(block)
        shift = 0
        for line in hunk.lines:
            if line.old is not None and line.new is not None and line.old - line.new != shift:
                shift = line.old - line.new
                offsets.append((line.new, shift))
        behind = hunk.new_start + hunk.new_length
        offsets.append((behind, hunk.old_start + hunk.old_length - behind))
    return Area(
        file=file,
        old=old,
        new=new,
        blocks=tuple(blocks),
        old_block=old_block,
        new_block=new_block,
        offsets=tuple(sorted(offsets)),
        section=section,
        old_flush=_flush((line.old, line.text) for hunk in hunks for line in hunk.lines),
        new_flush=_flush((line.new, line.text) for hunk in hunks for line in hunk.lines),
    )


def _flush(lines: Iterable[tuple[int | None, str]]) -> int | None:
    return next((number for number, text in lines if number and text[:1].strip()), None)


def _blocks(hunk: Hunk) -> Iterator[Block]:
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in hunk.lines:
        if line.kind is LineKind.CONTEXT:
            if removed or added:
                yield Block(removed=tuple(removed), added=tuple(added))
            removed, added = [], []
        elif line.kind is LineKind.REMOVED:
            removed.append(line)
        else:
            added.append(line)
    if removed or added:
        yield Block(removed=tuple(removed), added=tuple(added))
