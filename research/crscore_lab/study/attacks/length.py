"""Effect of length: whether longer reviews score higher than their human ratings explain."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Unpack

import numpy as np

from crscore.statistics.intervals import Doubles
from crscore.statistics.resampled import divide
from crscore_lab.statistics.resampled import Resampling, compute_once, interval, rank, spearman
from crscore_lab.study.measures.measurements import USEFULNESS, WORDS, Measurements

# Minimum of (1 - r13²)(1 - r23²). Below it, a correlation is 1 or -1 up to rounding, and the
# partial correlation is undefined.
_MIN_UNEXPLAINED: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthEffect:
    """Correlation of a score with the number of words, given the human rating."""

    partial: float | None
    """Partial Spearman correlation of the relevance score and the number of words, given the human
    relevance, in [-1, 1]; None if one of the three is constant, or if the human relevance has the
    same or the opposite order as another of them."""
    low: float | None
    """Lower end of the 95 % interval of `partial` from a bootstrap of the changes; None if there is
    no interval."""
    high: float | None
    """Upper end of the same interval; None if there is no interval."""
    headline: float | None = None
    """The same correlation of the headline and the number of words; None without a headline."""


def length_effect(measured: Measurements, **resampling: Unpack[Resampling]) -> LengthEffect:
    """Correlate the relevance score with the number of words, given the human relevance.

    Args:
        measured: Values of the reviews, including the metric `words`.
        resampling: Number of bootstrap resamples of the changes, 0 for no interval, and their seed.
    """
    relevance_by_metric = {metric.name: metric.values[:, 2] for metric in measured.metrics}
    name = measured.primary.name
    columns = [relevance_by_metric[name], relevance_by_metric[WORDS], measured.human[:, 2]]
    effect, reviews = partial(partial_spearman, columns), len(measured.human)
    low, high = interval(effect, measured.changes, **resampling)
    of_headline = None
    if (headline := relevance_by_metric.get(USEFULNESS)) is not None:
        of_headline = compute_once(partial(partial_spearman, [headline, *columns[1:]]), reviews)
    return LengthEffect(
        partial=compute_once(effect, reviews), low=low, high=high, headline=of_headline
    )


def partial_spearman(columns: Sequence[Doubles], weights: Doubles) -> Doubles:
    """Compute the partial rank correlation of two lists, given a third, in each resample.

    Args:
        columns: The two lists and the third list, each of shape (N,).
        weights: How often each of B bootstrap resamples contains each row, shape (B, N).

    Returns:
        (r12 - r13 r23) / sqrt((1 - r13²)(1 - r23²)), in [-1, 1], shape (B,); NaN if a list is
        constant, or if the third list has the same or the opposite order as another list.

    Source:
        The textbook formula of the first-order partial correlation, applied to Spearman's rho.

    Example:
        Both lists depend only on the third, so their partial correlation is 0.

        >>> third = np.array([1.0, 1, 2, 2, 3, 3, 4, 4])
        >>> first, second = third + [0.1, 0, 0, 0.1] * 2, third + [0.1, 0, 0.1, 0] * 2
        >>> abs(float(partial_spearman([first, second, third], np.ones((1, 8)))[0])) < 1e-9
        True
    """
    first, second, third = (rank(column, weights) for column in columns)
    of_first, of_second = spearman(first, third), spearman(second, third)
    unexplained = (1 - of_first**2) * (1 - of_second**2)
    value = divide(spearman(first, second) - of_first * of_second, np.sqrt(unexplained))
    # Adding 0.0 turns -0.0 into 0.
    return np.where(unexplained > _MIN_UNEXPLAINED, np.clip(value, -1, 1) + 0.0, np.nan)
