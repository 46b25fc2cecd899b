"""Correlations of values and of ranks, agreement on categories, and pairs of different grades."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crscore.statistics.intervals import Doubles
from crscore.statistics.ranks import require_scipy

Indices = npt.NDArray[np.intp]


def rank(values: Doubles) -> Doubles:
    """Return the rank of each value, 1 for the lowest; equal values share their mean rank.

    Args:
        values: Shape (N,).

    Returns:
        Shape (N,).

    Raises:
        DependencyError: scipy is not installed.

    Example:
        >>> rank(np.array([3.0, 1.0, 3.0])).tolist()
        [2.5, 1.0, 2.5]
    """
    ranked: Doubles = require_scipy().rankdata(values)
    return ranked


def pearson(first: Doubles, second: Doubles) -> float | None:
    """Compute Pearson's correlation of two lists.

    Args:
        first: Shape (N,).
        second: Shape (N,).

    Returns:
        In [-1, 1], exactly 1 for equal lists; None if N is below 2 or a list is constant.
    """
    if len(first) < 2:
        return None
    a, b = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    # Clipped, because a correlation of 1 can exceed 1 by a rounding error.
    return float(np.clip(float(a @ b) / scale, -1.0, 1.0)) if scale > 0 else None


def spearman(first: Doubles, second: Doubles) -> float | None:
    """Compute Spearman's correlation: `pearson` of the ranks of two lists.

    Raises:
        DependencyError: scipy is not installed.
    """
    # `scipy.stats.spearmanr` takes ten times as long, mostly for a p-value that is not needed.
    return pearson(rank(first), rank(second))


def kendall(first: Doubles, second: Doubles) -> float | None:
    """Compute Kendall's tau-b of two lists.

    Args:
        first: Shape (N,).
        second: Shape (N,).

    Returns:
        In [-1, 1]; None if N is below 2 or a list is constant.

    Raises:
        DependencyError: scipy is not installed.
    """
    stats = require_scipy()
    # For such lists, scipy would return NaN.
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(stats.kendalltau(first, second).statistic)


def cohen_kappa(pairs: Sequence[tuple[str | bool, str | bool]]) -> float | None:
    """Compute Cohen's kappa of two annotators' categories.

    Args:
        pairs: The two annotators' categories of each item.

    Returns:
        At most 1, which is perfect agreement; 0 is chance. None if there are no items, or if both
        annotators gave the same category to all items.

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
        # A category used only by the second annotator adds 0.
        for category in np.unique(first)
    )
    if chance >= 1:
        return None
    return (float(np.mean(first == second)) - chance) / (1 - chance)


def graded_pairs(groups: Sequence[str], grades: Doubles) -> tuple[Indices, Indices]:
    """Return all pairs of rows that are in one group and have different grades.

    Args:
        groups: Group of each of N rows, at least one.
        grades: Shape (N,).

    Returns:
        Indices of the rows with the higher grade, and of the rows with the lower grade, both of
        shape (K,) for K pairs.

    Example:
        >>> better, worse = graded_pairs(["a", "b", "a", "a"], np.array([1.0, 5.0, 2.0, 2.0]))
        >>> better.tolist(), worse.tolist()
        ([2, 3], [0, 0])
    """
    _, membership = np.unique(np.asarray(groups), return_inverse=True)
    order = np.argsort(membership, kind="stable")
    parts = []
    for rows in np.split(order, np.cumsum(np.bincount(membership))[:-1]):
        # With "higher" rather than "different", each pair occurs once.
        higher = grades[rows][:, None] > grades[rows][None, :]
        parts.append(rows[np.argwhere(higher)])
    better, worse = np.concatenate(parts).T
    return better, worse
