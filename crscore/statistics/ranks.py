"""The rank-sum test of two samples, a test of a share, and a function that imports scipy."""

import importlib
import math
from typing import Any

import numpy as np

from crscore.errors import requires
from crscore.statistics.intervals import Doubles


def require_scipy(module: str = "stats", install: str = "scipy") -> Any:
    """Import a module of scipy and return it.

    Args:
        module: Name of the module, without `scipy.`.
        install: What the error message tells users to install with pip.

    Raises:
        DependencyError: scipy is not installed.
    """
    with requires("scipy", f"pip install {install}"):
        # scipy is imported only when it is used, because importing `scipy.stats` takes seconds.
        return importlib.import_module(f"scipy.{module}")


def rank_sum_p(first: Doubles, second: Doubles) -> float:
    """Return the p-value of the two-sided rank-sum test of Mann and Whitney.

    The test uses the normal approximation with corrections for ties and continuity.

    Args:
        first: How often the first sample has each of V sorted values, shape (V,).
        second: The same for the second sample. Neither sample is empty.

    Returns:
        The p-value; 1 when all values are equal.
    """
    # An audit tests thousands of windows; `scipy.stats.mannwhitneyu` would take 50 to 300 times as
    # long. A unit test compares the two.
    counts = first + second
    size, total = float(first.sum()), float(counts.sum())
    product = size * (total - size)
    mean_ranks = np.cumsum(counts) - (counts - 1) / 2
    u = float(mean_ranks @ first) - size * (size + 1) / 2
    # Ties lower the variance of U; if all values are equal, the variance is 0.
    ties = float((counts**3 - counts).sum()) / (total * (total - 1))
    variance = product / 12 * (total + 1 - ties)
    if variance <= 0:
        return 1.0
    # Subtracting 0.5 is the correction for continuity, because U changes in steps.
    z = max(0.0, abs(u - product / 2) - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def share_p(successes: float, trials: float, chance: float) -> float:
    """Return the p-value of the one-sided exact binomial test of a share against `chance`.

    The p-value is a mid-p value: it includes only half of the probability of exactly this number
    of successes.

    Args:
        successes: Number of successes, from 0 to `trials`. Both numbers may be fractional
            (`intervals.to_independent`).
        trials: Number of trials, at least 0.
        chance: Probability of a success under the null hypothesis, in [0, 1].

    Raises:
        DependencyError: scipy is not installed.

    Source:
        Lancaster, JASA 56 (1961), 223-234.

    Example:
        >>> [round(share_p(count, 5, 0.2), 3) for count in (0, 3, 5)]
        [0.836, 0.032, 0.0]
    """
    betainc = require_scipy("special").betainc
    # Probabilities of at least this many successes, and of more.
    as_many = float(betainc(successes, trials - successes + 1, chance)) if successes > 0 else 1.0
    more = float(betainc(successes + 1, trials - successes, chance)) if successes < trials else 0.0
    # On average, a test with mid-p values has the intended significance level. The p-values of a
    # normal approximation are too small, for example for 3 successes of 5.
    return (as_many + more) / 2
