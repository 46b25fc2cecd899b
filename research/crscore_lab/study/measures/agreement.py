"""Agreement between the annotators of a study, which limits the agreement of a score with them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

import numpy as np
from msgspec import Struct

from crscore.code import libraries
from crscore.errors import DependencyError
from crscore_lab.statistics import ranks
from crscore_lab.study.data.study import DIMENSIONS, Study

Pairs = Sequence[tuple[float, float]]

_Verdict = TypeVar("_Verdict")

CLAIMS = "claim correctness"
ALPHA = "Krippendorff's alpha (ordinal)"
WEIGHTED_KAPPA = "Cohen's kappa (quadratic weights)"
SPEARMAN = "Spearman"
KAPPA = "Cohen's kappa"
INSTALL = "pip install 'crscore-lab[agreement]'"


class Agreement(Struct, frozen=True):
    """Value of one measure of agreement on one subject."""

    subject: str
    """Object of the judgements: a dimension of the reviews, or `claim correctness`."""
    measure: str
    """Name of the measure."""
    n: int
    """Number of reviews or claims judged by two or more annotators."""
    value: float | None
    """Agreement, at most 1 (perfect); 0 is chance. None if undefined."""
    reason: str | None = None
    """Why the value is None; None if the value is a number."""


def measure_agreement(study: Study) -> tuple[Agreement, ...]:
    """Measure the agreement of annotators on ratings and on the correctness of claims.

    Alpha takes any number of annotators, also without their names. The other measures compare two
    annotators and are averaged over all pairs of named annotators (Light's kappa).

    Args:
        study: The study.

    Returns:
        Three measures for each dimension, then one for the claims. A measure that is undefined has
        the value None and a reason.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801v2, reports alpha of the ratings and kappa of
        the claims. The weighted kappa and the rank correlation are added here.
    """
    rated = [
        (review, *review.other_ratings)
        for change in study.changes
        for review in change.reviews
        if review.other_ratings
    ]
    rows = []
    for index, dimension in enumerate(DIMENSIONS):
        try:
            alpha = krippendorff_alpha([[row.ratings[index] for row in unit] for unit in rated])
            rows.append(_row(dimension, ALPHA, len(rated), alpha))
        except DependencyError as exc:
            rows.append(Agreement(dimension, ALPHA, len(rated), None, str(exc)))
        by_annotator = [
            {row.annotator: row.ratings[index] for row in unit if row.annotator is not None}
            for unit in rated
        ]
        for measure, function in ((WEIGHTED_KAPPA, weighted_kappa), (SPEARMAN, _spearman)):
            rows.append(_average_pairs(dimension, measure, by_annotator, function))
    verdicts = [
        claim.by_annotator or {} for change in study.changes for claim in change.llm_claims or ()
    ]
    rows.append(_average_pairs(CLAIMS, KAPPA, verdicts, ranks.cohen_kappa))
    return tuple(rows)


def krippendorff_alpha(units: Iterable[Sequence[float]]) -> float | None:
    """Compute Krippendorff's alpha of ordinal values with the package krippendorff (0.9).

    Args:
        units: For each judged item, its values in any order; items with fewer than two values are
            ignored.

    Returns:
        At most 1, which is perfect agreement; 0 is chance. None if no item has two values, or if
        all values are the same.

    Raises:
        DependencyError: krippendorff is not installed. Because its license is the GPL, only the
            extra `agreement` installs it.

    Example:
        >>> krippendorff_alpha([(1, 1), (2, 2), (5, 5)])
        1.0
    """
    judged = [unit for unit in units if len(unit) > 1]
    domain = sorted({value for unit in judged for value in unit})
    if len(domain) < 2:
        return None
    krippendorff = libraries.load("krippendorff", "krippendorff", INSTALL)
    counts = [[Counter(unit)[value] for value in domain] for unit in judged]
    return float(
        krippendorff.alpha(value_counts=counts, value_domain=domain, level_of_measurement="ordinal")
    )


def weighted_kappa(pairs: Pairs) -> float | None:
    """Compute Cohen's kappa of two annotators' numbers with squared weights.

    Args:
        pairs: The two annotators' numbers for each item.

    Returns:
        At most 1, which is perfect agreement; 0 is chance. None if there are no items, or if both
        annotators gave the same number to all items.

    Source:
        J. Cohen, Weighted Kappa, 1968. With squared weights, the expected disagreement is the sum
        of both variances and the squared difference of the means, so no table is needed.

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


def _average_pairs(
    subject: str,
    measure: str,
    items: Iterable[Mapping[str, _Verdict | None]],
    function: Callable[[Sequence[tuple[_Verdict, _Verdict]]], float | None],
) -> Agreement:
    """Average a measure of two annotators over all pairs of annotators with items in common.

    Pairs of annotators for which the measure is undefined are left out.
    """
    by_pair: dict[tuple[str, str], list[tuple[_Verdict, _Verdict]]] = {}
    n = 0
    for item in items:
        verdicts = [
            # Sorted by name, because (A, B) and (B, A) would be two keys of one pair.
            (name, verdict)
            for name, verdict in sorted(item.items())
            if verdict is not None
        ]
        n += len(verdicts) > 1
        for (name, verdict), (other_name, other_verdict) in combinations(verdicts, 2):
            by_pair.setdefault((name, other_name), []).append((verdict, other_verdict))
    values = [value for pairs in by_pair.values() if (value := function(pairs)) is not None]
    return _row(subject, measure, n, float(np.mean(values)) if values else None)


def _row(subject: str, measure: str, n: int, value: float | None) -> Agreement:
    noun, reason = "claim" if subject == CLAIMS else "review", None
    if value is None:
        reason = "judgements do not vary" if n else f"no {noun} is judged by two annotators"
    return Agreement(subject, measure, n, value, reason)
