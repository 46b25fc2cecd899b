"""Joining changes that a reader sees as one: a new type with its members, tests of one class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crscore.claims.structural.change import Change
from crscore.syntax.outline import Kind, Role

SCREENS = 120
"""Changed lines up to which a new type or file is one topic with all its members."""
SEVERAL = 3
"""New tests in one place that are told together."""
_ALIKE = {"new": frozenset({"new", "overload"}), "removed": frozenset({"removed", "less"})}
_IMPORTS = frozenset({Role.IMPORT, Role.COMMENT, Role.STRING})


def gather(found: Mapping[str, Change], *, whole: bool) -> list[Change]:
    """Join the changes of one file.

    Args:
        found: Changes by qualified name, in file order; "" is the file itself.
        whole: Whether the whole file is new or removed.

    Returns:
        The topics, in file order. A removed unit is told with all its members; so is a new one that
        fits on a few screens.
    """
    inside = _inside(found)
    order = {key: at for at, key in enumerate(found)}
    if whole and "" in found:
        found[""].state = "removed" if found[""].removed else "new"
    gone = _imports_of_file(found, inside, whole=whole)
    for key, one in found.items():
        if key in gone or one.state not in _ALIKE:
            continue
        members = _below(key, inside)
        size = one.size + sum(found[name].size for name in members)
        small = one.state == "removed" or size <= SCREENS or one.kind is Kind.FUNCTION
        if small and all(found[name].state in _ALIKE[one.state] for name in members):
            _absorb(one, [found[name] for name in sorted(members, key=order.__getitem__)])
            gone |= members
    return _tests_together([one for key, one in found.items() if key not in gone])


def _inside(found: Mapping[str, Change]) -> dict[str, list[str]]:
    """Return the members of each changed unit; "" has those of the file."""
    inside: dict[str, list[str]] = {}
    for key, one in found.items():
        parent = (one.new if one.new.units else one.old).parent
        while parent and (parent not in found or parent == key):
            parent = parent.rpartition(".")[0]
        if key:
            inside.setdefault(parent, []).append(key)
    return inside


def _below(key: str, inside: Mapping[str, list[str]]) -> set[str]:
    """Return all units inside one, at any depth."""
    below: set[str] = set()
    stack = list(inside.get(key, ()))
    while stack:
        one = stack.pop()
        if one not in below and one != key:
            below.add(one)
            stack.extend(inside.get(one, ()))
    return below


def _imports_of_file(
    found: Mapping[str, Change], inside: Mapping[str, list[str]], *, whole: bool
) -> set[str]:
    """Tell the imports of a file, with nothing else beside, with its largest changed unit."""
    others = inside.get("", [])
    if "" not in found or not others:
        return set()
    file = found[""]
    roles = {fact.role for fact in (*file.new.facts, *file.old.facts)}
    only = whole and len(others) == 1
    # In C and C++ a line without facts is a macro before a declaration, or `#endif`.
    imports = roles <= _IMPORTS and (Role.IMPORT in roles or file.language in {"c", "cpp"})
    if not only and (not imports or file.size > max(found[k].size for k in others)):
        return set()
    main = found[max(others, key=lambda name: found[name].size)]
    places = [
        (new, line) for new, lines in ((True, file.added), (False, file.removed)) for line in lines
    ]
    main.aside = frozenset(places)
    main.added = sorted({*main.added, *file.added})
    main.removed = sorted({*main.removed, *file.removed})
    return {""}


def _absorb(one: Change, members: Sequence[Change]) -> None:
    """Tell units with the one around them."""
    told = {unit.name for unit in one.members}
    for member in members:
        name, unit = member.name, member.unit
        around = (name[:at] for at, sign in enumerate(name) if sign == ".")
        if unit is not None and told.isdisjoint(around):
            one.members.append(unit)
            told.add(unit.name)
    _add(one, members)


def _add(one: Change, others: Sequence[Change]) -> None:
    for mine, parts in (
        (one.new, [other.new for other in others]),
        (one.old, [other.old for other in others]),
    ):
        mine.facts = [*mine.facts, *(fact for part in parts for fact in part.facts)]
        mine.tokens = [*mine.tokens, *(token for part in parts for token in part.tokens)]
    one.added = sorted({*one.added, *(line for other in others for line in other.added)})
    one.removed = sorted({*one.removed, *(line for other in others for line in other.removed)})


def _tests_together(changes: list[Change]) -> list[Change]:
    """Tell several new tests of one class or file as one topic."""
    together: dict[str, list[Change]] = {}
    for one in changes:
        if one.kind is Kind.TEST and one.state == "new":
            together.setdefault(one.new.parent, []).append(one)
    gone: set[int] = set()
    for parent, tests in together.items():
        if len(tests) < SEVERAL:
            continue
        first, *rest = tests
        first.members = [unit for test in tests for unit in test.new.units[:1]]
        _add(first, rest)
        gone |= set(map(id, rest))
        first.name, first.noun = parent, "tests"
    return [one for one in changes if id(one) not in gone]
