"""From measurements to the flat list of correlations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from crscore import stats
from crscore.validation import draws
from crscore.validation.study import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from crscore.validation.measure import Measurements

    Floats = npt.NDArray[np.float64]
    Rows = npt.NDArray[np.intp]
    Correlate = Callable[[Floats, Floats], float | None]

JUNK_SYSTEMS: Final = ("lstm", "knn")
"""Systems so weak that much of a pooled correlation is telling them from the rest."""
POOLED: Final = "pooled"
WITHOUT_JUNK: Final = "without-junk"
WITHIN_SYSTEM: Final = "within-system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How one metric agrees with people, on one slice of the reviews."""

    metric: str
    """The metric's name."""
    dimension: str
    """Human dimension: `conciseness`, `comprehensiveness` or `relevance`."""
    slice: str
    """`pooled`, `without-junk`, `within-system`, `language:NAME` or `annotator:NAME`."""
    n: int
    """Reviews."""
    spearman: float | None
    """In [-1, 1]; None when a side is constant."""
    kendall: float | None
    """Tau-b, in [-1, 1]; None when a side is constant."""
    pearson: float | None
    """In [-1, 1]; None when a side is constant."""
    low: float | None
    """Lower end of the 95 % interval of `spearman`; None without resamples."""
    high: float | None
    """Upper end of the 95 % interval of `spearman`; None without resamples."""
    p: float | None
    """Of `spearman` against 0, two-sided, from the same draws; None without resamples."""
    primary: bool
    """True for the metric that the run is about."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice:
    """Some of the reviews."""

    name: str
    """As in `Correlation.slice`."""
    groups: tuple[Rows, ...]
    """Row indices; a statistic of several groups is the mean over them."""

    @property
    def rows(self) -> Rows:
        """All row indices."""
        return np.concatenate(self.groups)


def correlations(measured: Measurements, *, resamples: int, seed: int) -> tuple[Correlation, ...]:
    """Correlate every metric with people, dimension by dimension and slice by slice.

    Intervals and p come from a bootstrap that draws the slice's changes with replacement, as
    reviews of one change are not independent; every metric meets the same draws. p compares
    Fisher's z of the correlation with the standard deviation of the draws' z
    (`stats.verdict`): it does not take the reviews for independent, as scipy's does.

    Args:
        measured: The values.
        resamples: Draws for each interval; 0 for none.
        seed: Of the draws.

    Returns:
        One row for each metric, dimension and slice that has a review, the primary metric
        first.

    Raises:
        DependencyError: scipy is not installed.
    """
    columns = _Columns(measured)
    found: dict[tuple[int, int, str], Correlation] = {}
    for part in slices(measured):
        clusters = [measured.changes[row] for row in part.rows]
        sampled = _draw(part, columns, clusters, resamples=resamples, seed=seed)
        for m, metric in enumerate(measured.metrics):
            for d, dimension in enumerate(DIMENSIONS):
                values, human = columns.values(m, d), columns.human[:, d]
                spearman = _over(part.groups, stats.spearman, values, human)
                sure = stats.verdict(
                    spearman,
                    sampled[columns.index[m, d], d].kept(),
                    resamples=resamples,
                    clusters=len(set(clusters)),
                    correlation=True,
                )
                found[m, d, part.name] = Correlation(
                    metric=metric.name,
                    dimension=dimension,
                    slice=part.name,
                    n=len(part.rows),
                    spearman=spearman,
                    kendall=_over(part.groups, stats.kendall, values, human),
                    pearson=_over(part.groups, stats.pearson, values, human),
                    low=sure.low,
                    high=sure.high,
                    p=sure.p,
                    primary=metric.primary,
                )
    # Slices were the outer loop, so that their draws are made once; they vary fastest here.
    return tuple(found[key] for key in sorted(found, key=lambda key: key[:2]))


def slices(measured: Measurements) -> Iterator[Slice]:
    """Cut the reviews as every correlation is reported; a slice has at least one review."""
    everyone = np.arange(len(measured.rows))
    systems = np.array(measured.systems)
    yield Slice(name=POOLED, groups=(everyone,))
    serious = np.flatnonzero(~np.isin(systems, JUNK_SYSTEMS))
    if len(serious):
        yield Slice(name=WITHOUT_JUNK, groups=(serious,))
    yield Slice(name=WITHIN_SYSTEM, groups=tuple(_groups(measured.systems).values()))
    for name, rows in _groups([row.change.language for row in measured.rows]).items():
        yield Slice(name=f"language:{name}", groups=(rows,))
    annotators = [row.review.annotator for row in measured.rows]
    for name, rows in _groups(annotators).items():
        yield Slice(name=f"annotator:{name}", groups=(rows,))


def _groups(names: Sequence[str | None]) -> Mapping[str, Rows]:
    """Find the rows of each name, sorted by name; None is nobody's."""
    known = sorted({name for name in names if name is not None})
    return {one: np.flatnonzero([name == one for name in names]) for one in known}


