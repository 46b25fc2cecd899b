"""Parts of the reviews, and correlations over them: values and draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.lab.study.systems import junk_systems
from crscore.statistics import bootstrap, resampled

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Correlate = Callable[[Floats, Floats], float | None]

POOLED: Final = "pooled"
WITHOUT_JUNK: Final = "without-junk"
WITHIN_SYSTEM: Final = "within-system"


_LABELS: Final = {
    POOLED: "all reviews",
    WITHOUT_JUNK: "without junk systems",
    WITHIN_SYSTEM: "within a system, mean",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice:
    """Part of the reviews."""

    name: str
    """`pooled`, `without-junk`, `within-system`, `language:NAME` or `annotator:NAME`."""
    groups: tuple[Rows, ...]
    """Row indices; a statistic over several groups is the mean over them."""

    @property
    def rows(self) -> Rows:
        """All row indices."""
        return np.concatenate(self.groups)

    def correlate(self, by: Correlate, values: Floats, human: Floats) -> float | None:
        """Correlate two columns, averaging over several groups.

        A group in which a side is constant counts as 0: leaving it out would reward a metric for
        being constant.

        Args:
            by: Correlation function.
            values: Shape (N,).
            human: Shape (N,).

        Returns:
            In [-1, 1]; None when a side is constant and there is only one group.
        """
        found = [by(values[rows], human[rows]) for rows in self.groups]
        return found[0] if len(found) == 1 else float(np.mean([one or 0.0 for one in found]))


def of_systems(systems: Sequence[str], relevance: Sequence[float] | Floats) -> Iterator[Slice]:
    """Yield the slices by author: all reviews, without the junk systems, within each system.

    Args:
        systems: Author of each review, N names, at least one.
        relevance: N Likert values of human relevance, which determine the junk systems.

    Yields:
        Slices with at least one review.
    """
    everyone = np.arange(len(systems))
    yield Slice(name=POOLED, groups=(everyone,))
    serious = everyone[~np.isin(np.array(systems), junk_systems(systems, relevance))]
    if len(serious):
        yield Slice(name=WITHOUT_JUNK, groups=(serious,))
    yield Slice(name=WITHIN_SYSTEM, groups=tuple(_groups(systems).values()))


def of_names(kind: str, names: Sequence[str | None]) -> Iterator[Slice]:
    """Yield one slice `KIND:NAME` per name; rows with None are in no slice."""
    for name, rows in _groups(names).items():
        yield Slice(name=f"{kind}:{name}", groups=(rows,))


def label(name: str) -> str:
    """Return the display name of a slice.

    Example:
        >>> label("language:go"), label("pooled")
        ('language go', 'all reviews')
    """
    return _LABELS.get(name, name.replace(":", " ", 1))


def _groups(names: Sequence[str | None]) -> Mapping[str, Rows]:
    known = sorted({name for name in names if name is not None})
    return {one: np.flatnonzero([name == one for name in names]) for one in known}


class Columns:
    """Human ratings, and the distinct columns among some tables.

    Most metrics give one value for all three dimensions, so ranking each column once saves
    most of the work.

    Args:
        human: Shape (N, 3).
        tables: Each of shape (N, 3).
    """

    def __init__(self, human: Floats, tables: Sequence[Floats]) -> None:
        self.human = human
        self._distinct: list[Floats] = []
        self._index: dict[tuple[int, int], int] = {}
        seen: dict[bytes, int] = {}
        for t, table in enumerate(tables):
            for d in range(table.shape[1]):
                column = np.ascontiguousarray(table[:, d])
                key = column.tobytes()
                if key not in seen:
                    seen[key] = len(self._distinct)
                    self._distinct.append(column)
                self._index[t, d] = seen[key]

    def values(self, table: int, dimension: int) -> Floats:
        """Return a column, shape (N,)."""
        return self._distinct[self._index[table, dimension]]

    def sample(
        self, part: Slice, changes: Sequence[str], *, resamples: int, seed: int
    ) -> Mapping[tuple[int, int], Floats]:
        """Correlate the ranks of every column with its dimension in every draw of changes.

        Args:
            part: Rows, and the groups to average over.
            changes: Each row's change, N names.
            resamples: Number of draws.
            seed: Seed of the draws, which all columns share.

        Returns:
            (table, dimension) -> the values, shape (B,), NaN where undefined.
        """
        wanted = {key: (index, key[1]) for key, index in self._index.items()}
        found: dict[tuple[int, int], list[Floats]] = {pair: [] for pair in wanted.values()}
        clusters = [changes[row] for row in part.rows]
        for weights in bootstrap.draw_weights(clusters, resamples=resamples, seed=seed):
            for pair, values in self._block(part, sorted(found), weights).items():
                found[pair].append(values)
        joined = {pair: np.concatenate(parts or [np.zeros(0)]) for pair, parts in found.items()}
        return {key: joined[pair] for key, pair in wanted.items()}

    def _block(
        self, part: Slice, pairs: Sequence[tuple[int, int]], weights: Floats
    ) -> dict[tuple[int, int], Floats]:
        by_group: dict[tuple[int, int], list[Floats]] = {pair: [] for pair in pairs}
        present: list[npt.NDArray[np.bool_]] = []
        start = 0
        for rows in part.groups:
            inside = np.ascontiguousarray(weights[:, start : start + len(rows)])
            start += len(rows)
            present.append(inside.sum(axis=1) > 0)
            human = [resampled.rank(column[rows], inside) for column in self.human.T]
            for index, column in enumerate(self._distinct):
                dimensions = [d for i, d in pairs if i == index]
                ranks = resampled.rank(column[rows], inside)
                for d in dimensions:
                    by_group[index, d].append(resampled.spearman(ranks, human[d]))
        return {
            pair: parts[0] if len(parts) == 1 else resampled.mean_of_groups(parts, present)
            for pair, parts in by_group.items()
        }
