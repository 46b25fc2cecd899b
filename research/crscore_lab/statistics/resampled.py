"""Statistics in all draws of a bootstrap at once: see `crscore.statistics.resampled`."""

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
    """Number of draws; 0 for no interval."""
    seed: int
    """Seed of the draws."""


class RankedColumn(NamedTuple):
    """Ranks of a column in B draws."""

    centred: Doubles
    """Rank minus the mean rank of the draw, shape (B, N)."""
    weighted: Doubles
    """`centred` times the row's count, shape (B, N)."""
    spread: Doubles
    """Sum of the squares over the drawn rows, shape (B,); 0 if the column is constant."""


def ratio(numerator: Doubles, denominator: Doubles, weights: Doubles) -> Doubles:
    """Divide two sums over the drawn rows.

    Args:
        numerator: Shape (N,).
        denominator: Shape (N,), each at least 0.
        weights: How often each draw takes each row, shape (B, N).

    Returns:
        Shape (B,); NaN where the denominator is 0.
    """
    return divide(weights @ numerator, weights @ denominator)


def rank(values: Doubles, weights: Doubles) -> RankedColumn:
    """Rank a column in each draw; tied values share their mean rank.

    Args:
        values: Shape (N,).
        weights: How often each draw takes each row, shape (B, N).
    """
    _, inverse = np.unique(values, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.flatnonzero(np.diff(inverse[order], prepend=-1))
    groups = np.add.reduceat(weights[:, order], starts, axis=1)
    upper = np.cumsum(groups, axis=1)
    # A group of w equal values that ends at rank u has the mean rank u - (w - 1) / 2; the mean
    # over all n drawn rows is (n + 1) / 2. Multiples of 0.5 below 2**52: the sums are exact.
    centre = upper - groups / 2 - upper[:, -1:] / 2
    centred = centre[:, inverse]
    weighted = centred * weights
    return RankedColumn(centred, weighted, np.einsum("bn,bn->b", weighted, centred))


def spearman(first: RankedColumn, second: RankedColumn) -> Doubles:
    """Correlate two ranked columns in each draw, shape (B,); NaN if one of them is constant."""
    products = np.einsum("bn,bn->b", first.centred, second.weighted)
    return np.clip(divide(products, np.sqrt(first.spread * second.spread)), -1.0, 1.0)


def pearson(first: Doubles, second: Doubles, weights: Doubles) -> Doubles:
    """Correlate two columns in each draw.

    Args:
        first: Shape (N,).
        second: Shape (N,).
        weights: How often each draw takes each row, shape (B, N).

    Returns:
        Shape (B,); NaN if one of them is constant.
    """
    # Centred, so that the sums below do not lose digits, as differences of large squares would:
    # https://en.wikipedia.org/wiki/Algorithms_for_calculating_variance
    x, y = first - first.mean(), second - second.mean()
    parts = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)
    n, sx, sy, sxx, syy, sxy = (weights @ parts).T
    spreads = []
    for squares, total in ((sxx, sx), (syy, sy)):
        spread = squares - total * total / n
        # For a constant column, rounding leaves about 1e-16 of the squares.
        spreads.append(np.where(spread > 1e-12 * squares, spread, 0.0))
    return np.clip(divide(sxy - sx * sy / n, np.sqrt(spreads[0] * spreads[1])), -1.0, 1.0)


def mean_of_groups(values: Sequence[Doubles], present: Sequence[npt.NDArray[np.bool_]]) -> Doubles:
    """Average over the groups present in each draw.

    An undefined group, in which a side is constant, counts as 0.

    Args:
        values: Each group's values, each of shape (B,).
        present: Whether each draw has a row of the group, each of shape (B,).

    Returns:
        Shape (B,); NaN if no group is present.
    """
    is_present = np.array(present, dtype=np.float64)
    # To leave undefined groups out would reward a metric for being constant.
    total = (np.nan_to_num(np.array(values)) * is_present).sum(axis=0)
    return divide(total, is_present.sum(axis=0))


def auc(
    values: Doubles,
    is_positive: npt.NDArray[np.bool_],
    weights: Doubles,
    *,
    strata: Sequence[str] | None = None,
) -> Doubles:
    """Compute the probability that a positive row exceeds a negative one; a tie counts one half.

    Args:
        values: Shape (N,), N at least 1.
        is_positive: Shape (N,).
        weights: How often each draw takes each row, shape (B, N).
        strata: Stratum of each row; only pairs within a stratum are compared. None for one stratum.

    Returns:
        Shape (B,), each in [0, 1]; NaN if there is no pair.

    Example:
        >>> values, is_positive = np.array([0.9, 0.8, 0.7]), np.array([True, False, True])
        >>> auc(values, is_positive, np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0]])).tolist()
        [0.5, 1.0]
        >>> auc(values, is_positive, np.ones((1, 3)), strata=["a", "b", "b"]).tolist()
        [0.0]
    """
    _, stratum = np.unique(np.asarray(strata or [""] * len(values)), return_inverse=True)
    order = np.lexsort((values, stratum))
    # Infinity differs from any value, so the first row begins a group.
    is_new = np.diff(stratum[order], prepend=-1) != 0
    starts = np.flatnonzero(is_new | (np.diff(values[order], prepend=np.inf) != 0))
    ordered_weights = weights[:, order]
    upper = np.add.reduceat(ordered_weights * is_positive[order], starts, axis=1)
    lower = np.add.reduceat(ordered_weights * ~is_positive[order], starts, axis=1)
    firsts = np.flatnonzero(is_new[starts])
    positives, negatives = (np.add.reduceat(side, firsts, axis=1) for side in (upper, lower))
    # Negatives that rank below, minus negatives of earlier strata. The sums are exact, as their
    # terms are multiples of 0.5.
    below = (upper * (np.cumsum(lower, axis=1) - lower / 2)).sum(axis=1)
    before = (positives * (np.cumsum(negatives, axis=1) - negatives)).sum(axis=1)
    return divide(below - before, (positives * negatives).sum(axis=1))


def of_all_rows(statistic: Callable[[Doubles], Doubles], rows: int) -> float | None:
    """Compute a statistic of all rows, each drawn once; None if it is undefined."""
    value = float(statistic(np.ones((1, rows)))[0])
    return None if math.isnan(value) else value


def interval(
    statistic: Callable[[Doubles], Doubles],
    clusters: Sequence[str],
    **resampling: Unpack[Resampling],
) -> Interval:
    """Compute the percentile interval of a statistic.

    Args:
        statistic: Weights of the rows, shape (B, N) -> values, shape (B,).
        clusters: Cluster of each row, N names.
        resampling: Number of draws and their seed.
    """
    draws = resample(statistic, clusters, **resampling)
    return percentile_interval(draws, clusters=len(set(clusters)))
