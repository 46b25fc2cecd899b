"""Sentence about a change, before its conversion to a pseudo-reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crscore.claims.structural.english import sentence
from crscore.records import LineSpan, PseudoReference, ReferenceKind, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crscore.claims.structural.matching import Edit
    from crscore.claims.structural.regions import Area
    from crscore.syntax.model import Unit

SOURCE = "structural"
"""Name of the generator in each reference."""
MAX_IDENTIFIERS = 12
"""Identifiers kept with a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence with the edits it describes."""

    text: str
    """Clause; capital and full stop are added at the end."""
    weight: float
    """How informative it is, in (0, 1]."""
    edits: tuple[Edit, ...]
    """The edits it describes."""
    reading: str = ""
    """Clause for the encoder; empty until `mentions.read_once` sets it."""
    identifiers: tuple[str, ...] = ()
    """Names it is about, most informative first."""
    implies: bool = False
    """True for a consequence of the change, False for the change itself."""


def reference_of(area: Area, statement: Statement) -> PseudoReference:
    """Convert a statement to a pseudo-reference with exact spans."""
    text, reading = sentence(statement.text), sentence(statement.reading)
    return PseudoReference(
        text=text,
        reading=reading if reading != text else "",
        kind=ReferenceKind.IMPLICATION if statement.implies else ReferenceKind.CLAIM,
        source=SOURCE,
        spans=spans_of(area, statement.edits),
        identifiers=tuple(dict.fromkeys(name for name in statement.identifiers if name))[
            :MAX_IDENTIFIERS
        ],
        weight=round(min(max(statement.weight, 0.01), 1.0), 4),
    )


def spans_of(area: Area, edits: Iterable[Edit]) -> tuple[LineSpan, ...]:
    """Return the changed lines of some edits as ranges, old side first."""
    old: set[int] = set()
    new: set[int] = set()
    for edit in edits:
        if edit.old is not None:
            units = area.old.subtree(edit.old) if edit.new is None else (edit.old,)
            old |= _changed_lines(units, area.old_block)
        if edit.new is not None:
            units = area.new.subtree(edit.new) if edit.old is None else (edit.new,)
            new |= _changed_lines(units, area.new_block)
        if edit.old is not None and edit.old.index == 0:
            block = area.blocks[edit.block]
            old |= {line.old for line in block.removed if line.old is not None}
            new |= {line.new for line in block.added if line.new is not None}
    old_path = area.file.old_path or area.file.path
    return joined(
        [
            *(LineSpan(path=old_path, side=Side.OLD, start=n, end=n) for n in sorted(old)),
            *(LineSpan(path=area.file.path, side=Side.NEW, start=n, end=n) for n in sorted(new)),
        ]
    )


def _changed_lines(units: Iterable[Unit], block: Mapping[int, int]) -> set[int]:
    return {token.line for unit in units for token in unit.tokens if token.line in block}


def joined(spans: Iterable[LineSpan]) -> tuple[LineSpan, ...]:
    """Merge the spans of adjacent lines, the old side first."""
    found: list[LineSpan] = []
    for span in sorted(spans, key=lambda item: (item.side is Side.NEW, item.path, item.start)):
        last = found[-1] if found else None
        if last and (last.path, last.side) == (span.path, span.side) and last.end >= span.start - 1:
            found[-1] = LineSpan(
                path=span.path, side=span.side, start=last.start, end=max(last.end, span.end)
            )
        else:
            found.append(span)
    return tuple(found)
