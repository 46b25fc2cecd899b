"""Learning the weights of the combined metric from pairs of candidates of one problem.

A linear model of differences of features, by logistic regression: of two candidates that people
or tests tell apart, the better one shall have the higher score. Every problem counts by the square
root of its pairs, every set of candidates the same. Where a feature can only speak for a candidate
(likeness to the reference), or only against it (unfinished, unreadable), the
sign of its weight is fixed: with few problems to learn from, that carries over to others better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.code.metrics.codebertscore.tokens import TokenSource
from crscore.code.metrics.combined.compared import Compared, compare_samples
from crscore.code.metrics.combined.features import NAMES
from crscore.code.metrics.combined.weights import Weights
from crscore.code.samples import Sample
from crscore.lab.training.linear import require_scipy

Floats = npt.NDArray[np.float64]

_AGAINST: Final = ("length apart", "does not parse", "unfinished", "repetition", "tiny")
_EITHER: Final = ("size", "cosine with the context", "vectors precision", "content precision")
_CHOICE: Final = NAMES.index("characters recall")
"""Feature by which the reference to learn from is chosen where there are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of the training."""

    ridge: float = 0.01
    """Penalty of a squared weight, in units of the feature's spread, beside the mean loss."""
    pairs: int = 200
    """Most pairs of a problem."""
    seed: int = 0
    """Seed of the choice of pairs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Graded:
    """N candidates with grades."""

    compared: Sequence[Compared]
    """The candidates beside their references."""
    grades: Floats
    """Shape (N,), each in [0, 1]: of people, or 1 for passed and 0 for failed."""
    problems: Sequence[str]
    """Problem of each candidate."""

    def chosen(self, rows: npt.NDArray[np.bool_]) -> Graded:
        """Return some of the candidates."""
        at = np.flatnonzero(rows).tolist()
        return Graded(
            compared=[self.compared[row] for row in at],
            grades=self.grades[at],
            problems=[self.problems[row] for row in at],
        )


def read_graded(
    samples: Sequence[Sample], grades: Floats, source: TokenSource, *, top: float = 1.0
) -> Graded:
    """Compare candidates with their references, to learn from.

    Args:
        samples: N samples with ids.
        grades: Shape (N,), from 0.
        source: Token vectors.
        top: Highest possible grade.
    """
    return Graded(
        compared=list(compare_samples(samples, source)),
        grades=grades / top,
        problems=[sample.id or "" for sample in samples],
    )


def train(sets: Sequence[Graded], recipe: Recipe | None = None) -> Weights:
    """Learn weights.

    Args:
        sets: Sets of candidates, which weigh the same.
        recipe: Settings; None for the defaults.

    Returns:
        The weights; the same sets and recipe give the same ones.

    Raises:
        DependencyError: scipy is not installed.
    """
    recipe = recipe or Recipe()
    parts = [_differences(graded, recipe) for graded in sets]
    differences = np.concatenate([rows for rows, _ in parts])
    weights = np.concatenate([ones / ones.sum() for _, ones in parts]) / len(parts)
    spread = np.sqrt(weights @ differences**2)
    rows = differences / np.where(spread > 0, spread, 1.0)

    def loss(factors: Floats) -> tuple[float, Floats]:
        margins = rows @ factors
        value = weights @ np.logaddexp(0.0, -margins) + recipe.ridge * factors @ factors
        slope = -(weights * (0.5 - 0.5 * np.tanh(margins / 2))) @ rows
        return float(value), slope + 2 * recipe.ridge * factors

    found = require_scipy().minimize(
        loss, np.zeros(len(NAMES)), jac=True, method="L-BFGS-B", bounds=list(map(_bounds, NAMES))
    )
    factors = found.x / np.where(spread > 0, spread, 1.0)
    return _calibrated(factors, sets)


def _bounds(name: str) -> tuple[float | None, float | None]:
    if name in _AGAINST:
        return None, 0.0
    return (None, None) if name in _EITHER else (0.0, None)


def _best_rows(graded: Graded) -> Floats:
    return np.stack([one.rows[one.rows[:, _CHOICE].argmax()] for one in graded.compared])


def _differences(graded: Graded, recipe: Recipe) -> tuple[Floats, Floats]:
    """Return the better candidate's features less the other's for pairs, and their weights."""
    rows, draw = _best_rows(graded), np.random.default_rng(recipe.seed)
    problems = np.asarray(graded.problems)
    found, weights = [], []
    for problem in np.unique(problems):
        members = np.flatnonzero(problems == problem)
        left, right = (members[side] for side in np.triu_indices(len(members), 1))
        better = graded.grades[left] - graded.grades[right]
        told = np.flatnonzero(better)
        count = len(told)
        if count > recipe.pairs:
            told = np.sort(draw.choice(told, recipe.pairs, replace=False))
        if not count:
            continue
        sign = np.sign(better[told])[:, None]
        found.append(sign * (rows[left[told]] - rows[right[told]]))
        weights.append(np.abs(better[told]) * np.sqrt(count) / len(told))
    return np.concatenate(found), np.concatenate(weights)


def _calibrated(factors: Floats, sets: Sequence[Graded]) -> Weights:
    """Choose the start and the scale so that scores come near the grades."""
    logits = [_best_rows(graded) @ factors for graded in sets]
    values = np.concatenate(logits)
    grades = np.concatenate([graded.grades for graded in sets])
    weights = np.concatenate([np.full(len(one), 1 / len(one)) for one in logits]) / len(sets)

    def loss(line: Floats) -> tuple[float, Floats]:
        margins = line[0] * values + line[1]
        wrong = 0.5 + 0.5 * np.tanh(margins / 2) - grades
        value = weights @ (np.logaddexp(0.0, margins) - grades * margins)
        return float(value), np.array([weights @ (wrong * values), weights @ wrong])

    scale, start = require_scipy().minimize(loss, np.array([1.0, 0.0]), jac=True).x
    return Weights(factors=factors * scale, start=float(start))
