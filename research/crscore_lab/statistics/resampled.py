"""Statistics of all B resamples of a bootstrap at once.

The functions take `weights`: how often each resample contains each of N rows, shape (B, N). See
`crscore.statistics.resampled`.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from crscore.statistics.bootstrap import percentile_interval, resample
from crscore.statistics.intervals import Doubles, Interval
from crscore.statistics.resampled import divide


class Resampling(TypedDict):
    """Keyword arguments of a bootstrap."""

    resamples: int
    """Number of resamples; 0 for no interval."""
    seed: int
    """Seed of the resamples."""


class RankedColumn(NamedTuple):
    """Ranks of a list of values in B resamples."""

    centred: Doubles
    """Rank of each row minus the mean rank of the resample, shape (B, N)."""
    weighted: Doubles
    """`centred`, multiplied by how often the resample contains the row, shape (B, N)."""
    spread: Doubles
    """Sum of the squares of `centred` over the rows of the resample, shape (B,); 0 if the values
    are constant."""


def ratio(numerator: Doubles, denominator: Doubles, weights: Doubles) -> Doubles:
    """Compute the sum of one list divided by the sum of another in each resample.

    Args:
        numerator: Shape (N,).
        denominator: Shape (N,), values of at least 0.
        weights: How often each resample contains each row, shape (B, N).

    Returns:
        Shape (B,); NaN if the sum of the denominator is 0.
    """
    return divide(weights @ numerator, weights @ denominator)


def rank(values: Doubles, weights: Doubles) -> RankedColumn:
    """Rank values in each resample; equal values share their mean rank.

    Args:
        values: Shape (N,).
        weights: How often each resample contains each row, shape (B, N).
    """
    _, inverse = np.unique(values, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.flatnonzero(np.diff(inverse[order], prepend=-1))
    groups = np.add.reduceat(weights[:, order], starts, axis=1)
    upper = np.cumsum(groups, axis=1)
    # A group of w equal values that ends at rank u has the mean rank u - (w - 1) / 2; the mean rank
    # of all n rows is (n + 1) / 2. The sums are exact, because their terms are multiples of 0.5.
    centre = upper - groups / 2 - upper[:, -1:] / 2
    centred = centre[:, inverse]
    weighted = centred * weights
    return RankedColumn(centred, weighted, np.einsum("bn,bn->b", weighted, centred))


def spearman(first: RankedColumn, second: RankedColumn) -> Doubles:
    """Compute Spearman's correlation in each resample, shape (B,); NaN if a list is constant."""
    products = np.einsum("bn,bn->b", first.centred, second.weighted)
    return np.clip(divide(products, np.sqrt(first.spread * second.spread)), -1.0, 1.0)


def pearson(first: Doubles, second: Doubles, weights: Doubles) -> Doubles:
    """Compute Pearson's correlation of two lists in each resample.

    Args:
        first: Shape (N,).
        second: Shape (N,).
        weights: How often each resample contains each row, shape (B, N).

    Returns:
        Shape (B,); NaN if a list is constant in the resample.
    """
    # The lists are centred, because differences of large squares would lose digits:
    # https://en.wikipedia.org/wiki/Algorithms_for_calculating_variance
    x, y = first - first.mean(), second - second.mean()
    parts = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
    n, sx, sy, sxx, syy, sxy = (weights @ parts).T
    spreads = []
    for squares, total in ((sxx, sx), (syy, sy)):
        spread = squares - total * total / n
        # For a constant list, `spread` is a rounding error of about 1e-16 of the squares, not 0.
        spreads.append(np.where(spread > 1e-12 * squares, spread, 0.0))
    return np.clip(divide(sxy - sx * sy / n, np.sqrt(spreads[0] * spreads[1])), -1.0, 1.0)


def mean_of_groups(values: Sequence[Doubles], present: Sequence[npt.NDArray[np.bool_]]) -> Doubles:
    """Average the correlations of the groups that each resample contains rows of.

    A correlation that is undefined, because the metric or the ratings are constant, counts as 0.

    Args:
        values: Correlations of each group, arrays of shape (B,).
        present: Whether each resample contains a row of the group, arrays of shape (B,).

    Returns:
        Shape (B,); NaN if a resample contains no row of any group.
    """
    is_present = np.array(present, dtype=np.float64)
    # If undefined correlations were left out, the mean would be higher for a metric that gives all
    # rows the same value.
    total = (np.nan_to_num(np.array(values)) * is_present).sum(axis=0)
    return divide(total, is_present.sum(axis=0))


def auc(
    values: Doubles,
    is_positive: npt.NDArray[np.bool_],
    weights: Doubles,
    *,
    strata: Sequence[str] | None = None,
) -> Doubles:
    """Compute the area under the ROC curve (AUC) in each resample.

    This is the probability that a positive row has a higher value than a negative row; equal values
    count one half.

    Args:
        values: Shape (N,), N at least 1.
        is_positive: Shape (N,).
        weights: How often each resample contains each row, shape (B, N).
        strata: Stratum of each row; only rows of the same stratum are compared. None for one
            stratum.

    Returns:
        Shape (B,), each in [0, 1]; NaN if there is no pair of a positive and a negative row.

    Example:
        >>> values, is_positive = np.array([0.9, 0.8, 0.7]), np.array([True, False, True])
        >>> auc(values, is_positive, np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0]])).tolist()
        [0.5, 1.0]
        >>> auc(values, is_positive, np.ones((1, 3)), strata=["a", "b", "b"]).tolist()
        [0.0]
    """
    _, stratum = np.unique(np.asarray(strata or [""] * len(values)), return_inverse=True)
    order = np.lexsort((values, stratum))
    # A group consists of equal values in one stratum. `prepend` makes the first row begin a group,
    # because infinity differs from any value.
    is_new = np.diff(stratum[order], prepend=-1) != 0
    starts = np.flatnonzero(is_new | (np.diff(values[order], prepend=np.inf) != 0))
    ordered_weights = weights[:, order]
    positive = np.add.reduceat(ordered_weights * is_positive[order], starts, axis=1)
    negative = np.add.reduceat(ordered_weights * ~is_positive[order], starts, axis=1)
    firsts = np.flatnonzero(is_new[starts])
    positives, negatives = (np.add.reduceat(it, firsts, axis=1) for it in (positive, negative))
    # For each positive row, count the negative rows below it, then subtract those of earlier
    # strata. The sums are exact, because their terms are multiples of 0.5.
    below = (positive * (np.cumsum(negative, axis=1) - negative / 2)).sum(axis=1)
    before = (positives * (np.cumsum(negatives, axis=1) - negatives)).sum(axis=1)
    return divide(below - before, (positives * negatives).sum(axis=1))


def compute_once(statistic: Callable[[Doubles], Doubles], rows: int) -> float | None:
    """Compute a statistic of all rows, without resampling; None if it is undefined."""
    value = float(statistic(np.ones((1, rows)))[0])
    return None if math.isnan(value) else value


def interval(
    statistic: Callable[[Doubles], Doubles],
    clusters: Sequence[str],
    **resampling: Unpack[Resampling],
) -> Interval:
    """Compute the 95 % percentile interval of a statistic by a bootstrap of clusters of rows.

    Args:
        statistic: Function from weights of the rows, shape (B, N), to values, shape (B,).
        clusters: Cluster of each row, N names.
        resampling: Number of resamples and their seed.
    """
    values = resample(statistic, clusters, **resampling)
    return percentile_interval(values, clusters=len(set(clusters)))
