"""Division of a changed file into topics: everything changed belongs to exactly one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from crscore.claims.structural.sides import Part, parts_of
from crscore.records import FileStatus
from crscore.syntax.outline import Kind, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.claims.structural.sides import Version
    from crscore.records import ChangedFile
    from crscore.syntax.grammars import Language
    from crscore.syntax.outline import Unit

SCREENS = 120
"""Changed lines up to which a new type or file is one topic with all its members."""
AGREE = 0.75
"""Share of tokens that two bodies must have in common, in [0, 1], for one to be the other."""
SAME = 0.9
"""The same for a body that stands in another file now."""
MOST_PAIRED = 60
"""New and removed units of a file that are compared with each other."""
MOST_TOKENS = 400
"""Tokens of a body that are compared."""
_OWN = frozenset({Role.ASSIGN, Role.CALL, Role.CONDITION})
SEVERAL = 3
"""New tests in one place that are told together."""
SMALL = 12
"""Tokens below which a body is too small to prove that it was moved or renamed."""


@dataclass(slots=True, kw_only=True)
class Change:
    """One changed unit of a file, before it is put into words."""

    file: ChangedFile
    name: str
    """Qualified name; "" for the file itself."""
    kind: Kind
    noun: str
    state: str
    """`new`, `removed`, `renamed`, `replaced`, `moved`, `layout`, `comments` or `changed`."""
    old: Part
    new: Part
    before: str = ""
    """The name or the path that it had before, when it was renamed, replaced or moved."""
    origin: Change | None = None
    """For a moved unit, what its former file lost."""
    members: list[Unit] = field(default_factory=list)
    """Units inside it that are told with it."""
    added: list[int] = field(default_factory=list)
    """Changed lines of the new version that belong to it, sorted."""
    removed: list[int] = field(default_factory=list)
    """Changed lines of the old version that belong to it, sorted."""

    @property
    def size(self) -> int:
        """Changed lines that are not blank."""
        return len(self.added) + len(self.removed)

    @property
    def unit(self) -> Unit | None:
        """Its declaration, in the new version where there is one."""
        return next(iter(self.new.units or self.old.units), None)


def changes_of(
    file: ChangedFile, language: Language, old: Version, new: Version
) -> list[Change]:
    """Divide a changed file of code.

    Args:
        file: The file.
        language: Its language.
        old: Its old version.
        new: Its new version.

    Returns:
        Changes in file order. Every changed line that is not blank is in exactly one of them.
    """
    before, after = parts_of(old, language), parts_of(new, language)
    found: dict[str, Change] = {}
    for key in dict.fromkeys([*after, *before]):
        one, two = before.get(key), after.get(key)
        if (one and one.lines) or (two and two.lines):
            found[key] = _change(file, key, one or Part(), two or Part())
    _pair_renamed(found, old, new)
    whole = file.status in {FileStatus.ADDED, FileStatus.DELETED}
    return _collapse(found, whole=whole)


def _change(file: ChangedFile, key: str, old: Part, new: Part) -> Change:
    unit = next(iter(new.units or old.units), None)
    return Change(
        file=file,
        name=key,
        kind=unit.kind if unit is not None else Kind.FILE,
        noun=unit.noun if unit is not None else "file",
        state=_state(key, old, new),
        old=old,
        new=new,
        added=list(new.lines),
        removed=list(old.lines),
    )


def _state(key: str, old: Part, new: Part) -> str:
    if key and not old.units and new.is_declared_in_change:
        return "new"
    if key and not new.units and old.is_declared_in_change:
        return "removed"
    if old.tokens == new.tokens:
        comments = [
            [fact.text for fact in part.facts if fact.role == "comment"] for part in (old, new)
        ]
        return "layout" if comments[0] == comments[1] else "comments"
    return "changed"


def _pair_renamed(
    found: dict[str, Change], old: Version, new: Version
) -> None:
    """Join a removed unit with a new one that has its body."""
    gone = [one for one in found.values() if one.state == "removed" and one.kind is not Kind.TEST]
    came = [one for one in found.values() if one.state == "new" and one.kind is not Kind.TEST]
    pairs = [
        (-score, at, other)
        for at, one in enumerate(came[:MOST_PAIRED])
        for other in gone[:MOST_PAIRED]
        if other.noun == one.noun
        and other.old.parent == one.new.parent
        and (score := _agreement(other.old, one.new)) >= AGREE
    ]
    for _, at, best in sorted(pairs, key=lambda pair: pair[:2]):
        one = came[at]
        if one.state != "new" or best.name not in found:
            continue
        first, last = best.name.rpartition(".")[2], one.name.rpartition(".")[2]
        proven = first not in new.words and last not in old.words
        one.state = "renamed" if proven else "replaced"
        one.before = best.name
        one.old = best.old
        one.removed = best.removed
        del found[best.name]
        for key in [key for key in found if key.startswith(best.name + ".")]:
            _rehang(found, key, one.name + key[len(best.name) :])


def _rehang(found: dict[str, Change], key: str, new_key: str) -> None:
    """Join a member of a renamed type with the member of its new name."""
    other = found.get(new_key)
    one = found[key]
    if other is not None and other.state == "new" and one.state == "removed":
        other.old, other.removed = one.old, one.removed
        other.state = "changed" if one.old.tokens != other.new.tokens else "layout"
        del found[key]


def join_moved(changes: Sequence[Change]) -> list[Change]:
    """Join a unit that one file lost with the same unit that another file, or another place, got.

    Args:
        changes: Changes of all files.

    Returns:
        The changes without the lost ones that were found again.
    """
    gone: dict[str, list[Change]] = {}
    for one in changes:
        if one.state == "removed" and one.name:
            gone.setdefault(one.name.rpartition(".")[2], []).append(one)
    found: set[int] = set()
    for one in changes:
        options = gone.get(one.name.rpartition(".")[2], []) if one.state == "new" else []
        for other in options[:MOST_PAIRED]:
            if id(other) in found or other.noun != one.noun or other.file is one.file:
                continue
            if _agreement(other.old, one.new) >= SAME:
                found.add(id(other))
                one.state, one.before, one.origin = "moved", other.file.path, other
                break
    return [one for one in changes if id(one) not in found]


def _agreement(old: Part, new: Part) -> float:
    """Return the share of tokens in common, in order, without the units' own names, in [0, 1]."""
    names = {unit.name.rpartition(".")[2] for unit in (*old.units, *new.units)}
    left, right = (
        [token for token in part.tokens[:MOST_TOKENS] if token not in names] for part in (old, new)
    )
    total = len(left) + len(right)
    common = 2 * (Counter(left) & Counter(right)).total()
    if min(len(left), len(right)) < SMALL or common < AGREE * total:
        return 0.0
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def _collapse(found: dict[str, Change], *, whole: bool) -> list[Change]:
    """Tell the members of a small new, or of any removed, unit with it."""
    if "" in found and whole:
        found[""].state = "removed" if found[""].removed else "new"
    inside: dict[str, list[str]] = {}
    for key, one in found.items():
        if key:
            parent = (one.new if one.new.units else one.old).parent
            while parent and parent not in found:
                parent = parent.rpartition(".")[0]
            inside.setdefault(parent, []).append(key)
    gone: set[str] = set()
    order = {key: at for at, key in enumerate(found)}
    if whole and "" in found and inside.get(""):
        # The imports of a new file are told with its first and often only declaration.
        main = found[max(inside[""], key=lambda name: found[name].size)]
        if len(inside[""]) == 1 or not any(
            fact.role in _OWN for part in (found[""].new, found[""].old) for fact in part.facts
        ):
            _absorb(main, found[""], as_member=False)
            gone.add("")

    def below(key: str) -> list[str]:
        stack, keys = list(inside.get(key, ())), []
        while stack:
            one = stack.pop()
            keys.append(one)
            stack.extend(inside.get(one, ()))
        return sorted(keys, key=order.__getitem__)

    for key, one in found.items():
        if key in gone or one.state not in {"new", "removed"}:
            continue
        members = [name for name in below(key) if found[name].state == one.state]
        if len(members) != len(below(key)):
            continue
        size = one.size + sum(found[name].size for name in members)
        if one.state == "removed" or size <= SCREENS or one.kind is Kind.FUNCTION:
            for name in members:
                _absorb(one, found[name])
            gone.update(members)
    return _group_tests([one for key, one in found.items() if key not in gone])


def _group_tests(changes: list[Change]) -> list[Change]:
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
        for other in rest:
            _absorb(first, other, as_member=False)
            gone.add(id(other))
        first.name, first.noun = parent, "tests"
    return [one for one in changes if id(one) not in gone]


def _absorb(one: Change, member: Change, *, as_member: bool = True) -> None:
    if as_member and member.unit is not None and not any(
        member.name.startswith(f"{unit.name}.") for unit in one.members
    ):
        one.members.append(member.unit)
    for mine, other in ((one.old, member.old), (one.new, member.new)):
        mine.facts = [*mine.facts, *other.facts]
        mine.tokens = [*mine.tokens, *other.tokens]
    one.added = sorted({*one.added, *member.added})
    one.removed = sorted({*one.removed, *member.removed})
