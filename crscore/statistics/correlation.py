"""Rank correlation, and the uncertainty of a statistic by a bootstrap over clusters."""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.errors import DependencyError

Floats = npt.NDArray[np.float64]

LEVEL: Final = 0.95
"""Coverage of an interval."""
# Correlations of exactly 1 have no Fisher's z; this bound is closer to 1 than any realistic one.
_NEARLY_ONE: Final = 1 - 1e-12


class Interval(NamedTuple):
    """Percentile interval."""

    low: float | None
    """Lower end; None when too few resamples had a value."""
    high: float | None
    """Upper end; None when too few resamples had a value."""


class Verdict(NamedTuple):
    """Uncertainty of a statistic, by a bootstrap over clusters."""

    low: float | None
    """Lower end of the percentile interval; None when there is none."""
    high: float | None
    """Upper end of the percentile interval; None when there is none."""
    p: float | None
    """Two-sided p-value against a true value of 0; None when the draws do not determine it."""
    error: float | None
    """Standard error: the standard deviation of the draws; None when there is no interval."""


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

    Implemented here because a bootstrap calls it some hundred thousand times and scipy's version
    spends most of its time on a p-value; a test compares it with scipy's.

    Args:
        first: Shape (N,).
        second: Shape (N,).

    Returns:
        In [-1, 1]; None when a list is constant or shorter than 2.
    """
    return pearson(ranks(first), ranks(second))


def kendall(first: Floats, second: Floats) -> float | None:
    """Compute Kendall's tau-b of two lists with scipy.

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
    """Check that scipy is installed, before the work begins.

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
    level: float = LEVEL,
) -> Interval:
    """Compute a percentile interval by drawing whole clusters with replacement.

    Reviews of one change share its claims and its difficulty, so the change is the unit that
    is drawn, not the review.

    Args:
        statistic: Row indices, possibly repeated -> value, or None where it is undefined.
        clusters: Cluster of each row, N names.
        resamples: Number of draws.
        rng: Source of randomness.
        level: Coverage, in (0, 1).

    Returns:
        The interval; its ends are None when there is only one cluster, which every draw repeats, or
        when fewer than half of the draws had a value.
    """
    names, membership = np.unique(np.asarray(clusters), return_inverse=True)
    rows = [np.flatnonzero(membership == index) for index in range(len(names))]
    values = []
    for _ in range(resamples):
        drawn = rng.integers(0, len(rows), len(rows))
        value = statistic(np.concatenate([rows[index] for index in drawn]))
        if value is not None:
            values.append(value)
    enough = np.array(values, dtype=np.float64)
    return percentiles(enough, resamples=resamples, clusters=len(names), level=level)


def percentiles(draws: Floats, *, resamples: int, clusters: int, level: float = LEVEL) -> Interval:
    """Compute the interval of bootstrap draws.

    Args:
        draws: The defined values among the resamples, shape (B,), B at most `resamples`.
        resamples: Number of draws.
        clusters: Number of clusters drawn from.
        level: Coverage, in (0, 1).

    Returns:
        The interval; its ends are None with fewer than two clusters, or when fewer than half of the
        draws had a value.
    """
    if clusters < 2 or len(draws) < max(1, resamples / 2):
        return Interval(None, None)
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Interval(float(low), float(high))


def verdict(
    value: float | None, draws: Floats, *, resamples: int, clusters: int, correlation: bool
) -> Verdict:
    """Return the uncertainty of a statistic from its bootstrap over clusters.

    p compares value / standard error with Student's t of C - 1 degrees of freedom, C clusters:
    the change, not the review, is what was sampled. A correlation is compared on Fisher's
    scale, z = atanh(r), whose error does not depend on r: the standard error is that of the
    draws' z.

    Args:
        value: The statistic on all rows; None where it is undefined.
        draws: Its defined values among the resamples, shape (B,).
        resamples: Number of draws.
        clusters: Number of clusters drawn from.
        correlation: Whether the statistic is a correlation, or a mean of several, in [-1, 1].

    Returns:
        Interval, p and standard error; p is 1 for a value of 0 that no draw changes, and None
        for another value that no draw changes.

    Raises:
        DependencyError: scipy is not installed.
    """
    low, high = percentiles(draws, resamples=resamples, clusters=clusters)
    if value is None or low is None:
        return Verdict(None, None, None, None)
    on_scale, scaled = value, draws
    if correlation:
        on_scale = math.atanh(min(max(value, -_NEARLY_ONE), _NEARLY_ONE))
        scaled = np.arctanh(np.clip(draws, -_NEARLY_ONE, _NEARLY_ONE))
    p = _p_value(on_scale, float(scaled.std()), clusters - 1)
    return Verdict(low, high, p, float(draws.std()))


def _p_value(value: float, error: float, freedom: int) -> float | None:
    if value == 0:
        return 1.0
    if error == 0:
        return None
    require_scipy()
    from scipy.special import stdtr  # noqa: PLC0415  (heavy, needed here only)

    return min(1.0, 2 * float(stdtr(freedom, -abs(value) / error)))


def clusters_needed(
    difference: float,
    error: float,
    *,
    clusters: int,
    power: float = 0.8,
    significance: float = 0.05,
) -> int | None:
    """Return the number of clusters needed to show a difference of this size.

    The standard error falls with the square root of the number of clusters, so C clusters of
    error e give n = C · ((z(1 - a/2) + z(power)) · e / difference)², rounded up.

    Args:
        difference: The difference to detect, in the unit of `error`.
        error: Its standard error on the existing clusters.
        clusters: Number of existing clusters.
        power: Chance of detecting it, in (0, 1).
        significance: Level of the two-sided test, in (0, 1).

    Returns:
        At least 2; None for no difference.

    Source:
        Textbook sample size of a two-sided z-test.

    Example:
        A difference of 2.8 standard errors is just detectable with the existing clusters.

        >>> clusters_needed(0.02802, 0.01, clusters=100)
        100
        >>> clusters_needed(0.01401, 0.01, clusters=100)
        400
    """
    if difference == 0:
        return None
    normal = statistics.NormalDist()
    sum_of_quantiles = normal.inv_cdf(1 - significance / 2) + normal.inv_cdf(power)
    return max(2, math.ceil(clusters * (sum_of_quantiles * error / difference) ** 2))
