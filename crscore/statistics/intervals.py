"""Intervals: percentiles of bootstrap samples ("draws"), and Wilson's interval of a share."""

import math
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Interval = tuple[float | None, float | None]
"""Lower and upper end of an interval; None if the data do not determine them."""

LEVEL: Final = 0.95
"""Coverage of an interval."""
# 1.96 standard deviations.
_Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)


def percentiles(draws: Doubles) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentile of at least one draw, shape (B,), without NaN."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def wilson(successes: float, trials: float) -> tuple[float, float, float] | None:
    """Return a share with Wilson's 95 % interval, without correction for continuity.

    Args:
        successes: Number of successes, from 0 to `trials`; may be fractional.
        trials: Number of trials, at least 0; may be fractional.

    Returns:
        The share and the ends of the interval, all in [0, 1]; None if there are no trials.

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

    This is Wilson's interval for the number of independent trials that would be equally
    informative (`to_independent`).

    Args:
        successes: Number of successes in each of N clusters, shape (N,), at most `trials`.
        trials: Number of trials in each cluster, shape (N,), whole numbers.

    Returns:
        The same as from `wilson`.

    Example:
        >>> alike = clustered_wilson(np.array([4.0, 0.0, 4.0, 0.0]), np.full(4, 4.0))
        >>> [round(end, 2) for end in alike], [round(end, 2) for end in wilson(2, 4)]
        ([0.5, 0.13, 0.87], [0.5, 0.15, 0.85])
    """
    return wilson(*to_independent(successes, trials))


def to_independent(successes: Doubles, trials: Doubles) -> tuple[float, float]:
    """Convert trials in clusters to the number of independent trials that is equally informative.

    The arguments are those of `clustered_wilson`.

    Returns:
        The numbers of successes and of trials; both are 0 if there are no trials. They are the sums
        over all clusters, divided by the design effect. The design effect is the variance of the
        share between clusters, divided by the variance that independent trials would have.

    Source:
        Rao and Scott, Biometrics 48 (1992), 577-585.
    """
    successes, trials = successes[trials > 0], trials[trials > 0]
    total = float(trials.sum())
    if not total:
        return 0.0, 0.0
    share = float(successes.sum()) / total
    variance = share * (1 - share) / total  # of independent trials
    # The effect is at least 1, because clustered trials do not tell more than independent trials.
    design_effect = 1.0
    if len(trials) > 1 and variance > 0:
        between = float(((successes - share * trials) ** 2).sum()) / total**2
        design_effect = max(1.0, between * len(trials) / (len(trials) - 1) / variance)
    return share * total / design_effect, total / design_effect
