"""Pairing of the units of the old side with those of the new side.

Unchanged lines determine most pairs; only units wholly on changed lines are compared by similarity,
and only within their block.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from crscore.syntax.model import Part, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crscore.claims.structural.regions import Area
    from crscore.syntax.model import Unit

MAX_PAIRS = 40_000
"""Pairs of one block compared by similarity; a larger block is compared in a diagonal band."""
BAND = 12
"""Half the width of that band, in units."""
LIKENESS = 0.42
"""Minimum similarity, in [0, 1], of two units taken as one changed unit."""
SAME_INSIDE = 0.5
"""Similarity of two guarded blocks from which their conditions may differ."""
FAR_LIKENESS = 0.75
"""Minimum similarity for two calls in different blocks of changed lines."""
MOVED_TOKENS = 4
"""Minimum number of meaningful tokens of a unit for a copy elsewhere to count as a move."""


class EditKind(StrEnum):
    """Kind of change of a unit."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One unit that was added, removed, changed or moved."""

    kind: EditKind
    """Kind of change."""
    old: Unit | None
    """The unit before; None when it was added."""
    new: Unit | None
    """The unit after; None when it was removed."""
    block: int
    """Index of the area's block in which it starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """The edits of an area."""

    edits: tuple[Edit, ...]
    """In reading order; a unit inside an added or removed one has no edit of its own."""
    kept: frozenset[int]
    """Indices of new units on added lines that existed before, unchanged."""
    partner: Mapping[int, int]
    """Old unit index by new unit index, for every pair found."""


_OPEN_ROLES = frozenset(
    {Role.FUNCTION, Role.CLASS, Role.IF, Role.LOOP, Role.TRY, Role.WITH, Role.LAMBDA}
)


def meaning(unit: Unit) -> tuple[str, ...]:
    """Return the tokens of a unit that carry meaning: names, literals and operators."""
    return tuple(token.text for token in unit.tokens if token.text not in _PUNCTUATION)


def words(unit: Unit) -> Counter[str]:
    """Return a bag of a unit's meaningful tokens, with comments and strings split into words."""
    bag: Counter[str] = Counter()
    for token in unit.tokens:
        if token.text in _PUNCTUATION:
            continue
        inner = _WORD.findall(token.text) if " " in token.text else ()
        bag.update(inner[:400] or (token.text,))
    return bag


_PUNCTUATION = frozenset("()[]{};,:")
_WORD = re.compile(r"\w+")


def match(area: Area) -> Matching:
    """Pair the units of an area that changed lines touch, and classify their edits."""
    return _Matcher(area).run()


