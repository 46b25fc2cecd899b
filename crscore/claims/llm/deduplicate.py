"""Claims that say the same as another one, told by their words alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from crscore.claims.llm.words import Words, stem, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from crscore.records import PseudoReference

ALIKE: Final = 0.8
"""Share of the words of two claims that both have, from which they are copies."""
PART: Final = 0.6
"""Share of a claim's words from which another one, that has no other words, is a part of it."""
MAX_HOLDERS: Final = 32
"""Claims that are compared for the sake of one word; a word that more have tells nothing."""
_LEAST_WORDS: Final = 3
# Where one claim has a word of the left and the other one of the right, they differ.
_OPPOSED: Final = {
    stem(word): (pair, side)
    for pair, both in enumerate(
        (
            ("add adds insert introduce introduction", "remove delete drop"),
            ("increase raise higher more", "decrease lower reduce less"),
            ("enable allow", "disable forbid prevent"),
            ("old before previously", "new after now"),
            ("true", "false"),
            ("public", "private"),
            ("required mandatory", "optional"),
            ("first start begin", "last end"),
            ("minimum min", "maximum max"),
            ("left", "right"),
            ("input read", "output write"),
            ("open", "close"),
        )
    )
    for side, names in enumerate(both)
    for word in names.split()
}
_DENIALS: Final = frozenset(
    ("not", "no", "never", "without", "nor", "cannot", "longer", "none", "neither", "unlike")
)
# What these say depends on the order of the names in it.
_DIRECTED: Final = frozenset(
    ("from", "to", "with", "instead", "by", "into", "over", "than", "before", "after")
)


def alike(one: Words, other: Words) -> bool:
    """Whether two sentences are near-copies, or one says a part of what the other says.

    Neither may deny or reverse what the other says, and their names and numbers have to be the
    same, or in the shorter one some of those of the longer.
    """
    less, more = (one, other) if len(one.content) <= len(other.content) else (other, one)
    if len(less.content) < PART * len(more.content) or not less.numbers <= more.numbers:
        return False
    if not set(less.names) <= set(more.names):
        return False
    if less.content <= more.content and len(less.content) >= _LEAST_WORDS:
        return not _opposed(one, other)
    if set(one.names) != set(other.names) or one.numbers != other.numbers:
        return False
    shared = len(less.content & more.content)
    enough = shared >= ALIKE * len(less.content | more.content)
    return enough and not _opposed(one, other)


def _opposed(one: Words, other: Words) -> bool:
    left, right = _lower(one), _lower(other)
    if bool(left & _DENIALS) != bool(right & _DENIALS):
        return True
    sides, others = _sides(left), _sides(right)
    if any(sides[pair].isdisjoint(others[pair]) for pair in sides.keys() & others.keys()):
        return True
    directed = not (left | right).isdisjoint(_DIRECTED)
    common = set(one.names) & set(other.names)
    return directed and [name for name in one.names if name in common] != [
        name for name in other.names if name in common
    ]


def _lower(said: Words) -> set[str]:
    return {word.lower() for word in said.every}


def _sides(lower: set[str]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for pair, side in (_OPPOSED[stem(word)] for word in lower if stem(word) in _OPPOSED):
        found.setdefault(pair, set()).add(side)
    return found


def merged(references: Sequence[PseudoReference]) -> tuple[PseudoReference, ...]:
    """Put near-copies of claims together.

    Args:
        references: Claims and implications of one diff, in order.

    Returns:
        Of each group of copies the most specific one (most names and numbers, then most words,
        then the first), at the place of the first and of its kind, standing on the lines of all.
    """
    said = [words(reference.text) for reference in references]
    common = Counter(word for one in said for word in one.content)
    index = _Index(common)
    groups: dict[int, list[int]] = {}
    same: dict[tuple[frozenset[str], tuple[str, ...]], int] = {}
    for at, one in enumerate(said):
        first = same.get((one.every, one.names))
        if first is None:
            first = next((known for known in index.near(one) if alike(one, said[known])), None)
        if first is None:
            groups[at] = [at]
            same[one.every, one.names] = at
            index.add(one, at)
        else:
            groups[first].append(at)
    return tuple(_best([references[at] for at in group]) for group in groups.values())


class _Index:
    """Finds claims that share a rare word: copies share one of the rarest of the shorter claim."""

    def __init__(self, common: Counter[str]) -> None:
        self._common = common
        self._all: defaultdict[str, list[int]] = defaultdict(list)
        self._rare: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, said: Words, at: int) -> None:
        for index, found in ((self._all, said.content), (self._rare, self._rarest(said))):
            for word in found:
                if len(index[word]) < MAX_HOLDERS:
                    index[word].append(at)

    def near(self, said: Words) -> Iterator[int]:
        found = {at for word in self._rarest(said) for at in self._all.get(word, ())}
        found.update(at for word in said.content for at in self._rare.get(word, ()))
        return iter(sorted(found))

    def _rarest(self, said: Words) -> Collection[str]:
        ordered = sorted(said.content, key=lambda word: (self._common[word], word))
        # As many as a copy may lack, and one more.
        return ordered[: len(ordered) - int(ALIKE * len(ordered)) + 1]


def _best(group: Sequence[PseudoReference]) -> PseudoReference:
    best = max(group, key=lambda one: _specific(words(one.text)))
    if len(group) == 1:
        return best
    return replace(
        best,
        kind=group[0].kind,
        spans=tuple(dict.fromkeys(span for one in group for span in one.spans)),
        identifiers=tuple(
            dict.fromkeys(name for one in (best, *group) for name in one.identifiers)
        ),
        weight=max(one.weight for one in group),
    )


def _specific(said: Words) -> tuple[int, int]:
    return len(said.names) + len(said.numbers) + len(said.quoted), len(said.content)
