"""Scoring a study's reviews, with the trivial baselines beside the score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from crscore.errors import InputError
from crscore.records import Comment
from crscore.scoring import scores
from crscore.study.study import GROUND_TRUTH
from crscore.study.systems import mean_relevance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from crscore.records import Diff, Result
    from crscore.scorer import Scorer
    from crscore.study.study import RatedReview, Study, StudyChange

    Floats = npt.NDArray[np.float64]
    Chosen = Callable[[StudyChange, RatedReview], bool]

WORDS: Final = "words"
REPEATED_TOKENS: Final = "repeated tokens"
WITHOUT_THRESHOLD: Final = "without threshold"
"""How the metric is named that takes the cosines themselves, where the matcher cuts them."""
HIGHEST_COSINES: Final = "mean of the highest cosines"
"""The same metric beside a matcher that cuts no cosine."""
NOTHING: Final = "no review of this study can be scored: none is rated, or no claim is made"
# Shares of 1 and 2/3 have the harmonic mean of 4/5 and 4/5 but for the last bits: no order.
_DECIMALS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredReview:
    """One rated review and what scoring it met."""

    place: tuple[int, int]
    """Position of its change in the study, and its own among the reviews of the change."""
    change: StudyChange
    """The change under review."""
    review: RatedReview
    """The review and what people said of it."""
    sentences: Floats
    """Each sentence's highest cosine to a counted pseudo-reference, shape (S,); a sentence that
    is hidden from readers is none."""
    references: Floats
    """Each counted pseudo-reference's highest cosine to a sentence, shape (R,); 0 without one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    """One measure of every review."""

    name: str
    """Name; for the score: matcher, encoder and claims."""
    values: Floats
    """Shape (N, 3): conciseness, comprehensiveness, relevance. One beside the score that does
    not tell them apart may come with shape (N,)."""
    variant: str = ""
    """Method, with its library, list or model; "" where the name says it."""
    primary: bool = False
    """True for the metric that the run is about."""
    rows: tuple[int, ...] | None = None
    """The N rows that it has a value for, ascending, at least one; None for all of them."""


class ExtraMetrics(NamedTuple):
    """Metrics to stand beside the score, on the same rows."""

    metrics: tuple[Metric, ...]
    """With values in the order of the rows."""
    notes: tuple[str, ...] = ()
    """Notes on what is missing and why, one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """N rated reviews and every metric's value for them."""

    rows: tuple[ScoredReview, ...]
    """In the order of the study."""
    metrics: tuple[Metric, ...]
    """The primary one first."""
    excluded: tuple[str, ...] = ()
    """Changes left out because the generator made no pseudo-reference for them, sorted."""

    @property
    def primary(self) -> Metric:
        """The metric that the run is about."""
        return self.metrics[0]

    @property
    def changes(self) -> tuple[str, ...]:
        """Each review's change."""
        return tuple(row.change.id for row in self.rows)

    @property
    def systems(self) -> tuple[str, ...]:
        """Each review's author."""
        return tuple(row.review.system for row in self.rows)

    @property
    def human(self) -> Floats:
        """Shape (N, 3), Likert 1 to 5: conciseness, comprehensiveness, relevance."""
        return _array([row.review.ratings for row in self.rows])

    @property
    def blank(self) -> int:
        """Reviews without a sentence; they count as 0 in the score."""
        return sum(not len(row.sentences) for row in self.rows)

    @property
    def references(self) -> float:
        """Mean number of counted pseudo-references a change."""
        counts = {row.change.id: len(row.references) for row in self.rows}
        return float(np.mean(list(counts.values())))

    @property
    def tau_by_procedure(self) -> float | None:
        """Mean over the best system's sentences of their highest cosine; None without any.

        The best system has the highest mean human relevance (`gpt3.5` in the published study).

        Source:
            Naik et al., NAACL 2025, arXiv:2409.19801, section 4.
        """
        best = next(iter(mean_relevance(self.systems, self.human[:, 2])), None)
        sentences = [row.sentences for row in self.rows if row.review.system == best]
        found = np.concatenate(sentences) if sentences else np.zeros(0)
        return float(found.mean()) if len(found) else None


def measure(
    study: Study,
    scorer: Scorer,
    *,
    name: str,
    sources: bool,
    chosen: Chosen = lambda _change, _review: True,
    is_part: bool = False,
) -> Measurements:
    """Score the reviews of a study except the ground truth.

    Args:
        study: The study.
        scorer: What to score with.
        name: What to call the metric.
        sources: Give the generator the whole files where the study has them.
        chosen: Says whether to score a review; a fold scores those held out from its scorer.
        is_part: A fold, which may have nothing to score.

    Returns:
        The values of the score, of the cosines without a threshold, and of the two
        baselines, for the same reviews in the same order.

    Raises:
        InputError: There is no review to correlate, and it is no part.
    """
    work = [
        ((i, j), change, review)
        for i, change in enumerate(study.changes)
        for j, review in enumerate(change.reviews)
        if review.system != GROUND_TRUTH and chosen(change, review)
    ]
    diffs = {change.id: read_diff(change, scorer, sources=sources) for _, change, _ in work}
    results = scorer.score_many(
        (diffs[change.id], (Comment(body=review.text),)) for _, change, review in work
    )
    kept = [
        (place, change, review, result)
        for (place, change, review), result in zip(work, results, strict=True)
        if result.references
    ]
    if not kept and not is_part:
        raise InputError(NOTHING)
    rows = tuple(_row(*one) for one in kept)
    left_out = {change.id for _, change, _ in work} - {row.change.id for row in rows}
    return Measurements(
        rows=rows,
        metrics=_metrics(
            rows,
            [result for *_, result in kept],
            name,
            cosines=HIGHEST_COSINES
            if scorer.parts.threshold is None
            else f"{name} {WITHOUT_THRESHOLD}",
        ),
        excluded=tuple(sorted(left_out)),
    )


