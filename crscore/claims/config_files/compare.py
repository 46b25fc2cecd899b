"""Pairing of the entries of the old side with those of the new side."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.claims.config_files.model import Entry, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WINDOW: Final = 40
_WORD: Final = re.compile(r"\w+")
_ALIKE: Final = 0.5
"""Share of common words, in [0, 1], from which two texts are one changed text."""
_ALIKE_IN_PLACE: Final = 0.2
"""The same for two texts in the same place."""
_COMMON_VALUES: Final = frozenset({"", "true", "false", "yes", "no", "0", "1", "null", "none"})


class Action(StrEnum):
    """Kind of change of an entry."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RENAMED = "renamed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry and what happened to it."""

    action: Action
    """Kind of change."""
    old: Entry | None
    """The entry before; None when it is added."""
    new: Entry | None
    """The entry after; None when it is removed."""

    @property
    def entry(self) -> Entry:
        """The entry after the change, or before it when it is removed."""
        found = self.new or self.old
        assert found is not None  # noqa: S101  (a change has a side)
        return found


class Comparison(NamedTuple):
    """All differences between two sides."""

    changes: list[Change]
    rearranged: list[Entry]
    """Entries on changed lines that have the same content as before."""


def compare(old: Sequence[Entry], new: Sequence[Entry]) -> Comparison:
    """Compare the entries of the two sides of a file.

    Args:
        old: Entries before, in the order of the file.
        new: Entries after, in the order of the file.

    Returns:
        The changes, in the order of the new file's lines, removed entries at their old line.
    """
    pairs = _Pairs()
    pairs.by_key(old, new)
    pairs.moved()
    pairs.renamed()
    pairs.alike()
    left = [Change(action=Action.REMOVED, old=one, new=None) for one in pairs.gone if one.changed]
    left += [Change(action=Action.ADDED, old=None, new=one) for one in pairs.fresh if one.changed]
    changes = [
        change
        for change in [*pairs.found, *left]
        if (change.old and change.old.changed) or (change.new and change.new.changed)
    ]
    changes.sort(key=lambda change: (change.entry.block, change.entry.line))
    return Comparison(changes, pairs.rearranged)


class _Pairs:
    """Builder of the pairs of removed and added entries, most certain pairs first."""

    def __init__(self) -> None:
        self.found: list[Change] = []
        self.rearranged: list[Entry] = []
        self.gone: list[Entry] = []
        self.fresh: list[Entry] = []

    def by_key(self, old: Sequence[Entry], new: Sequence[Entry]) -> None:
        keys: dict[tuple[Kind, tuple[str, ...], str], tuple[list[Entry], list[Entry]]] = {}
        for side, entries in enumerate((old, new)):
            for one in entries:
                keys.setdefault((one.kind, one.where, one.name), ([], []))[side].append(one)
        for (kind, _, name), (before, after) in keys.items():
            before, after = self._without_equals(before, after)  # noqa: PLW2901
            if not name and kind is not Kind.IMAGE:
                self.gone += before
                self.fresh += after
                continue
            for was, now in zip_longest(before, after):
                if was and now:
                    self._pair(Action.CHANGED, was, now)
                elif was:
                    self.gone.append(was)
                else:
                    self.fresh.append(now)

    def _without_equals(
        self, before: list[Entry], after: list[Entry]
    ) -> tuple[list[Entry], list[Entry]]:
        same = Counter(one.value for one in before) & Counter(one.value for one in after)
        self.rearranged += [one for one in after if one.changed and same[one.value]]
        rest = []
        for entries in (before, after):
            left = Counter(same)
            kept = []
            for one in entries:
                if left[one.value]:
                    left[one.value] -= 1
                else:
                    kept.append(one)
            rest.append(kept)
        return rest[0], rest[1]

    def _pair(self, action: Action, was: Entry, now: Entry) -> None:
        self.found.append(Change(action=action, old=was, new=now))

    def _take(self, pairs: Iterable[tuple[Action, Entry, Entry]]) -> None:
        was_taken: set[int] = set()
        now_taken: set[int] = set()
        for action, was, now in pairs:
            if id(was) not in was_taken and id(now) not in now_taken:
                was_taken.add(id(was))
                now_taken.add(id(now))
                self._pair(action, was, now)
        self.gone = [one for one in self.gone if id(one) not in was_taken]
        self.fresh = [one for one in self.fresh if id(one) not in now_taken]

    def moved(self) -> None:
        """Pair entries with the same name and value in different places."""
        places: dict[tuple[Kind, str, str], list[Entry]] = defaultdict(list)
        for one in self.gone:
            places[one.kind, one.name, one.value].append(one)
        pairs = []
        for now in self.fresh:
            known = places[now.kind, now.name, now.value]
            if known and (now.value or not now.changed):
                pairs.append((Action.MOVED, known.pop(0), now))
        self._take(pairs)

    def renamed(self) -> None:
        """Pair entries with the same value in the same place under different names."""
        places: dict[tuple[Kind, tuple[str, ...]], list[Entry]] = defaultdict(list)
        for one in self.gone:
            if one.name:
                places[one.kind, one.where].append(one)
        pairs = []
        for now in self.fresh:
            known = places[now.kind, now.where] if now.name else []
            for index, was in enumerate(known[:_WINDOW]):
                if _is_renamed(was, now):
                    pairs.append((Action.RENAMED, was, now))
                    del known[index]
                    break
        self._take(pairs)

    def alike(self) -> None:
        """Pair texts without a name that share most of their words."""
        grouped: dict[tuple[Kind, tuple[str, ...]], list[Entry]] = defaultdict(list)
        for one in self.gone:
            if not one.name:
                grouped[one.kind, one.where].append(one)
        places = {place: _Texts(entries) for place, entries in grouped.items()}
        scored = []
        for order, now in enumerate(self.fresh):
            texts = places.get((now.kind, now.where))
            if texts is None or now.name:
                continue
            words = _words(now)
            for was in texts.near(now):
                known = texts.words[id(was)]
                share = len(words & known) / max(1, len(words | known))
                in_place = was.block == now.block
                if share >= (_ALIKE_IN_PLACE if in_place else _ALIKE):
                    scored.append((-share, not in_place, order, was, now))
        scored.sort(key=lambda one: one[:3])
        self._take((Action.CHANGED, was, now) for *_, was, now in scored)


def _is_renamed(was: Entry, now: Entry) -> bool:
    if was.value.lower() != now.value.lower():
        return False
    if was.value.lower() not in _COMMON_VALUES:
        return True
    ends = _common_start(was.name, now.name) + _common_start(was.name[::-1], now.name[::-1])
    return was.block == now.block and 2 * ends >= max(len(was.name), len(now.name))


def _common_start(left: str, right: str) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))


class _Texts:
    """Texts without a name in one place, indexed by position."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        ordered = sorted(entries, key=lambda one: one.line)
        self.changed = [one for one in ordered if one.changed]
        self.unchanged = [one for one in ordered if not one.changed]
        self.blocks = [one.block for one in self.changed]
        self.lines = [one.line for one in self.unchanged]
        self.words = {id(one): _words(one) for one in ordered}

    def near(self, now: Entry) -> list[Entry]:
        """Return the texts that `now` may come from, at most twice the window."""
        if not now.changed:
            at = bisect_left(self.changed, now.line, key=lambda one: one.line)
            return self.changed[max(0, at - _WINDOW) : at + _WINDOW]
        first = bisect_left(self.blocks, now.block)
        at = bisect_left(self.lines, now.line)
        half = _WINDOW // 2
        near = self.changed[max(0, first - half) : first + _WINDOW]
        return near + self.unchanged[max(0, at - half) : at + half]


def _words(one: Entry) -> frozenset[str]:
    return frozenset(_WORD.findall(one.value.lower()))
