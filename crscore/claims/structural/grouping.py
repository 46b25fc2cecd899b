"""Grouping of changes that a reader sees as one: a new type with its members, tests of a class."""

from collections.abc import Mapping, Sequence

from crscore.claims.structural.change import UnitChange
from crscore.syntax.outline import Kind, Role

MAX_JOINED_LINES = 120
"""A new type or file of at most this many changed lines forms one topic with its members."""
MIN_JOINED_TESTS = 3
"""Minimum new tests in one class or file that form one topic."""
_JOINABLE = {"new": frozenset({"new", "overload"}), "removed": frozenset({"removed", "less"})}
"""State of a unit -> states of the members that can join it."""
_IMPORTS = frozenset({Role.IMPORT, Role.COMMENT, Role.STRING})


def group_changes(changes: Mapping[str, UnitChange], *, is_whole: bool) -> list[UnitChange]:
    """Join the changes of one file.

    Args:
        changes: Changes by qualified name, in file order; the empty name is the file itself.
        is_whole: Whether the whole file is new or removed.

    Returns:
        The topics, in file order. A removed unit includes all its members, and so does a new unit
        of at most `MAX_JOINED_LINES`.
    """
    members_of = _members(changes)
    if is_whole and "" in changes:
        changes[""].state = "removed" if changes[""].removed else "new"
    order = {key: index for index, key in enumerate(changes)}
    absorbed = _absorb_imports(changes, members_of.get("", []), is_whole=is_whole)
    for key, change in changes.items():
        if key in absorbed or change.state not in _JOINABLE:
            continue
        names = _below(key, members_of)
        members = [changes[name] for name in sorted(names, key=order.__getitem__)]
        size = change.size + sum(member.size for member in members)
        is_one = change.state == "removed" or size <= MAX_JOINED_LINES
        # A function of any size is one topic with the functions inside it.
        if (is_one or change.kind is Kind.FUNCTION) and all(
            member.state in _JOINABLE[change.state] for member in members
        ):
            _absorb(change, members)
            absorbed |= names
    return _join_tests([change for key, change in changes.items() if key not in absorbed])


def _members(changes: Mapping[str, UnitChange]) -> dict[str, list[str]]:
    """Return the members of each changed unit, by its name; the empty name is the file."""
    members: dict[str, list[str]] = {}
    for key, change in changes.items():
        parent = (change.new if change.new.units else change.old).parent
        # An unchanged unit is not a topic, so its members belong to the next enclosing unit.
        while parent and (parent not in changes or parent == key):
            parent = parent.rpartition(".")[0]
        if key:
            members.setdefault(parent, []).append(key)
    return members


def _below(key: str, members: Mapping[str, list[str]]) -> set[str]:
    """Return all units inside a unit, at any depth."""
    below: set[str] = set()
    stack = list(members.get(key, ()))
    while stack:
        name = stack.pop()
        if name not in below and name != key:
            below.add(name)
            stack.extend(members.get(name, ()))
    return below


def _absorb_imports(
    changes: Mapping[str, UnitChange], top_level: Sequence[str], *, is_whole: bool
) -> set[str]:
    """If only the imports of a file changed, join them with its largest changed unit."""
    if "" not in changes or not top_level:
        return set()
    file = changes[""]
    main = changes[max(top_level, key=lambda name: changes[name].size)]
    roles = {fact.role for fact in (*file.new.facts, *file.old.facts)}
    # In C and C++, a line without facts is a macro before a declaration, or `#endif`.
    is_imports = roles <= _IMPORTS and (Role.IMPORT in roles or file.language in {"c", "cpp"})
    if not (is_whole and len(top_level) == 1) and (not is_imports or file.size > main.size):
        return set()
    lines = [(True, line) for line in file.added] + [(False, line) for line in file.removed]
    main.aside = frozenset(lines)
    main.added = sorted({*main.added, *file.added})
    main.removed = sorted({*main.removed, *file.removed})
    return {""}


def _absorb(outer: UnitChange, members: Sequence[UnitChange]) -> None:
    """Make members part of the change of their enclosing unit."""
    names = {unit.name for unit in outer.members}
    for member in members:
        prefixes = (member.name[:end] for end, sign in enumerate(member.name) if sign == ".")
        if member.unit is not None and names.isdisjoint(prefixes):
            outer.members.append(member.unit)
            names.add(member.unit.name)
    _add(outer, members)


def _add(change: UnitChange, joined: Sequence[UnitChange]) -> None:
    all_changes = (change, *joined)
    for part, parts in (
        (change.new, [source.new for source in all_changes]),
        (change.old, [source.old for source in all_changes]),
    ):
        part.facts = [fact for source in parts for fact in source.facts]
        part.tokens = [token for source in parts for token in source.tokens]
    change.added = sorted({line for source in all_changes for line in source.added})
    change.removed = sorted({line for source in all_changes for line in source.removed})


def _join_tests(changes: list[UnitChange]) -> list[UnitChange]:
    """Join several new tests of one class or file."""
    by_parent: dict[str, list[UnitChange]] = {}
    for change in changes:
        if change.kind is Kind.TEST and change.state == "new":
            by_parent.setdefault(change.new.parent, []).append(change)
    joined: set[int] = set()
    for parent, tests in by_parent.items():
        if len(tests) >= MIN_JOINED_TESTS:
            first = tests[0]
            first.members = [unit for test in tests for unit in test.new.units[:1]]
            _add(first, tests[1:])
            first.name, first.noun = parent, "tests"
            joined.update(map(id, tests[1:]))
    return [change for change in changes if id(change) not in joined]
