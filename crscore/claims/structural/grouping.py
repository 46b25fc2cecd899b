"""Grouping of edits into claims, and all statements about an area."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crscore.claims.structural.actions import action, describe_actions
from crscore.claims.structural.added_removed import describe_added_removed, text_code
from crscore.claims.structural.changes import describe_change, describe_move
from crscore.claims.structural.english import Action, listed, names_in, plural, quote
from crscore.claims.structural.focus import replaced
from crscore.claims.structural.formatting import describe_formatting, describe_punctuation
from crscore.claims.structural.implications import describe_implications
from crscore.claims.structural.matching import EditKind, match
from crscore.claims.structural.overview import describe_overview
from crscore.claims.structural.places import noun, place
from crscore.claims.structural.prose import describe_comments, describe_imports
from crscore.claims.structural.statements import Statement
from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crscore.claims.structural.matching import Edit
    from crscore.claims.structural.regions import Area
    from crscore.syntax.model import Tree, Unit

MAX_ACTIONS = 3
"""Actions described in one claim; a longer run makes several claims."""
MAX_SINGLE = 4
"""Longest run of statements in which each gets its own claim."""

MAX_ALONE = 3
"""Most new or removed siblings of a kind that get a claim each; more share one claim."""
MAX_NAMED = 8
"""Siblings named in that shared claim."""

_DECLARED = frozenset(
    {Role.FUNCTION, Role.CLASS, Role.FIELD, Role.MEMBER, Role.ENTRY, Role.ALIAS, Role.ASSIGN}
)
_STEPS = frozenset(
    {
        Role.ASSIGN, Role.CALL, Role.RETURN, Role.RAISE, Role.ASSERT, Role.JUMP, Role.YIELD,
        Role.DELETE, Role.OTHER, Role.MARKUP,
    }
)  # fmt: skip
_OWN = frozenset({Role.FUNCTION, Role.CLASS, Role.FIELD})
_PROSE = frozenset({Role.COMMENT, Role.DOC})


def statements_of(area: Area) -> tuple[Statement, ...]:
    """Return all statements about an area, in reading order."""
    formatted, skipped = describe_formatting(area)
    edits = tuple(edit for edit in match(area).edits if edit.block not in skipped)
    steps, rest = _partition(edits, _is_step)
    prose, rest = _partition(rest, lambda edit: unit_of(edit).role in _PROSE)
    imports, rest = _partition(rest, lambda edit: unit_of(edit).role is Role.IMPORT)
    if area.blocks and not edits and not formatted:
        formatted = [describe_punctuation(area)]
    found = [
        *formatted,
        *_describe_steps(area, steps),
        *describe_comments(area, prose),
        *describe_imports(area, imports),
        *_describe_rest(area, rest),
        *describe_overview(area, edits),
        *(statement for edit in edits for statement in describe_implications(area, edit)),
    ]
    return tuple(found)


def unit_of(edit: Edit) -> Unit:
    """Return the unit of an edit, the new one when there are two."""
    unit = edit.new or edit.old
    assert unit is not None  # noqa: S101 - an edit has a side
    return unit


def _partition(
    edits: Iterable[Edit], test: Callable[[Edit], bool]
) -> tuple[list[Edit], list[Edit]]:
    yes: list[Edit] = []
    no: list[Edit] = []
    for edit in edits:
        (yes if test(edit) else no).append(edit)
    return yes, no


def _is_step(edit: Edit) -> bool:
    return edit.kind in {EditKind.ADDED, EditKind.REMOVED} and unit_of(edit).role in _STEPS


def _describe_steps(area: Area, edits: list[Edit]) -> Iterator[Statement]:
    """Describe each run of plain statements in one place as one claim, or as one replacement."""
    groups: dict[tuple[int, str], tuple[list[Edit], list[Edit]]] = {}
    for edit in edits:
        tree = area.new if edit.new is not None else area.old
        key = (edit.block, place(area, tree, unit_of(edit)))
        groups.setdefault(key, ([], []))[edit.kind is EditKind.ADDED].append(edit)
    for (_, where), (left, came) in groups.items():
        gone = [edit for edit in left if not _still_called(area, edit)]
        subject = where or "the code"
        declared, others = _partition(came, _is_declaration) if not gone else ([], came)
        for edit in declared:
            yield from describe_added_removed(area, edit)
        before, after = _actions(area.old, gone), _actions(area.new, others)
        if 0 < len(before) <= MAX_ACTIONS and 0 < len(after) <= MAX_ACTIONS:
            text = f"{subject} now {_phrase(after, 'third')} instead of {_phrase(before, 'gerund')}"
            yield _statement(text, 0.85, [*gone, *others])
            continue
        for chunk in _chunks(after, len(groups)):
            weight = _weight([unit_of(edit) for edit, _ in chunk])
            yield _statement(
                f"{subject} now {_phrase(chunk, 'third')}", weight, [edit for edit, _ in chunk]
            )
        for chunk in _chunks(before, len(groups)):
            yield _statement(
                f"{subject} no longer {_phrase(chunk, 'third')}", 0.76, [edit for edit, _ in chunk]
            )


def _still_called(area: Area, gone: Edit) -> bool:
    """Return True for a removed call that a new statement in the same place also makes."""
    unit = gone.old
    if unit is None or unit.role is not Role.CALL or not unit.calls:
        return False
    where = place(area, area.old, unit)
    return any(
        unit.calls[0] in inner.calls and place(area, area.new, inner) == where
        for inner in area.new.units
        if inner.start in area.new_block and inner.role is not Role.CALL
    )


def _weight(units: list[Unit]) -> float:
    if all(_is_plumbing(unit) for unit in units):
        return 0.5
    return 0.87 if any(unit.role in {Role.RETURN, Role.RAISE} for unit in units) else 0.8


def _is_plumbing(unit: Unit) -> bool:
    """Return True for `self.name = name`: the parameter has its own claim."""
    target, value = unit.part(Part.TARGET), unit.part(Part.VALUE)
    return unit.role is Role.ASSIGN and bool(value) and target.endswith((f".{value}", f">{value}"))


def _is_declaration(edit: Edit) -> bool:
    unit = unit_of(edit)
    if unit.role is not Role.ASSIGN or not unit.part(Part.VALUE):
        return False
    words = {token.text for token in unit.tokens[:3]}
    return bool(unit.part(Part.TYPE) or words & {"const", "let", "var", "auto", ":="}) or (
        unit.part(Part.OPERATOR) in {"", ":="} and unit.part(Part.TARGET).isidentifier()
    )


def _actions(tree: Tree, edits: list[Edit]) -> list[tuple[Edit, Action]]:
    found = [(edit, action(tree, unit_of(edit))) for edit in edits]
    return [(edit, done) for edit, done in found if done is not None]


def _chunks(actions: list[tuple[Edit, Action]], groups: int) -> Iterator[list[tuple[Edit, Action]]]:
    size = 1 if len(actions) * groups <= MAX_SINGLE else MAX_ACTIONS
    for start in range(0, len(actions), size):
        yield actions[start : start + size]


def _phrase(actions: list[tuple[Edit, Action]], form: str) -> str:
    return describe_actions([done for _, done in actions], form, MAX_ACTIONS)


def _statement(text: str, weight: float, edits: list[Edit]) -> Statement:
    return Statement(
        text=text, weight=weight, edits=tuple(edits), identifiers=tuple(names_in(text_code(text)))
    )


def _describe_rest(area: Area, edits: list[Edit]) -> Iterator[Statement]:
    same: dict[tuple[tuple[str, str], ...], list[Edit]] = defaultdict(list)
    for edit in edits:
        # A changed declaration has its own claim.
        if edit.old is not None and edit.new is not None and _may_repeat(edit):
            same[tuple(replaced(edit.old.tokens, edit.new.tokens))].append(edit)
    repeated = {id(edit) for group in same.values() if len(group) > 1 for edit in group}
    for pieces, group in same.items():
        if len(group) > 1:
            yield _repeated(area, pieces, group)
    together = _siblings(area, edits)
    for siblings in together:
        yield _describe_siblings(area, siblings)
    repeated |= {id(edit) for siblings in together for edit in siblings}
    for edit in edits:
        if id(edit) in repeated:
            continue
        if edit.kind is EditKind.CHANGED:
            yield from describe_change(area, edit)
        elif edit.kind is EditKind.MOVED:
            yield from describe_move(area, edit)
        else:
            yield from describe_added_removed(area, edit)


def _may_repeat(edit: Edit) -> bool:
    return edit.kind is EditKind.CHANGED and unit_of(edit).role not in _OWN


def _siblings(area: Area, edits: list[Edit]) -> list[list[Edit]]:
    """Group the declarations of one kind added or removed in one place, when there are many."""
    groups: dict[tuple[EditKind, str, str], list[Edit]] = {}
    for edit in edits:
        if edit.kind in {EditKind.ADDED, EditKind.REMOVED}:
            tree, unit = _side(area, edit)
            if unit.role in _DECLARED and (unit.name or unit.part(Part.TARGET)):
                key = (edit.kind, noun(tree, unit), place(area, tree, unit))
                groups.setdefault(key, []).append(edit)
    return [group for group in groups.values() if len(group) > MAX_ALONE]


def _describe_siblings(area: Area, edits: list[Edit]) -> Statement:
    tree, unit = _side(area, edits[0])
    names = [_side(area, edit)[1] for edit in edits]
    named = listed([quote(item.name or item.part(Part.TARGET)) for item in names], MAX_NAMED)
    what = f"{len(edits)} {{}}{plural(noun(tree, unit), len(edits))}"
    where = place(area, tree, unit)
    if edits[0].kind is EditKind.ADDED:
        text = f"{what.format('new ')} have been added{f' to {where}' if where else ''}: {named}"
    else:
        text = f"{what.format('')} have been removed{f' from {where}' if where else ''}: {named}"
    return _statement(text, 0.94, edits)


def _side(area: Area, edit: Edit) -> tuple[Tree, Unit]:
    return (area.new if edit.new is not None else area.old), unit_of(edit)


def _repeated(area: Area, pieces: tuple[tuple[str, str], ...], group: list[Edit]) -> Statement:
    phrases = [
        f"{quote(before)} has been replaced with {quote(after)}"
        if before and after
        else (f"{quote(after)} has been added" if after else f"{quote(before)} has been removed")
        for before, after in pieces[:3]
    ]
    places = list(dict.fromkeys(place(area, area.new, unit_of(edit)) for edit in group))
    where = f" in {listed([name for name in places if name], 3)}" if any(places) else ""
    return _statement(f"{listed(phrases)} in {len(group)} places{where}", 0.88, group)
