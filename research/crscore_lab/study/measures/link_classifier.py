"""Evaluation of the matcher as a classifier: does a review address a pseudo-reference?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.scorer import Scorer
from crscore.settings import override_settings
from crscore.statistics.intervals import Doubles
from crscore.statistics.resampled import divide
from crscore_lab.statistics import resampled
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.study.data.study import GROUND_TRUTH, Study, edited
from crscore_lab.study.measures.measurements import Includes, score_reviews

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """P pairs of a pseudo-reference and a review of its change."""

    changes: tuple[str, ...]
    """Change of each pair."""
    linked: Bools
    """Shape (P,): whether people linked the review to the pseudo-reference."""
    cosine: Doubles
    """Shape (P,): highest cosine of a sentence of the review to the pseudo-reference, in [-1, 1];
    -1 if the review has no sentence."""
    degree: Doubles
    """Shape (P,): highest degree that the matcher gives a sentence, in [0, 1]; 0 if the review has
    no sentence."""
    tau: float | None
    """The matcher's cosine threshold for the edited pseudo-references; None for a matcher that has
    none."""
    decision: float
    """Minimum degree at which the matcher decides that the review addresses a pseudo-reference."""


class Classifier(Struct, frozen=True, kw_only=True):
    """Performance of a matcher on the pairs that people linked."""

    n: int
    """Number of pairs."""
    positive: int
    """Number of pairs that people linked."""
    score: str
    """Score that ranks the pairs: `degree`, or `cosine` if all degrees are 0 or 1."""
    threshold: float
    """Threshold of the matcher's decision: the cosine has to exceed it, or the degree to reach
    it."""
    precision: float | None
    """Precision of the matcher's decision; None if it matched no pair."""
    recall: float
    """Recall of the matcher's decision."""
    f1: float
    """F1 of the matcher's decision."""
    f1_low: float | None
    """Lower end of the 95 % interval of `f1` from a bootstrap of the changes."""
    f1_high: float | None
    """Upper end of the 95 % interval of `f1`."""
    average_precision: float
    """Average precision of the ranking by `score`, in [0, 1]; chance is positive / n."""
    average_precision_low: float | None
    """Lower end of the 95 % interval of `average_precision`."""
    average_precision_high: float | None
    """Upper end of the 95 % interval of `average_precision`."""
    auc: float | None
    """Chance that a linked pair has a higher score than a pair that is not linked; None if all
    pairs are linked, or none."""


def judge_links(
    study: Study, scorer: Scorer, *, includes: Includes = lambda _change, _review: True
) -> Links:
    """Compare every edited pseudo-reference with every review that addresses at least one of them.

    Reviews that address none, and the ground truth, are left out, as in the paper.

    Args:
        study: The study.
        scorer: Scorer made by `make_link_scorer`.
        includes: Function that returns whether to include a review; for a fold,
            `Fold.holds_out`.

    Returns:
        The pairs in study order; empty if people linked no review to a pseudo-reference.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, table 4.
    """
    linked_reviews = [
        (change, review, frozenset(review.addressed))
        for change in study.changes
        for review in change.reviews
        if review.system != GROUND_TRUTH and review.addressed and includes(change, review)
    ]
    texts = [(change, review.text) for change, review, _ in linked_reviews]
    results = score_reviews(scorer, texts)
    changes, linked, cosine, degree = [], [], [], []
    for (change, _, addressed), result in zip(linked_reviews, results, strict=True):
        changes += [change.id] * len(change.edited)
        linked += [index in addressed for index in range(len(change.edited))]
        # `initial` is the maximum for a review without a sentence, which has no column.
        cosine.append(result.similarity.max(axis=1, initial=-1.0).astype(np.float64))
        degree.append(result.degrees.max(axis=1, initial=0.0).astype(np.float64))
    return Links(
        changes=tuple(changes),
        linked=np.array(linked, dtype=np.bool_),
        cosine=np.concatenate(cosine) if cosine else np.zeros(0),
        degree=np.concatenate(degree) if degree else np.zeros(0),
        tau=scorer.parts.threshold,
        decision=results[0].decision if results else 0.5,
    )


