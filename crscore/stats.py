"""Rank correlation and its interval by bootstrap over clusters."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crscore.errors import DependencyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """A percentile interval."""

    low: float | None
    """Lower end; None when too few resamples had a value."""
    high: float | None
    """Upper end; None when too few resamples had a value."""


def ranks(values: Floats) -> Floats:
    """Rank values, ties sharing their mean rank.

    Args:
        values: Shape (N,).

    Returns:
        Shape (N,), ranks from 1.

    Example:
        >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
        [2.5, 1.0, 2.5]
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    upper = np.cumsum(counts)
    mean_rank: Floats = upper - (counts - 1) / 2
    return mean_rank[inverse]


def pearson(first: Floats, second: Floats) -> float | None:
    """Correlate two lists.

    Args:
        first: Shape (N,).
        second: Shape (N,).

    Returns:
        In [-1, 1]; None when a list is constant or shorter than 2.
    """
    if len(first) < 2:
        return None
    a, b = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(float(a @ b) / scale, -1.0, 1.0)) if scale > 0 else None


def spearman(first: Floats, second: Floats) -> float | None:
    """Correlate the ranks of two lists.

    Written here because a bootstrap calls it some hundred thousand times and scipy's version
    spends most of its time on a p-value; a test holds it to scipy's.

    Args:
        first: Shape (N,).
        second: Shape (N,).

    Returns:
        In [-1, 1]; None when a list is constant or shorter than 2.
    """
    return pearson(ranks(first), ranks(second))


def kendall(first: Floats, second: Floats) -> float | None:
    """Kendall's tau-b of two lists, by scipy.

    Args:
        first: Shape (N,).
        second: Shape (N,).

    Returns:
        In [-1, 1]; None when a list is constant or shorter than 2.

    Raises:
        DependencyError: scipy is not installed.
    """
    require_scipy()
    from scipy.stats import kendalltau  # noqa: PLC0415  (heavy, needed here only)

    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(kendalltau(first, second).statistic)


def require_scipy() -> None:
    """Say before the work, not after it, that scipy is missing.

    Raises:
        DependencyError: scipy is not installed.
    """
    try:
        importlib.import_module("scipy.stats")
    except ImportError as exc:
        raise DependencyError("scipy", "pip install 'crscore[validate]'") from exc


def cluster_bootstrap(
    statistic: Callable[[npt.NDArray[np.intp]], float | None],
    clusters: Sequence[str],
    *,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Interval:
    """Find a percentile interval by drawing whole clusters with replacement.

    Reviews of one change share its claims and its difficulty, so the change is the unit that
    is drawn, not the review.

    Args:
        statistic: Row indices, possibly repeated -> value, or None where it is undefined.
        clusters: Each row's cluster, N names.
        resamples: How many draws.
        rng: Source of randomness.
        level: Coverage, in (0, 1).

    Returns:
        The interval; None ends when fewer than half of the draws had a value.
    """
    names, membership = np.unique(np.asarray(clusters), return_inverse=True)
    rows = [np.flatnonzero(membership == index) for index in range(len(names))]
    values = []
    for _ in range(resamples):
        drawn = rng.integers(0, len(rows), len(rows))
        value = statistic(np.concatenate([rows[index] for index in drawn]))
        if value is not None:
            values.append(value)
    if len(values) < max(1, resamples / 2):
        return Interval(None, None)
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return Interval(float(low), float(high))
