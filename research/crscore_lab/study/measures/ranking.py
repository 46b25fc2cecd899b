"""Rankings of the review systems by metrics and by people."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from crscore.statistics.intervals import Doubles
from crscore_lab.statistics import ranks
from crscore_lab.study.data.study import DIMENSIONS
from crscore_lab.study.measures.measurements import Measurements

HUMAN = "human"
"""Metric of the means of the human ratings."""
MIN_SYSTEMS = 3
"""Minimum number of systems for a rank correlation, which is always 1 or -1 for two systems."""


class Ranking(Struct, frozen=True, kw_only=True):
    """Agreement of one metric with people on the ranking of the systems."""

    metric: str
    """The metric's name."""
    dimension: str
    """Rated dimension: `conciseness`, `comprehensiveness` or `relevance`."""
    spearman: float | None
    """Spearman's correlation of the systems' means with their mean ratings, in [-1, 1]; None if
    there are fewer than three systems or all means are equal."""


class SystemMean(Struct, frozen=True, kw_only=True):
    """Mean value of one metric for one system."""

    system: str
    """Name of the system that wrote the reviews."""
    reviews: int
    """Number of reviews."""
    metric: str
    """The metric's name, or `human` for the human ratings."""
    dimension: str
    """Rated dimension: `conciseness`, `comprehensiveness` or `relevance`."""
    mean: float
    """Mean over the system's reviews; for human ratings, from 1 to 5."""
    rank: float
    """Rank of the mean among the systems, 1 for the highest; equal means share their mean rank."""


class Systems(Struct, frozen=True, kw_only=True):
    """Rankings of the review systems, and the means that determine them."""

    ranking: tuple[Ranking, ...]
    """One row per metric and dimension; those of the primary metric are the first."""
    means: tuple[SystemMean, ...]
    """Means of the human ratings, then of each metric; for each dimension, the systems are in the
    order of the human means, the best first."""


def rank_systems(measured: Measurements) -> Systems:
    """Rank the systems by their mean values.

    Args:
        measured: The values.

    Returns:
        The rank correlation of each metric with the human ratings, and all means.

    Raises:
        DependencyError: scipy is not installed.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, tables 2 and 15.
    """
    names, membership = np.unique(measured.systems, return_inverse=True)
    counts = np.bincount(membership)

    def averages(values: Doubles) -> Doubles:
        # Rounded, because equal means may differ by a rounding error of their sums.
        return np.round(np.bincount(membership, values) / counts, 12)

    tables = {HUMAN: measured.human} | {metric.name: metric.values for metric in measured.metrics}
    averaged = {
        (name, d): averages(values[:, d])
        for name, values in tables.items()
        for d in range(len(DIMENSIONS))
    }
    means = []
    for (name, d), values in averaged.items():
        system_ranks = ranks.rank(-values)
        means += [
            SystemMean(
                system=str(names[index]),
                reviews=int(counts[index]),
                metric=name,
                dimension=DIMENSIONS[d],
                mean=float(values[index]),
                rank=float(system_ranks[index]),
            )
            # `lexsort` sorts by its last key, and equal means by name.
            for index in np.lexsort((names, -averaged[HUMAN, d]))
        ]
    ranking = [
        Ranking(
            metric=metric.name,
            dimension=dimension,
            spearman=ranks.spearman(averaged[metric.name, d], averaged[HUMAN, d])
            if len(names) >= MIN_SYSTEMS
            else None,
        )
        for metric in measured.metrics
        for d, dimension in enumerate(DIMENSIONS)
    ]
    return Systems(ranking=tuple(ranking), means=tuple(means))


def join(tables: Sequence[Systems]) -> Systems:
    """Join the rankings by several sets of metrics.

    Args:
        tables: The rankings. Those after the first are over fewer reviews, so the human means are
            taken from the first.
    """
    first, *tables_with_fewer_rows = tables
    means = [row for table in tables_with_fewer_rows for row in table.means if row.metric != HUMAN]
    ranking = [row for table in tables_with_fewer_rows for row in table.ranking]
    return Systems(ranking=(*first.ranking, *ranking), means=(*first.means, *means))
