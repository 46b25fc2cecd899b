"""The matcher as a classifier: does this review address this pseudo-reference?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec import Struct

from crscore.errors import InputError
from crscore.records import Comment
from crscore.scorer import Scorer
from crscore.settings import override_settings
from crscore.study import bootstrap, measure, statistics
from crscore.study.study import GROUND_TRUTH, edited

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from crscore.study.measure import Chosen
    from crscore.study.study import Study

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
    """Each pair's change."""
    linked: Bools
    """Shape (P,): people said that the review addresses the pseudo-reference."""
    cosine: Floats
    """Shape (P,): highest over the review's sentences, in [-1, 1]; -1 without a sentence."""
    degree: Floats
    """Shape (P,): the matcher's highest degree, in [0, 1]; 0 without a sentence."""
    tau: float | None
    """The matcher's cosine threshold for these claims, if it has one; generators differ."""
    decision: float
    """The degree from which the matcher takes a pair as addressed."""


class Point(Struct, frozen=True, kw_only=True):
    """The classifier at one threshold."""

    threshold: float
    """Cut-off of the score."""
    precision: float | None
    """In [0, 1]; None when no pair is over it."""
    recall: float
    """In [0, 1]."""
    f1: float
    """Harmonic mean of the two, in [0, 1]; 0 when no linked pair is over it."""


class Classifier(Struct, frozen=True, kw_only=True):
    """How well a matcher finds the pairs that people linked."""

    n: int
    """Pairs."""
    positive: int
    """Pairs that people linked."""
    score: str
    """Score that ranks the pairs: `degree`, or `cosine` where the degrees are only 0 and 1."""
    threshold: float
    """Cut-off that decides in a score: the cosine must be above it, a degree at least it."""
    precision: float | None
    """Of the matcher's own decision; None when it matched no pair."""
    recall: float
    """Of the matcher's own decision."""
    f1: float
    """Of the matcher's own decision."""
    f1_low: float | None
    """Lower end of the 95 % interval of `f1`, by bootstrap over changes."""
    f1_high: float | None
    """Upper end of the 95 % interval of `f1`."""
    average_precision: float
    """Of the score, in [0, 1]; chance is positive / n."""
    average_precision_low: float | None
    """Lower end of the 95 % interval of `average_precision`."""
    average_precision_high: float | None
    """Upper end of the 95 % interval of `average_precision`."""
    auc: float | None
    """Chance that a linked pair has a higher score than another; None with one kind alone."""
    best_f1: float
    """Highest F1 that any threshold reaches on these pairs."""
    best_f1_threshold: float
    """The lowest score it takes."""
    table: tuple[Point, ...]
    """The score cut at other thresholds, ascending."""


def links(
    study: Study,
    scorer: Scorer,
    *,
    sources: bool,
    chosen: Chosen = lambda _change, _review: True,
) -> Links:
    """Judge every pseudo-reference of the edited list against every review that addresses one.

    Reviews that address nothing, and the ground truth, take no part: the paper's protocol.

    Args:
        study: The study.
        scorer: What to judge with, its generator `study.edited(study)`.
        sources: Show the matcher the whole files where the study has them.
        chosen: Says whether a review takes part; a fold takes those held out.

    Returns:
        The pairs, in the order of the study; none where nobody linked anything.

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
    """Put the pairs of several folds together.

    Raises:
        InputError: There is none, or they have other thresholds.
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
    """Compare the matcher's judgement of the pairs with what people linked.

    Args:
        found: The pairs.
        resamples: Draws of changes for the intervals; 0 for none.
        seed: Of the draws.

    Returns:
        Precision, recall and the rest; None without a pair.

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
    """The pairs from the highest score down, equal scores on one step."""

    order: npt.NDArray[np.intp]
    """Pairs, highest first, shape (P,)."""
    starts: npt.NDArray[np.intp]
    """Where each step starts in `order`."""


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
    """Area under the steps of precision over recall.

    Pairs of equal score come in together: their order in the file must not matter.

    Args:
        score: Higher is more linked, shape (P,).
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
    return float(_average_precisions(_ladder(score), linked, weights).values[0])


def _average_precisions(ladder: _Ladder, linked: Bools, weights: Floats) -> bootstrap.Draws:
    taken = weights[:, ladder.order]
    gained = np.add.reduceat(taken * linked[ladder.order], ladder.starts, axis=1)
    everyone = np.cumsum(np.add.reduceat(taken, ladder.starts, axis=1), axis=1)
    right = np.cumsum(gained, axis=1)
    precision = np.divide(right, everyone, out=np.zeros_like(right), where=everyone > 0)
    total = right[:, -1]
    area = (gained * precision).sum(axis=1)
    defined = total > 0
    return bootstrap.Draws(np.divide(area, total, out=np.zeros_like(area), where=defined), defined)


def auc(score: Floats, linked: Bools) -> float | None:
    """Chance that a linked pair has a higher score than one that is not; a tie is one half.

    Args:
        score: Shape (P,).
        linked: Shape (P,).

    Returns:
        In [0, 1]; None when all pairs are linked, or none.

    Example:
        >>> auc(np.array([0.9, 0.8, 0.7]), np.array([True, False, True]))
        0.5
    """
    positive = int(linked.sum())
    other = len(linked) - positive
    if not positive or not other:
        return None
    ranks = statistics.ranks(score)[linked]
    return float((ranks.sum() - positive * (positive + 1) / 2) / (positive * other))


def _intervals(
    found: Links, score: Floats, decided: Bools, *, resamples: int, seed: int
) -> tuple[statistics.Interval, statistics.Interval]:
    ladder = _ladder(score)
    right = (decided & found.linked).astype(np.float64)
    half = (decided.astype(np.float64) + found.linked) / 2
    f1, precision = [], []
    for weights in bootstrap.blocks(found.changes, resamples=resamples, seed=seed):
        f1.append(bootstrap.ratio(right, half, weights))
        precision.append(_average_precisions(ladder, found.linked, weights))
    clusters = len(set(found.changes))
    first, second = (
        statistics.percentiles(bootstrap.join(one).kept(), resamples=resamples, clusters=clusters)
        for one in (f1, precision)
    )
    return first, second


def scorer_of_links(scorer: Scorer, study: Study) -> Scorer:
    """Make a scorer like this one whose pseudo-references are the whole edited lists."""
    # The limit of claims would drop rows that `addressed` counts in.
    settings = override_settings(scorer.settings, {"max_claims": None, "analyzers": "none"})
    # A cosine threshold belongs to a kind of claims; a matcher without one serves all kinds.
    matcher = scorer.parts.matcher if scorer.parts.threshold is None else None
    return Scorer(settings, generator=edited(study), encoder=scorer.parts.encoder, matcher=matcher)
