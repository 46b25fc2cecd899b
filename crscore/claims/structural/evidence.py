"""Compares the facts of two versions of a unit, and looks up text in the code of each version."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from itertools import product

from crscore.claims.structural.change import UnitChange, UnitPart
from crscore.claims.structural.headline import label
from crscore.claims.structural.quoting import Statement, about, agreement
from crscore.syntax.change import Version, squeeze, words_of
from crscore.syntax.outline import Fact, Role

MIN_EDIT_OVERLAP = 0.6
"""Minimum agreement (0 to 1) of two facts for one to be the edited form of the other."""
MIN_PARTIAL_OVERLAP = 0.3
"""Minimum agreement of two facts that can only be paired with each other.

If both are in the same position, none is needed. This is also the minimum agreement of a removed
condition with a new one that may contain it.
"""
MAX_PAIRED = 20
"""Maximum facts of each version that are compared with those of the other version."""

# Between the names of "client.get", "client->get" and "Client::get"
_SEPARATOR = re.compile(r"\.|->|::")


# The facts of both versions are compared as multisets. An earlier method that matched each line of
# code of one version with a line of the other caused most false claims
# (docs/design/003-structural-claims.md).
class Evidence:
    """Evidence in both versions of a file for sentences about the change of a unit.

    A fact found in only one version was added or removed. A sentence may claim this only if the
    code of the other version does not contain the text of the fact (`is_new`, `is_gone`).
    """

    def __init__(self, change: UnitChange, old: Version, new: Version) -> None:
        self.change = change
        self.subject = label(change)
        self.old = old
        self.new = new
        self._versions = ((False, change.old, old), (True, change.new, new))
        self._added = difference(change.new, change.old, set(change.added))
        self._removed = difference(change.old, change.new, set(change.removed))

    def added(self, role: Role) -> list[Fact]:
        """Return the facts of a role that only the new version has."""
        return self._added.get(role, [])

    def removed(self, role: Role) -> list[Fact]:
        """Return the facts of a role that only the old version has."""
        return self._removed.get(role, [])

    def is_new(self, text: str) -> bool:
        """Return whether the old version of the unit does not contain this code."""
        return squeeze(text) not in self._code[False]

    def is_gone(self, text: str) -> bool:
        """Return whether the new version of the unit does not contain this code."""
        return squeeze(text) not in self._code[True]

    def statement(self, predicate: str, facts: Sequence[Fact], *, new: bool = True) -> Statement:
        """Return a statement about the unit, with the lines of the facts."""
        return about(facts, f"{self.subject} {predicate}", new=new)

    def find_unmentioned(self, facts: Sequence[Fact], *, new: bool) -> list[Fact]:
        """Return one fact per name whose last component is not in the unit's other version.

        Args:
            facts: Facts of one version.
            new: Whether that is the new version.
        """
        words = self._words[not new]
        facts_by_name: dict[str, Fact] = {}
        for fact in facts:
            if (last := last_component(fact.name)) and last not in words:
                facts_by_name.setdefault(fact.name, fact)
        return list(facts_by_name.values())

    def are_adjacent(self, old: Fact, new: Fact) -> bool:
        """Return whether two facts are in one block of changed lines; True if it is not known."""
        block = self.old.blocks.get(old.line)
        if block is None or new.line not in self.new.blocks:  # only a later line changed
            return True
        return bool(block.added) and block.added[0][0] <= new.line <= block.added[-1][0]

    def is_in_place(self, old: Fact, new: Fact) -> bool:
        """Return whether two facts are in the same position of a block that kept its length."""
        block = self.old.blocks.get(old.line)
        if block is None or len(block.removed) != len(block.added):
            return False
        return old.line - block.removed[0][0] == new.line - block.added[0][0]

    def pair_edits(self, removed: Sequence[Fact], added: Sequence[Fact]) -> list[tuple[Fact, Fact]]:
        """Return pairs of a removed fact and the added fact that replaced it.

        The most similar pairs come first. A fact is in at most one pair.
        """
        candidates = product(removed[:MAX_PAIRED], added[:MAX_PAIRED])
        near = [(old, new) for old, new in candidates if self.are_adjacent(old, new)]
        counts = Counter(id(fact) for pair in near for fact in pair)
        paired: list[tuple[Fact, Fact]] = []
        for old, new in sorted(near, key=lambda pair: -agreement(*pair)):
            # Two facts that can only be paired with each other need less agreement.
            is_single = counts[id(old)] == counts[id(new)] == 1
            needed = 0.0 if self.is_in_place(old, new) else MIN_PARTIAL_OVERLAP
            is_free = not any(old is before or new is after for before, after in paired)
            if is_free and agreement(old, new) >= (needed if is_single else MIN_EDIT_OVERLAP):
                paired.append((old, new))
        return paired

    def is_edit(self, old: Fact, new: Fact) -> bool:
        """Return whether a removed condition was certainly edited into an added condition.

        This is uncertain if another added condition contains the removed one or is a part of it.
        """
        before = squeeze(old.text)
        texts = [squeeze(fact.text) for fact in self.added(new.role) if fact is not new]
        # Conditions with the same words may be opposites that guard different code, unless both are
        # in the same position.
        is_contrary = agreement(old, new) == 1 and not self.is_in_place(old, new)
        return not is_contrary and not any(before in text or text in before for text in texts)

    def find_unpaired(
        self, removed: Sequence[Fact], added: Sequence[Fact], paired: Sequence[tuple[Fact, Fact]]
    ) -> tuple[list[Fact], list[Fact]]:
        """Return the removed and the added facts that are in no pair and in only one version."""
        in_pairs = {id(fact) for pair in paired for fact in pair}
        return (
            [fact for fact in removed if id(fact) not in in_pairs and self.is_gone(fact.text)],
            [fact for fact in added if id(fact) not in in_pairs and self.is_new(fact.text)],
        )

    @cached_property
    def _code(self) -> dict[bool, str]:
        """Code of the unit in the old (False) and the new (True) version, without white space.

        If the lines of the unit are unknown, this is the code of the file.
        """
        return {
            new: squeeze(version.text_of(spans))
            if (spans := _spans(part))
            else version.all_squeezed
            for new, part, version in self._versions
        }

    @cached_property
    def _words(self) -> dict[bool, frozenset[str]]:
        """Words of the unit in the old (False) and the new (True) version.

        If the lines of the unit are unknown, these are the words of the file.
        """
        return {
            new: frozenset(words_of(version.text_of(spans)).split())
            if (spans := _spans(part))
            else version.words
            for new, part, version in self._versions
        }

    def blocks(self) -> Iterator[tuple[list[tuple[int, str]], list[tuple[int, str]]]]:
        """Yield the removed and the added lines of the unit in each block of changed lines."""
        outside = self.change.lines_outside
        added = {line for line in self.change.added if (True, line) not in outside}
        removed = {line for line in self.change.removed if (False, line) not in outside}
        blocks = [self.new.blocks[line] for line in sorted(added)]
        blocks += [self.old.blocks[line] for line in sorted(removed)]
        # A block is in the tables of both versions, so it may be listed twice.
        distinct = {(*block.removed[:1], *block.added[:1]): block for block in blocks}
        for block in distinct.values():
            yield _select(block.removed, removed), _select(block.added, added)


def _select(lines: Sequence[tuple[int, str]], numbers: Set[int]) -> list[tuple[int, str]]:
    """Return the lines with these numbers; bisection is fast if there are many lines."""
    if not numbers:
        return []
    first = bisect_left(lines, (min(numbers), ""))
    last = bisect_left(lines, (max(numbers) + 1, ""), first)
    return [line for line in lines[first:last] if line[0] in numbers]


def last_component(name: str) -> str:
    """Return the last component of a dotted or similar name, such as `get` of `client.get`."""
    return _SEPARATOR.split(name)[-1].strip("?!")


def difference(part: UnitPart, compared: UnitPart, changed: Set[int]) -> dict[Role, list[Fact]]:
    """Return, for each role, the facts that a part has more often than the compared part.

    Of equal facts, those on changed lines are preferred.
    """
    remaining = Counter(_key(fact) for fact in compared.facts)
    facts_by_role: dict[Role, list[Fact]] = {}
    for fact in sorted(part.facts, key=lambda fact: fact.line in changed):
        key = _key(fact)
        if remaining[key] > 0:
            remaining[key] -= 1
        else:
            facts_by_role.setdefault(fact.role, []).append(fact)
    return facts_by_role


def _key(fact: Fact) -> tuple[str, str, str]:
    """Return the key that equal facts share, whatever their white space and quotation marks."""
    return fact.role, fact.name, squeeze(fact.text).rstrip(",;")


def _spans(part: UnitPart) -> list[tuple[int, int]]:
    """Return the numbers of the first and last line of each declaration of a unit.

    The list is empty for a file and for a unit that only the header of a hunk names.
    """
    units = [unit for unit in part.units if unit.name]
    return [(unit.start, unit.end) for unit in units] if all(unit.head for unit in units) else []
