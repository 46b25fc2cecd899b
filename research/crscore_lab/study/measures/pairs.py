"""Pairs of reviews of one change: how often a metric prefers the review that people prefer."""

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
    """How often a metric orders two reviews of one change as people do."""

    metric: str
    """The metric's name."""
    dimension: str
    """Rated dimension: `conciseness`, `comprehensiveness` or `relevance`."""
    n: int
    """Number of pairs of reviews of one change with different human ratings."""
    accuracy: float | None
    """Share of pairs that the metric orders as people do, in [0, 1]; a pair of equal values counts
    one half. None if there is no pair. Chance is 0.5."""


def compare_pairs(measured: Measurements) -> tuple[SameDiff, ...]:
    """Compute how often each metric orders two reviews of one change as people do.

    Args:
        measured: The values.

    Returns:
        One row per metric and dimension; those of the primary metric are the first.
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
    """Numbers of pairs in each change, the unit of the bootstrap."""

    changes: tuple[str, ...]
    """Ids of the C changes with two reviews or more, sorted."""
    right: Doubles
    """Number of pairs that the metric orders as people do, shape (C,); equal values count 1/2."""
    counted: Doubles
    """Number of pairs with different human ratings, shape (C,)."""

    @property
    def n(self) -> int:
        """Number of pairs with different human ratings in all changes."""
        return int(self.counted.sum())

    @property
    def accuracy(self) -> float | None:
        """Share of pairs that the metric orders as people do, in [0, 1]; None without a pair."""
        return float(self.right.sum() / self.n) if self.n else None

    def sample(self, **resampling: Unpack[Resampling]) -> Doubles:
        """Compute the accuracy in every bootstrap resample of the changes, shape (B,)."""
        if not self.changes:
            return np.zeros(0)
        accuracy = partial(resampled.ratio, self.right, self.counted)
        return bootstrap.resample(accuracy, self.changes, **resampling)


def tally(values: Doubles, human: Doubles, changes: Sequence[str]) -> Tally:
    """Count the pairs of reviews of each change that a metric orders as people do.

    Args:
        values: Value of the metric for each of N reviews, shape (N,).
        human: Human rating of each review, shape (N,).
        changes: Id of each review's change, N names.
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