def make_link_scorer(scorer: Scorer, study: Study) -> Scorer:
    """Return a copy of a scorer whose pseudo-references are the lists edited by the annotators."""
    # `max_claims` would drop pseudo-references that `RatedReview.addressed` refers to.
    settings = override_settings(scorer.settings, {"max_claims": None, "analyzers": "none"})
    # The default cosine threshold depends on the claim generator, so the copy gets its own matcher;
    # a matcher without a threshold serves all generators.
    matcher = scorer.parts.matcher if scorer.parts.threshold is None else None
    return Scorer(settings, generator=edited(study), encoder=scorer.parts.encoder, matcher=matcher)


def join(folds: Sequence[Links]) -> Links:
    """Join the pairs of several folds."""
    return replace(
        folds[0],
        changes=tuple(change for fold in folds for change in fold.changes),
        linked=np.concatenate([fold.linked for fold in folds]),
        cosine=np.concatenate([fold.cosine for fold in folds]),
        degree=np.concatenate([fold.degree for fold in folds]),
    )


def classify(links: Links, **resampling: Unpack[Resampling]) -> Classifier | None:
    """Compare the matcher's decisions with the pairs that people linked.

    Args:
        links: The pairs.
        resampling: Number of bootstrap resamples of the changes, 0 for no interval, and their seed.

    Returns:
        The performance of the matcher; None if there are no pairs.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, table 4.
    """
    linked = links.linked
    if not len(linked):
        return None
    # The published matcher gives only the degrees 0 and 1, so the pairs are ranked by cosine.
    binary = bool(np.isin(links.degree, (0.0, 1.0)).all())
    score = links.cosine if binary else links.degree
    positive = links.degree >= links.decision
    hits, positives, total = (int(pairs.sum()) for pairs in (positive & linked, positive, linked))
    # F1 = hits / ((positives + linked) / 2): a ratio of two sums over the pairs, which can be
    # computed for all resamples at once.
    mean_positives = (positive.astype(np.float64) + linked) / 2
    of_f1 = partial(resampled.ratio, (positive & linked).astype(np.float64), mean_positives)
    of_average = partial(average_precision, score, linked)
    f1_low, f1_high = resampled.interval(of_f1, links.changes, **resampling)
    average_low, average_high = resampled.interval(of_average, links.changes, **resampling)
    return Classifier(
        n=len(linked),
        positive=total,
        score="cosine" if binary else "degree",
        threshold=links.decision if links.tau is None else links.tau,
        precision=hits / positives if positives else None,
        recall=hits / total if total else 0.0,
        f1=2 * hits / (positives + total) if positives + total else 0.0,
        f1_low=f1_low,
        f1_high=f1_high,
        average_precision=resampled.compute_once(of_average, len(linked)) or 0.0,
        average_precision_low=average_low,
        average_precision_high=average_high,
        auc=resampled.compute_once(partial(resampled.auc, score, linked), len(linked)),
    )


def average_precision(score: Doubles, linked: Bools, weights: Doubles) -> Doubles:
    """Compute the average precision of a ranking in each of B bootstrap resamples.

    Average precision is the area under the steps of precision over recall. Pairs of equal score
    form one step, so their order in the file does not matter.

    Args:
        score: Score of each pair, shape (P,); higher means more likely linked.
        linked: Whether people linked the pair, shape (P,).
        weights: How often each resample contains each pair, shape (B, P).

    Returns:
        Sum over the steps of (gain of recall) x (precision), in [0, 1], shape (B,); NaN if a
        resample contains no linked pair.

    Example:
        The recall is 1/2 at precision 1, then 1 at precision 2/3: (1 + 2/3) / 2.

        >>> score = np.array([0.9, 0.8, 0.7])
        >>> average_precision(score, np.array([True, False, True]), np.ones((1, 3))).round(4)
        array([0.8333])
    """
    order = np.argsort(-score, kind="stable")
    later_starts = np.flatnonzero(np.diff(score[order])) + 1
    starts = np.concatenate([[0], later_starts]).astype(np.intp)
    ordered = weights[:, order]
    hits = np.add.reduceat(ordered * linked[order], starts, axis=1)
    positives = np.cumsum(np.add.reduceat(ordered, starts, axis=1), axis=1)
    hits_above = np.cumsum(hits, axis=1)
    precision = np.divide(hits_above, positives, out=np.zeros_like(hits), where=positives > 0)
    return divide((hits * precision).sum(axis=1), hits_above[:, -1])
