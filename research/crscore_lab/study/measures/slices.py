"""Subsets of the reviews, and correlations over them: values and draws."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Final, Unpack

import numpy as np
import numpy.typing as npt

from crscore.statistics import bootstrap
from crscore.statistics.intervals import Doubles
from crscore_lab.statistics import resampled
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.study.data.study import junk_systems

Rows = npt.NDArray[np.intp]
Correlate = Callable[[Doubles, Doubles], float | None]

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
    """Subset of the reviews."""

    name: str
    """`pooled`, `without-junk`, `within-system`, `language:NAME` or `annotator:NAME`."""
    groups: tuple[Rows, ...]
    """Row indices; a statistic over several groups is the mean over them."""

    @property
    def rows(self) -> Rows:
        """All row indices."""
        return np.concatenate(self.groups)

    def correlate(self, by: Correlate, values: Doubles, human: Doubles) -> float | None:
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
        by_group = [by(values[rows], human[rows]) for rows in self.groups]
        if len(by_group) == 1:
            return by_group[0]
        return float(np.mean([correlation or 0.0 for correlation in by_group]))


def of_systems(systems: Sequence[str], relevance: Sequence[float] | Doubles) -> Iterator[Slice]:
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


def resample_spearman(
    human: Doubles,
    tables: Sequence[Doubles],
    subset: Slice,
    changes: Sequence[str],
    **resampling: Unpack[Resampling],
) -> Doubles:
    """Correlate every column of some tables with its human dimension in every draw of changes.

    Args:
        human: Shape (N, 3).
        tables: T tables, each of shape (N, 3).
        subset: Rows, and the groups to average over.
        changes: Each row's change, N names.
        resampling: Number of draws of changes, 0 for no interval, and their seed.

    Returns:
        Shape (T, 3, B), NaN where undefined.
    """
    starts = np.cumsum([len(rows) for rows in subset.groups])[:-1]

    def correlate(weights: Doubles) -> Doubles:
        by_group = list(map(np.ascontiguousarray, np.split(weights, starts, axis=1)))
        values = [
            _spearman(human[rows], [table[rows] for table in tables], group)
            for rows, group in zip(subset.groups, by_group, strict=True)
        ]
        # A draw of changes may have no review by a system, whose group is then left out of the
        # mean.
        is_present = [(group.sum(axis=1) > 0)[None, None] for group in by_group]
        mean = values[0] if len(values) == 1 else resampled.mean_of_groups(values, is_present)
        return np.moveaxis(mean, -1, 0)

    clusters = [changes[row] for row in subset.rows]
    draws = bootstrap.resample(correlate, clusters, **resampling)
    return np.moveaxis(draws.reshape(-1, len(tables), human.shape[1]), 0, -1)


def _spearman(human: Doubles, tables: Sequence[Doubles], weights: Doubles) -> Doubles:
    ratings = [resampled.rank(column, weights) for column in human.T]
    values = []
    for table in tables:
        # Most metrics give one value for all dimensions: ranking it once saves most of the work.
        distinct = 1 if (table == table[:, :1]).all() else table.shape[1]
        columns = cycle(resampled.rank(column, weights) for column in table.T[:distinct])
        pairs = zip(columns, ratings, strict=False)
        values.append([resampled.spearman(column, rating) for column, rating in pairs])
    return np.array(values)


def _groups(names: Sequence[str | None]) -> Mapping[str, Rows]:
    distinct = sorted({name for name in names if name is not None})
    return {name: np.flatnonzero([name == label for label in names]) for name in distinct}
