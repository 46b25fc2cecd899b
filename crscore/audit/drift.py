"""Changes of a bot's configuration, seen from its behaviour.

Each night, the pulls of the last one to three nights are compared with those of up to 14 nights
before, by a rank test a number. A night uses only what was there by then. The p-values are
corrected for all nights, windows and numbers of a bot (Bonferroni), so a bot that does not change
gives a false alarm in at most 5 % of periods, as long as its pulls are exchangeable: a period in
which the pulls themselves change, such as a large migration, looks like a change of the bot.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from crscore.audit.overview import ConfigurationChange
from crscore.audit.signals import Signal
from crscore.audit.statistics import divide, rank_sum_p

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from crscore.audit.tables import ReviewTable

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

RECENT: Final = (1, 2, 3)
"""Nights of the windows that are tested."""
BEFORE: Final = 14
"""Nights before a window that it is compared with, at most."""
MIN_BEFORE: Final = 5
"""Nights before a window that it is compared with, at least."""
SIGNIFICANCE: Final = 0.05


class _Finding(NamedTuple):
    """Test of one number in one window."""

    p_value: float
    day: int
    number: str
    before: float
    after: float


def find_changes(table: ReviewTable, reviewer: str) -> tuple[ConfigurationChange, ...]:
    """Find the days from which a bot behaves differently.

    Args:
        table: Reviews of a period, with details; the last day is the last night.
        reviewer: Name of the bot.

    Returns:
        The changes in order. After one, only later nights are compared with each other.
    """
    rows = table.rows_of(reviewer)
    days = table.day[table.pull[rows]]
    numbers = {name: values[rows] for name, values in _numbers(table).items()}
    first = date.fromisoformat(table.period.since).toordinal()
    nights = date.fromisoformat(table.period.until).toordinal() - first + 1
    tests = nights * len(RECENT) * len(numbers)
    changes = []
    start = first
    for night in range(first, first + nights):
        found = _test(numbers, days, start, night)
        if found is not None and found.p_value * tests < SIGNIFICANCE:
            start = found.day
            changes.append(
                ConfigurationChange(
                    day=date.fromordinal(found.day).isoformat(),
                    number=found.number,
                    before=found.before,
                    after=found.after,
                    p_value=found.p_value * tests,
                )
            )
    return tuple(changes)


def _numbers(table: ReviewTable) -> dict[str, Floats]:
    """Return what is watched, a value a row, NaN where unknown."""
    columns = table.columns
    numbers = {
        "comments a pull": columns["comments"],
        "words a comment": divide(columns["words"], columns["comments"]),
        "usefulness": columns["usefulness"],
        "noise": columns["noise"],
    }
    if Signal.SUGGESTION_APPLIED in table.signals:
        # Only comments with a suggestion have a row of this signal.
        suggested = table.signals[Signal.SUGGESTION_APPLIED]
        share = 100 * divide(suggested.known + suggested.unknown, columns["scored"])
        numbers["comments with a suggestion"] = share
    return numbers


def _test(numbers: Mapping[str, Floats], days: Ints, start: int, night: int) -> _Finding | None:
    """Return the finding of the smallest p-value of one night; None where nothing can be tested."""
    findings = []
    for window in RECENT:
        day = night - window + 1
        earliest = max(start, day - BEFORE)
        before = (days >= earliest) & (days < day)
        recent = (days >= day) & (days <= night)
        if len(np.unique(days[before])) < MIN_BEFORE or not recent.any():
            continue
        for name, values in numbers.items():
            known = ~np.isnan(values)
            old, new = values[before & known], values[recent & known]
            if len(old) and len(new):
                p = rank_sum_p(old, new)
                findings.append(_Finding(p, day, name, float(old.mean()), float(new.mean())))
    return min(findings, default=None)
