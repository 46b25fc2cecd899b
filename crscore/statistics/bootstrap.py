"""Bootstrap over clusters: draws, intervals, p-values.

A draw takes whole clusters with replacement, because reviews of one change share its difficulty,
and comments on one pull request share its author. A draw is represented by how often it takes each
row, so that a statistic of many draws is arithmetic on one matrix (`resampled`): a thousand draws
of a few hundred columns take seconds. A statistic that is undefined in a draw is NaN.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from crscore.statistics.intervals import LEVEL, Doubles, Interval, percentiles
from crscore.statistics.ranks import require_scipy

# With 2,000 normal draws, an end of the 95 % interval has a standard deviation of 0.06 standard
# errors: sqrt(0.025 * 0.975 / 2,000) / 0.058, the density at 1.96. Four times as many would halve
# it.
RESAMPLES: Final = 2_000
# With this limit, a large study takes a few hundred MB of memory.
MAX_CELLS: Final = 2**21
"""Maximum cells of one block of draws."""


def draw_weights(clusters: Sequence[str] | int, *, resamples: int, seed: int) -> Iterator[Doubles]:
    """Draw clusters with replacement.

    Args:
        clusters: Cluster of each row, N names; or the number N if each row is a cluster.
        resamples: Number of draws.
        seed: Seed of the draws; the same seed and clusters give the same draws.

    Yields:
        How often each draw takes each row, shape (b, N), whole numbers; the blocks have `resamples`
        draws in total, which do not depend on the block size.
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
        # Offsets keep the draws of a block apart, so that one bincount serves them all.
        indices = rng.integers(0, count, (size, count)) + np.arange(size)[:, None] * count
        counts = np.bincount(indices.ravel(), minlength=size * count).astype(np.float64)
        weights: Doubles = counts.reshape(size, count)
        yield weights if membership is None else weights[:, membership]


def weight_matrix(clusters: Sequence[str] | int, *, resamples: int, seed: int) -> Doubles:
    """Return the draws of `draw_weights` as one matrix, shape (B, N), B at least 1."""
    return np.concatenate(list(draw_weights(clusters, resamples=resamples, seed=seed)))


def resample(
    statistic: Callable[[Doubles], Doubles],
    clusters: Sequence[str] | int,
    *,
    resamples: int,
    seed: int,
) -> Doubles:
    """Compute a statistic in each draw of `draw_weights`, at least one.

    Args:
        statistic: Weights, shape (b, N) -> values, shape (b, ...).
        clusters: As in `draw_weights`.
        resamples: Number of draws, B.
        seed: Seed of the draws.

    Returns:
        Shape (B, ...); (0,) without draws.
    """
    blocks = draw_weights(clusters, resamples=resamples, seed=seed)
    values_by_block = [statistic(weights) for weights in blocks]
    return np.concatenate(values_by_block) if values_by_block else np.zeros(0)


def percentile_interval(draws: Doubles, *, clusters: int, expanded: bool = False) -> Interval:
    """Return the 95 % percentile interval of bootstrap draws.

    With few clusters, the percentile interval is too narrow: it lacks the factors for Student's t
    and for the bias of the standard deviation. Expanded percentiles add both, exactly for normally
    distributed draws.

    Args:
        draws: Shape (B,); NaN if undefined.
        clusters: Number of clusters that are drawn from.
        expanded: Whether to use the expanded percentiles.

    Returns:
        The interval; its ends are None if there are fewer than two clusters, as all draws are then
        equal, or if fewer than half of the draws are defined.

    Raises:
        DependencyError: Expanded, and scipy is not installed.

    Source:
        Hesterberg, The American Statistician 69 (2015), 371-386, section 5.3.
    """
    # If most draws leave a statistic undefined, the other draws are a biased selection.
    defined = draws[~np.isnan(draws)]
    if clusters < 2 or len(defined) < max(1, len(draws) / 2):
        return None, None
    # With 30 changes, plain percentiles covered 92 % instead of 95 %
    # (docs/design/029-golden-sets.md).
    if not expanded:
        return percentiles(defined)
    special = require_scipy("special")
    # The percentiles of a normal distribution that are as far out as the ends of the t interval.
    width = math.sqrt(clusters / (clusters - 1)) * special.stdtrit(clusters - 1, (1 + LEVEL) / 2)
    low, high = np.quantile(defined, [special.ndtr(-width), special.ndtr(width)])
    return float(low), float(high)


def bootstrap_test(
    value: float | None, draws: Doubles, *, clusters: int, is_correlation: bool
) -> tuple[Interval, float | None, float | None]:
    """Test a statistic against 0 by its bootstrap over clusters.

    The p-value compares value / standard error with Student's t with C - 1 degrees of freedom for C
    clusters, because changes, not reviews, were sampled. A correlation is compared on Fisher's
    scale, z = atanh(r), where the error does not depend on r; its standard error is the standard
    deviation of z in the draws.

    Args:
        value: The statistic on all rows; None if it is undefined.
        draws: Its values in the draws, shape (B,); NaN if undefined.
        clusters: Number of clusters that are drawn from.
        is_correlation: Whether it is a correlation, or a mean of several, in [-1, 1].

    Returns:
        The 95 % percentile interval, the two-sided p-value and the standard error of the draws, all
        None if there is no interval. p is 1 for a value of 0; it is None for another value if all
        draws are equal.

    Raises:
        DependencyError: scipy is not installed.
    """
    interval = percentile_interval(draws, clusters=clusters)
    if value is None or None in interval:
        return (None, None), None, None
    defined = draws[~np.isnan(draws)]
    scaled_value, scaled_draws = value, defined
    if is_correlation:
        # A correlation of exactly 1 has no z; this bound is closer to 1 than any realistic one.
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
    # 1.96 + 0.84 = 2.8 for the defaults.
    sum_of_quantiles = normal.inv_cdf(1 - significance / 2) + normal.inv_cdf(power)
    return max(2, math.ceil(clusters * (sum_of_quantiles * error / difference) ** 2))


def rank_ranges(draws: Doubles) -> tuple[tuple[int, int], ...]:
    """Return the range of ranks that is plausible for each column, 1 for the highest value.

    Args:
        draws: Shape (B, K); an undefined value is NaN and ranks last.

    Returns:
        Best and worst rank in 95 % of the draws. Equal values share the best of their ranks.

    Example:
        >>> rank_ranges(np.array([[9.0, 5.0, 4.0]] * 50 + [[9.0, 4.0, 5.0]] * 50))
        ((1, 1), (2, 3), (2, 3))
    """
    # NaN compares with nothing, so it would share the best rank.
    filled = np.where(np.isnan(draws), -np.inf, draws)
    ranks = 1 + (filled[:, None, :] > filled[:, :, None]).sum(axis=2)
    tail = (1 - LEVEL) / 2
    # The ends are rounded outwards to whole ranks.
    best = np.quantile(ranks, tail, axis=0, method="lower")
    worst = np.quantile(ranks, 1 - tail, axis=0, method="higher")
    return tuple(zip(best.astype(int).tolist(), worst.astype(int).tolist(), strict=True))
