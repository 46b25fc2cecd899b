"""Joining changes that a reader sees as one: a new type with its members, tests of one class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crscore.claims.structural.change import Change
from crscore.syntax.outline import Kind, Role

SCREENS = 120
"""Changed lines up to which a new type or file is one topic with all its members."""
MIN_TESTS_JOINED = 3
"""New tests in one place that are told together."""
_JOINABLE_STATES = {
    "new": frozenset({"new", "overload"}),
    "removed": frozenset({"removed", "less"}),
}
_IMPORTS = frozenset({Role.IMPORT, Role.COMMENT, Role.STRING})


def group_changes(changes: Mapping[str, Change], *, whole: bool) -> list[Change]:
    """Join the changes of one file.

    Args:
        changes: Changes by qualified name, in file order; "" is the file itself.
        whole: Whether the whole file is new or removed.

    Returns:
        The topics, in file order. A removed unit is told with all its members; so is a new one that
        fits on a few screens.
    """
    inside = _inside(changes)
    order = {key: index for index, key in enumerate(changes)}
    if whole and "" in changes:
        changes[""].state = "removed" if changes[""].removed else "new"
    absorbed = _imports_of_file(changes, inside, whole=whole)
    for key, change in changes.items():
        if key in absorbed or change.state not in _JOINABLE_STATES:
            continue
        members = _below(key, inside)
        size = change.size + sum(changes[name].size for name in members)
        small = change.state == "removed" or size <= SCREENS or change.kind is Kind.FUNCTION
        if small and all(changes[name].state in _JOINABLE_STATES[change.state] for name in members):
            _absorb(change, [changes[name] for name in sorted(members, key=order.__getitem__)])
            absorbed |= members
    return _tests_together([change for key, change in changes.items() if key not in absorbed])


def _inside(changes: Mapping[str, Change]) -> dict[str, list[str]]:
    """Return the members of each changed unit; "" has those of the file."""
    inside: dict[str, list[str]] = {}
    for key, change in changes.items():
        parent = (change.new if change.new.units else change.old).parent
        while parent and (parent not in changes or parent == key):
            parent = parent.rpartition(".")[0]
        if key:
            inside.setdefault(parent, []).append(key)
    return inside


def _below(key: str, inside: Mapping[str, list[str]]) -> set[str]:
    """Return all units inside one, at any depth."""
    below: set[str] = set()
    stack = list(inside.get(key, ()))
    while stack:
        name = stack.pop()
        if name not in below and name != key:
            below.add(name)
            stack.extend(inside.get(name, ()))
    return below


def _imports_of_file(
    changes: Mapping[str, Change], inside: Mapping[str, list[str]], *, whole: bool
) -> set[str]:
    """Tell the imports of a file, with nothing else beside, with its largest changed unit."""
    top_level = inside.get("", [])
    if "" not in changes or not top_level:
        return set()
    file = changes[""]
    roles = {fact.role for fact in (*file.new.facts, *file.old.facts)}
    only = whole and len(top_level) == 1
    # In C and C++ a line without facts is a macro before a declaration, or `#endif`.
    imports = roles <= _IMPORTS and (Role.IMPORT in roles or file.language in {"c", "cpp"})
    if not only and (not imports or file.size > max(changes[k].size for k in top_level)):
        return set()
    main = changes[max(top_level, key=lambda name: changes[name].size)]
    places = [
        (new, line) for new, lines in ((True, file.added), (False, file.removed)) for line in lines
    ]
    main.aside = frozenset(places)
    main.added = sorted({*main.added, *file.added})
    main.removed = sorted({*main.removed, *file.removed})
    return {""}


def _absorb(outer: Change, members: Sequence[Change]) -> None:
    """Tell units with the one around them."""
    member_names = {unit.name for unit in outer.members}
    for member in members:
        name, unit = member.name, member.unit
        around = (name[:index] for index, sign in enumerate(name) if sign == ".")
        if unit is not None and member_names.isdisjoint(around):
            outer.members.append(unit)
            member_names.add(unit.name)
    _add(outer, members)


def _add(change: Change, added_changes: Sequence[Change]) -> None:
    for part, parts in (
        (change.new, [joined.new for joined in added_changes]),
        (change.old, [joined.old for joined in added_changes]),
    ):
        part.facts = [*part.facts, *(fact for part in parts for fact in part.facts)]
        part.tokens = [*part.tokens, *(token for part in parts for token in part.tokens)]
    change.added = sorted(
        {*change.added, *(line for change_ in added_changes for line in change_.added)}
    )
    change.removed = sorted(
        {*change.removed, *(line for joined in added_changes for line in joined.removed)}
    )


def _tests_together(changes: list[Change]) -> list[Change]:
    """Tell several new tests of one class or file as one topic."""
    together: dict[str, list[Change]] = {}
    for change in changes:
        if change.kind is Kind.TEST and change.state == "new":
            together.setdefault(change.new.parent, []).append(change)
    joined: set[int] = set()
    for parent, tests in together.items():
        if len(tests) < MIN_TESTS_JOINED:
            continue
        first, *following = tests
        first.members = [unit for test in tests for unit in test.new.units[:1]]
        _add(first, following)
        joined |= set(map(id, following))
        first.name, first.noun = parent, "tests"
    return [change for change in changes if id(change) not in joined]
