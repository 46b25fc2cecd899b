"""Scores of a study's reviews: the score, its variants and trivial baselines."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from crscore.encoders.base import Encoder
from crscore.records import Comment, Diff, Result
from crscore.scorer import Scorer
from crscore.scoring.assembly import harmonic_mean
from crscore.statistics.intervals import Doubles
from crscore_lab.study.data.study import (
    GROUND_TRUTH,
    RatedReview,
    Study,
    StudyChange,
    mean_relevance,
)

Includes = Callable[[StudyChange, RatedReview], bool]

WORDS: Final = "words"
USEFULNESS: Final = "usefulness (headline)"
"""Metric: the value behind the headline; only for an encoder with usefulness weights."""
REPEATED_TOKENS: Final = "repeated tokens"
WITHOUT_THRESHOLD: Final = "without threshold"
"""Suffix of the name of the metric of the highest cosines if the matcher has a cosine threshold."""
HIGHEST_COSINES: Final = "mean of the highest cosines"
"""Name of that metric if the matcher has no threshold."""
NOT_SCORABLE: Final = "no review of this study can be scored: none is rated, or no claim is made"
# Number of decimals: without rounding, the harmonic means of 1 and 2/3 and of 4/5 and 4/5 would not
# be a tie.
_DECIMALS: Final = 12


@dataclass(frozen=True, slots=True, eq=False)
class ScoredReview:
    """Rated review and the cosines of its sentences to the pseudo-references of its change."""

    position: tuple[int, int]
    """Index of the change in the study, and of the review among the change's reviews."""
    change: StudyChange
    """Change under review."""
    review: RatedReview
    """Review and its human ratings."""
    sentences: Doubles
    """For each sentence that is not hidden from readers, the highest cosine to a counted
    pseudo-reference, shape (S,)."""
    references: Doubles
    """For each counted pseudo-reference, the highest cosine to such a sentence, shape (R,); 0 if
    there is no sentence."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    """Values of one metric for the reviews."""

    name: str
    """Name; that of the score consists of matcher, encoder and claim generator."""
    values: Doubles
    """Shape (N, 3): conciseness, comprehensiveness, relevance. An extra metric that has one value
    for all three may pass shape (N,) to `add_metrics`."""
    variant: str = ""
    """Method, with the library, word list or model used; "" if the name says enough."""
    rows: tuple[int, ...] | None = None
    """Indices of the N rows that have a value, ascending, at least one; None if all rows do."""


class ExtraMetrics(NamedTuple):
    """Further metrics of the reviews that a score was computed for."""

    metrics: tuple[Metric, ...]
    """Metrics, with values in the order of `Measurements.rows`."""
    notes: tuple[str, ...] = ()
    """Why values are missing, one sentence for each reason."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """N rated reviews with the values of every metric."""

    rows: tuple[ScoredReview, ...]
    """Reviews in study order."""
    metrics: tuple[Metric, ...]
    """Metrics; the first is the primary one."""
    excluded: tuple[str, ...] = ()
    """Ids of the changes left out because they have no pseudo-reference, sorted."""

    @property
    def primary(self) -> Metric:
        """Primary metric of the run."""
        return self.metrics[0]

    @property
    def changes(self) -> tuple[str, ...]:
        """Id of each review's change."""
        return tuple(row.change.id for row in self.rows)

    @property
    def systems(self) -> tuple[str, ...]:
        """Name of the system that wrote each review."""
        return tuple(row.review.system for row in self.rows)

    @property
    def human(self) -> Doubles:
        """Ratings, shape (N, 3), Likert 1 to 5: conciseness, comprehensiveness, relevance."""
        return _table([row.review.ratings for row in self.rows]).reshape(-1, 3)

    @property
    def blank(self) -> int:
        """Number of reviews without a visible sentence; their score is 0."""
        return sum(not len(row.sentences) for row in self.rows)

    @property
    def references(self) -> float:
        """Mean number of counted pseudo-references per change."""
        counts = {row.change.id: len(row.references) for row in self.rows}
        return float(np.mean(list(counts.values())))

    @property
    def tau_by_procedure(self) -> float | None:
        """Threshold of cosines that the paper's procedure finds; None without a sentence.

        It is the mean of `ScoredReview.sentences` over all sentences of the system with the highest
        mean human relevance (`gpt3.5` in the published study).

        Source:
            Naik et al., NAACL 2025, arXiv:2409.19801, section 4.
        """
        best = next(iter(mean_relevance(self.systems, self.human[:, 2])), None)
        sentences = [row.sentences for row in self.rows if row.review.system == best]
        cosines = np.concatenate(sentences) if sentences else np.zeros(0)
        return float(cosines.mean()) if len(cosines) else None


Extra = Callable[[Measurements, Encoder], ExtraMetrics]
"""Function that computes further metrics of the measured reviews."""


def measure(
    study: Study, scorer: Scorer, *, name: str, includes: Includes = lambda _change, _review: True
) -> Measurements:
    """Score the reviews of a study except the ground truth.

    Args:
        study: The study.
        scorer: Scorer to use.
        name: Name of the score among the metrics.
        includes: Function that returns whether to score a review; for a fold, `Fold.holds_out`.

    Returns:
        The values of the score, of the highest cosines without a matcher, of the headline (if the
        encoder has usefulness weights) and of two baselines, for the reviews in study order.
    """
    rated = [
        ((i, j), change, review)
        for i, change in enumerate(study.changes)
        for j, review in enumerate(change.reviews)
        if review.system != GROUND_TRUTH and includes(change, review)
    ]
    texts = [(change, review.text) for _, change, review in rated]
    scored = [
        (*review, result)
        for review, result in zip(rated, score_reviews(scorer, texts), strict=True)
        # All metrics leave out a change without a pseudo-reference, so that they have the same
        # rows.
        if result.references
    ]
    rows = tuple(_row(*review) for review in scored)
    excluded = {change.id for _, change, _ in rated} - {row.change.id for row in rows}
    metrics = _metrics(rows, [result for *_, result in scored], name, scorer)
    return Measurements(rows=rows, metrics=metrics, excluded=tuple(sorted(excluded)))