class _Matcher:
    def __init__(self, area: Area) -> None:
        self.area = area
        self.old = area.old.units
        self.new = area.new.units
        self.to_old: dict[int, int] = {}
        self.to_new: dict[int, int] = {}
        self.same: set[int] = set()
        self.touched_old = self._touched(self.old, area.old_block)
        self.touched_new = self._touched(self.new, area.new_block)

    def run(self) -> Matching:
        self._anchor()
        self._anchor_inside()
        self._equal()
        self._alike()
        self._inherited()
        return Matching(
            edits=tuple(self._edits()), kept=frozenset(self.same), partner=dict(self.to_old)
        )

    def _touched(self, units: tuple[Unit, ...], block: Mapping[int, int]) -> dict[int, int]:
        """Return the units with a meaningful token on a changed line, with that line's block."""
        found: dict[int, int] = {}
        for unit in units[1:]:
            for token in unit.tokens:
                if token.line in block and token.text not in _PUNCTUATION:
                    found[unit.index] = block[token.line]
                    break
        return found

    def _pair(self, old: int, new: int) -> None:
        self.to_new[old] = new
        self.to_old[new] = old

    def _anchor(self) -> None:
        """Pair units that share a token on an unchanged line."""
        where: dict[tuple[int, str], list[int]] = {}
        for unit in self.old[1:]:
            for token in unit.tokens:
                where.setdefault((token.line, token.text), []).append(unit.index)
        for unit in self.new[1:]:
            votes: Counter[int] = Counter()
            for token in unit.tokens:
                line = self.area.old_line(token.line)
                if line is None or token.text in _PUNCTUATION:
                    continue
                for index in where.get((line, token.text), ()):
                    if self.old[index].role is unit.role and index not in self.to_new:
                        votes[index] += 1
            if votes:
                best = min(votes, key=lambda index: (-votes[index], index))
                self._pair(best, unit.index)

    def _anchor_inside(self) -> None:
        """Pair units whose own lines all changed but that contain an anchored unit.

        Inner units come first, so that a new `if` around old code does not take its partner.
        """
        for index in sorted(self.touched_new, reverse=True):
            unit = self.new[index]
            if index in self.to_old or unit.role not in _OPEN_ROLES:
                continue
            inside = next(
                (
                    child.index
                    for child in self.area.new.children(unit)
                    if child.index in self.to_old
                ),
                None,
            )
            if inside is None:
                continue
            above = self.old[self.to_old[inside]].parent
            if (
                above > 0
                and above in self.touched_old
                and above not in self.to_new
                and self.old[above].role is unit.role
            ):
                self._pair(above, index)

    def _free(self) -> tuple[list[Unit], list[Unit]]:
        old = [self.old[index] for index in self.touched_old if index not in self.to_new]
        new = [self.new[index] for index in self.touched_new if index not in self.to_old]
        return old, new

    def _equal(self) -> None:
        """Pair units with the same tokens: first in the same block, then anywhere."""
        for anywhere in (False, True):
            old, new = self._free()
            waiting: dict[tuple[object, ...], list[int]] = {}
            for unit in old:
                key = self._key(unit, None if anywhere else self.touched_old[unit.index])
                waiting.setdefault(key, []).append(unit.index)
            for unit in new:
                if anywhere and len(meaning(unit)) < MOVED_TOKENS:
                    continue
                found = waiting.get(
                    self._key(unit, None if anywhere else self.touched_new[unit.index])
                )
                if found:
                    self._pair(found.pop(0), unit.index)

    @staticmethod
    def _key(unit: Unit, block: int | None) -> tuple[object, ...]:
        return (block, unit.role, *meaning(unit))

    def _alike(self) -> None:
        """Pair the remaining units by similarity, best first, within each block."""
        old, new = self._free()
        by_block: dict[int, tuple[list[Unit], list[Unit]]] = {}
        for unit in old:
            by_block.setdefault(self.touched_old[unit.index], ([], []))[0].append(unit)
        for unit in new:
            by_block.setdefault(self.touched_new[unit.index], ([], []))[1].append(unit)
        for left, right in by_block.values():
            self._pair_best(left, right)
        old, new = self._free()
        named = {Role.FUNCTION, Role.CLASS, Role.IMPORT, Role.FIELD}
        self._pair_best([u for u in old if u.role in named], [u for u in new if u.role in named])
        old, new = self._free()
        self._pair_best(
            [u for u in old if u.role is Role.CALL],
            [u for u in new if u.role is Role.CALL],
            FAR_LIKENESS,
        )

    def _inherited(self) -> None:
        """Pair unchanged units inside a pair, however short they are."""
        old, new = self._free()
        waiting: dict[tuple[object, ...], list[int]] = {}
        for unit in old:
            waiting.setdefault(self._key(unit, self.to_new.get(unit.parent)), []).append(unit.index)
        for unit in new:
            if unit.parent in self.to_old:
                found = waiting.get(self._key(unit, unit.parent))
                if found:
                    self._pair(found.pop(0), unit.index)

    def _pair_best(self, old: list[Unit], new: list[Unit], least: float = LIKENESS) -> None:
        scored: list[tuple[float, int, int, int]] = []
        bags = {unit.index: words(unit) for unit in new}
        banded = len(old) * len(new) > MAX_PAIRS
        for place, left in enumerate(old):
            bag = words(left)
            middle = place * len(new) // max(len(old), 1)
            low, high = (max(0, middle - BAND), middle + BAND) if banded else (0, len(new))
            for other, right in enumerate(new[low:high], start=low):
                if left.role is not right.role:
                    continue
                score = self._likeness(
                    left, right, bag, bags[right.index], len(old) == len(new) and place == other
                )
                if score >= least:
                    scored.append((-score, abs(place - other), left.index, right.index))
        for _, _, before, after in sorted(scored):
            if before not in self.to_new and after not in self.to_old:
                self._pair(before, after)

    def _likeness(
        self, old: Unit, new: Unit, left: Counter[str], right: Counter[str], aligned: bool
    ) -> float:
        score = dice(left, right)
        if (
            old.name
            and old.name == new.name
            and old.role in {Role.FUNCTION, Role.CLASS, Role.FIELD}
        ):
            return 0.6 + 0.4 * score
        target = old.part(Part.TARGET)
        if target and target == new.part(Part.TARGET):
            score = 0.5 + 0.5 * score
        if old.calls and new.calls and old.calls[0] == new.calls[0]:
            score += 0.15
        inner = 0.0
        if old.role in _OPEN_ROLES and old.after > old.index + 1 and new.after > new.index + 1:
            inner = dice(
                self._bag(self.area.old.subtree(old)), self._bag(self.area.new.subtree(new))
            )
            score = max(score, 0.4 * score + 0.6 * inner)
        if old.role is Role.CATCH and self.to_new.get(old.parent) == new.parent:
            return max(score, LIKENESS)
        if _differ(old, new, inner):
            return 0.0
        if aligned:
            score += 0.12
        if old.parent > 0 and new.parent > 0 and self.to_new.get(old.parent) == new.parent:
            score += 0.05
        return min(score, 1.0)

    @staticmethod
    def _bag(units: Iterable[Unit]) -> Counter[str]:
        bag: Counter[str] = Counter()
        for unit in units:
            bag.update(words(unit))
        return bag

    def _edits(self) -> list[Edit]:
        found: list[tuple[tuple[int, int, int], Edit]] = []
        for index, block in self.touched_new.items():
            unit = self.new[index]
            if index in self.to_old:
                old = self.old[self.to_old[index]]
                kind = self._kind(old, unit)
                if kind is None:
                    self.same.add(index)
                    continue
                found.append(
                    ((block, unit.start, 1), Edit(kind=kind, old=old, new=unit, block=block))
                )
            elif not self._inside_added(unit):
                found.append(
                    (
                        (block, unit.start, 1),
                        Edit(kind=EditKind.ADDED, old=None, new=unit, block=block),
                    )
                )
        for index, block in self.touched_old.items():
            unit = self.old[index]
            if index in self.to_new:
                new = self.new[self.to_new[index]]
                if new.index in self.touched_new or meaning(new) == meaning(unit):
                    continue
                found.append(
                    (
                        (block, unit.start, 0),
                        Edit(kind=EditKind.CHANGED, old=unit, new=new, block=block),
                    )
                )
            elif not self._inside_removed(unit):
                found.append(
                    (
                        (block, unit.start, 0),
                        Edit(kind=EditKind.REMOVED, old=unit, new=None, block=block),
                    )
                )
        return [edit for _, edit in sorted(found, key=lambda item: item[0])]

    def _kind(self, old: Unit, new: Unit) -> EditKind | None:
        if meaning(old) != meaning(new):
            return EditKind.CHANGED
        if self.touched_new.get(new.index) == self.touched_old.get(old.index):
            return None
        size = sum(len(meaning(unit)) for unit in self.area.new.subtree(new))
        if old.index not in self.touched_old or size < MOVED_TOKENS:
            return None
        return EditKind.MOVED if not self._parent_moved(old, new) else None

    def _parent_moved(self, old: Unit, new: Unit) -> bool:
        return (
            new.parent > 0
            and self.to_old.get(new.parent) == old.parent
            and new.parent in self.touched_new
        )

    def _inside_added(self, unit: Unit) -> bool:
        return unit.parent in self.touched_new and unit.parent not in self.to_old

    def _inside_removed(self, unit: Unit) -> bool:
        return unit.parent in self.touched_old and unit.parent not in self.to_new


