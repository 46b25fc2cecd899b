"""Ranking the review systems: does a metric put them in the order that people do?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crscore.study import statistics
from crscore.study.study import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from crscore.study.measure import Measurements

    Floats = npt.NDArray[np.float64]

HUMAN = "human"
"""Stands for people among the metrics of the table of means."""
FEWEST = 3
"""Systems below which a rank correlation says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How one metric ranks the systems, against people."""

    metric: str
    """The metric's name."""
    dimension: str
    """Human dimension."""
    n: int
    """Systems."""
    spearman: float | None
    """Of the systems' means, in [-1, 1]; None below three systems or for equal means."""
    spearman_p: float | None
    """Two-sided, by scipy; None where `spearman` is."""
    kendall: float | None
    """Tau-b of the systems' means, in [-1, 1]; None where `spearman` is."""
    kendall_p: float | None
    """Two-sided, by scipy; None where `spearman` is."""
    primary: bool
    """True for the metric that the run is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMean:
    """What one metric gives one system."""

    system: str
    """Who wrote the reviews."""
    reviews: int
    """How many."""
    metric: str
    """The metric's name, or `human`."""
    dimension: str
    """Human dimension."""
    mean: float
    """Over the system's reviews; people's on the Likert scale."""
    rank: float
    """1 for the highest mean; equal means share their mean rank."""


class Systems(NamedTuple):
    """The comparison and the table it was made of."""

    ranking: tuple[Ranking, ...]
    """One row for each metric and dimension, the primary metric first."""
    means: tuple[SystemMean, ...]
    """People first, then the metrics; within, best system for people first."""


def systems(measured: Measurements) -> Systems:
    """Rank the systems by their mean values.

    With some ten systems the p-values rest on so few values; they are the usual ones for a
    table of this kind, and no interval.

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

    def averages(values: Floats) -> Floats:
        # One ulp of a sum must not part two systems.
        return np.round(np.bincount(membership, values) / counts, 12)

    ranking: list[Ranking] = []
    means: list[SystemMean] = []
    human = [averages(measured.human[:, d]) for d in range(len(DIMENSIONS))]
    entries = [(HUMAN, measured.human), *((one.name, one.values) for one in measured.metrics)]
    for metric, values in entries:
        for d, dimension in enumerate(DIMENSIONS):
            found = averages(values[:, d])
            ranks = statistics.ranks(-found)
            for index in np.lexsort((names, -human[d])):
                means.append(
                    SystemMean(
                        system=str(names[index]),
                        reviews=int(counts[index]),
                        metric=metric,
                        dimension=dimension,
                        mean=float(found[index]),
                        rank=float(ranks[index]),
                    )
                )
    for one in measured.metrics:
        for d, dimension in enumerate(DIMENSIONS):
            spearman, kendall = _compare(averages(one.values[:, d]), human[d])
            ranking.append(
                Ranking(
                    metric=one.name,
                    dimension=dimension,
                    n=len(names),
                    spearman=spearman.value,
                    spearman_p=spearman.p,
                    kendall=kendall.value,
                    kendall_p=kendall.p,
                    primary=one.primary,
                )
            )
    return Systems(tuple(ranking), tuple(means))


def join(parts: Sequence[Systems]) -> Systems:
    """Put the tables of several sets of metrics into one.

    Args:
        parts: The first one's reviews are those that people's means are of.
    """
    first, *others = parts
    more = [row for one in others for row in one.means if row.metric != HUMAN]
    ranking = [row for one in others for row in one.ranking]
    return Systems((*first.ranking, *ranking), (*first.means, *more))


class _Tested(NamedTuple):
    value: float | None
    p: float | None


def _compare(first: Floats, second: Floats) -> tuple[_Tested, _Tested]:
    statistics.require_scipy()
    from scipy.stats import kendalltau, spearmanr  # noqa: PLC0415  (heavy, needed here only)

    if len(first) < FEWEST or np.ptp(first) == 0 or np.ptp(second) == 0:
        return _Tested(None, None), _Tested(None, None)
    rho, tau = spearmanr(first, second), kendalltau(first, second)
    # scipy's rounding can leave a perfect correlation an ulp above 1.
    return (
        _Tested(float(np.clip(rho.statistic, -1, 1)), float(rho.pvalue)),
        _Tested(float(np.clip(tau.statistic, -1, 1)), float(tau.pvalue)),
    )
