"""Matching of findings and problems: one to one, best first."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Match(NamedTuple):
    """Finding and the problem matched with it."""

    finding: int
    problem: int
    probability: float


def assign(probabilities: Floats) -> list[Match]:
    """Match findings and problems, the most probable pair first.

    Args:
        probabilities: Shape (F, G).

    Returns:
        At most min(F, G) pairs, the most probable first; among equally probable pairs, the first
        rows come first.

    Example:
        >>> [match[:2] for match in assign(np.array([[0.9, 0.8], [0.7, 0.1]]))]
        [(0, 0), (1, 1)]
    """
    matches: list[Match] = []
    findings: set[int] = set()
    problems: set[int] = set()
    for cell in np.argsort(-probabilities, axis=None, kind="stable").tolist():
        row, column = divmod(cell, probabilities.shape[1])
        if row not in findings and column not in problems:
            findings.add(row)
            problems.add(column)
            matches.append(Match(row, column, float(probabilities[row, column])))
            if len(matches) == min(probabilities.shape):
                break
    return matches
