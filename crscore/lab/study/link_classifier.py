"""Evaluation of the matcher as a classifier of (pseudo-reference, review) pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.errors import InputError
from crscore.lab.study import measure
from crscore.lab.study.measure import Chosen
from crscore.lab.study.study import GROUND_TRUTH, Study, edited
from crscore.records import Comment
from crscore.scorer import Scorer
from crscore.settings import override_settings
from crscore.statistics import bootstrap, resampled
from crscore.statistics.intervals import Interval

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

COSINES: Final = tuple(round(0.2 + 0.05 * step, 2) for step in range(13))
"""Thresholds of the table when the cosine decides."""
DEGREES: Final = tuple(round(0.1 * step, 1) for step in range(1, 10))
"""Thresholds of the table when the matcher's degree decides."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """P pairs of a pseudo-reference and a review of its change."""

    changes: tuple[str, ...]
    """Change of each pair."""
    linked: Bools
    """Shape (P,): whether people linked the review to the pseudo-reference."""
    cosine: Floats
    """Shape (P,): highest cosine over the review's sentences, in [-1, 1]; -1 without a sentence."""
    degree: Floats
    """Shape (P,): highest degree of the matcher, in [0, 1]; 0 without a sentence."""
    tau: float | None
    """The matcher's cosine threshold for these claims, or None; it depends on the generator."""
    decision: float
    """Degree from which the matcher counts a pair as addressed."""


class Point(Struct, frozen=True, kw_only=True):
    """Performance of the classifier at one threshold."""

    threshold: float
    """Cut-off of the score."""
    precision: float | None
    """Precision in [0, 1]; None when no pair is above the threshold."""
    recall: float
    """Recall in [0, 1]."""
    f1: float
    """Harmonic mean of the two, in [0, 1]; 0 when no linked pair is above the threshold."""


class Classifier(Struct, frozen=True, kw_only=True):
    """Performance of a matcher on the pairs that people linked."""

    n: int
    """Number of pairs."""
    positive: int
    """Number of pairs that people linked."""
    score: str
    """Score that ranks the pairs: `degree`, or `cosine` where the degrees are only 0 and 1."""
    threshold: float
    """Cut-off of the matcher's decision: a cosine must be above it, a degree at least equal."""
    precision: float | None
    """Precision of the matcher's decision; None when it matched no pair."""
    recall: float
    """Recall of the matcher's decision."""
    f1: float
    """F1 of the matcher's decision."""
    f1_low: float | None
    """Lower end of the 95 % interval of `f1`, by bootstrap over changes."""
    f1_high: float | None
    """Upper end of the 95 % interval of `f1`."""
    average_precision: float
    """Average precision of the score, in [0, 1]; chance is positive / n."""
    average_precision_low: float | None
    """Lower end of the 95 % interval of `average_precision`."""
    average_precision_high: float | None
    """Upper end of the 95 % interval of `average_precision`."""
    auc: float | None
    """Chance that a linked pair outscores another; None when one of the two kinds is missing."""
    best_f1: float
    """Highest F1 of any threshold on these pairs."""
    best_f1_threshold: float
    """Lowest score counted as positive at `best_f1`."""
    table: tuple[Point, ...]
    """Performance at other thresholds, ascending."""


