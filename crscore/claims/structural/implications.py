"""Consequences of a change, stated only where a rule justifies them.

Each rule maps one edit to sentences; a rule that the trees of the change cannot confirm words its
sentence as a condition.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.claims.structural.actions import caught_types, is_unless, names_type, raised
from crscore.claims.structural.added_removed import text_code
from crscore.claims.structural.callers import (
    SHOULD_BE_TESTED,
    changed_function,
    gone,
    is_test_file,
    new_function,
)
from crscore.claims.structural.code_to_words import aloud
from crscore.claims.structural.conditions import joint_of
from crscore.claims.structural.english import names_in, quote
from crscore.claims.structural.matching import EditKind
from crscore.claims.structural.mentions import unmarked
from crscore.claims.structural.places import noun, place
from crscore.claims.structural.statements import Statement
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.claims.structural.matching import Edit
    from crscore.claims.structural.regions import Area
    from crscore.syntax.model import Tree, Unit

Found = "Iterator[tuple[str, float]]"

_BROAD = re.compile(
    r"^\W*(?:\w+\.)*(?:Exception|BaseException|Throwable|StandardError|Error)$|^(?:\.\.\.)?$"
)
_ABSENT = re.compile(
    r"(?P<not>!==?|is not|!=)\s*(?:null|None|nil|undefined|nullptr|NULL)\b"
    r"|\b(?:isset|isNaN|hasattr|present\?)|\?\."
)
_LIMIT = re.compile(r"(?i)time_?out|delay|interval|retry|retries|limit|max|min|size|ttl|expir")
_SILENT = frozenset({Role.COMMENT, Role.DOC})
_LEAVES = frozenset({Role.RETURN, Role.RAISE, Role.JUMP})


def describe_implications(area: Area, edit: Edit) -> Iterator[Statement]:
    """Yield the implications of one edit."""
    tree, unit = (area.new, edit.new) if edit.new is not None else (area.old, edit.old)
    if unit is None:
        return
    rule = _RULES.get((edit.kind, unit.role))
    where = place(area, tree, unit)
    described = list(rule(area, edit, where)) if rule else []
    if edit.kind is EditKind.ADDED and unit.role not in {Role.TRY, Role.CATCH}:
        described += _handlers(tree, unit, where)
    for text, weight in described:
        yield Statement(
            text=text,
            weight=weight,
            edits=(edit,),
            identifiers=tuple(dict.fromkeys([unit.name, *names_in(text_code(text))])),
            implies=True,
        )


def _new_condition(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    unit = edit.new
    assert unit is not None  # noqa: S101 - the rule is for added units
    condition = unit.part(Part.CONDITION) or unit.part(Part.HEAD)
    inside = area.new.children(unit)
    subject = where or "the code"
    if inside and inside[-1].role in _LEAVES:
        followed = unit.after < area.new.units[unit.parent].after
        if followed and inside[-1].role is not Role.JUMP:
            holds = "does not hold" if is_unless(unit) else "holds"
            yield f"the rest of {subject} is skipped when {aloud(condition)} {holds}", 0.6
    else:
        absent = _ABSENT.search(condition)
        if absent:
            names = quote(condition[: absent.start()].split("&&")[-1].strip(" (!") or condition, 50)
            yield f"this check prevents an error when {names} is missing, null or undefined", 0.58
        else:
            yield (
                f"{subject} now behaves differently depending on whether {aloud(condition)} holds",
                0.5,
            )
    yield (
        f"both outcomes of the new check for {aloud(condition, 50)} {SHOULD_BE_TESTED}",
        0.42,
    )


def _lost_condition(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    unit = edit.old
    assert unit is not None  # noqa: S101 - the rule is for removed units
    condition = unit.part(Part.CONDITION) or unit.part(Part.HEAD)
    subject = where or "the code"
    if _ABSENT.search(condition):
        yield (
            f"without the check, {subject} may fail when the value in {aloud(condition)} "
            f"is null or missing",
            0.86,
        )
    else:
        yield f"{subject} no longer handles the case {aloud(condition)} separately", 0.58
    del area


def _changed_condition(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    assert edit.old is not None and edit.new is not None  # noqa: S101, PT018 - a changed unit
    before, after = (unit.part(Part.CONDITION) for unit in (edit.old, edit.new))
    narrower, wider = joint_of(before, after), joint_of(after, before)
    more = (narrower and "or" in narrower) or (wider and "and" in wider)
    if narrower or wider:
        yield (
            f"{'more' if more else 'fewer'} cases than before reach this branch of "
            f"{where or 'the code'}",
            0.55,
        )
    del area


def _changed_return(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    del edit
    if not _is_in_test(area, where):
        yield f"callers of {where or 'the function'} get a different return value than before", 0.58


def _is_in_test(area: Area, where: str) -> bool:
    return unmarked(where).startswith("the test ") or is_test_file(area.file.path)


def _new_catch(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    assert edit.new is not None  # noqa: S101 - the rule is for added and changed units
    yield from _handlers(area.new, edit.new, where)


def _changed_catch(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    assert edit.old is not None and edit.new is not None  # noqa: S101, PT018 - a changed unit
    before, after = caught_types(edit.old), caught_types(edit.new)
    if _BROAD.search(before) and not _BROAD.search(after):
        yield (
            f"errors other than {quote(after)} now reach the callers of {where or 'the code'}",
            0.7,
        )
    elif _BROAD.search(after) and not _BROAD.search(before):
        yield from _handlers(area.new, edit.new, where)


def _handlers(tree: Tree, unit: Unit, where: str) -> Iterator[tuple[str, float]]:
    """Describe each error that a handler inside a unit hides, at any depth."""
    for handler in tree.subtree(unit):
        if handler.role is not Role.CATCH:
            continue
        caught = caught_types(handler)
        inside = [child for child in tree.children(handler) if child.role not in _SILENT]
        if any(child.role is Role.RAISE for child in tree.subtree(handler)):
            continue
        if _BROAD.search(caught):
            what = quote(caught) if caught else "every error"
            yield (
                f"catching {what} is broad and can hide unexpected errors in {where or 'the code'}",
                0.86,
            )
        elif all(child.role is Role.JUMP for child in inside):
            kind = quote(caught) if names_type(caught) else "the error"
            yield f"{kind} is silently ignored in {where or 'the code'}", 0.7
        else:
            kind = f" of type {quote(caught)}" if names_type(caught) else ""
            yield f"errors{kind} no longer reach the callers of {where or 'the code'}", 0.5


def _new_raise(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    assert edit.new is not None  # noqa: S101 - the rule is for added and changed units
    error = raised(edit.new)
    yield (
        f"callers of {where or 'this code'} now have to handle {quote(error or 'the error', 50)}",
        0.55,
    )
    del area


def _changed_value(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    old, new = edit.old, edit.new
    assert old is not None and new is not None  # noqa: S101, PT018 - the rule is for changed units
    name = new.part(Part.TARGET) or new.name
    before, after = old.part(Part.VALUE), new.part(Part.VALUE)
    if old.part(Part.TARGET) != new.part(Part.TARGET):
        if new.role is not Role.ASSIGN or not area.new.ancestors(new):
            yield (
                f"code that still refers to {quote(old.part(Part.TARGET) or old.name)} "
                f"has to use {quote(name)}",
                0.55,
            )
        return
    if before == after:
        return
    if _LIMIT.search(name):
        yield (
            f"the new {quote(name)} changes how long or how much the code allows, so "
            f"{aloud(after, 40)} should be justified",
            0.55,
        )
    del where


def _new_value(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    unit = edit.new
    assert unit is not None  # noqa: S101 - the rule is for added units
    name = unit.part(Part.TARGET) or unit.name
    if where and name.replace("_", "a").isalnum() and _uses(area, name) <= 1:
        yield f"the new {noun(area.new, unit)} {quote(name)} is not used in {_seen(area)}", 0.5


def _seen(area: Area) -> str:
    return "the changed lines" if area.file.new_source is None else "the file"


def _uses(area: Area, name: str) -> int:
    """Count the mentions of a name in the new source, or in the hunks when it is unknown."""
    source = area.file.new_source
    if source is None:
        new = [line.text for hunk in area.file.hunks for line in hunk.lines if line.new is not None]
        source = "\n".join(new)
    return len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", source))


def _new_import(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    unit = edit.new
    assert unit is not None  # noqa: S101 - the rule is for added units
    names = [token.text for token in unit.tokens if token.named and token.text.isidentifier()]
    # A whole namespace is used through names that do not occur in the import.
    whole = {"*", "using", "__future__"} & {token.text for token in unit.tokens}
    if names and not whole and _uses(area, names[-1]) <= 1:
        yield f"the newly imported {quote(names[-1])} is not used in {_seen(area)}", 0.42
    del where


def _new_decorator(area: Area, edit: Edit, where: str) -> Iterator[tuple[str, float]]:
    assert edit.new is not None  # noqa: S101 - the rule is for added units
    head = edit.new.part(Part.HEAD)
    if "deprecat" in head.lower():
        yield f"callers of {where or 'the declaration'} should move to its replacement", 0.6
    del area


_RULES = {
    (EditKind.ADDED, Role.FUNCTION): new_function,
    (EditKind.ADDED, Role.CLASS): new_function,
    (EditKind.REMOVED, Role.FUNCTION): gone,
    (EditKind.REMOVED, Role.CLASS): gone,
    (EditKind.REMOVED, Role.FIELD): gone,
    (EditKind.REMOVED, Role.MEMBER): gone,
    (EditKind.REMOVED, Role.ASSIGN): gone,
    (EditKind.CHANGED, Role.FUNCTION): changed_function,
    (EditKind.CHANGED, Role.CLASS): changed_function,
    (EditKind.ADDED, Role.IF): _new_condition,
    (EditKind.REMOVED, Role.IF): _lost_condition,
    (EditKind.CHANGED, Role.IF): _changed_condition,
    (EditKind.CHANGED, Role.RETURN): _changed_return,
    (EditKind.ADDED, Role.TRY): _new_catch,
    (EditKind.ADDED, Role.CATCH): _new_catch,
    (EditKind.CHANGED, Role.CATCH): _changed_catch,
    (EditKind.ADDED, Role.RAISE): _new_raise,
    (EditKind.CHANGED, Role.FIELD): _changed_value,
    (EditKind.CHANGED, Role.ASSIGN): _changed_value,
    (EditKind.CHANGED, Role.ENTRY): _changed_value,
    (EditKind.ADDED, Role.ASSIGN): _new_value,
    (EditKind.ADDED, Role.IMPORT): _new_import,
    (EditKind.ADDED, Role.DECORATOR): _new_decorator,
}
