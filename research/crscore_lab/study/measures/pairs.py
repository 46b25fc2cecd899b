"""Pairs of reviews of one change: how often a metric prefers the better one."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np
from msgspec import Struct

from crscore.statistics import bootstrap
from crscore.statistics.intervals import Doubles
from crscore_lab.statistics import resampled
from crscore_lab.statistics.ranks import graded_pairs
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.study.data.study import DIMENSIONS
from crscore_lab.study.measures.measurements import Measurements


class SameDiff(Struct, frozen=True, kw_only=True):
    """Agreement of a metric with people on the order of two reviews of one change."""

    metric: str
    """The metric's name."""
    dimension: str
    """Human dimension."""
    n: int
    """Pairs of reviews of one change with different human ratings."""
    accuracy: float | None
    """Share of pairs in the same order, in [0, 1]; None without a pair. Chance is 0.5."""


def same_diff(measured: Measurements) -> tuple[SameDiff, ...]:
    """Count ordered pairs for every metric and dimension.

    A pair that the metric ties counts one half, as much as chance.

    Args:
        measured: The values.

    Returns:
        One row per metric and dimension, the primary metric first.
    """
    rows = []
    for metric in measured.metrics:
        for d, dimension in enumerate(DIMENSIONS):
            count = tally(metric.values[:, d], measured.human[:, d], measured.changes)
            rows.append(
                SameDiff(
                    metric=metric.name, dimension=dimension, n=count.n, accuracy=count.accuracy
                )
            )
    return tuple(rows)


class Tally(NamedTuple):
    """Pair counts summed per change, so that a draw is only as large as the number of changes."""

    changes: tuple[str, ...]
    """C changes with two reviews or more, sorted."""
    right: Doubles
    """Pairs in the same order as the human ratings, a tie counting 1/2, shape (C,)."""
    counted: Doubles
    """Pairs with different human ratings, shape (C,)."""

    @property
    def n(self) -> int:
        """Pairs with different human ratings."""
        return int(self.counted.sum())

    @property
    def accuracy(self) -> float | None:
        """Share of pairs in the same order, in [0, 1]; None without a pair."""
        return float(self.right.sum() / self.n) if self.n else None

    def sample(self, **resampling: Unpack[Resampling]) -> Doubles:
        """Compute the accuracy in every draw of changes, shape (B,)."""
        if not self.changes:
            return np.zeros(0)
        accuracy = partial(resampled.ratio, self.right, self.counted)
        return bootstrap.resample(accuracy, self.changes, **resampling)


def tally(values: Doubles, human: Doubles, changes: Sequence[str]) -> Tally:
    """Count the ordered pairs of each change.

    Args:
        values: A metric, shape (N,).
        human: Human ratings, shape (N,).
        changes: Each row's change, N names.
    """
    names, membership = np.unique(changes, return_inverse=True)
    better, worse = graded_pairs(changes, human)
    right = (1 + np.sign(values[better] - values[worse])) / 2
    has_pair = np.bincount(membership) > 1
    by_change = (
        np.bincount(membership[better], counts, len(names))[has_pair].astype(np.float64)
        for counts in (right, np.ones_like(right))
    )
    return Tally(tuple(names[has_pair].tolist()), *by_change)
