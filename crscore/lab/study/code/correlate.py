"""Agreement of the scores of candidates with grades, within problems and over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

TIE: Final = 0.001
"""Scores that differ by less are equal in `kendall`."""


class Pairs(NamedTuple):
    """Pairs of rows of one problem."""

    first: Indices
    """Row of one candidate of each pair, shape (K,)."""
    second: Indices
    """Row of the other one, shape (K,)."""


def pairs_within(problems: Sequence[str]) -> Pairs:
    """Pair the candidates of each problem.

    Args:
        problems: Problem of each of N candidates.

    Returns:
        Every pair once.
    """
    _, membership = np.unique(np.asarray(problems), return_inverse=True)
    order = np.argsort(membership, kind="stable")
    first, second = [], []
    for rows in np.split(order, np.cumsum(np.bincount(membership))[:-1]):
        left, right = np.triu_indices(len(rows), 1)
        first.append(rows[left])
        second.append(rows[right])
    return Pairs(np.concatenate(first), np.concatenate(second))


def concordance(scores: Floats, grades: Floats, pairs: Pairs) -> npt.NDArray[np.int8]:
    """Compare the order of scores with that of grades, pair by pair.

    Args:
        scores: Shape (N,).
        grades: Shape (N,).
        pairs: K pairs of rows.

    Returns:
        Shape (K,): 1 for the same order, -1 for the opposite one, 0 where scores differ by less
        than `TIE`, and -2 for a pair of equal grades, which tells nothing.
    """
    better = np.sign(grades[pairs.first] - grades[pairs.second])
    difference = scores[pairs.first] - scores[pairs.second]
    agreement = np.where(np.abs(difference) < TIE, 0, np.sign(difference) * better)
    return np.where(better == 0, -2, agreement).astype(np.int8)


def kendall(scores: Floats, grades: Floats, problems: Sequence[str]) -> float | None:
    """Compute Kendall's tau of the candidates of the same problem.

    (C - D) / (C + D + T) over all pairs of one problem whose grades differ: C in the same order,
    D in the opposite one, T with scores less than 0.001 apart ("da-RR").

    Args:
        scores: Shape (N,).
        grades: Shape (N,), of people or 1 and 0 for passed and failed.
        problems: Problem of each candidate, N names.

    Returns:
        In [-1, 1]; None without a pair of different grades.

    Source:
        Zhou et al., "CodeBERTScore", EMNLP 2023, section 4.1; Ma et al., WMT 2018.

    Example:
        Two pairs in the right order and a tie.

        >>> kendall(np.array([0.1, 0.2, 0.2]), np.array([0.0, 1.0, 2.0]), ["a", "a", "a"])
        0.6666666666666666
    """
    agreement = concordance(scores, grades, pairs_within(problems))
    counted = agreement[agreement > -2]
    return float(counted.mean()) if len(counted) else None
