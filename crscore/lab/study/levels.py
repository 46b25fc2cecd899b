"""Metrics at each step of the human scale, and the published rule at other thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.lab.study.measure import Measurements, ScoredReview
from crscore.lab.study.study import DIMENSIONS, LIKERT
from crscore.scoring import scores
from crscore.statistics import ranks

Floats = npt.NDArray[np.float64]

GRID: Final = tuple(round(0.05 * step, 2) for step in range(2, 19))
"""Thresholds of the sweep."""


class Level(Struct, frozen=True, kw_only=True):
    """Reviews that people gave one rating."""

    level: int
    """Likert rating, 1 to 5; a rating between two steps belongs to the nearer, half up."""
    n: int
    """Number of reviews."""
    mean: float | None
    """Mean of the metric; None without a review."""


class Sensitivity(Struct, frozen=True, kw_only=True):
    """Response of a metric to the human scale."""

    metric: str
    """The metric's name."""
    dimension: str
    """Human dimension."""
    levels: tuple[Level, ...]
    """Levels from 1 to 5."""
    monotone: bool | None
    """Whether the mean rises at every step that has reviews; None with fewer than two of them."""
    primary: bool
    """Whether this is the primary metric of the run."""


class Step(Struct, frozen=True, kw_only=True):
    """The published rule at one threshold."""

    threshold: float
    """Tau."""
    spearman: float | None
    """Spearman correlation of its relevance with people's; None when it is constant."""
    kendall: float | None
    """Tau-b of the same two; None when the relevance is constant."""
    mean: float
    """Mean relevance, in [0, 1]."""


def measure_levels(measured: Measurements) -> tuple[Sensitivity, ...]:
    """Average every metric over the reviews of each human level.

    Args:
        measured: The values.

    Returns:
        One row per metric and dimension, the primary metric first.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, figure 8.
    """
    steps = range(LIKERT[0], LIKERT[1] + 1)
    found = []
    rated = np.floor(measured.human + 0.5)
    for metric in measured.metrics:
        for d, dimension in enumerate(DIMENSIONS):
            levels = tuple(_level(step, metric.values[rated[:, d] == step, d]) for step in steps)
            means = [level.mean for level in levels if level.mean is not None]
            rises = all(low < high for low, high in pairwise(means))
            found.append(
                Sensitivity(
                    metric=metric.name,
                    dimension=dimension,
                    levels=levels,
                    monotone=rises if len(means) > 1 else None,
                    primary=metric.primary,
                )
            )
    return tuple(found)


def _level(step: int, values: Floats) -> Level:
    mean = float(values.mean()) if len(values) else None
    return Level(level=step, n=len(values), mean=mean)


def sweep(measured: Measurements, *, also: Sequence[float] = ()) -> tuple[Step, ...]:
    """Score every review by the published rule at other thresholds, from its cosines.

    A threshold chosen from this table is tuned on the same reviews; its correlation here does not
    estimate the one on other reviews.

    Args:
        measured: The values.
        also: Thresholds in addition to those of the grid.

    Returns:
        One step per threshold, ascending.

    Raises:
        DependencyError: scipy is not installed.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, table 18.
    """
    human = measured.human[:, 2]
    steps = []
    for tau in sorted({*GRID, *also}):
        values = np.round([_relevance(row, tau) for row in measured.rows], 12)
        steps.append(
            Step(
                threshold=tau,
                spearman=ranks.spearman(values, human),
                kendall=ranks.kendall(values, human),
                mean=float(values.mean()),
            )
        )
    return tuple(steps)


def _relevance(row: ScoredReview, tau: float) -> float:
    if not len(row.sentences) or not len(row.references):
        return 0.0
    con, comp = float((row.sentences > tau).mean()), float((row.references > tau).mean())
    return scores.harmonic_mean(con, comp)
