"""Subsets ("slices") of the reviews, and the correlation of metrics with ratings on a slice."""

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
    """Row indices of each group of reviews. A statistic of a slice is the mean of the statistics of
    its groups; only `within-system` has several groups."""

    @property
    def rows(self) -> Rows:
        """Row indices of all groups."""
        return np.concatenate(self.groups)

    def correlate(self, function: Correlate, values: Doubles, human: Doubles) -> float | None:
        """Correlate a metric with human ratings; return the mean of the groups' correlations.

        If all values or all ratings of a group are the same, its correlation counts as 0. Without
        the group, the mean would be higher for a metric that gives all reviews the same value.

        Args:
            function: Correlation of two lists.
            values: Value of the metric for each review, shape (N,).
            human: Rating of each review, shape (N,).

        Returns:
            In [-1, 1]; None if there is one group and all its values or ratings are the same.
        """
        by_group = [function(values[rows], human[rows]) for rows in self.groups]
        if len(by_group) == 1:
            return by_group[0]
        return float(np.mean([correlation or 0.0 for correlation in by_group]))


def slice_systems(systems: Sequence[str], relevance: Sequence[float] | Doubles) -> Iterator[Slice]:
    """Yield the slices `pooled`, `without-junk` (unless all systems are junk) and `within-system`.

    Args:
        systems: System that wrote each review, N names, at least one.
        relevance: Human relevance of each review, Likert 1 to 5, which determines the junk systems.
    """
    all_rows = np.arange(len(systems))
    yield Slice(name=POOLED, groups=(all_rows,))
    rows_without_junk = all_rows[~np.isin(np.array(systems), junk_systems(systems, relevance))]
    if len(rows_without_junk):
        yield Slice(name=WITHOUT_JUNK, groups=(rows_without_junk,))
    yield Slice(name=WITHIN_SYSTEM, groups=tuple(_groups(systems).values()))


def slice_names(kind: str, names: Sequence[str | None]) -> Iterator[Slice]:
    """Yield a slice `KIND:NAME` for each distinct name; rows with None are in no slice."""
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
    """Correlate T metrics with the ratings in each of B bootstrap resamples of the changes.

    Args:
        human: Ratings of the three dimensions, shape (N, 3).
        tables: Values of each metric for the three dimensions, T tables of shape (N, 3).
        subset: The slice.
        changes: Id of each row's change, N names.
        resampling: Number of resamples, 0 for no interval, and their seed.

    Returns:
        Correlation of each metric with each dimension in each resample, shape (T, 3, B); NaN if it
        is undefined.
    """
    starts = np.cumsum([len(rows) for rows in subset.groups])[:-1]

    def correlate(weights: Doubles) -> Doubles:
        by_group = list(map(np.ascontiguousarray, np.split(weights, starts, axis=1)))
        values = [
            _spearman(human[rows], [table[rows] for table in tables], group)
            for rows, group in zip(subset.groups, by_group, strict=True)
        ]
        # A resample may contain no review by a system; the mean is then over the other systems.
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
        # Ranking takes most of the time, and most metrics have one value for all dimensions, which
        # is ranked once.
        distinct = 1 if (table == table[:, :1]).all() else table.shape[1]
        columns = cycle(resampled.rank(column, weights) for column in table.T[:distinct])
        pairs = zip(columns, ratings, strict=False)
        values.append([resampled.spearman(column, rating) for column, rating in pairs])
    return np.array(values)


def _groups(names: Sequence[str | None]) -> Mapping[str, Rows]:
    distinct = sorted({name for name in names if name is not None})
    return {name: np.flatnonzero([name == label for label in names]) for name in distinct}
