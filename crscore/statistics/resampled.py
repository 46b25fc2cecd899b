"""Statistics in all draws of a bootstrap at once, from how often each draw takes each row.

They are implemented here because scipy computes one sample at a time, and a study takes a thousand
draws of hundreds of columns. An undefined value is NaN.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from crscore.statistics.intervals import Doubles

Ints = npt.NDArray[np.int64]


def divide(numerator: Doubles, denominator: Doubles) -> Doubles:
    """Divide element by element; the quotient is NaN if the denominator is not above 0."""
    quotients: Doubles = np.divide(
        numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator > 0
    )
    return quotients


def means(values: Doubles, weights: Doubles) -> Doubles:
    """Compute the mean of each column in each draw.

    Args:
        values: Shape (N, K); NaN where a row has no value.
        weights: How often each draw takes each row, shape (B, N).

    Returns:
        Shape (B, K); NaN where a draw has no value.
    """
    has_value = ~np.isnan(values)
    return divide(weights @ np.where(has_value, values, 0.0), weights @ has_value.astype(float))


def stratified_difference(
    first: Doubles, second: Doubles, strata: Ints, weights: Doubles
) -> Doubles:
    """Compute the difference of two means within strata in each draw.

    The two means are compared inside each stratum, and the differences are averaged, weighted by
    the number of rows of both sides. A stratum without rows of both sides in a draw does not count.

    Args:
        first: Values of the first side, shape (N,); NaN for a row without a value.
        second: The same for the second side.
        strata: Stratum of each row, whole numbers from 0, shape (N,).
        weights: How often each draw takes each row, shape (B, N).

    Returns:
        First minus second, shape (B,); NaN if no stratum has rows of both sides.
    """
    # `reduceat` sums runs of rows, so the rows of a stratum have to be adjacent.
    order = np.argsort(strata, kind="stable")
    starts = np.flatnonzero(np.diff(strata[order], prepend=-1))
    ordered_weights = weights[:, order]
    sums, counts = [], []
    for values in (first[order], second[order]):
        has_value = ~np.isnan(values)
        present = np.where(has_value, values, 0.0)
        sums.append(np.add.reduceat(ordered_weights * present, starts, axis=1))
        counts.append(np.add.reduceat(ordered_weights * has_value, starts, axis=1))
    # A stratum with only one side has no difference.
    has_both = (counts[0] > 0) & (counts[1] > 0)
    sizes = np.where(has_both, counts[0] + counts[1], 0.0)
    differences = divide(sums[0], counts[0]) - divide(sums[1], counts[1])
    return divide((np.where(has_both, differences, 0.0) * sizes).sum(axis=1), sizes.sum(axis=1))


def corpus_scores(rows: Doubles, score: Callable[[Doubles], Doubles], weights: Doubles) -> Doubles:
    """Score systems in each draw from the sufficient statistics of their rows.

    Args:
        rows: Statistics of M systems, shape (M, N, S); row n is the same problem in each.
        score: Function from sums of rows to scores, (B, S) -> (B,).
        weights: How often each draw takes each row, shape (B, N).

    Returns:
        Shape (M, B).
    """
    # One large product takes a tenth of the time of M narrow ones.
    totals = np.tensordot(weights, rows, axes=(1, 1))
    return np.stack([score(totals[:, system]) for system in range(len(rows))])
