"""Rankings of the review systems by metrics and by people."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from crscore.statistics.intervals import Doubles
from crscore_lab.statistics import ranks
from crscore_lab.study.data.study import DIMENSIONS
from crscore_lab.study.measures.measurements import Measurements

HUMAN = "human"
"""Name of the human ratings among the metrics of the table of means."""
FEWEST = 3
"""Minimum number of systems for a meaningful rank correlation."""


class Ranking(Struct, frozen=True, kw_only=True):
    """Agreement of one metric with people on the ranking of the systems."""

    metric: str
    """The metric's name."""
    dimension: str
    """Human dimension."""
    spearman: float | None
    """Spearman of the systems' means, in [-1, 1]; None below three systems or for equal means."""


class SystemMean(Struct, frozen=True, kw_only=True):
    """Mean value of one metric for one system."""

    system: str
    """Author of the reviews."""
    reviews: int
    """Number of reviews."""
    metric: str
    """The metric's name, or `human`."""
    dimension: str
    """Human dimension."""
    mean: float
    """Mean over the system's reviews; human means are on the Likert scale."""
    rank: float
    """1 for the highest mean; equal means share their mean rank."""


class Systems(Struct, frozen=True, kw_only=True):
    """Ranking of the review systems, and the means behind it."""

    ranking: tuple[Ranking, ...]
    """One row per metric and dimension, the primary metric first."""
    means: tuple[SystemMean, ...]
    """Human means first, then the metrics; within each, the system that people rate best first."""


def rank_systems(measured: Measurements) -> Systems:
    """Rank the systems by their mean values.

    Args:
        measured: The values.

    Returns:
        The rank correlations and the means.

    Raises:
        DependencyError: scipy is not installed.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, tables 2 and 15.
    """
    names, membership = np.unique(measured.systems, return_inverse=True)
    counts = np.bincount(membership)

    def averages(values: Doubles) -> Doubles:
        # One ulp of a sum must not separate two systems.
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
            # `lexsort` sorts by its last key first; equal means are in the order of the names.
            for index in np.lexsort((names, -averaged[HUMAN, d]))
        ]
    ranking = [
        Ranking(
            metric=metric.name,
            dimension=dimension,
            spearman=ranks.spearman(averaged[metric.name, d], averaged[HUMAN, d])
            if len(names) >= FEWEST
            else None,
        )
        for metric in measured.metrics
        for d, dimension in enumerate(DIMENSIONS)
    ]
    return Systems(ranking=tuple(ranking), means=tuple(means))


def join(tables: Sequence[Systems]) -> Systems:
    """Join the tables of several sets of metrics.

    Args:
        tables: The tables; human means are over the reviews of the first.
    """
    first, *tables_with_fewer_rows = tables
    means = [row for table in tables_with_fewer_rows for row in table.means if row.metric != HUMAN]
    ranking = [row for table in tables_with_fewer_rows for row in table.ranking]
    return Systems(ranking=(*first.ranking, *ranking), means=(*first.means, *means))
