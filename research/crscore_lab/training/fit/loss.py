"""Differentiable form of the published formulas: cells -> scores -> loss -> gradient.

Conciseness is the mean over sentences of the best cell, comprehensiveness the mean over
pseudo-references, relevance their harmonic mean (Naik et al., NAACL 2025, equations 1 to 3).
In training, "best" is a soft maximum, so that every candidate cell receives a gradient; in use it
is the maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore_lab.training.data.study_examples import Target

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

SHARPNESS: Final = 3.0
"""Sharpness of the soft maximum over logits."""
LOSS: Final = (1.0, 1.5, 4.0)
"""Weights of the errors of conciseness, comprehensiveness and relevance."""
ADDRESSED: Final = 0.6
"""Weight of the error of whether a review addresses a pseudo-reference, relative to `LOSS`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Layout of the M cells of many reviews."""

    sentence: Integers
    """Index of each cell's sentence, shape (M,)."""
    reference: Integers
    """Index of each cell's pair of review and pseudo-reference, shape (M,)."""
    review_of_sentence: Integers
    """Index of each sentence's review."""
    review_of_reference: Integers
    """Index of the review of each pair of review and pseudo-reference."""
    targets: Doubles
    """Target scores of the reviews, shape (reviews, 3), each in [0, 1]."""
    weights: Doubles
    """Weights of the reviews in the loss, shape (reviews,)."""
    addressed: Doubles
    """Whether the review of each pair addresses the pseudo-reference: 1, 0, or NaN if this is not
    annotated."""

    @classmethod
    def of(cls, shapes: Sequence[tuple[int, int]], targets: Sequence[Target]) -> Layout:
        """Arrange the cells of reviews one after the other.

        Args:
            shapes: Number of pseudo-references and number of sentences of each review. The cells of
                a pseudo-reference are next to each other.
            targets: Target scores of each review.
        """
        sentence, reference, addressed = [], [], []
        sentences = rows = 0
        for (r, s), target in zip(shapes, targets, strict=True):
            sentence.append(np.tile(np.arange(s), r) + sentences)
            reference.append(np.repeat(np.arange(r), s) + rows)
            linked = target.addressed
            addressed += [np.nan if linked is None else float(i in linked) for i in range(r)]
            sentences, rows = sentences + s, rows + r
        reviews = np.arange(len(shapes))
        return cls(
            sentence=np.concatenate(sentence).astype(np.intp),
            reference=np.concatenate(reference).astype(np.intp),
            review_of_sentence=np.repeat(reviews, [s for _, s in shapes]),
            review_of_reference=np.repeat(reviews, [r for r, _ in shapes]),
            targets=np.array([target.scores for target in targets]),
            weights=np.array([target.weight for target in targets]),
            addressed=np.array(addressed),
        )


def sigmoid(logits: Doubles) -> Doubles:
    """Map logits to degrees in (0, 1)."""
    degrees: Doubles = 1 / (1 + np.exp(-logits))
    return degrees


def gradient(
    logits: Doubles, layout: Layout, *, loss: tuple[float, float, float] = LOSS
) -> tuple[Doubles, Doubles]:
    """Compute the gradient of the loss with respect to the cells' logits.

    Args:
        logits: Shape (M,).
        layout: Layout of the cells.
        loss: Weights of the errors of conciseness, comprehensiveness and relevance.

    Returns:
        The loss's gradient and the diagonal of its Gauss-Newton matrix, both of shape (M,).
    """
    degrees = sigmoid(logits)
    slope = degrees * (1 - degrees)
    review = layout.review_of_sentence[layout.sentence]
    by_sentence = _soft_maximum(logits, layout.sentence, len(layout.review_of_sentence))
    by_reference = _soft_maximum(logits, layout.reference, len(layout.review_of_reference))

    def mean_of_best(
        shares: Doubles, group: Integers, review_of: Integers
    ) -> tuple[Doubles, Doubles]:
        reviews = len(layout.weights)
        best = np.bincount(group, shares * degrees, len(review_of))
        size = np.maximum(np.bincount(review_of, minlength=reviews), 1)
        d_mean = shares * slope / size[review_of[group]]
        return np.bincount(review_of, best, reviews) / size, d_mean

    con, d_con = mean_of_best(by_sentence, layout.sentence, layout.review_of_sentence)
    comp, d_comp = mean_of_best(by_reference, layout.reference, layout.review_of_reference)
    # 1e-9 is added, because the sum is a divisor, and both scores may be 0.
    total = con + comp + 1e-9
    rel = 2 * con * comp / total
    d_rel = (2 * comp**2 / total**2)[review] * d_con + (2 * con**2 / total**2)[review] * d_comp
    # `second` starts above 0, because lightgbm divides by it.
    first, second = np.zeros_like(logits), np.full_like(logits, 1e-4)
    for column, (value, d_value) in enumerate(((con, d_con), (comp, d_comp), (rel, d_rel))):
        cost = 2 * loss[column] * layout.weights
        first += (cost * (value - layout.targets[:, column]))[review] * d_value
        second += cost[review] * d_value**2
    best = np.bincount(layout.reference, by_reference * degrees, len(layout.review_of_reference))
    is_annotated = ~np.isnan(layout.addressed)
    error = np.where(is_annotated, best - np.nan_to_num(layout.addressed), 0.0)
    # Limited, because the slope of the cross-entropy grows without bound near 0 and 1.
    spread = np.clip(best * (1 - best), 1e-3, None)
    d_best = by_reference * slope * layout.weights[review]
    first += ADDRESSED * (error / spread)[layout.reference] * d_best
    second += ADDRESSED * is_annotated[layout.reference] * d_best
    return first, second


def _soft_maximum(logits: Doubles, group: Integers, groups: int) -> Doubles:
    """Return each cell's share in the soft maximum of its group."""
    highest = np.full(groups, -np.inf)
    np.maximum.at(highest, group, logits)
    shares = np.exp(SHARPNESS * (logits - highest[group]))
    normalized: Doubles = shares / np.bincount(group, shares, groups)[group]
    return normalized
