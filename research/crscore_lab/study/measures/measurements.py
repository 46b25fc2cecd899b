"""Scores of a study's reviews, with trivial baselines."""

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
"""Name of the metric of the headline's raw value, where the encoder has weights for it."""
REPEATED_TOKENS: Final = "repeated tokens"
WITHOUT_THRESHOLD: Final = "without threshold"
"""Name of the metric of the uncut cosines where the matcher cuts them."""
HIGHEST_COSINES: Final = "mean of the highest cosines"
"""Name of the same metric for a matcher that cuts no cosine."""
NOT_SCORABLE: Final = "no review of this study can be scored: none is rated, or no claim is made"
# Shares of 1 and 2/3 have the same harmonic mean as 4/5 and 4/5 up to rounding, which is a tie.
_DECIMALS: Final = 12


@dataclass(frozen=True, slots=True, eq=False)
class ScoredReview:
    """Rated review and the cosines of its scoring."""

    position: tuple[int, int]
    """Position of its change in the study, and of the review among the change's reviews."""
    change: StudyChange
    """Change under review."""
    review: RatedReview
    """Review and its human ratings."""
    sentences: Doubles
    """Highest cosine of each sentence to a counted pseudo-reference, shape (S,); sentences hidden
    from readers are left out."""
    references: Doubles
    """Highest cosine of each counted pseudo-reference to a sentence, shape (R,); 0 without one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    """Values of one measure for the reviews."""

    name: str
    """Name; for the score: matcher, encoder and claims."""
    values: Doubles
    """Shape (N, 3): conciseness, comprehensiveness, relevance. An extra metric with one value for
    all three may come with shape (N,)."""
    variant: str = ""
    """Method, with its library, list or model; "" where the name is sufficient."""
    rows: tuple[int, ...] | None = None
    """Indices of the N rows with a value, ascending, at least one; None for all rows."""


class ExtraMetrics(NamedTuple):
    """Metrics reported with the score, on the same rows."""

    metrics: tuple[Metric, ...]
    """Metrics with values in row order."""
    notes: tuple[str, ...] = ()
    """Notes on missing values and the reasons, one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """N rated reviews with every metric's values."""

    rows: tuple[ScoredReview, ...]
    """Reviews in study order."""
    metrics: tuple[Metric, ...]
    """Metrics, the primary one first."""
    excluded: tuple[str, ...] = ()
    """Changes left out because the generator made no pseudo-references for them, sorted."""

    @property
    def primary(self) -> Metric:
        """Primary metric of the run."""
        return self.metrics[0]

    @property
    def changes(self) -> tuple[str, ...]:
        """Change of each review."""
        return tuple(row.change.id for row in self.rows)

    @property
    def systems(self) -> tuple[str, ...]:
        """Author of each review."""
        return tuple(row.review.system for row in self.rows)

    @property
    def human(self) -> Doubles:
        """Shape (N, 3), Likert 1 to 5: conciseness, comprehensiveness, relevance."""
        return _table([row.review.ratings for row in self.rows]).reshape(-1, 3)

    @property
    def blank(self) -> int:
        """Number of reviews without a sentence; they count as 0 in the score."""
        return sum(not len(row.sentences) for row in self.rows)

    @property
    def references(self) -> float:
        """Mean number of counted pseudo-references per change."""
        counts = {row.change.id: len(row.references) for row in self.rows}
        return float(np.mean(list(counts.values())))

    @property
    def tau_by_procedure(self) -> float | None:
        """Mean of the highest cosines over the best system's sentences; None without any.

        The best system has the highest mean human relevance (`gpt3.5` in the published study).

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
        name: Name of the metric.
        includes: Predicate of the reviews to score; a fold scores those held out from its scorer.

    Returns:
        The values of the score, of the cosines without a threshold, of the headline where the
        encoder has weights for it, and of the two baselines, for the same reviews in order.
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
        # A change without a pseudo-reference is left out of all metrics, so that they share the
        # rows.
        if result.references
    ]
    rows = tuple(_row(*review) for review in scored)
    excluded = {change.id for _, change, _ in rated} - {row.change.id for row in rows}
    metrics = _metrics(rows, [result for *_, result in scored], name, scorer)
    return Measurements(rows=rows, metrics=metrics, excluded=tuple(sorted(excluded)))


def score_reviews(scorer: Scorer, reviews: Sequence[tuple[StudyChange, str]]) -> Sequence[Result]:
    """Score texts as reviews of changes of a study; see `measure`."""
    changes = {change.id: change for change, _ in reviews}
    diffs = {name: read_diff(change, scorer) for name, change in changes.items()}
    return scorer.score_many((diffs[change.id], (Comment(body=text),)) for change, text in reviews)


def read_diff(change: StudyChange, scorer: Scorer) -> Diff:
    """Parse a change of a study for the scorer's generator."""
    sources = {"": (change.old_source, change.new_source)}
    return scorer.read_diff(
        change.patch, source=change.id, language=change.language, sources=sources
    )


def add_metrics(measured: Measurements, added: Iterable[Metric]) -> Measurements:
    """Add metrics to the score's own.

    Args:
        measured: Existing values.
        added: Metrics with values in the order of the rows, or of the rows they list; shape (N,)
            stands for all three dimensions.

    Returns:
        The same rows with more metrics.
    """
    columns = (replace(metric, values=_table(metric.values)) for metric in added)
    return replace(measured, metrics=(*measured.metrics, *columns))


def by_rows(measured: Measurements) -> tuple[Measurements, ...]:
    """Separate the metrics that lack a value for some rows.

    Args:
        measured: The values.

    Returns:
        All rows with the metrics that have a value for each, the primary one first; then each
        other metric alone, with its rows.
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
        All rows, and each metric's values from the fold that held the review out.
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
    # Without a sentence there is no highest cosine; 0 keeps the row's references in the count.
    by_reference = matrix.max(axis=1) if matrix.shape[1] else np.zeros(len(matrix))
    by_sentence = matrix.max(axis=0) if matrix.shape[0] else np.zeros(0)
    return ScoredReview(position, change, review, by_sentence, by_reference)


def _metrics(
    rows: Sequence[ScoredReview], results: Sequence[Result], name: str, scorer: Scorer
) -> tuple[Metric, ...]:
    has_threshold = scorer.parts.threshold is not None
    cosines = f"{name} {WITHOUT_THRESHOLD}" if has_threshold else HIGHEST_COSINES
    columns: dict[str, Sequence[float | tuple[float, ...]]] = {
        # A review without a sentence counts as 0: people rated it 1.
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
    """Return N rounded rows of three columns; values of shape (N,) stand for all three."""
    table = np.array(values, dtype=np.float64)
    columns = table if table.ndim == 2 else np.repeat(table[:, None], 3, axis=1)
    rounded: Doubles = np.round(columns, _DECIMALS)
    return rounded


def _highest_cosines(row: ScoredReview) -> tuple[float, float, float]:
    """Return the means of the maxima both ways, to show the effect of a threshold or matcher."""
    if not len(row.sentences) or not len(row.references):
        return 0.0, 0.0, 0.0
    con = max(float(row.sentences.mean()), 0.0)
    comp = max(float(row.references.mean()), 0.0)
    return con, comp, harmonic_mean(con, comp)
