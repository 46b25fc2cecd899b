"""Rankings of the review systems by metrics and by people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.lab.study.study import DIMENSIONS
from crscore.statistics import ranks

if TYPE_CHECKING:
    from crscore.lab.study.measure import Measurements

Floats = npt.NDArray[np.float64]

HUMAN = "human"
"""Name of the human ratings among the metrics of the table of means."""
FEWEST = 3
"""Minimum number of systems for a meaningful rank correlation."""
JUNK_BELOW = 1.5
"""Mean human relevance, Likert, below which a system's reviews are junk: nearer to the worst
rating than to any other."""


class Ranking(Struct, frozen=True, kw_only=True):
    """Agreement of one metric with people on the ranking of the systems."""

    metric: str
    """The metric's name."""
    dimension: str
    """Human dimension."""
    n: int
    """Number of systems."""
    spearman: float | None
    """Spearman of the systems' means, in [-1, 1]; None below three systems or for equal means."""
    spearman_p: float | None
    """Two-sided p-value, by scipy; None where `spearman` is None."""
    kendall: float | None
    """Tau-b of the systems' means, in [-1, 1]; None where `spearman` is None."""
    kendall_p: float | None
    """Two-sided p-value, by scipy; None where `spearman` is None."""
    primary: bool
    """Whether this is the primary metric of the run."""


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
    """Human means first, then the metrics; within each, best system for people first."""


def mean_relevance(systems: Iterable[str], relevance: Iterable[float]) -> dict[str, float]:
    """Average the human relevance of each system's reviews.

    Args:
        systems: Author of each review.
        relevance: Human relevance of each review, Likert 1 to 5.

    Returns:
        System -> mean, the best one first; ties by name.
    """
    rated: dict[str, list[float]] = {}
    for system, value in zip(systems, relevance, strict=True):
        rated.setdefault(system, []).append(float(value))
    means = {system: fmean(values) for system, values in rated.items()}
    return dict(sorted(means.items(), key=lambda item: (-item[1], item[0])))


def junk_systems(systems: Iterable[str], relevance: Iterable[float]) -> tuple[str, ...]:
    """Return the systems with a mean human relevance below `JUNK_BELOW`.

    Much of a correlation over all reviews comes from separating them from the others.

    Args:
        systems: Author of each review.
        relevance: Human relevance of each review, Likert 1 to 5.

    Example:
        >>> junk_systems(["a", "b", "b"], [4, 1, 1.5])
        ('b',)
    """
    means = mean_relevance(systems, relevance)
    return tuple(system for system, mean in means.items() if mean < JUNK_BELOW)


def rank_systems(measured: Measurements) -> Systems:
    """Rank the systems by their mean values.

    With some ten systems the p-values rest on few values; they are the customary ones for such a
    table, without intervals.

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
        # One ulp of a sum must not separate two systems.
        return np.round(np.bincount(membership, values) / counts, 12)

    ranking: list[Ranking] = []
    means: list[SystemMean] = []
    human = [averages(measured.human[:, d]) for d in range(len(DIMENSIONS))]
    entries = [(HUMAN, measured.human), *((one.name, one.values) for one in measured.metrics)]
    for metric, values in entries:
        for d, dimension in enumerate(DIMENSIONS):
            found = averages(values[:, d])
            system_ranks = ranks.rank(-found)
            for index in np.lexsort((names, -human[d])):
                means.append(
                    SystemMean(
                        system=str(names[index]),
                        reviews=int(counts[index]),
                        metric=metric,
                        dimension=dimension,
                        mean=float(found[index]),
                        rank=float(system_ranks[index]),
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
    return Systems(ranking=tuple(ranking), means=tuple(means))


def join(parts: Sequence[Systems]) -> Systems:
    """Join the tables of several sets of metrics.

    Args:
        parts: The tables; human means are over the reviews of the first.
    """
    first, *others = parts
    more = [row for one in others for row in one.means if row.metric != HUMAN]
    ranking = [row for one in others for row in one.ranking]
    return Systems(ranking=(*first.ranking, *ranking), means=(*first.means, *more))


class _Tested(NamedTuple):
    value: float | None
    p: float | None


def _compare(first: Floats, second: Floats) -> tuple[_Tested, _Tested]:
    stats = ranks.require_scipy()
    if len(first) < FEWEST or np.ptp(first) == 0 or np.ptp(second) == 0:
        return _Tested(None, None), _Tested(None, None)
    rho, tau = stats.spearmanr(first, second), stats.kendalltau(first, second)
    # Rounding in scipy can leave a perfect correlation one ulp above 1.
    return (
        _Tested(float(np.clip(rho.statistic, -1, 1)), float(rho.pvalue)),
        _Tested(float(np.clip(tau.statistic, -1, 1)), float(tau.pvalue)),
    )
