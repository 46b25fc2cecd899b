"""Effect of length: whether longer reviews score higher than their human rating explains."""

from dataclasses import dataclass
from typing import Final, Unpack

import numpy as np
import numpy.typing as npt

from crscore_lab.statistics import ranks
from crscore_lab.statistics.resampled import Resampling, interval_of_rows
from crscore_lab.study.measures.measurements import USEFULNESS, WORDS, Measurements

Floats = npt.NDArray[np.float64]

# Lower bound of 1 - r²; below it, one list determines the order of the other except for rounding.
_MIN_UNEXPLAINED: Final = 1e-9


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


def length_effect(measured: Measurements, **resampling: Unpack[Resampling]) -> LengthEffect:
    """Correlate the primary metric's relevance with review length, given human relevance.

    Args:
        measured: Values of all machine reviews, including the metric `words`.
        resampling: Number of draws of changes, 0 for no interval, and their seed.

    Returns:
        The effect.
    """
    relevance_by_metric = {metric.name: metric.values[:, 2] for metric in measured.metrics}
    name = measured.primary.name
    columns = np.stack(
        [relevance_by_metric[name], relevance_by_metric[WORDS], measured.human[:, 2]]
    )
    interval = interval_of_rows(
        lambda rows: partial_spearman(*columns[:, rows]),
        measured.changes,
        **resampling,
    )
    headline = relevance_by_metric.get(USEFULNESS)
    return LengthEffect(
        metric=name,
        n=columns.shape[1],
        partial=partial_spearman(*columns),
        **interval._asdict(),
        headline=None if headline is None else partial_spearman(headline, *columns[1:]),
    )


def partial_spearman(first: Floats, second: Floats, control: Floats) -> float | None:
    """Correlate the ranks of two lists with the ranks of a third list held fixed.

    Args:
        first: Shape (N,).
        second: Shape (N,).
        control: Shape (N,).

    Returns:
        (r12 - r13 r23) / sqrt((1 - r13²)(1 - r23²)), in [-1, 1]; None when a list is constant or
        `control` determines the order of another list.

    Source:
        The textbook formula of the first-order partial correlation, on Spearman's rho.

    Example:
        Both lists depend only on the third, so their partial correlation is 0.

        >>> control = np.array([1.0, 1, 2, 2, 3, 3, 4, 4])
        >>> first, second = control + [0.1, 0, 0, 0.1] * 2, control + [0.1, 0, 0.1, 0] * 2
        >>> abs(partial_spearman(first, second, control)) < 1e-9
        True
    """
    pair = ranks.spearman(first, second)
    first_control, second_control = ranks.spearman(first, control), ranks.spearman(second, control)
    if pair is None or first_control is None or second_control is None:
        return None
    left = (1 - first_control**2) * (1 - second_control**2)
    if left <= _MIN_UNEXPLAINED:
        return None
    # Adding 0.0 turns -0.0 into 0.
    return float(np.clip((pair - first_control * second_control) / np.sqrt(left), -1, 1)) + 0.0
