"""Effect of length: whether longer reviews score higher than their human rating explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.errors import InputError
from crscore.lab.study.measure import Measurements
from crscore.statistics import ranks
from crscore.statistics.bootstrap import interval_of_rows

Floats = npt.NDArray[np.float64]

_WORDS: Final = "words"
_USEFULNESS: Final = "usefulness (headline)"
# Lower bound of 1 - r²; below it one list determines the order of the other up to rounding.
_NEARLY_ONE_LEFT: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthEffect:
    """Correlation of a score with the number of words, given the human rating."""

    metric: str
    """The metric's name."""
    n: int
    """Number of reviews."""
    partial: float | None
    """Spearman correlation of metric and words given human relevance, in [-1, 1]; None when one of
    the three is constant or two of them have the same order."""
    low: float | None
    """Lower end of the 95 % interval, by bootstrap over changes."""
    high: float | None
    """Upper end of the same interval."""
    headline: float | None = None
    """The same correlation of the headline; None where there is none."""


def length_effect(measured: Measurements, *, resamples: int, seed: int) -> LengthEffect:
    """Correlate the primary metric's relevance with review length, given human relevance.

    Args:
        measured: Values of all machine reviews, including the metric `words`.
        resamples: Draws of changes for the interval; 0 for none.
        seed: Seed of the draws.

    Returns:
        The effect.

    Raises:
        InputError: There is no metric called `words`.
    """
    named = {metric.name: metric.values[:, 2] for metric in measured.metrics}
    if _WORDS not in named:
        raise InputError("the effect of length needs the metric 'words' among the measurements")
    name = measured.primary.name
    columns = np.stack([named[name], named[_WORDS], measured.human[:, 2]])
    interval = interval_of_rows(
        lambda drawn: partial_spearman(*columns[:, drawn]),
        measured.changes,
        resamples=resamples,
        seed=seed,
    )
    return LengthEffect(
        metric=name,
        n=columns.shape[1],
        partial=partial_spearman(*columns),
        low=interval.low,
        high=interval.high,
        headline=partial_spearman(named[_USEFULNESS], *columns[1:])
        if _USEFULNESS in named
        else None,
    )


def partial_spearman(first: Floats, second: Floats, given: Floats) -> float | None:
    """Correlate the ranks of two lists with the ranks of a third list held fixed.

    Args:
        first: Shape (N,).
        second: Shape (N,).
        given: Shape (N,).

    Returns:
        (r12 - r13 r23) / sqrt((1 - r13²)(1 - r23²)), in [-1, 1]; None when a list is constant or
        `given` determines the order of another list.

    Source:
        The textbook formula of the first-order partial correlation, on Spearman's rho.

    Example:
        Both lists depend only on the third, so their partial correlation is 0.

        >>> given = np.array([1.0, 1, 2, 2, 3, 3, 4, 4])
        >>> one, other = given + [0.1, 0, 0, 0.1] * 2, given + [0.1, 0, 0.1, 0] * 2
        >>> abs(partial_spearman(one, other, given)) < 1e-9
        True
    """
    pair = ranks.spearman(first, second)
    one, other = ranks.spearman(first, given), ranks.spearman(second, given)
    if pair is None or one is None or other is None:
        return None
    left = (1 - one**2) * (1 - other**2)
    if left <= _NEARLY_ONE_LEFT:
        return None
    return float(np.clip((pair - one * other) / np.sqrt(left), -1, 1)) + 0.0
