"""Intervals and tests of an audit. The pull request is the cluster: draws take whole pulls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.statistics import bootstrap
from crscore.statistics.correlation import LEVEL, percentiles

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RESAMPLES: Final = 2_000
_Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)


class Range(NamedTuple):
    """Share with its interval, all in [0, 1]."""

    share: float
    low: float
    high: float


def wilson(yes: float, count: float) -> Range | None:
    """Return a share with its 95 % interval of Wilson, without correction for continuity.

    Args:
        yes: From 0 to `count`.
        count: At least 0.

    Returns:
        The share and its interval; None when there is nothing to count.

    Source:
        Wilson, JASA 22 (1927), 209-212.

    Example:
        >>> [round(one, 3) for one in wilson(8, 10)]
        [0.8, 0.49, 0.943]
    """
    if count == 0:
        return None
    share, square = yes / count, _Z**2
    centre = (share + square / (2 * count)) / (1 + square / count)
    half = math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    half *= _Z / (1 + square / count)
    # Rounding may leave the ends a hair beyond the share at 0 and at 1.
    return Range(share, max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)))


def clustered_wilson(yes: Floats, count: Floats) -> Range | None:
    """Return a share with its 95 % interval where what is counted belongs to pulls.

    Wilson's interval for as many independent things as carry the same information: the number is
    divided by the design effect, the variance between pulls over that of independent things.

    Args:
        yes: In each pull, shape (N,), none above `count`.
        count: Of each pull, shape (N,), whole numbers.

    Returns:
        The share and its interval; None when there is nothing to count.

    Source:
        Rao and Scott, Biometrics 48 (1992), 577-585.

    Example:
        >>> alike = clustered_wilson(np.array([4.0, 0.0, 4.0, 0.0]), np.full(4, 4.0))
        >>> [round(one, 2) for one in alike], [round(one, 2) for one in wilson(2, 4)]
        ([0.5, 0.13, 0.87], [0.5, 0.15, 0.85])
    """
    yes, count = yes[count > 0], count[count > 0]
    total = float(count.sum())
    if not total:
        return None
    share = float(yes.sum()) / total
    independent = share * (1 - share) / total
    effect = 1.0
    if len(count) > 1 and independent > 0:
        between = float(((yes - share * count) ** 2).sum()) / total**2
        effect = max(1.0, between * len(count) / (len(count) - 1) / independent)
    return wilson(share * total / effect, total / effect)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Correct p-values for their number.

    Args:
        p_values: Any number, each in [0, 1].

    Returns:
        The corrected ones, in the same order, each in [0, 1].

    Source:
        Holm, Scandinavian Journal of Statistics 6 (1979), 65-70.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        (0.03, 0.06, 0.06)
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda one: p_values[one])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = highest
    return tuple(corrected)


def draws(pulls: int, *, resamples: int, seed: int) -> Iterator[Floats]:
    """Draw pulls with replacement: how often each is taken, in blocks of shape (b, `pulls`)."""
    names = [f"{number:09d}" for number in range(pulls)]
    return bootstrap.blocks(names, resamples=resamples, seed=seed)


def mean_draws(values: Floats, weights: Floats) -> Floats:
    """Compute the mean of each column in each draw.

    Args:
        values: Shape (P, K), a row for each pull; NaN where it has no value.
        weights: How often each draw takes each pull, shape (B, P).

    Returns:
        Shape (B, K); NaN where a draw has no value.
    """
    known = ~np.isnan(values)
    return divide(weights @ np.where(known, values, 0.0), weights @ known.astype(np.float64))


def divide(upper: Floats, lower: Floats) -> Floats:
    """Divide; NaN where the divisor is 0."""
    quotients: Floats = np.divide(upper, lower, out=np.full_like(upper, np.nan), where=lower > 0)
    return quotients


def means(values: Floats) -> Floats:
    """Return the mean of each column of (P, K), NaN being no value; NaN without any."""
    averages: Floats = mean_draws(values, np.ones((1, len(values))))[0]
    return averages


def interval(drawn: Floats, *, pulls: int) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of the draws of a statistic.

    Args:
        drawn: Shape (B,); NaN where undefined.
        pulls: Number of pulls with a value.

    Returns:
        Its ends; None with fewer than two pulls, or when most draws have no value.
    """
    kept = drawn[~np.isnan(drawn)]
    low, high = percentiles(kept, resamples=len(drawn), clusters=pulls)
    return None if low is None or high is None else (low, high)


def rank_ranges(drawn: Floats) -> tuple[tuple[int, int], ...]:
    """Return the ranks that the data allow each column, 1 for the highest mean.

    Args:
        drawn: Means in each draw, shape (B, K); NaN, which ranks last, where undefined.

    Returns:
        Best and worst rank in 95 % of the draws. Equal means share the best of their ranks.

    Example:
        >>> rank_ranges(np.array([[9.0, 5.0, 4.0]] * 50 + [[9.0, 4.0, 5.0]] * 50))
        ((1, 1), (2, 3), (2, 3))
    """
    filled = np.where(np.isnan(drawn), -np.inf, drawn)
    places = 1 + (filled[:, None, :] > filled[:, :, None]).sum(axis=2)
    tail = (1 - LEVEL) / 2
    best = np.quantile(places, tail, axis=0, method="lower")
    worst = np.quantile(places, 1 - tail, axis=0, method="higher")
    return tuple((int(one), int(other)) for one, other in zip(best, worst, strict=True))


def stratified_draws(first: Floats, second: Floats, strata: Ints, weights: Floats) -> Floats:
    """Compute the difference of two means within strata in each draw.

    The means are compared inside each stratum, and the differences averaged with the number of
    pulls that either has in it. A stratum that only one of them has, in the draw, does not count.

    Args:
        first: Values of the first, shape (P,); NaN where it has none.
        second: The same of the second.
        strata: Stratum of each pull, whole numbers from 0, shape (P,).
        weights: How often each draw takes each pull, shape (B, P).

    Returns:
        First minus second, shape (B,); NaN where no stratum has both.
    """
    order = np.argsort(strata, kind="stable")
    starts = np.flatnonzero(np.diff(strata[order], prepend=-1))
    taken = weights[:, order]
    sums, counts = [], []
    for values in (first[order], second[order]):
        known = ~np.isnan(values)
        sums.append(np.add.reduceat(taken * np.where(known, values, 0.0), starts, axis=1))
        counts.append(np.add.reduceat(taken * known, starts, axis=1))
    both = (counts[0] > 0) & (counts[1] > 0)
    size = np.where(both, counts[0] + counts[1], 0.0)
    differences = divide(sums[0], counts[0]) - divide(sums[1], counts[1])
    total = (np.where(both, differences, 0.0) * size).sum(axis=1)
    return divide(total, size.sum(axis=1))


def rank_sum_p(first: Floats, second: Floats) -> float:
    """Test whether two samples differ in rank: Mann and Whitney, two-sided.

    By the normal approximation with the correction for ties and for continuity.

    Args:
        first: How often the first sample has each value, in the order of the values, shape (V,).
        second: The same of the second; both have at least one value.

    Returns:
        The p-value; 1 when all values are equal.
    """
    counts = first + second
    count, total = float(first.sum()), float(counts.sum())
    product = count * (total - count)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    u = float(ranks @ first) - count * (count + 1) / 2
    lost = float((counts**3 - counts).sum()) / (total * (total - 1))
    variance = product / 12 * (total + 1 - lost)
    if variance <= 0:
        return 1.0
    z = max(0.0, abs(u - product / 2) - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))
