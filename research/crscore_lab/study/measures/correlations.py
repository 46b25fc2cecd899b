"""Correlations of every metric with people, computed from measurements."""

from collections.abc import Iterator
from typing import Unpack

from msgspec import Struct

from crscore.statistics.bootstrap import bootstrap_test
from crscore_lab.statistics import ranks
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.study.data.study import DIMENSIONS
from crscore_lab.study.measures import slices
from crscore_lab.study.measures.measurements import Measurements


class Correlation(Struct, frozen=True, kw_only=True):
    """Agreement of one metric with people, on one slice of the reviews."""

    metric: str
    """The metric's name."""
    dimension: str
    """Human dimension: `conciseness`, `comprehensiveness` or `relevance`."""
    slice: str
    """`pooled`, `without-junk`, `within-system`, `language:NAME` or `annotator:NAME`."""
    n: int
    """Number of reviews."""
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
    """Two-sided p-value of `spearman` against 0, from the same draws; None without resamples."""


def correlate(measured: Measurements, **resampling: Unpack[Resampling]) -> tuple[Correlation, ...]:
    """Correlate every metric with people, dimension by dimension and slice by slice.

    Intervals and p come from a bootstrap that draws the slice's changes with replacement, as
    reviews of one change are not independent; all metrics share the draws. p compares Fisher's z of
    the correlation with the standard deviation of the draws' z (`bootstrap_test`); scipy's p
    would assume independent reviews.

    Args:
        measured: The values.
        resampling: Number of draws of changes, 0 for no interval, and their seed.

    Returns:
        One row per metric, dimension and slice that has a review, the primary metric first.

    Raises:
        DependencyError: scipy is not installed.
    """
    human = measured.human
    tables = [metric.values for metric in measured.metrics]
    rows: dict[tuple[int, int, str], Correlation] = {}
    for subset in _slices(measured):
        draws = slices.resample_spearman(human, tables, subset, measured.changes, **resampling)
        clusters = len({measured.changes[row] for row in subset.rows})
        for m, metric in enumerate(measured.metrics):
            for d, dimension in enumerate(DIMENSIONS):
                values, ratings = metric.values[:, d], human[:, d]
                spearman = subset.correlate(ranks.spearman, values, ratings)
                (low, high), p, _ = bootstrap_test(
                    spearman, draws[m, d], clusters=clusters, is_correlation=True
                )
                rows[m, d, subset.name] = Correlation(
                    metric=metric.name,
                    dimension=dimension,
                    slice=subset.name,
                    n=len(subset.rows),
                    spearman=spearman,
                    kendall=subset.correlate(ranks.kendall, values, ratings),
                    pearson=subset.correlate(ranks.pearson, values, ratings),
                    low=low,
                    high=high,
                    p=p,
                )
    # Slices are the outer loop so that their draws are made once, but vary fastest in the result.
    return tuple(rows[key] for key in sorted(rows, key=lambda key: key[:2]))


def _slices(measured: Measurements) -> Iterator[slices.Slice]:
    """Yield the slices on which every correlation is reported; each has at least one review."""
    yield from slices.of_systems(measured.systems, measured.human[:, 2])
    yield from slices.of_names("language", [row.change.language for row in measured.rows])
    yield from slices.of_names("annotator", [row.review.annotator for row in measured.rows])
