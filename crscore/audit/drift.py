"""Changes of a bot's configuration, detected from its behaviour.

Each night, the pull requests of a window of recent nights (`RECENT`) are compared with the pull
requests of up to 14 nights before it, with one rank test per number. The p-values are corrected for
all nights and numbers of a bot (Bonferroni), but not for the windows, which overlap:
`benchmarks/audit_planted.py` counts the false alarms. The test assumes similar pull requests: a
large migration looks like a change of the bot.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.audit.overview import ConfigurationChange
from crscore.audit.tables import ReviewTable
from crscore.statistics.ranks import rank_sum_p
from crscore.statistics.resampled import divide

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RECENT: Final = (1, 2, 3, 7, 14)
"""Lengths of the windows in nights: short for many pull requests per night, long for few."""
BEFORE: Final = 14
"""Maximum number of nights before a window in the comparison."""
MIN_BEFORE: Final = 5
"""Minimum number of nights before a window in the comparison."""
SIGNIFICANCE: Final = 0.01
"""Significance level, chosen with seeds 0 to 99 of `benchmarks/audit_planted.py`."""


class _Finding(NamedTuple):
    """Test of one number in one window."""

    p_value: float
    day: int
    number: str
    before: float
    after: float


class _Nights(NamedTuple):
    """Distribution of one number over T nights."""

    values: Floats
    """Distinct values, sorted, shape (V,)."""
    counts: Floats
    """Count of each value in all nights before each night, shape (T + 1, V)."""

    def between(self, start: int, end: int) -> Floats:
        """Return the count of each value in the nights from `start` up to, but not in, `end`."""
        counts: Floats = self.counts[end] - self.counts[start]
        return counts

    def mean(self, counts: Floats) -> float:
        """Return the mean of the counted values; at least one is needed."""
        return float(counts @ self.values / counts.sum())


def find_changes(table: ReviewTable, reviewer: str) -> tuple[ConfigurationChange, ...]:
    """Find the days on which a bot began to behave differently.

    Args:
        table: Reviews of a period, with all measures; its last day is the last night.
        reviewer: Name of the bot.

    Returns:
        The changes in order. After a change, only later nights are compared with each other.
    """
    rows = table.rows_of(reviewer)
    first, last = (
        date.fromisoformat(day).toordinal() for day in (table.period.since, table.period.until)
    )
    length = last - first + 1
    days = table.day[table.pull[rows]] - first
    numbers = {
        name: _nights(values[rows], days, length) for name, values in _numbers(table).items()
    }
    # Nights without a review are not evidence of a steady bot, so only nights with one count.
    worked = np.concatenate([[0], np.cumsum(np.bincount(days, minlength=length) > 0)])
    changes = []
    start = 0
    for night in range(length):
        # Only data up to this night is used, so that later nights never change earlier results.
        best = min(_tests(numbers, worked, start, night), default=None)
        if best is not None and best.p_value * length * len(numbers) < SIGNIFICANCE:
            # Later nights are compared with nights after this change, so that it is reported once.
            start = best.day
            changes.append(
                ConfigurationChange(
                    day=date.fromordinal(first + best.day).isoformat(),
                    number=best.number,
                    before=best.before,
                    after=best.after,
                    p_value=best.p_value * length * len(numbers),
                )
            )
    return tuple(changes)


def _nights(values: Floats, days: Ints, length: int) -> _Nights:
    has_value = ~np.isnan(values)
    distinct, value_indices = np.unique(values[has_value], return_inverse=True)
    counts = np.zeros((length + 1, len(distinct)))
    np.add.at(counts, (days[has_value] + 1, value_indices), 1)
    return _Nights(distinct, np.cumsum(counts, axis=0))


def _numbers(table: ReviewTable) -> dict[str, Floats]:
    """Return the observed numbers by name, one value per row, NaN if unknown."""
    columns = table.columns
    return {
        "remarks per pull request": columns["comments"],
        "words per remark": divide(columns["words"], columns["comments"]),
        "usefulness": columns["usefulness"],
        "noise": columns["noise"],
    }


def _tests(
    numbers: Mapping[str, _Nights], worked: Ints, start: int, night: int
) -> Iterator[_Finding]:
    """Test each number in each window that ends with `night`.

    Args:
        numbers: The numbers by name.
        worked: Number of nights with a review before each night, shape (T + 1,).
        start: First night to use.
        night: Last night of the windows.
    """
    for window in RECENT:
        day = night - window + 1
        earliest = max(start, day - BEFORE)
        # Nights before the last change would show the same change again.
        if earliest >= day or worked[day] - worked[earliest] < MIN_BEFORE:
            continue
        for name, nights in numbers.items():
            old, new = nights.between(earliest, day), nights.between(day, night + 1)
            if old.any() and new.any():
                p = rank_sum_p(old, new)
                yield _Finding(p, day, name, nights.mean(old), nights.mean(new))