class _Columns:
    """The distinct columns among the metrics: most give one value for all three dimensions."""

    def __init__(self, measured: Measurements) -> None:
        self.human = measured.human
        self.distinct: list[Floats] = []
        self.index: dict[tuple[int, int], int] = {}
        seen: dict[bytes, int] = {}
        for m, metric in enumerate(measured.metrics):
            for d in range(len(DIMENSIONS)):
                column = np.ascontiguousarray(metric.values[:, d])
                key = column.tobytes()
                if key not in seen:
                    seen[key] = len(self.distinct)
                    self.distinct.append(column)
                self.index[m, d] = seen[key]

    def values(self, metric: int, dimension: int) -> Floats:
        return self.distinct[self.index[metric, dimension]]

    def wanted(self) -> dict[int, list[int]]:
        """List for each distinct column the dimensions it is compared with."""
        pairs = sorted({(column, d) for (_, d), column in self.index.items()})
        return {c: [d for column, d in pairs if column == c] for c, _ in pairs}


def _over(
    groups: Sequence[Rows], correlate: Correlate, values: Floats, human: Floats
) -> float | None:
    """Correlate; with several groups, the mean over them.

    A group in which a side is constant orders nothing and counts as 0: leaving it out would
    reward a metric for saying nothing.
    """
    found = [correlate(values[rows], human[rows]) for rows in groups]
    return found[0] if len(found) == 1 else float(np.mean([value or 0.0 for value in found]))


def _draw(
    part: Slice, columns: _Columns, clusters: Sequence[str], *, resamples: int, seed: int
) -> dict[tuple[int, int], draws.Draws]:
    """Correlate each distinct column with each dimension in every draw."""
    wanted = columns.wanted()
    found: dict[tuple[int, int], list[draws.Draws]] = {
        (column, d): [] for column, dimensions in wanted.items() for d in dimensions
    }
    for weights in draws.blocks(clusters, resamples=resamples, seed=seed):
        for key, values in _block(part, columns, wanted, weights).items():
            found[key].append(values)
    return {key: draws.join(parts) for key, parts in found.items()}


def _block(
    part: Slice, columns: _Columns, wanted: Mapping[int, Sequence[int]], weights: Floats
) -> dict[tuple[int, int], draws.Draws]:
    by_group: dict[tuple[int, int], list[tuple[draws.Draws, npt.NDArray[np.bool_]]]] = {}
    start = 0
    for rows in part.groups:
        inside = np.ascontiguousarray(weights[:, start : start + len(rows)])
        start += len(rows)
        present = np.any(inside > 0, axis=1, keepdims=True)[:, 0]
        human = [draws.ranked(columns.human[rows, d], inside) for d in range(len(DIMENSIONS))]
        for column, dimensions in wanted.items():
            ranks = draws.ranked(columns.distinct[column][rows], inside)
            for d in dimensions:
                values = draws.spearman(ranks, human[d])
                by_group.setdefault((column, d), []).append((values, present))
    return {
        key: parts[0][0] if len(parts) == 1 else draws.mean_of_groups(parts)
        for key, parts in by_group.items()
    }