def read_diff(change: StudyChange, scorer: Scorer, *, sources: bool) -> Diff:
    """Read a change of a study as the scorer's generator is to see it."""
    both = {"": (change.old_source, change.new_source)} if sources else None
    return scorer.read_diff(change.patch, source=change.id, language=change.language, sources=both)


def add_metrics(measured: Measurements, others: Iterable[Metric]) -> Measurements:
    """Put further metrics beside those of the score.

    Args:
        measured: The values there are.
        others: With their values in the order of the rows, or of those that they name; shape
            (N,) stands for all three dimensions.

    Returns:
        The same rows with more metrics, none of them primary.

    Raises:
        InputError: A metric has another number of values, or the name of another metric.
    """
    metrics = list(measured.metrics)
    for metric in others:
        values = metric.values
        count = len(measured.rows if metric.rows is None else metric.rows)
        if values.shape not in ((count,), (count, 3)):
            raise InputError(f"{metric.name} has values of shape {values.shape}, not {count} rows")
        if metric.name in (one.name for one in metrics):
            raise InputError(f"two metrics are called {metric.name!r}; give one another name")
        columns = values if values.ndim == 2 else np.repeat(values[:, None], 3, axis=1)
        metrics.append(replace(metric, values=_array(columns), primary=False))
    return replace(measured, metrics=tuple(metrics))


def by_rows(measured: Measurements) -> tuple[Measurements, ...]:
    """Set each metric apart that lacks a value for some rows.

    Args:
        measured: The values.

    Returns:
        All rows with the metrics that have a value for each, the primary one first; then each
        other metric alone, with its rows.
    """
    whole = tuple(metric for metric in measured.metrics if metric.rows is None)
    parts = [(metric, metric.rows) for metric in measured.metrics if metric.rows is not None]
    return (
        replace(measured, metrics=whole),
        *(
            replace(measured, rows=tuple(measured.rows[at] for at in rows), metrics=(metric,))
            for metric, rows in parts
        ),
    )


def join(folds: Sequence[Measurements]) -> Measurements:
    """Put the held-out reviews of several folds back into the order of the study.

    Args:
        folds: Measurements of disjoint reviews of one study, with the same metrics.

    Returns:
        All rows, and each metric's values from the fold that held the review out.

    Raises:
        InputError: A review is in two folds, or the folds have other metrics.
    """
    rows = [row for fold in folds for row in fold.rows]
    names = [metric.name for metric in folds[0].metrics] if folds else []
    if not folds or any([m.name for m in fold.metrics] != names for fold in folds):
        raise InputError("only folds of one study with the same metrics can be joined")
    if len({row.place for row in rows}) < len(rows):
        raise InputError("a review is in two folds; each is held out once")
    order = sorted(range(len(rows)), key=lambda index: rows[index].place)
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
    place: tuple[int, int], change: StudyChange, review: RatedReview, result: Result
) -> ScoredReview:
    shown = result.similarity[:, [not sentence.hidden for sentence in result.sentences]]
    matrix = shown[[ref.counted for ref in result.references]].astype(np.float64)
    # With no sentence there is no highest cosine; 0 lets the row count its references.
    by_reference = matrix.max(axis=1) if matrix.shape[1] else np.zeros(len(matrix))
    by_sentence = matrix.max(axis=0) if matrix.shape[0] else np.zeros(0)
    return ScoredReview(
        place=place,
        change=change,
        review=review,
        sentences=by_sentence,
        references=by_reference,
    )


def _metrics(
    rows: Sequence[ScoredReview], results: Sequence[Result], name: str, *, cosines: str
) -> tuple[Metric, ...]:
    words = [[result.baselines.words] * 3 for result in results]
    repeated = [[result.baselines.repeated_tokens or 0.0] * 3 for result in results]
    return (
        Metric(name=name, values=_array([_scores(result) for result in results]), primary=True),
        Metric(
            name=cosines,
            values=_array([_highest_cosines(row) for row in rows]),
        ),
        Metric(name=WORDS, values=_array(words)),
        Metric(name=REPEATED_TOKENS, values=_array(repeated)),
    )


def _array(rows: Sequence[Sequence[float]] | Floats) -> Floats:
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 3)
    rounded: Floats = np.round(table, _DECIMALS)
    return rounded


def _scores(result: Result) -> tuple[float, float, float]:
    """Take the three scores; a review without a sentence counts as 0, as people rated it 1."""
    return (
        result.conciseness or 0.0,
        result.comprehensiveness or 0.0,
        result.relevance or 0.0,
    )


def _highest_cosines(row: ScoredReview) -> tuple[float, float, float]:
    """Mean of the maxima both ways: what a threshold costs, and what a learned matcher adds."""
    if not len(row.sentences) or not len(row.references):
        return 0.0, 0.0, 0.0
    con = max(float(row.sentences.mean()), 0.0)
    comp = max(float(row.references.mean()), 0.0)
    return con, comp, scores.harmonic_mean(con, comp)
