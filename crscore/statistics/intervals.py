"""Intervals: percentiles of draws, and shares by Wilson's formula."""

import math
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Interval = tuple[float | None, float | None]
"""Ends of an interval of a statistic; None if the data do not determine them."""

LEVEL: Final = 0.95
"""Coverage of an interval."""
# 1.96 standard deviations.
_Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)


def percentiles(draws: Doubles) -> tuple[float, float]:
    """Return the 2.5 and 97.5 percentiles of draws without NaN, shape (B,), B at least 1."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def wilson(successes: float, trials: float) -> tuple[float, float, float] | None:
    """Return a share with its 95 % interval of Wilson, without correction for continuity.

    Args:
        successes: From 0 to `trials`.
        trials: At least 0.

    Returns:
        The share and the ends of its interval, all in [0, 1]; None if there are no trials.

    Source:
        Wilson, JASA 22 (1927), 209-212.

    Example:
        >>> [round(end, 3) for end in wilson(8, 10)]
        [0.8, 0.49, 0.943]
    """
    if trials == 0:
        return None
    # `scipy.stats.binomtest` does not accept the fractional trials of `clustered_wilson`; a test
    # compares the two functions on whole numbers.
    share, square = successes / trials, _Z**2
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    half = math.sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    half *= _Z / (1 + square / trials)
    # At shares of 0 and 1, rounding may put an end slightly beyond the share.
    return share, max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def clustered_wilson(successes: Doubles, trials: Doubles) -> tuple[float, float, float] | None:
    """Return a share with its 95 % interval for trials that come in clusters.

    This is Wilson's interval for as many independent trials as tell equally much (`independent`).

    Args:
        successes: Number in each cluster, shape (N,), never above `trials`.
        trials: Number in each cluster, shape (N,), whole numbers.

    Returns:
        As `wilson`.

    Example:
        >>> alike = clustered_wilson(np.array([4.0, 0.0, 4.0, 0.0]), np.full(4, 4.0))
        >>> [round(end, 2) for end in alike], [round(end, 2) for end in wilson(2, 4)]
        ([0.5, 0.13, 0.87], [0.5, 0.15, 0.85])
    """
    return wilson(*independent(successes, trials))


def independent(successes: Doubles, trials: Doubles) -> tuple[float, float]:
    """Return the successes and trials of equivalent independent trials, for trials in clusters.

    Both are divided by the design effect: the variance between clusters, divided by the variance
    that independent trials would have. The arguments are as in `clustered_wilson`.

    Source:
        Rao and Scott, Biometrics 48 (1992), 577-585.
    """
    successes, trials = successes[trials > 0], trials[trials > 0]
    total = float(trials.sum())
    if not total:
        return 0.0, 0.0
    share = float(successes.sum()) / total
    variance = share * (1 - share) / total  # of independent trials
    # The effect is never below 1: trials of one cluster do not tell more than independent ones.
    design_effect = 1.0
    if len(trials) > 1 and variance > 0:
        between = float(((successes - share * trials) ** 2).sum()) / total**2
        design_effect = max(1.0, between * len(trials) / (len(trials) - 1) / variance)
    return share * total / design_effect, total / design_effect
