"""From measurements to the flat list of correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crscore.study import slices, statistics
from crscore.study.study import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.study.measure import Measurements


class Correlation(Struct, frozen=True, kw_only=True):
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
    human = measured.human
    columns = slices.Columns(human, [metric.values for metric in measured.metrics])
    found: dict[tuple[int, int, str], Correlation] = {}
    for part in cut(measured):
        sampled = columns.sample(part, measured.changes, resamples=resamples, seed=seed)
        clusters = len({measured.changes[row] for row in part.rows})
        for m, metric in enumerate(measured.metrics):
            for d, dimension in enumerate(DIMENSIONS):
                values = columns.values(m, d)
                spearman = part.correlate(statistics.spearman, values, human[:, d])
                sure = statistics.verdict(
                    spearman,
                    sampled[m, d].kept(),
                    resamples=resamples,
                    clusters=clusters,
                    correlation=True,
                )
                found[m, d, part.name] = Correlation(
                    metric=metric.name,
                    dimension=dimension,
                    slice=part.name,
                    n=len(part.rows),
                    spearman=spearman,
                    kendall=part.correlate(statistics.kendall, values, human[:, d]),
                    pearson=part.correlate(statistics.pearson, values, human[:, d]),
                    low=sure.low,
                    high=sure.high,
                    p=sure.p,
                    primary=metric.primary,
                )
    # Slices were the outer loop, so that their draws are made once; they vary fastest here.
    return tuple(found[key] for key in sorted(found, key=lambda key: key[:2]))


def cut(measured: Measurements) -> Iterator[slices.Slice]:
    """Cut the reviews as every correlation is reported; a slice has at least one review."""
    yield from slices.of_systems(measured.systems, measured.human[:, 2])
    yield from slices.of_names("language", [row.change.language for row in measured.rows])
    yield from slices.of_names("annotator", [row.review.annotator for row in measured.rows])
