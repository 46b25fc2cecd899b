"""Sentences about comments, documentation and imports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.claims._structural.english import listed, names_in, quote
from crscore.claims._structural.matching import EditKind
from crscore.claims._structural.places import inside, place
from crscore.claims._structural.statements import Statement
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crscore.claims._structural.areas import Area
    from crscore.claims._structural.matching import Edit
    from crscore.syntax.model import Unit

MAX_PROSE = 140
"""Characters of a comment quoted in a sentence."""

_MARKS = re.compile(
    r'^\s*(?:///?|//!?|#+|/?\*+/?|--|"""|\'\'\'|[rbu]*"""|<!--)\s?|\s*(?:\*/|-->|"""|\'\'\')\s*$'
)
_CODE = re.compile(r"[;{}]\s*$|^\s*[\w.]+\s*\(.*\)\s*;?$|^\s*\w+\s*=\s*\S")


def prose_of(lines: Iterable[str]) -> str:
    """The words of comment lines without their marks, on one line."""
    return " ".join(" ".join(_MARKS.sub("", line) for line in lines).split())


def told_comments(area: Area, edits: list[Edit]) -> Iterator[Statement]:
    """Comments of one block, and of one kind, are one claim."""
    groups: dict[tuple[int, Role], list[Edit]] = {}
    for edit in edits:
        unit = edit.new or edit.old
        if unit is not None:
            groups.setdefault((edit.block, unit.role), []).append(edit)
    for (block, role), group in groups.items():
        before = prose_of(_changed_text(area, group, old=True))
        after = prose_of(_changed_text(area, group, old=False))
        first = group[0]
        tree, unit = (area.new, first.new) if first.new is not None else (area.old, first.old)
        assert unit is not None  # noqa: S101 - an edit has a side
        where = place(area, tree, unit)
        text = _comment(role, where, before, after)
        if text:
            del block
            yield Statement(
                text=text, weight=0.5, edits=tuple(group), identifiers=tuple(names_in(text)[:0])
            )
            break_ = None
            del break_


def _changed_text(area: Area, group: list[Edit], *, old: bool) -> list[str]:
    found: list[str] = []
    for edit in group:
        unit: Unit | None = edit.old if old else edit.new
        lines = area.old_block if old else area.new_block
        if unit is not None:
            found.extend(token.text for token in unit.tokens if token.line in lines)
    return found


def _comment(role: Role, where: str, before: str, after: str) -> str:
    what = "docstring" if role is Role.DOC else "comment"
    of = f" of {where}" if role is Role.DOC and where else inside(where)
    said, was = _said(after), _said(before)
    if after and before:
        return f"the {what}{of} has been changed to say '{said}' instead of '{was}'"
    if after:
        kind = "commented-out code" if _CODE.search(after) else f"a {what}"
        return f"{kind} has been added{inside(where)}: '{said}'"
    return f"the {what} '{was}' has been removed{inside(where)}" if before else ""


def _said(text: str) -> str:
    text = text.replace("'", "’")
    return text if len(text) <= MAX_PROSE else text[: MAX_PROSE - 1].rstrip() + "…"


def told_imports(area: Area, edits: list[Edit]) -> Iterator[Statement]:
    """New imports are one claim, dropped ones another; a changed one is its own."""
    del area
    came = [edit for edit in edits if edit.kind is EditKind.ADDED]
    gone = [edit for edit in edits if edit.kind is EditKind.REMOVED]
    for group, verb in ((came, "added"), (gone, "removed")):
        if group:
            heads = [_imported(edit.new or edit.old) for edit in group]
            word = "import" if len(heads) == 1 else "imports"
            has = "has" if len(heads) == 1 else "have"
            article = (
                "a new "
                if verb == "added" and len(heads) == 1
                else ("new " if verb == "added" else "the ")
            )
            text = f"{article}{word} of {listed([quote(head, 60) for head in heads], 6)} {has} been {verb}"
            yield Statement(
                text=text,
                weight=0.62,
                edits=tuple(group),
                identifiers=tuple(name for head in heads for name in names_in(head)),
            )
    for edit in edits:
        if edit.kind is EditKind.CHANGED and edit.old is not None and edit.new is not None:
            old, new = _imported(edit.old), _imported(edit.new)
            text = f"the import of {quote(old, 90)} has been changed to {quote(new, 90)}"
            yield Statement(text=text, weight=0.64, edits=(edit,), identifiers=tuple(names_in(new)))


def _imported(unit: Unit | None) -> str:
    if unit is None:
        return ""
    head = unit.part(Part.HEAD).rstrip(";")
    return re.sub(r"^(?:import|using|use|#include|require)\s+(?:static\s+)?", "", head)
