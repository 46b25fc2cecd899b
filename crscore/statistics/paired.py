"""Paired comparison: is the difference of two sides, measured on the same units, significant?

The two sides are what is compared, such as two reviewers. Units are what was sampled: changes,
pull requests or problems. Each bootstrap sample ("draw") takes the same units for both sides, so
that the difficulty of a unit cancels out (`bootstrap`).
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from crscore.statistics import bootstrap
from crscore.statistics.intervals import Doubles

SIGNIFICANCE: Final = 0.05
"""A difference is significant only if its p-value is below this level."""


class PairedComparison(NamedTuple):
    """Difference of two sides and its uncertainty."""

    difference: float | None
    """First side minus second side; None if the statistic is undefined on a side."""
    low: float | None
    """Lower end of the 95 % interval; None if there is no interval."""
    high: float | None
    """Upper end of the 95 % interval; None if there is no interval."""
    p: float | None
    """Two-sided p-value of no difference; None if the draws do not determine it."""
    error: float | None
    """Standard error of the difference; None if there is no interval."""
    units: int
    """Number of units from which the draws were taken."""

    @property
    def direction(self) -> int:
        """1 if the first side is significantly higher, -1 if the second one is, else 0.

        A difference is significant if p is below `SIGNIFICANCE` and the interval excludes 0.
        """
        if self.p is None or self.p >= SIGNIFICANCE or self.low is None or self.high is None:
            return 0
        return int(self.low > 0) - int(self.high < 0)

    def units_needed(
        self, detect: float | None = None, *, significance: float = SIGNIFICANCE
    ) -> int | None:
        """Return the number of units with which 80 % of studies would show a difference.

        Args:
            detect: Difference to show; None for the observed one.
            significance: Significance level of the two-sided test, in (0, 1).

        Returns:
            The number of units, at least 2; None if there is no difference or no standard error.
        """
        detect = self.difference if detect is None else detect
        if detect is None or self.error is None:
            return None
        return bootstrap.clusters_needed(
            detect, self.error, clusters=self.units, significance=significance
        )


def compare(
    difference: float | None, draws: Doubles, *, units: int, is_mean: bool = False
) -> PairedComparison:
    """Compare two sides by the difference of a statistic.

    Args:
        difference: First side minus second side, on all units; None if undefined.
        draws: The difference in each draw of units, shape (B,); NaN if undefined.
        units: Number of units from which the draws were taken.
        is_mean: Whether the statistic is a mean over the units. If all draws have the same mean,
            all units differ by the same amount, and the p-value is that of the exact sign test.
            With another statistic, it is None in this case.

    Raises:
        DependencyError: scipy is not installed.

    Example:
        >>> draws = np.random.default_rng(0).normal(0.3, 0.1, 1000)
        >>> result = compare(0.3, draws, units=50)
        >>> result.direction, result.p < 0.01
        (1, True)
    """
    (low, high), p, error = bootstrap.bootstrap_test(
        difference, draws, clusters=units, is_correlation=False
    )
    # Sums of equal differences in another order differ by rounding, about 1e-16 of their size.
    # Therefore, a standard error or a difference below 1e-9 counts as 0.
    if difference and error is not None and error < 1e-9 < abs(difference):
        # Of all 2**units assignments of signs, only two are as extreme: all plus and all minus.
        p = 2 * 0.5**units if is_mean else None
    return PairedComparison(difference, low, high, p, error, units)


def correct(comparisons: Iterable[PairedComparison]) -> list[PairedComparison]:
    """Return the comparisons with p-values that are corrected by the method of Holm.

    A comparison without a p-value stays as it is and is not counted as a test.

    Example:
        >>> one = PairedComparison(1.0, 0.1, 2.0, 0.03, 0.5, 20)
        >>> [row.p for row in correct([one, one])]
        [0.06, 0.06]
    """
    listed = list(comparisons)
    corrected = iter(holm([row.p for row in listed if row.p is not None]))
    return [row if row.p is None else row._replace(p=next(corrected)) for row in listed]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Correct the p-values of several tests by the method of Holm.

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
    # scipy lacks this method. statsmodels has it, but also needs pandas and patsy.
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    scaled = np.minimum(1.0, factors * np.asarray(p_values, dtype=np.float64)[order])
    # The correction must not change the order of the p-values.
    corrected[order] = np.maximum.accumulate(scaled)
    return tuple(corrected.tolist())
