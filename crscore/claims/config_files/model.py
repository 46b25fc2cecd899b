"""Entries of a configuration file and their lines."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from crscore.records import LineKind, Side

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.records import ChangedFile

MAX_LINE: Final = 2_000
"""Characters of a line that are read; the rest of a longer line is generated code or data."""

MAX_VALUE: Final = 4_000
"""Characters of a value that are compared."""
MAX_DEPTH: Final = 8
"""Enclosing names that are kept for an entry, the innermost ones."""


class Kind(StrEnum):
    """Kind of an entry, which determines how it is described."""

    SETTING = "setting"
    SECTION = "section"
    ITEM = "item"
    DEPENDENCY = "dependency"
    IMAGE = "base image"
    TARGET = "target"
    FUNCTION = "function"
    COMMAND = "command"
    STATEMENT = "statement"
    COLUMN = "column"
    RULE = "rule"
    ELEMENT = "element"
    HEADING = "heading"
    TEXT = "text"
    CODE = "code"
    PATTERN = "pattern"
    COMMENT = "comment"


CONTAINERS: Final = frozenset(
    {Kind.SECTION, Kind.TARGET, Kind.FUNCTION, Kind.RULE, Kind.ELEMENT, Kind.HEADING}
)
"""Kinds whose added or removed content is described together with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of one side of a file."""

    text: str
    """Text without its line end, cut at `MAX_LINE`."""
    number: int
    """1-based; 0 for the heading of a hunk."""
    block: int
    """Index of its run of changed lines; -1 when the line did not change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key, rule, heading, command or the like, on one side."""

    kind: Kind
    """Kind."""
    where: tuple[str, ...]
    """Names that enclose it, outermost first."""
    name: str
    """Its own name; "" when it has none."""
    value: str
    """Its value or text, white space folded."""
    changed: tuple[int, ...]
    """Numbers of its changed lines; empty when none changed."""
    block: int
    """Index of its first run of changed lines; -1 for none."""
    line: int
    """Number of its first line."""


def entry(kind: Kind, where: Sequence[str], name: str, value: str, lines: Sequence[Line]) -> Entry:
    """Make an entry from its lines."""
    changed = [line for line in lines if line.block >= 0]
    return Entry(
        kind=kind,
        where=tuple(part for part in where[-MAX_DEPTH:] if part),
        name=name,
        value=" ".join(value[:MAX_VALUE].split()),
        changed=tuple(line.number for line in changed),
        block=changed[0].block if changed else -1,
        line=lines[0].number if lines else 0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Lines joined into one text, so that constructs across line ends can be read."""

    joined: str
    """All lines with line feeds."""
    starts: tuple[int, ...]
    """Offset of each line."""
    lines: tuple[Line, ...]
    """The lines."""

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Text:
        """Join lines."""
        ends = accumulate((len(line.text) + 1 for line in lines), initial=0)
        return cls(
            joined="".join(f"{line.text}\n" for line in lines),
            starts=tuple(ends)[:-1],
            lines=tuple(lines),
        )

    def between(self, start: int, end: int) -> tuple[Line, ...]:
        """Return the lines that hold the characters from `start` up to `end`."""
        first = bisect_right(self.starts, start) - 1
        return self.lines[first : max(first + 1, bisect_right(self.starts, max(start, end - 1)))]


def regions(file: ChangedFile, side: Side, *, with_section: bool) -> Iterator[list[Line]]:
    """Yield one side of a file: the whole side when it is known, else hunk by hunk.

    Args:
        file: A changed file.
        side: The version to read.
        with_section: Put the heading of each hunk before its lines, as line 0.

    Yields:
        Consecutive lines.
    """
    shown = _shown(file, side)
    source = file.new_source if side is Side.NEW else file.old_source
    if source is not None:
        blocks = {line.number: line.block for region in shown for line in region}
        yield [
            Line(text=text[:MAX_LINE], number=number, block=blocks.get(number, -1))
            for number, text in enumerate(source.replace("\r\n", "\n").split("\n"), 1)
        ]
        return
    for hunk, region in zip(file.hunks, shown, strict=True):
        section = [Line(text=hunk.section, number=0, block=-1)] if with_section else []
        yield section + region


def _shown(file: ChangedFile, side: Side) -> list[list[Line]]:
    other = LineKind.REMOVED if side is Side.NEW else LineKind.ADDED
    block = 0
    shown: list[list[Line]] = []
    for hunk in file.hunks:
        region: list[Line] = []
        for line in hunk.lines:
            if line.kind is LineKind.CONTEXT:
                block += 1
            if line.kind is other:
                continue
            number = line.new if side is Side.NEW else line.old
            region.append(
                Line(
                    text=line.text[:MAX_LINE],
                    number=number or 0,
                    block=-1 if line.kind is LineKind.CONTEXT else block,
                )
            )
        block += 1
        shown.append(region)
    return shown
