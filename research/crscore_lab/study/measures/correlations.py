"""Correlations of every metric with human ratings."""

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
    """Correlations of one metric with one rated dimension, on one slice of the reviews."""

    metric: str
    """The metric's name."""
    dimension: str
    """Rated dimension: `conciseness`, `comprehensiveness` or `relevance`."""
    slice: str
    """Subset of the reviews: `pooled`, `without-junk`, `within-system`, `language:NAME` or
    `annotator:NAME`."""
    n: int
    """Number of reviews."""
    spearman: float | None
    """In [-1, 1]; None if all values or all ratings are the same."""
    kendall: float | None
    """Tau-b, in [-1, 1]; None if all values or all ratings are the same."""
    pearson: float | None
    """In [-1, 1]; None if all values or all ratings are the same."""
    low: float | None
    """Lower end of the 95 % interval of `spearman`; None without bootstrap resamples."""
    high: float | None
    """Upper end of the 95 % interval of `spearman`; None without bootstrap resamples."""
    p: float | None
    """Two-sided p-value of the hypothesis that `spearman` is 0; None without bootstrap
    resamples."""


def correlate(measured: Measurements, **resampling: Unpack[Resampling]) -> tuple[Correlation, ...]:
    """Correlate every metric with each rated dimension on each slice of the reviews.

    Intervals and p-values come from a bootstrap of the slice's changes, because the reviews of one
    change are not independent; scipy's p-values would assume that they are. `bootstrap_test`
    divides Fisher's z of the correlation by the standard deviation of z over the resamples. All
    metrics share the resamples.

    Args:
        measured: The values.
        resampling: Number of bootstrap resamples of the changes, 0 for no interval, and their seed.

    Returns:
        One row per metric, dimension and slice that has a review; those of the primary metric are
        the first.

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
    # The loop over slices is the outer one, so that each slice is resampled once; the result is
    # sorted by metric and dimension instead.
    return tuple(rows[key] for key in sorted(rows, key=lambda key: key[:2]))


def _slices(measured: Measurements) -> Iterator[slices.Slice]:
    """Yield the slices on which every correlation is reported; each has at least one review."""
    yield from slices.slice_systems(measured.systems, measured.human[:, 2])
    yield from slices.slice_names("language", [row.change.language for row in measured.rows])
    yield from slices.slice_names("annotator", [row.review.annotator for row in measured.rows])
