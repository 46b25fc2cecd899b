"""A sentence about a change, before it becomes a pseudo-reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crscore.claims._structural.english import sentence
from crscore.records import LineSpan, PseudoReference, ReferenceKind, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crscore.claims._structural.areas import Area
    from crscore.claims._structural.matching import Edit
    from crscore.syntax.model import Unit

SOURCE = "structural"
"""Name of the generator in each reference."""
MAX_IDENTIFIERS = 12
"""Identifiers kept with a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence with what it stands on."""

    text: str
    """A clause; capital and full stop come at the end."""
    weight: float
    """How informative it is, in (0, 1]."""
    edits: tuple[Edit, ...]
    """The edits it tells of."""
    identifiers: tuple[str, ...] = ()
    """Names it is about, most telling first."""
    implies: bool = False
    """True for what a change leads to, False for the change itself."""


def reference_of(area: Area, statement: Statement) -> PseudoReference:
    """Turn a statement into a pseudo-reference with exact spans."""
    return PseudoReference(
        text=sentence(statement.text),
        kind=ReferenceKind.IMPLICATION if statement.implies else ReferenceKind.CLAIM,
        source=SOURCE,
        spans=spans_of(area, statement.edits),
        identifiers=tuple(dict.fromkeys(name for name in statement.identifiers if name))[
            :MAX_IDENTIFIERS
        ],
        weight=round(min(max(statement.weight, 0.01), 1.0), 4),
    )


def spans_of(area: Area, edits: Iterable[Edit]) -> tuple[LineSpan, ...]:
    """The changed lines that some edits stand on, as ranges, old side first."""
    old: set[int] = set()
    new: set[int] = set()
    for edit in edits:
        if edit.old is not None:
            old |= _changed_lines(
                area.old.subtree(edit.old) if edit.new is None else (edit.old,), area.old_block
            )
        if edit.new is not None:
            new |= _changed_lines(
                area.new.subtree(edit.new) if edit.old is None else (edit.new,), area.new_block
            )
    old_path = area.file.old_path or area.file.path
    return (*_ranges(old_path, Side.OLD, old), *_ranges(area.file.path, Side.NEW, new))


def _changed_lines(units: Iterable[Unit], block: Mapping[int, int]) -> set[int]:
    return {token.line for unit in units for token in unit.tokens if token.line in block}


def _ranges(path: str, side: Side, lines: set[int]) -> list[LineSpan]:
    found: list[LineSpan] = []
    for line in sorted(lines):
        if found and found[-1].end == line - 1:
            found[-1] = LineSpan(path=path, side=side, start=found[-1].start, end=line)
        else:
            found.append(LineSpan(path=path, side=side, start=line, end=line))
    return found