def links(
    study: Study,
    scorer: Scorer,
    *,
    sources: bool,
    chosen: Chosen = lambda _change, _review: True,
) -> Links:
    """Judge every edited pseudo-reference against every review that addresses at least one.

    Reviews that address nothing, and the ground truth, are left out, as in the paper's protocol.

    Args:
        study: The study.
        scorer: Scorer whose generator is `study.edited(study)`.
        sources: Show the matcher the whole files where the study has them.
        chosen: Predicate of the reviews to include; a fold includes those held out.

    Returns:
        The pairs, in study order; none where the study has no links.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, table 4.
    """
    work = [
        (change, review, frozenset(review.addressed))
        for change in study.changes
        for review in change.reviews
        if review.system != GROUND_TRUTH and review.addressed and chosen(change, review)
    ]
    diffs = {change.id: measure.read_diff(change, scorer, sources=sources) for change, _, _ in work}
    results = scorer.score_many(
        (diffs[change.id], (Comment(body=review.text),)) for change, review, _ in work
    )
    changes, linked, cosine, degree = [], [], [], []
    for (change, _, addressed), result in zip(work, results, strict=True):
        if len(result.references) != len(change.edited):
            raise InputError(
                f"{change.id}: {len(result.references)} pseudo-references came of the "
                f"{len(change.edited)} edited ones; score with `scorer_of_links`"
            )
        changes += [change.id] * len(change.edited)
        linked += [index in addressed for index in range(len(change.edited))]
        cosine.append(_highest(result.similarity, lowest=-1.0))
        degree.append(_highest(result.degrees, lowest=0.0))
    return Links(
        changes=tuple(changes),
        linked=np.array(linked, dtype=np.bool_),
        cosine=np.concatenate(cosine) if cosine else np.zeros(0),
        degree=np.concatenate(degree) if degree else np.zeros(0),
        tau=scorer.parts.threshold,
        decision=scorer.parts.matcher.decision,
    )


def _highest(cells: npt.NDArray[np.float32], *, lowest: float) -> Floats:
    highest: Floats = cells.max(axis=1, initial=lowest).astype(np.float64)
    return highest


def join(folds: Sequence[Links]) -> Links:
    """Join the pairs of several folds.

    Raises:
        InputError: There is no fold, or the thresholds differ.
    """
    if len({(fold.tau, fold.decision) for fold in folds}) != 1:
        raise InputError("only folds judged with the same threshold can be joined")
    return Links(
        changes=tuple(change for fold in folds for change in fold.changes),
        linked=np.concatenate([fold.linked for fold in folds]),
        cosine=np.concatenate([fold.cosine for fold in folds]),
        degree=np.concatenate([fold.degree for fold in folds]),
        tau=folds[0].tau,
        decision=folds[0].decision,
    )


def classify(found: Links, *, resamples: int, seed: int) -> Classifier | None:
    """Compare the matcher's decisions with the pairs that people linked.

    Args:
        found: The pairs.
        resamples: Draws of changes for the intervals; 0 for none.
        seed: Seed of the draws.

    Returns:
        The performance; None without a pair.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, table 4.
    """
    if not len(found.linked):
        return None
    binary = bool(np.isin(found.degree, (0.0, 1.0)).all())
    score = found.cosine if binary else found.degree
    decided = found.degree >= found.decision
    cut = found.decision if found.tau is None else found.tau
    own = _point(decided, found.linked, cut)
    best = _best(score, found.linked)
    f1, precision = _intervals(found, score, decided, resamples=resamples, seed=seed)
    return Classifier(
        n=len(found.linked),
        positive=int(found.linked.sum()),
        score="cosine" if binary else "degree",
        threshold=cut,
        precision=own.precision,
        recall=own.recall,
        f1=own.f1,
        f1_low=f1.low,
        f1_high=f1.high,
        average_precision=average_precision(score, found.linked),
        average_precision_low=precision.low,
        average_precision_high=precision.high,
        auc=auc(score, found.linked),
        best_f1=best.f1,
        best_f1_threshold=best.threshold,
        table=tuple(
            # Strict for a cosine, as in a score.
            _point(score > cut if binary else score >= cut, found.linked, cut)
            for cut in (COSINES if binary else DEGREES)
        ),
    )


def _point(decided: Bools, linked: Bools, threshold: float) -> Point:
    right, taken, wanted = int((decided & linked).sum()), int(decided.sum()), int(linked.sum())
    return Point(
        threshold=threshold,
        precision=right / taken if taken else None,
        recall=right / wanted if wanted else 0.0,
        f1=2 * right / (taken + wanted) if taken + wanted else 0.0,
    )


class _Ladder(NamedTuple):
    """Pairs from the highest score down, equal scores on one step."""

    order: npt.NDArray[np.intp]
    """Pairs, highest first, shape (P,)."""
    starts: npt.NDArray[np.intp]
    """Start of each step in `order`."""


