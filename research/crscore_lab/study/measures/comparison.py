"""Comparison of two validation runs: which of them agrees better with people."""

from collections.abc import Iterator, Sequence
from typing import Final, Unpack

import numpy as np
from msgspec import Struct

from crscore.errors import InputError
from crscore.statistics import paired
from crscore.statistics.intervals import Doubles
from crscore.statistics.paired import SIGNIFICANCE
from crscore.version import __version__
from crscore_lab.statistics import ranks
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.study.data import saved_runs
from crscore_lab.study.data.saved_runs import ReviewKey, SavedRun
from crscore_lab.study.data.study import DIMENSIONS
from crscore_lab.study.measures import pairs, slices

SCHEMA: Final = "urn:crscore:comparison:1"
"""Schema identifier of a comparison document."""
PAIR_ACCURACY: Final = "same-diff pair accuracy"
SPEARMAN: Final = "Spearman"


class Difference(Struct, frozen=True):
    """Difference of one statistic between two runs on the same reviews."""

    statistic: str
    """`Spearman`, or `same-diff pair accuracy`."""
    dimension: str
    """Rated dimension: `conciseness`, `comprehensiveness` or `relevance`."""
    slice: str
    """Subset of the reviews: `pooled`, `without-junk` or `within-system`."""
    first: float | None
    """Value of the first run; None if undefined."""
    second: float | None
    """Value of the second run; None if undefined."""
    difference: float | None
    """Second minus first; None if either is undefined."""
    low: float | None
    """Lower end of the 95 % interval of `difference`; None without bootstrap resamples."""
    high: float | None
    """Upper end of the 95 % interval of `difference`; None without bootstrap resamples."""
    p: float | None
    """Two-sided p-value of the hypothesis of no difference; None if the bootstrap resamples do not
    determine it."""
    better: str | None
    """`first` or `second` if p < 0.05; None otherwise."""
    changes_needed: int | None
    """Number of changes with which 80 % of studies would show a true difference of this size (5 %
    level, two-sided); None if there is no difference or no interval."""


class Side(Struct, frozen=True):
    """One of the two runs that are compared."""

    name: str
    """Name of the file."""
    metric: str
    """Name of the primary metric."""
    signature: str
    """Signature of the score."""
    sha256: str
    """Hash of the study that the run scored."""
    reviews: int
    """Number of reviews in the run."""
    left_out: int
    """Number of reviews not compared, because the other run lacks them or has other ratings of
    them."""


class Comparison(Struct, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Comparison of two runs on the same reviews."""

    version: str = __version__
    """Version of crscore that wrote the document."""
    first: Side
    """First run."""
    second: Side
    """Second run."""
    reviews: int
    """Number of reviews compared."""
    changes: int
    """Number of changes compared."""
    warnings: tuple[str, ...]
    """Limits of the comparison, one sentence each."""
    differences: tuple[Difference, ...]
    """Differences of all statistics; the first, Spearman's correlation with relevance over all
    reviews, is the main one."""
    resamples: int
    """Number of bootstrap resamples of the changes; 0 for no interval."""
    seed: int
    """Seed of the bootstrap."""


def compare(first: SavedRun, second: SavedRun, **resampling: Unpack[Resampling]) -> Comparison:
    """Compare two runs on the reviews that both have.

    Each bootstrap resample takes the same changes from both runs, so that the difficulty of a
    change cancels out. The p-value is that of `crscore.statistics.paired.compare`.

    Args:
        first: First run.
        second: Second run.
        resampling: Number of bootstrap resamples of the changes, 0 for no interval, and their seed.

    Returns:
        The comparison, with a difference for each statistic, dimension and slice.

    Raises:
        InputError: The runs share no review with the same ratings.
        DependencyError: scipy is not installed.
    """
    common = [key for key in first.reviews if key in second.reviews]
    # The runs may be over two editions of a study, with other ratings of the same review.
    shared = [key for key in common if first.reviews[key].human == second.reviews[key].human]
    if not shared:
        raise InputError(
            f"{first.name} and {second.name} share no review with the same human ratings: "
            "compare runs over the same data"
        )
    human = np.array([first.reviews[key].human for key in shared], dtype=np.float64)
    tables = [
        np.array([run.reviews[key].scores for key in shared], dtype=np.float64)
        for run in (first, second)
    ]
    differences = _differences(shared, human, tables, **resampling)
    return Comparison(
        first=_side(first, len(shared)),
        second=_side(second, len(shared)),
        reviews=len(shared),
        changes=len({key.change for key in shared}),
        warnings=tuple(_warnings(first, second, other_ratings=len(common) - len(shared))),
        differences=tuple(differences),
        **resampling,
    )


def _differences(
    keys: Sequence[ReviewKey],
    human: Doubles,
    tables: Sequence[Doubles],
    **resampling: Unpack[Resampling],
) -> Iterator[Difference]:
    changes = [key.change for key in keys]
    subsets = list(slices.slice_systems([key.system for key in keys], human[:, 2]))
    draws = [slices.resample_spearman(human, tables, it, changes, **resampling) for it in subsets]
    # Relevance is first, because it is the main score; `pooled`, because the paper reports it.
    for d in reversed(range(len(DIMENSIONS))):
        for subset, drawn in zip(subsets, draws, strict=True):
            yield _difference(
                (SPEARMAN, DIMENSIONS[d], subset.name),
                [subset.correlate(ranks.spearman, table[:, d], human[:, d]) for table in tables],
                list(drawn[:, d]),
                changes=len({changes[row] for row in subset.rows}),
            )
        for subset in subsets:
            # There are hardly any pairs within a system, which seldom reviews a change twice.
            if subset.name != slices.WITHIN_SYSTEM:
                rows = subset.rows
                names = [changes[row] for row in rows]
                tallies = [pairs.tally(table[rows, d], human[rows, d], names) for table in tables]
                yield _difference(
                    (PAIR_ACCURACY, DIMENSIONS[d], subset.name),
                    [tally.accuracy for tally in tallies],
                    [tally.sample(**resampling) for tally in tallies],
                    changes=len(tallies[0].changes),
                )


def _difference(
    labels: tuple[str, str, str],
    values: Sequence[float | None],
    draws: Sequence[Doubles],
    *,
    changes: int,
) -> Difference:
    first, second = values
    difference = None if first is None or second is None else second - first
    found = paired.compare(difference, draws[1] - draws[0], units=changes)
    better = None
    if found.difference and found.p is not None and found.p < SIGNIFICANCE:
        better = "second" if found.difference > 0 else "first"
    return Difference(*labels, first, second, *found[:4], better, found.units_needed())


def _side(run: SavedRun, shared: int) -> Side:
    reviews = len(run.reviews)
    return Side(run.name, run.metric, run.signature, run.sha256, reviews, reviews - shared)


def _warnings(first: SavedRun, second: SavedRun, *, other_ratings: int) -> Iterator[str]:
    for run in (first, second):
        if run.is_trained_on_data:
            yield f"{run.name}: {saved_runs.TRAINED_ON_DATA}"
    if first.sha256 != second.sha256:
        yield "the runs are over different data: only the reviews that both have are compared"
    if other_ratings:
        yield f"reviews left out because their human ratings differ between runs: {other_ratings}"
    if first.sha256 == second.sha256 and first.reviews.keys() != second.reviews.keys():
        yield "a run lacks reviews of the other run: it made no pseudo-reference for their changes"
    if first.signature == second.signature:
        yield "both runs have the same signature"