def score_reviews(scorer: Scorer, reviews: Sequence[tuple[StudyChange, str]]) -> Sequence[Result]:
    """Score texts as reviews of a study's changes; return the results in the given order."""
    changes = {change.id: change for change, _ in reviews}
    diffs = {name: read_diff(change, scorer) for name, change in changes.items()}
    return scorer.score_many((diffs[change.id], (Comment(body=text),)) for change, text in reviews)


def read_diff(change: StudyChange, scorer: Scorer) -> Diff:
    """Parse a change of a study, with its full files, as the scorer parses diffs."""
    sources = {"": (change.old_source, change.new_source)}
    return scorer.read_diff(
        change.patch, source=change.id, language=change.language, sources=sources
    )


def add_metrics(measured: Measurements, added: Iterable[Metric]) -> Measurements:
    """Return measurements with more metrics.

    Args:
        measured: Existing measurements.
        added: Metrics; values of shape (N,) are used for all three dimensions.
    """
    columns = (replace(metric, values=_table(metric.values)) for metric in added)
    return replace(measured, metrics=(*measured.metrics, *columns))


def split_by_rows(measured: Measurements) -> tuple[Measurements, ...]:
    """Separate the metrics that have no value for some rows.

    Args:
        measured: The measurements.

    Returns:
        First, all rows with the metrics that have a value for each of them. Then, for each other
        metric, the rows that it has a value for, with this metric alone.
    """
    complete = tuple(metric for metric in measured.metrics if metric.rows is None)
    parts = (
        replace(
            measured, rows=tuple(measured.rows[index] for index in metric.rows), metrics=(metric,)
        )
        for metric in measured.metrics
        if metric.rows is not None
    )
    return (replace(measured, metrics=complete), *parts)


def join(folds: Sequence[Measurements]) -> Measurements:
    """Join the held-out reviews of several folds in study order.

    Args:
        folds: Measurements of disjoint reviews of one study, with the same metrics.

    Returns:
        All rows with the values of each metric; `excluded` lists changes that no fold scored.
    """
    rows = [row for fold in folds for row in fold.rows]
    order = sorted(range(len(rows)), key=lambda index: rows[index].position)
    # A change may be in several folds, each with the reviews of other systems.
    measured = {row.change.id for row in rows}
    return Measurements(
        rows=tuple(rows[index] for index in order),
        metrics=tuple(
            replace(metric, values=np.concatenate([f.metrics[i].values for f in folds])[order])
            for i, metric in enumerate(folds[0].metrics)
        ),
        excluded=tuple(sorted({name for fold in folds for name in fold.excluded} - measured)),
    )


def _row(
    position: tuple[int, int], change: StudyChange, review: RatedReview, result: Result
) -> ScoredReview:
    visible = result.similarity[:, [not sentence.hidden for sentence in result.sentences]]
    matrix = visible[[ref.counted for ref in result.references]].astype(np.float64)
    # Zeros if there is no sentence: with an empty array, `Measurements.references` would not count
    # this change's pseudo-references.
    by_reference = matrix.max(axis=1) if matrix.shape[1] else np.zeros(len(matrix))
    by_sentence = matrix.max(axis=0) if matrix.shape[0] else np.zeros(0)
    return ScoredReview(position, change, review, by_sentence, by_reference)


def _metrics(
    rows: Sequence[ScoredReview], results: Sequence[Result], name: str, scorer: Scorer
) -> tuple[Metric, ...]:
    has_threshold = scorer.parts.threshold is not None
    cosines = f"{name} {WITHOUT_THRESHOLD}" if has_threshold else HIGHEST_COSINES
    columns: dict[str, Sequence[float | tuple[float, ...]]] = {
        # A review without a sentence has no score. It counts as 0, because people rated such
        # reviews 1.
        name: [
            (it.conciseness or 0, it.comprehensiveness or 0, it.relevance or 0) for it in results
        ],
        cosines: [_highest_cosines(row) for row in rows],
        USEFULNESS: [it.usefulness.value if it.usefulness else 0.0 for it in results],
        WORDS: [it.baselines.words for it in results],
        REPEATED_TOKENS: [it.baselines.repeated_tokens or 0.0 for it in results],
    }
    if scorer.parts.reader is None:
        del columns[USEFULNESS]
    return tuple(Metric(name=label, values=_table(values)) for label, values in columns.items())


def _table(values: Sequence[float | tuple[float, ...]] | Doubles) -> Doubles:
    """Return rounded values, shape (N, 3); values of shape (N,) are repeated for all columns."""
    table = np.array(values, dtype=np.float64)
    columns = table if table.ndim == 2 else np.repeat(table[:, None], 3, axis=1)
    rounded: Doubles = np.round(columns, _DECIMALS)
    return rounded


def _highest_cosines(row: ScoredReview) -> tuple[float, float, float]:
    """Return conciseness, comprehensiveness and relevance from cosines, without a matcher."""
    if not len(row.sentences) or not len(row.references):
        return 0.0, 0.0, 0.0
    con = max(float(row.sentences.mean()), 0.0)
    comp = max(float(row.references.mean()), 0.0)
    return con, comp, harmonic_mean(con, comp)
