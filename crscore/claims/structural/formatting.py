"""Blocks in which only white space changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.claims.structural.matching import Edit, EditKind
from crscore.claims.structural.places import around, called, inside
from crscore.claims.structural.statements import Statement
from crscore.syntax.model import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crscore.claims.structural.regions import Area, Block
    from crscore.records import DiffLine
    from crscore.syntax.model import Tree, Unit


def describe_formatting(area: Area) -> tuple[list[Statement], frozenset[int]]:
    """Return the statement on pure formatting, if any, and the blocks that it covers."""
    skipped = frozenset(
        index
        for index, block in enumerate(area.blocks)
        if _bare(block.removed) == _bare(block.added)
    )
    if not skipped:
        return [], skipped
    blank = all(not _bare(area.blocks[index].added) for index in skipped)
    first = area.blocks[min(skipped)]
    where = inside(_place(area, first))
    if blank:
        text = f"only blank lines have changed{where}"
    else:
        text = (
            f"only the formatting has changed{where}: line breaks and spaces, not the code itself"
        )
    only = len(skipped) == len(area.blocks)
    edits = tuple(_edit(area, index) for index in sorted(skipped))
    weight = (0.6 if only else 0.3) * (0.5 if blank else 1.0)
    return [Statement(text=text, weight=weight, edits=edits)], skipped


def describe_punctuation(area: Area) -> Statement:
    """Return the statement on an area in which only punctuation, line breaks and spaces changed."""
    where = inside(_place(area, area.blocks[0]))
    return Statement(
        text=f"only punctuation, line breaks and spaces have changed{where}, no name and no value",
        weight=0.6,
        edits=tuple(_edit(area, index) for index in range(len(area.blocks))),
    )


def _bare(lines: Iterable[DiffLine]) -> str:
    return "".join("".join(line.text.split()) for line in lines)


def _edit(area: Area, index: int) -> Edit:
    """Return an edit of the module on both sides, which represents the lines of the block."""
    return Edit(kind=EditKind.CHANGED, old=area.old.units[0], new=area.new.units[0], block=index)


def _place(area: Area, block: Block) -> str:
    line = (block.added or block.removed)[0]
    tree, number = (area.new, line.new) if line.new is not None else (area.old, line.old)
    scope = _around(tree, number or 0)
    return called(tree, scope) if scope is not None else around(area, tree, number or 0)


def _around(tree: Tree, number: int) -> Unit | None:
    found = None
    for unit in tree.units[1:]:
        named = unit.role in {Role.FUNCTION, Role.CLASS, Role.LAMBDA} and unit.name
        if named and unit.start <= number <= unit.end:
            found = unit
    return found
