"""Agreement between the annotators of a study, the ceiling of any measure compared with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

import numpy as np
from msgspec import Struct

from crscore.lab.study.data.study import DIMENSIONS, RatedReview, Study
from crscore.statistics import ranks

Pairs = Sequence[tuple[float, float]]

_Verdict = TypeVar("_Verdict")

CLAIMS = "claim correctness"
ALPHA = "Krippendorff's alpha (ordinal)"
WEIGHTED_KAPPA = "Cohen's kappa (quadratic weights)"
SPEARMAN = "Spearman"
KAPPA = "Cohen's kappa"


class Agreement(Struct, frozen=True, kw_only=True):
    """One measure of agreement."""

    what: str
    """A dimension of the reviews, or `claim correctness`."""
    measure: str
    """Name of the measure."""
    n: int
    """Reviews or claims judged by two or more annotators."""
    value: float | None
    """Agreement, at most 1 (perfect); 0 is chance. None when undefined."""
    reason: str | None = None
    """Why the value is None; None when it is a number."""


def measure_agreement(study: Study) -> tuple[Agreement, ...]:
    """Measure the agreement on ratings and on the correctness of claims.

    Alpha takes any number of annotators and needs no names. The other measures compare two
    annotators and are averaged over the pairs of named annotators (Light's kappa).

    Args:
        study: The study.

    Returns:
        Three measures for each dimension, then one for the claims. Measures are never left out;
        those without items judged twice have a reason.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801v2, reports alpha of the ratings and kappa of
        the claims. The weighted kappa and the rank correlation are added here.
    """
    reviews = [
        review for change in study.changes for review in change.reviews if review.other_ratings
    ]
    rows = []
    for index, dimension in enumerate(DIMENSIONS):
        rows.append(_alpha(dimension, reviews, index))
        named = [_named(review, index) for review in reviews]
        for measure, function in ((WEIGHTED_KAPPA, weighted_kappa), (SPEARMAN, _spearman)):
            rows.append(_mean(dimension, measure, named, function, "review"))
    verdicts = [claim.by_annotator or {} for change in study.changes for claim in change.judged]
    rows.append(_mean(CLAIMS, KAPPA, verdicts, cohen_kappa, "claim"))
    return tuple(rows)


def krippendorff_alpha(units: Iterable[Sequence[float]]) -> float | None:
    """Compute Krippendorff's alpha for ordinal values.

    Implemented here because the existing package is under the GPL and this one is under the MIT
    license.

    Args:
        units: Values of each unit, in any order; units with fewer than two values do not count.

    Returns:
        At most 1, which is perfect agreement; 0 is chance. None when no unit counts or all
        values are the same.

    Source:
        K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, section D, with the
        ordinal difference of its section on other metrics.

    Example:
        >>> krippendorff_alpha([(1, 1), (2, 2), (5, 5)])
        1.0
    """
    paired = [np.asarray(unit, dtype=np.float64) for unit in units if len(unit) > 1]
    if not paired:
        return None
    values, places = np.unique(np.concatenate(paired), return_inverse=True)
    if len(values) < 2:
        return None
    size = len(values)
    together = np.zeros((size, size))
    start = 0
    for unit in paired:
        counts = np.bincount(places[start : start + len(unit)], minlength=size)
        start += len(unit)
        # Every ordered pair of two values of the unit, not of a value with itself.
        together += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = together.sum(axis=0)
    # Ordinal distance of two values: the number of values between them, each end counting half.
    upto = np.cumsum(totals) - totals / 2
    distance = (upto[:, None] - upto[None, :]) ** 2
    observed = float((together * distance).sum())
    expected = float((np.outer(totals, totals) * distance).sum()) / (float(totals.sum()) - 1)
    return 1 - observed / expected


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Compute Cohen's kappa of two annotators' categories.

    Args:
        pairs: The two annotators' categories of each item.

    Returns:
        At most 1, which is perfect agreement; 0 is chance. None without items, or when both gave
        the same category to all items.

    Source:
        J. Cohen, A Coefficient of Agreement for Nominal Scales, 1960.

    Example:
        >>> cohen_kappa([("yes", "yes"), ("no", "no"), ("yes", "no"), ("no", "yes")])
        0.0
    """
    if not pairs:
        return None
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    chance = sum(
        float(np.mean(first == category) * np.mean(second == category))
        for category in np.unique(first)
    )
    if chance >= 1:
        return None
    return (float(np.mean(first == second)) - chance) / (1 - chance)


def weighted_kappa(pairs: Pairs) -> float | None:
    """Compute Cohen's kappa of two annotators' numbers with squared weights.

    Args:
        pairs: The two annotators' numbers for each item.

    Returns:
        At most 1, which is perfect agreement; 0 is chance. None without items, or when both gave
        the same number to all items.

    Source:
        J. Cohen, Weighted Kappa, 1968. With squared weights the expected disagreement is the
        two variances and the squared difference of the means, so no table is needed.

    Example:
        >>> weighted_kappa([(1, 1), (5, 5), (3, 2)])
        0.9411764705882353
    """
    if not pairs:
        return None
    first, second = np.asarray(pairs, dtype=np.float64).T
    expected = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    if expected == 0:
        return None
    return float(1 - np.mean((first - second) ** 2) / expected)


def _spearman(pairs: Pairs) -> float | None:
    first, second = np.asarray(pairs, dtype=np.float64).reshape(-1, 2).T
    return ranks.spearman(first, second)


def _alpha(dimension: str, reviews: Sequence[RatedReview], index: int) -> Agreement:
    units = [
        (review.ratings[index], *(other.ratings[index] for other in review.other_ratings))
        for review in reviews
    ]
    return _row(dimension, ALPHA, len(units), krippendorff_alpha(units), "review")


def _named(review: RatedReview, index: int) -> dict[str, float]:
    everyone = [(review.annotator, review.ratings)]
    everyone += [(other.annotator, other.ratings) for other in review.other_ratings]
    return {name: values[index] for name, values in everyone if name is not None}


def _mean(
    what: str,
    measure: str,
    items: Iterable[Mapping[str, _Verdict | None]],
    function: Callable[[Sequence[tuple[_Verdict, _Verdict]]], float | None],
    noun: str,
) -> Agreement:
    """Average a two-annotator measure over all pairs of annotators with items in common.

    Pairs for which it is undefined do not count.
    """
    pairs: dict[tuple[str, str], list[tuple[_Verdict, _Verdict]]] = {}
    n = 0
    for item in items:
        given = [(name, verdict) for name, verdict in sorted(item.items()) if verdict is not None]
        n += len(given) > 1
        for (one, first), (other, second) in combinations(given, 2):
            pairs.setdefault((one, other), []).append((first, second))
    values = [value for judged in pairs.values() if (value := function(judged)) is not None]
    return _row(what, measure, n, float(np.mean(values)) if values else None, noun)


def _row(what: str, measure: str, n: int, value: float | None, noun: str) -> Agreement:
    reason = None
    if value is None:
        reason = f"no {noun} is judged by two annotators" if n == 0 else "judgements do not vary"
    return Agreement(what=what, measure=measure, n=n, value=value, reason=reason)
