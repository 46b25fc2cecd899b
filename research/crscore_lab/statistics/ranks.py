"""Correlations of values and of ranks."""

import numpy as np

from crscore.statistics.intervals import Floats
from crscore.statistics.ranks import require_scipy


def rank(values: Floats) -> Floats:
    """Rank values from 1; tied values share their mean rank.

    Args:
        values: Shape (N,).

    Returns:
        Shape (N,).

    Raises:
        DependencyError: scipy is not installed.

    Example:
        >>> rank(np.array([3.0, 1.0, 3.0])).tolist()
        [2.5, 1.0, 2.5]
    """
    ranked: Floats = require_scipy().rankdata(values)
    return ranked


def pearson(first: Floats, second: Floats) -> float | None:
    """Correlate two lists.

    Args:
        first: Shape (N,).
        second: Shape (N,).

    Returns:
        In [-1, 1], exactly 1 for equal lists; None if a list is constant or shorter than 2.
    """
    if len(first) < 2:
        return None
    a, b = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    # Rounding can leave a correlation of 1 slightly above it.
    return float(np.clip(float(a @ b) / scale, -1.0, 1.0)) if scale > 0 else None


def spearman(first: Floats, second: Floats) -> float | None:
    """Correlate the ranks of two lists; see `pearson`.

    Raises:
        DependencyError: scipy is not installed.
    """
    # `scipy.stats.spearmanr` takes ten times as long, mostly for a p-value.
    return pearson(rank(first), rank(second))


def kendall(first: Floats, second: Floats) -> float | None:
    """Compute Kendall's tau-b of two lists.

    Args:
        first: Shape (N,).
        second: Shape (N,).

    Returns:
        In [-1, 1]; None if a list is constant or shorter than 2.

    Raises:
        DependencyError: scipy is not installed.
    """
    stats = require_scipy()
    # scipy returns NaN for these.
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(stats.kendalltau(first, second).statistic)
