"""From measurements to the flat list of correlations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crscore import stats
from crscore.validation.study import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from crscore.validation.measure import Measurements

    Floats = npt.NDArray[np.float64]
    Rows = npt.NDArray[np.intp]

JUNK_SYSTEMS = ("lstm", "knn")
"""Systems so weak that much of a pooled correlation is telling them from the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How one metric agrees with people, on one slice of the reviews."""

    metric: str
    """The metric's name."""
    dimension: str
    """Human dimension: `conciseness`, `comprehensiveness` or `relevance`."""
    slice: str
    """`pooled`, `without-junk`, `within-system` or `language:NAME`."""
    n: int
    """Reviews."""
    spearman: float | None
    """In [-1, 1]; None when a side is constant."""
    kendall: float | None
    """Tau-b, in [-1, 1]; None when a side is constant."""
    low: float | None
    """Lower end of the 95 % interval of `spearman`."""
    high: float | None
    """Upper end of the 95 % interval of `spearman`."""
    primary: bool
    """True for the metric that the run is about."""


def correlations(measured: Measurements, *, resamples: int, seed: int) -> tuple[Correlation, ...]:
    """Correlate every metric with people, dimension by dimension and slice by slice.

    Intervals come from a bootstrap over changes; every metric meets the same draws.

    Args:
        measured: The values.
        resamples: Draws for each interval; 0 for none.
        seed: Of the draws.

    Returns:
        One row for each metric, dimension and slice, the primary metric first.
    """
    found = []
    for metric in measured.metrics:
        for column, dimension in enumerate(DIMENSIONS):
            values, human = metric.values[:, column], measured.human[:, column]
            for name, rows, groups in _slices(measured):
                if not len(rows):
                    continue
                found.append(
                    _correlate(
                        _Slice(values=values, human=human, rows=rows, groups=groups),
                        measured,
                        resamples=resamples,
                        seed=seed,
                        labels=(metric.name, dimension, name, metric.primary),
                    )
                )
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Slice:
    """Two columns, the rows that count, and the groups to average over (one: no averaging)."""

    values: Floats
    human: Floats
    rows: Rows
    groups: npt.NDArray[np.intp]

    def apply(
        self, correlate: Callable[[Floats, Floats], float | None], rows: Rows
    ) -> float | None:
        """Correlate on these rows; with groups, the mean over them.

        A group in which the metric is constant orders nothing and counts as 0: leaving it out
        would reward a metric for saying nothing.
        """
        groups = self.groups[rows]
        if len(np.unique(self.groups)) == 1:
            return correlate(self.values[rows], self.human[rows])
        found = []
        for group in np.unique(groups):
            inside = rows[groups == group]
            found.append(correlate(self.values[inside], self.human[inside]) or 0.0)
        return float(np.mean(found)) if found else None


def _slices(measured: Measurements) -> Iterator[tuple[str, Rows, npt.NDArray[np.intp]]]:
    everyone = np.arange(len(measured.changes))
    one_group = np.zeros(len(everyone), dtype=np.intp)
    systems = np.array(measured.systems)
    languages = np.array(measured.languages)
    yield "pooled", everyone, one_group
    yield "without-junk", everyone[~np.isin(systems, JUNK_SYSTEMS)], one_group
    yield "within-system", everyone, np.unique(systems, return_inverse=True)[1].astype(np.intp)
    for language in sorted(set(measured.languages)):
        yield f"language:{language}", everyone[languages == language], one_group


def _correlate(
    part: _Slice,
    measured: Measurements,
    *,
    resamples: int,
    seed: int,
    labels: tuple[str, str, str, bool],
) -> Correlation:
    metric, dimension, name, primary = labels
    interval = stats.Interval(None, None)
    if resamples:
        interval = stats.cluster_bootstrap(
            lambda drawn: part.apply(stats.spearman, part.rows[drawn]),
            [measured.changes[row] for row in part.rows],
            resamples=resamples,
            rng=np.random.default_rng(seed),
        )
    return Correlation(
        metric=metric,
        dimension=dimension,
        slice=name,
        n=len(part.rows),
        spearman=part.apply(stats.spearman, part.rows),
        kendall=part.apply(stats.kendall, part.rows),
        low=interval.low,
        high=interval.high,
        primary=primary,
    )
