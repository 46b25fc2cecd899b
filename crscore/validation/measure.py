"""Scoring a study's reviews, with the trivial baselines beside the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crscore import scores
from crscore.errors import InputError
from crscore.records import Comment
from crscore.validation.study import GROUND_TRUTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from crscore.records import Diff, Result
    from crscore.scorer import Scorer
    from crscore.validation.study import RatedReview, Study, StudyChange

    Floats = npt.NDArray[np.float64]

BEST_SYSTEM = "gpt3.5"
"""The system whose sentences set the threshold, by the paper's procedure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One measure of every review."""

    name: str
    """What it is; for the score: matcher, encoder and claims."""
    values: Floats
    """Shape (N, 3): conciseness, comprehensiveness, relevance."""
    primary: bool
    """True for the metric that the run is about."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """N rated reviews and every metric's value for them."""

    changes: tuple[str, ...]
    """Each review's change."""
    systems: tuple[str, ...]
    """Each review's author."""
    languages: tuple[str, ...]
    """Each review's language."""
    human: Floats
    """Shape (N, 3), Likert 1 to 5: conciseness, comprehensiveness, relevance."""
    metrics: tuple[Metric, ...]
    """The primary one first."""
    blank: int
    """Reviews without a sentence; they count as 0 in the score."""
    excluded: tuple[str, ...]
    """Changes left out because the generator made no pseudo-reference for them."""
    references: float
    """Mean number of counted pseudo-references a change."""
    tau_by_procedure: float | None
    """Mean over the best system's sentences of their highest similarity; None without any."""


def measure(study: Study, scorer: Scorer, *, name: str, sources: bool) -> Measurements:
    """Score every review of a study except the ground truth.

    Args:
        study: The study.
        scorer: What to score with.
        name: What to call the metric.
        sources: Give the generator the whole files where the study has them.

    Raises:
        InputError: There is no review to correlate.

    Returns:
        The values of the score, of the same score without a threshold, and of the two
        baselines, for the same reviews in the same order.
    """
    rows = [
        (change, review)
        for change in study.changes
        for review in change.reviews
        if review.system != GROUND_TRUTH
    ]
    diffs = {change.id: _diff(change, scorer, sources=sources) for change in study.changes}
    results = scorer.score_many(
        (diffs[change.id], (Comment(body=review.text),)) for change, review in rows
    )
    kept = [
        (change, review, result)
        for (change, review), result in zip(rows, results, strict=True)
        if result.references
    ]
    outcomes = [result for _, _, result in kept]
    if not kept:
        raise InputError(
            "no review of this study can be scored: none is rated, or no claim is made"
        )
    left_out = {c.id for c, _ in rows} - {c.id for c, _, _ in kept}
    return Measurements(
        changes=tuple(change.id for change, _, _ in kept),
        systems=tuple(review.system for _, review, _ in kept),
        languages=tuple(change.language for change, _, _ in kept),
        human=np.array([review.ratings for _, review, _ in kept], dtype=np.float64),
        metrics=_metrics(outcomes, name),
        blank=sum(not result.sentences for result in outcomes),
        excluded=tuple(sorted(left_out)),
        references=_mean_references([(change, result) for change, _, result in kept]),
        tau_by_procedure=_tau([(review, result) for _, review, result in kept]),
    )


def _diff(change: StudyChange, scorer: Scorer, *, sources: bool) -> Diff:
    both = {"": (change.old_source, change.new_source)} if sources else None
    return scorer.read_diff(change.patch, source=change.id, language=change.language, sources=both)


def _metrics(results: Sequence[Result], name: str) -> tuple[Metric, ...]:
    words = [[result.baselines.words] * 3 for result in results]
    repeated = [[result.baselines.repeated_tokens or 0.0] * 3 for result in results]
    return (
        Metric(name=name, values=_array([_published(r) for r in results]), primary=True),
        Metric(
            name=f"{name} without threshold",
            values=_array([_without_threshold(r) for r in results]),
            primary=False,
        ),
        Metric(name="words", values=_array(words), primary=False),
        Metric(name="repeated tokens", values=_array(repeated), primary=False),
    )


def _array(rows: Sequence[Sequence[float]]) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(len(rows), 3)


def _published(result: Result) -> tuple[float, float, float]:
    """Take the three scores; a review without a sentence counts as 0, as people rated it 1."""
    return (
        result.conciseness or 0.0,
        result.comprehensiveness or 0.0,
        result.relevance or 0.0,
    )


def _without_threshold(result: Result) -> tuple[float, float, float]:
    """Mean of the maxima both ways: what the threshold costs."""
    matrix = result.similarity[[ref.counted for ref in result.references]]
    if 0 in matrix.shape:
        return 0.0, 0.0, 0.0
    con = max(float(matrix.max(axis=0).mean()), 0.0)
    comp = max(float(matrix.max(axis=1).mean()), 0.0)
    return con, comp, scores.harmonic_mean(con, comp)


def _mean_references(rows: Sequence[tuple[StudyChange, Result]]) -> float:
    counts = {c.id: sum(ref.counted for ref in result.references) for c, result in rows}
    return float(np.mean(list(counts.values()))) if counts else 0.0


def _tau(rows: Sequence[tuple[RatedReview, Result]]) -> float | None:
    best = [
        match.similarity
        for review, result in rows
        if review.system == BEST_SYSTEM
        for match in result.sentence_matches
        if match.similarity is not None
    ]
    return float(np.mean(best)) if best else None
