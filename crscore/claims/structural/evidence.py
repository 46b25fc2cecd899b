"""Differences between two versions of a unit, and lookups in the code of each."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import cached_property

from crscore.claims.structural.change import Change
from crscore.claims.structural.english import Statement, about
from crscore.claims.structural.headline import label
from crscore.claims.structural.versions import Part, Version, squeeze
from crscore.syntax.outline import Fact, Role

_LAST = re.compile(r"\.|->|::")


class Evidence:
    """A unit that both versions have.

    A fact that only one version has was added or removed. A sentence says so only where the text of
    the other version does not contain it in another form either: `is_new`, `is_gone`.
    """

    def __init__(self, change: Change, old: Version, new: Version) -> None:
        self.change = change
        self.subject = label(change)
        self.old = old
        self.new = new
        self._added = difference(change.new, change.old)
        self._removed = difference(change.old, change.new)

    def added(self, role: Role) -> list[Fact]:
        """Return the facts of a role that only the new version has."""
        return self._added.get(role, [])

    def removed(self, role: Role) -> list[Fact]:
        """Return the facts of a role that only the old version has."""
        return self._removed.get(role, [])

    def is_new(self, text: str) -> bool:
        """Return whether the old version of the unit does not contain a piece of code."""
        return squeeze(text) not in self._old_code

    def is_gone(self, text: str) -> bool:
        """Return whether the new version of the unit does not contain a piece of code."""
        return squeeze(text) not in self._new_code

    def statement(self, predicate: str, facts: Sequence[Fact], *, new: bool = True) -> Statement:
        """Return a statement about the unit, and about the lines of some facts."""
        return about(facts, f"{self.subject} {predicate}", new=new)

    def unmentioned(self, facts: Sequence[Fact], *, new: bool) -> list[Fact]:
        """Return the facts whose last name the other version does not mention, one per name."""
        words = self._old_words if new else self._new_words
        facts_by_name: dict[str, Fact] = {}
        for fact in facts:
            last = last_name(fact.name)
            if last and last not in words:
                facts_by_name.setdefault(fact.name, fact)
        return list(facts_by_name.values())

    def unpaired(
        self, removed: Sequence[Fact], added: Sequence[Fact], paired: Sequence[tuple[Fact, Fact]]
    ) -> tuple[list[Fact], list[Fact]]:
        """Return the facts that are in no pair, and whose text the other version lacks."""
        in_pairs = {id(fact) for pair in paired for fact in pair}
        return (
            [fact for fact in removed if id(fact) not in in_pairs and self.is_gone(fact.text)],
            [fact for fact in added if id(fact) not in in_pairs and self.is_new(fact.text)],
        )

    @cached_property
    def _old_code(self) -> str:
        return _text(self.change.old, self.old)

    @cached_property
    def _new_code(self) -> str:
        return _text(self.change.new, self.new)

    @cached_property
    def _old_words(self) -> frozenset[str]:
        return _words(self.change.old, self.old)

    @cached_property
    def _new_words(self) -> frozenset[str]:
        return _words(self.change.new, self.new)

    def blocks(self) -> Iterator[tuple[list[tuple[int, str]], list[tuple[int, str]]]]:
        """Yield the removed and the added lines of the unit between unchanged lines."""
        aside = self.change.aside
        added = {line for line in self.change.added if (True, line) not in aside}
        removed = {line for line in self.change.removed if (False, line) not in aside}
        blocks = [self.new.blocks[line] for line in sorted(added)]
        blocks += [self.old.blocks[line] for line in sorted(removed)]
        for block in {id(block): block for block in blocks}.values():
            yield _select(block.removed, removed), _select(block.added, added)


def _select(lines: Sequence[tuple[int, str]], numbers: Set[int]) -> list[tuple[int, str]]:
    """Return the lines with some numbers, found by bisection, as there may be many lines."""
    if not numbers:
        return []
    first = bisect_left(lines, (min(numbers), ""))
    last = bisect_left(lines, (max(numbers) + 1, ""), first)
    return [line for line in lines[first:last] if line[0] in numbers]


def last_name(name: str) -> str:
    """Return the last name of a chain: `client.get` gives `get`."""
    return _LAST.split(name)[-1].strip("?!")


def difference(part: Part, compared: Part) -> dict[Role, list[Fact]]:
    """Return the facts, by role, that `part` has more often than the other version."""
    remaining = Counter(_key(fact) for fact in compared.facts)
    facts_by_role: dict[Role, list[Fact]] = {}
    for fact in part.facts:
        key = _key(fact)
        if remaining[key] > 0:
            remaining[key] -= 1
        else:
            facts_by_role.setdefault(fact.role, []).append(fact)
    return facts_by_role


def _key(fact: Fact) -> tuple[str, str, str]:
    """Return the key of a fact for comparison: without white space, whatever its quotes."""
    return fact.role, fact.name, squeeze(fact.text).rstrip(",;")


def _spans(part: Part) -> list[tuple[int, int]]:
    """Return the lines of a unit; none for a file, or where git alone names the unit."""
    return [(unit.start, unit.end) for unit in part.units if unit.head and unit.name]


def _text(part: Part, version: Version) -> str:
    spans = _spans(part)
    return version.squeezed(spans) if spans else version.all_squeezed


def _words(part: Part, version: Version) -> frozenset[str]:
    spans = _spans(part)
    return version.words_in(spans) if spans else version.words
