"""Corrections of p-values for multiple comparisons."""

from collections.abc import Sequence

import numpy as np


def holm_defined(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values by the method of Holm; None is not counted as a test and stays None."""
    corrected = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Correct p-values by the method of Holm.

    scipy lacks it; statsmodels has it, but would add pandas and patsy for these few lines.

    Args:
        p_values: Any number of p-values, each in [0, 1].

    Returns:
        The corrected p-values, in the same order, each in [0, 1].

    Source:
        Holm, Scandinavian Journal of Statistics 6 (1979), 65-70.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        (0.03, 0.06, 0.06)
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    scaled = np.minimum(1.0, factors * np.asarray(p_values, dtype=np.float64)[order])
    corrected[order] = np.maximum.accumulate(scaled)
    return tuple(corrected.tolist())
