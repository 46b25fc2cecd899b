"""Plain bootstrap, row by row, to compare the fast one with."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from crscore.statistics.bootstrap import percentile_interval, resample
from crscore.statistics.intervals import Doubles, Interval


def interval_of_rows(
    statistic: Callable[[npt.NDArray[np.intp]], float | None],
    clusters: Sequence[str],
    *,
    resamples: int,
    seed: int,
) -> Interval:
    """Compute the percentile interval of a statistic that has no vectorised form.

    Args:
        statistic: Row indices, possibly repeated -> value, or None if it is undefined.
        clusters: Cluster of each row, N names.
        resamples: Number of draws.
        seed: Seed of the draws.
    """
    rows = np.arange(len(clusters))

    def values(weights: Doubles) -> Doubles:
        values_or_none = (statistic(np.repeat(rows, counts)) for counts in weights.astype(np.int64))
        return np.array([math.nan if value is None else value for value in values_or_none])

    draws = resample(values, clusters, resamples=resamples, seed=seed)
    return percentile_interval(draws, clusters=len(set(clusters)))