_IMPORT_WORDS = frozenset(
    {"from", "import", "using", "use", "require", "include", "const", "static", "as"}
)


def _differ(old: Unit, new: Unit, inner: float) -> bool:
    """Return True for two units that cannot be one, however many words they share."""
    if old.role is Role.IMPORT:
        return not _module_words(old) & _module_words(new)
    if old.role is Role.IF:
        return inner < SAME_INSIDE and dice(*_checked(old, new)) < LIKENESS
    return (
        old.role is Role.ASSIGN
        and old.part(Part.TARGET) != new.part(Part.TARGET)
        and bool(old.part(Part.VALUE)) != bool(new.part(Part.VALUE))
    )


def _module_words(unit: Unit) -> set[str]:
    return {word for token in unit.tokens for word in _WORD.findall(token.text)} - _IMPORT_WORDS


def _checked(old: Unit, new: Unit) -> tuple[Counter[str], Counter[str]]:
    """Return both conditions as bags of words, without the keywords of conditions."""
    left, right = words(old), words(new)
    for word in ("if", "elif", "elsif", "else", "unless"):
        del left[word], right[word]
    return left, right


def dice(left: Counter[str], right: Counter[str]) -> float:
    """Return the share of tokens two bags have in common, in [0, 1]; 0 when both are empty."""
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 0.0
