"""Bootstrap over clusters: samples, intervals and p-values.

A bootstrap sample is called a draw. A draw takes entire clusters with replacement, because reviews
of one change share its difficulty, and comments on one pull request share its author. A draw is
represented by the number of times that it takes each row, so a statistic of many draws is
arithmetic on one matrix (`resampled`): a thousand draws of a few hundred columns take seconds. If a
statistic is undefined in a draw, its value is NaN.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from crscore.statistics.intervals import LEVEL, Doubles, Interval, percentiles
from crscore.statistics.ranks import require_scipy

# With 2,000 draws from a normal distribution, each end of the 95 % interval has a standard
# deviation of 0.06 standard errors: sqrt(0.025 * 0.975 / 2,000), divided by 0.058, the density at
# 1.96. Four times as many draws would halve this.
RESAMPLES: Final = 2_000
"""Default number of draws."""
# With this limit, a large study takes a few hundred MB of memory.
MAX_CELLS: Final = 2**21
"""Maximum size of one block of draws: the number of draws times the number of rows."""


def draw_weights(clusters: Sequence[str] | int, *, resamples: int, seed: int) -> Iterator[Doubles]:
    """Draw clusters with replacement.

    Args:
        clusters: Cluster of each row, N names; or the number N if each row is a cluster.
        resamples: Number of draws.
        seed: Seed of the draws; the same seed and clusters give the same draws.

    Yields:
        Blocks of b draws, shape (b, N): how often each draw takes each row, as whole numbers. All
        blocks together have `resamples` draws. The draws do not depend on the size of the blocks.
    """
    if isinstance(clusters, int):
        rows, count, membership = clusters, clusters, None
    else:
        names, membership = np.unique(np.asarray(clusters), return_inverse=True)
        rows, count = len(clusters), len(names)
    rng = np.random.default_rng(seed)
    block_size = max(1, MAX_CELLS // max(1, rows))
    for start in range(0, resamples, block_size):
        size = min(block_size, resamples - start)
        # Each draw of a block has its own offset, so that one call of `bincount` counts all draws.
        indices = rng.integers(0, count, (size, count)) + np.arange(size)[:, None] * count
        counts = np.bincount(indices.ravel(), minlength=size * count).astype(np.float64)
        weights: Doubles = counts.reshape(size, count)
        yield weights if membership is None else weights[:, membership]


def weight_matrix(clusters: Sequence[str] | int, *, resamples: int, seed: int) -> Doubles:
    """Return all draws of `draw_weights` as one matrix, shape (B, N), for at least one draw."""
    return np.concatenate(list(draw_weights(clusters, resamples=resamples, seed=seed)))


def resample(
    statistic: Callable[[Doubles], Doubles],
    clusters: Sequence[str] | int,
    *,
    resamples: int,
    seed: int,
) -> Doubles:
    """Compute a statistic in each draw of `draw_weights`.

    Args:
        statistic: Function that computes its value in each of b draws, shape (b, ...), from a block
            of draws, shape (b, N).
        clusters: As in `draw_weights`.
        resamples: Number of draws, B.
        seed: Seed of the draws.

    Returns:
        The values, shape (B, ...); shape (0,) if there are no draws.
    """
    blocks = draw_weights(clusters, resamples=resamples, seed=seed)
    values_by_block = [statistic(weights) for weights in blocks]
    return np.concatenate(values_by_block) if values_by_block else np.zeros(0)


def percentile_interval(draws: Doubles, *, clusters: int, expanded: bool = False) -> Interval:
    """Return the 95 % percentile interval of bootstrap draws.

    With few clusters, the percentile interval is too narrow, because it lacks the factors for
    Student's t and for the bias of the standard deviation. Expanded percentiles include both
    factors, which are exact for normally distributed draws.

    Args:
        draws: Values of the statistic in the draws, shape (B,); NaN if undefined.
        clusters: Number of clusters from which the draws were taken.
        expanded: Whether to use the expanded percentiles.

    Returns:
        The ends of the interval. Both are None if the statistic is defined in fewer than half of
        the draws, or if there are fewer than two clusters, because all draws are then equal.

    Raises:
        DependencyError: `expanded` is true, and scipy is not installed.

    Source:
        Hesterberg, The American Statistician 69 (2015), 371-386, section 5.3.
    """
    # If the statistic is undefined in most draws, the other draws are a biased selection.
    defined = draws[~np.isnan(draws)]
    if clusters < 2 or len(defined) < max(1, len(draws) / 2):
        return None, None
    # With 30 changes, the interval of plain percentiles contained the true value in 92 % instead of
    # 95 % of the cases (docs/design/029-golden-sets.md).
    if not expanded:
        return percentiles(defined)
    special = require_scipy("special")
    # Take the percentiles that a normal distribution has at the ends of the t interval.
    width = math.sqrt(clusters / (clusters - 1)) * special.stdtrit(clusters - 1, (1 + LEVEL) / 2)
    low, high = np.quantile(defined, [special.ndtr(-width), special.ndtr(width)])
    return float(low), float(high)


def bootstrap_test(
    value: float | None, draws: Doubles, *, clusters: int, is_correlation: bool
) -> tuple[Interval, float | None, float | None]:
    """Test whether a statistic differs from 0, with a bootstrap over clusters.

    The p-value compares value / standard error with Student's t. For C clusters, t has C - 1
    degrees of freedom, because clusters were sampled, not rows. A correlation r is tested on
    Fisher's scale, z = atanh(r), because the standard error of z does not depend on r; this
    standard error is the standard deviation of z in the draws.

    Args:
        value: The statistic on all rows; None if it is undefined.
        draws: Values of the statistic in the draws, shape (B,); NaN if undefined.
        clusters: Number of clusters from which the draws were taken.
        is_correlation: Whether the statistic is a correlation, or a mean of several, in [-1, 1].

    Returns:
        The 95 % percentile interval, the two-sided p-value, and the standard error: the standard
        deviation of the draws. All are None if there is no interval. The p-value is 1 if `value`
        is 0; it is None if `value` is not 0 and all draws are equal.

    Raises:
        DependencyError: scipy is not installed.
    """
    interval = percentile_interval(draws, clusters=clusters)
    if value is None or None in interval:
        return (None, None), None, None
    defined = draws[~np.isnan(draws)]
    scaled_value, scaled_draws = value, defined
    if is_correlation:
        # A correlation of exactly 1 has no z. Realistic correlations are further from 1 than this.
        bound = 1 - 1e-12
        scaled_value = math.atanh(min(max(value, -bound), bound))
        scaled_draws = np.arctanh(np.clip(defined, -bound, bound))
    p, error = 1.0 if value == 0 else None, float(scaled_draws.std())
    if value and error:
        # `special.stdtr`, because importing `scipy.stats` takes seconds.
        tail = require_scipy("special").stdtr(clusters - 1, -abs(scaled_value) / error)
        p = min(1.0, 2 * float(tail))
    return interval, p, float(defined.std())


def clusters_needed(
    difference: float,
    error: float,
    *,
    clusters: int,
    power: float = 0.8,
    significance: float = 0.05,
) -> int | None:
    """Return the number of clusters needed to show a difference of this size.

    The standard error falls with the square root of the number of clusters. If C clusters have the
    standard error e, the result is C · ((z(1 - a/2) + z(power)) · e / difference)², rounded up,
    where a is the significance level.

    Args:
        difference: The difference to detect, in the unit of `error`.
        error: Standard error of the difference on the existing clusters.
        clusters: Number of existing clusters.
        power: Probability of detecting the difference, in (0, 1).
        significance: Significance level of the two-sided test, in (0, 1).

    Returns:
        The number of clusters, at least 2; None if the difference is 0.

    Source:
        Textbook sample size of a two-sided z-test.

    Example:
        The existing clusters are just enough for a difference of 2.8 standard errors.

        >>> clusters_needed(0.02802, 0.01, clusters=100)
        100
        >>> clusters_needed(0.01401, 0.01, clusters=100)
        400
    """
    if difference == 0:
        return None
    normal = statistics.NormalDist()
    # For the default arguments, the sum is 1.96 + 0.84 = 2.8.
    sum_of_quantiles = normal.inv_cdf(1 - significance / 2) + normal.inv_cdf(power)
    return max(2, math.ceil(clusters * (sum_of_quantiles * error / difference) ** 2))


def rank_ranges(draws: Doubles) -> tuple[tuple[int, int], ...]:
    """Return the plausible ranks of each of K columns; rank 1 is that of the highest value.

    Args:
        draws: Value of each column in each draw, shape (B, K); an undefined value is NaN and ranks
            last.

    Returns:
        For each column, the best and the worst rank that it has in 95 % of the draws. Equal values
        share the best of their ranks.

    Example:
        >>> rank_ranges(np.array([[9.0, 5.0, 4.0]] * 50 + [[9.0, 4.0, 5.0]] * 50))
        ((1, 1), (2, 3), (2, 3))
    """
    # Every comparison with NaN is false, so NaN would share the best rank.
    filled = np.where(np.isnan(draws), -np.inf, draws)
    ranks = 1 + (filled[:, None, :] > filled[:, :, None]).sum(axis=2)
    tail = (1 - LEVEL) / 2
    # The ends are rounded outwards to whole ranks.
    best = np.quantile(ranks, tail, axis=0, method="lower")
    worst = np.quantile(ranks, 1 - tail, axis=0, method="higher")
    return tuple(zip(best.astype(int).tolist(), worst.astype(int).tolist(), strict=True))
