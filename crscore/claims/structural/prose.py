"""Sentences about comments, documentation and imports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.claims.structural.actions import imported
from crscore.claims.structural.english import listed, names_in, quote
from crscore.claims.structural.focus import middle
from crscore.claims.structural.matching import EditKind
from crscore.claims.structural.mentions import marked
from crscore.claims.structural.places import inside, named, place
from crscore.claims.structural.statements import Statement
from crscore.syntax.model import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crscore.claims.structural.matching import Edit
    from crscore.claims.structural.regions import Area
    from crscore.syntax.model import Tree, Unit

MAX_PROSE = 140
"""Characters of a comment quoted in a sentence."""
SHORT = 12
"""Words up to which a changed comment is quoted whole."""
MAX_LINE = 1_000
"""Characters read of one line of a comment."""
AROUND = 3
"""Words shown before the first one that differs."""

_MARKS = re.compile(
    r'^\s*(?:///?|//!?|#+|/?\*+/?|--|"""|\'\'\'|[rbu]*"""|<!--)\s?|\s*(?:\*/|-->|"""|\'\'\')\s*$'
)
_CODE = re.compile(r"[;{}]\s*$|^\s*[\w.]+\s*\(.*\)\s*;?$|^\s*\w+\s*=\s*\S")


def prose_of(lines: Iterable[str]) -> str:
    """Return the words of comment lines without their marks, on one line."""
    return " ".join(" ".join(_MARKS.sub("", line[:MAX_LINE]) for line in lines).split())


def describe_comments(area: Area, edits: list[Edit]) -> Iterator[Statement]:
    """Describe comments, with one claim for those of one block and kind."""
    groups: dict[tuple[int, Role], list[Edit]] = {}
    for edit in edits:
        unit = edit.new or edit.old
        if unit is not None:
            groups.setdefault((edit.block, unit.role), []).append(edit)
    for group in groups.values():
        before = prose_of(_changed_text(area, group, old=True))
        after = prose_of(_changed_text(area, group, old=False))
        first = group[0]
        tree, unit = (area.new, first.new) if first.new is not None else (area.old, first.old)
        assert unit is not None  # noqa: S101 - an edit has a side
        where = place(area, tree, unit)
        text = _comment(*_subject(tree, unit, where), before, after)
        if text:
            yield Statement(text=text, weight=0.5, edits=tuple(group))


def _changed_text(area: Area, group: list[Edit], *, old: bool) -> list[str]:
    found: list[str] = []
    for edit in group:
        unit: Unit | None = edit.old if old else edit.new
        lines = area.old_block if old else area.new_block
        if unit is not None:
            found.extend(token.text for token in unit.tokens if token.line in lines)
    return found


def _comment(what: str, where: str, before: str, after: str) -> str:
    if after and before:
        left, right = _differing(before, after)
        if left and right:
            was, now = _comment_text(left), _comment_text(right)
            return f"the {what}{where} now says '{now}' instead of '{was}'"
        if right:
            return f"the {what}{where} now also says '{_comment_text(right)}'"
        return f"the {what}{where} no longer says '{_comment_text(left)}'" if left else ""
    if after:
        noun = what if what == "documentation" else f"a {what}"
        kind = "commented-out code" if what == "comment" and _CODE.search(after) else noun
        return f"{kind} has been added{where.replace(' of ', ' to ', 1)}: '{_comment_text(after)}'"
    return f"the {what} '{_comment_text(before)}' has been removed{where}" if before else ""


def _differing(before: str, after: str) -> tuple[str, str]:
    """Return the differing middle of two texts with up to `AROUND` words before it."""
    left, right = before.split(), after.split()
    if max(len(left), len(right)) <= SHORT:
        return (before, after) if left != right else ("", "")
    a, b, c, d = middle(left, right)
    if a == b and c == d:
        return "", ""
    start = max(a - AROUND, 0) if a < b and c < d else a
    return " ".join(left[start:b]), " ".join(right[start:d])


def _subject(tree: Tree, unit: Unit, where: str) -> tuple[str, str]:
    """Return the noun for a comment and the phrase for its place."""
    if unit.role is Role.DOC:
        return "docstring", f" of {where}" if where else ""
    first = unit.tokens[0].text if unit.tokens else ""
    if first.startswith(("/**", "///", "//!")):
        below = next((item for item in tree.units[unit.after :] if item.start > unit.end), None)
        if below is not None and below.start <= unit.end + 2 and below.role in _DECLARED:
            return "documentation", f" of {marked(named(tree, below))}"
        return "documentation comment", inside(where)
    return "comment", inside(where)


_DECLARED = frozenset({Role.FUNCTION, Role.CLASS, Role.FIELD, Role.MEMBER, Role.ALIAS})


def _comment_text(text: str) -> str:
    text = text.replace("'", "’")
    return text if len(text) <= MAX_PROSE else text[: MAX_PROSE - 1].rstrip() + "…"


def describe_imports(area: Area, edits: list[Edit]) -> Iterator[Statement]:
    """Describe imports: new ones in one claim, removed ones in another, changed ones one by one."""
    del area
    came = [edit for edit in edits if edit.kind is EditKind.ADDED]
    gone = [edit for edit in edits if edit.kind is EditKind.REMOVED]
    for group, verb in ((came, "added"), (gone, "removed")):
        if group:
            heads = [imported(unit) for edit in group if (unit := edit.new or edit.old)]
            word = "import" if len(heads) == 1 else "imports"
            has = "has" if len(heads) == 1 else "have"
            article = (
                "a new "
                if verb == "added" and len(heads) == 1
                else ("new " if verb == "added" else "the ")
            )
            text = (
                f"{article}{word} of {listed([quote(head, 60) for head in heads], 6)} {has} "
                f"been {verb}"
            )
            yield Statement(
                text=text,
                weight=0.55,
                edits=tuple(group),
                identifiers=tuple(name for head in heads for name in names_in(head)),
            )
    for edit in edits:
        if edit.kind is EditKind.CHANGED and edit.old is not None and edit.new is not None:
            old, new = imported(edit.old), imported(edit.new)
            text = f"the import of {quote(old, 90)} has been changed to {quote(new, 90)}"
            yield Statement(text=text, weight=0.64, edits=(edit,), identifiers=tuple(names_in(new)))