def _ladder(score: Floats) -> _Ladder:
    order = np.argsort(-score, kind="stable")
    changes = np.flatnonzero(np.diff(score[order])) + 1
    return _Ladder(order, np.concatenate([[0], changes]).astype(np.intp))


def _best(score: Floats, linked: Bools) -> Point:
    order, starts = _ladder(score)
    taken = np.append(starts[1:], len(score))
    right = np.cumsum(linked[order])[taken - 1]
    step = int(np.argmax(2 * right / (taken + linked.sum())))
    threshold = float(score[order][starts[step]])
    return _point(score >= threshold, linked, threshold)


def average_precision(score: Floats, linked: Bools) -> float:
    """Compute the area under the steps of precision over recall.

    Pairs of equal score form one step, so their order in the file does not matter.

    Args:
        score: Score of each pair, shape (P,); higher means more likely linked.
        linked: Shape (P,).

    Returns:
        Sum over the steps of (recall gained x precision there), in [0, 1]; 0 when nothing is
        linked.

    Example:
        Recall 1/2 at precision 1, then 1 at precision 2/3: (1 + 2/3) / 2.

        >>> score = np.array([0.9, 0.8, 0.7])
        >>> round(average_precision(score, np.array([True, False, True])), 4)
        0.8333
    """
    weights = np.ones((1, len(score)))
    return float(np.nan_to_num(_average_precisions(_ladder(score), linked, weights))[0])


def _average_precisions(ladder: _Ladder, linked: Bools, weights: Floats) -> Floats:
    taken = weights[:, ladder.order]
    gained = np.add.reduceat(taken * linked[ladder.order], ladder.starts, axis=1)
    everyone = np.cumsum(np.add.reduceat(taken, ladder.starts, axis=1), axis=1)
    right = np.cumsum(gained, axis=1)
    precision = np.divide(right, everyone, out=np.zeros_like(right), where=everyone > 0)
    return resampled.divide((gained * precision).sum(axis=1), right[:, -1])


def auc(score: Floats, linked: Bools) -> float | None:
    """Return the chance that a linked pair outscores an unlinked one; a tie counts one half.

    Args:
        score: Shape (P,).
        linked: Shape (P,).

    Returns:
        In [0, 1]; None when all pairs are linked, or none is.

    Example:
        >>> auc(np.array([0.9, 0.8, 0.7]), np.array([True, False, True]))
        0.5
    """
    value = float(resampled.auc(score, linked, np.ones((1, len(score))))[0])
    return None if np.isnan(value) else value


def _intervals(
    found: Links, score: Floats, decided: Bools, *, resamples: int, seed: int
) -> tuple[Interval, Interval]:
    ladder = _ladder(score)
    right = (decided & found.linked).astype(np.float64)
    half = (decided.astype(np.float64) + found.linked) / 2

    def f1_and_precision(weights: Floats) -> Floats:
        precisions = _average_precisions(ladder, found.linked, weights)
        return np.stack([resampled.ratio(right, half, weights), precisions], axis=1)

    draws = bootstrap.resample(f1_and_precision, found.changes, resamples=resamples, seed=seed)
    f1, precision = draws.reshape(-1, 2).T
    clusters = len(set(found.changes))
    return (
        bootstrap.percentile_interval(f1, clusters=clusters),
        bootstrap.percentile_interval(precision, clusters=clusters),
    )


def scorer_of_links(scorer: Scorer, study: Study) -> Scorer:
    """Return a copy of the scorer whose pseudo-references are the whole edited lists."""
    # The limit of claims would drop rows that `addressed` refers to.
    settings = override_settings(scorer.settings, {"max_claims": None, "analyzers": "none"})
    # A cosine threshold is specific to a kind of claims; a matcher without one fits all kinds.
    matcher = scorer.parts.matcher if scorer.parts.threshold is None else None
    return Scorer(settings, generator=edited(study), encoder=scorer.parts.encoder, matcher=matcher)
