"""Detects from a bot's behaviour that its configuration changed.

For each night, the pull requests in a window of recent nights (`RECENT`) are compared with the pull
requests of up to 14 nights before the window, by one rank test for each number of the bot's reviews
(such as words per comment). The p-values are corrected for
all nights and numbers of a bot (Bonferroni), but not for the windows, which overlap:
`benchmarks/audit_planted.py` counts the false alarms. The test assumes similar pull requests: a
large migration looks like a change of the bot.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.audit.overview import ConfigurationChange
from crscore.audit.tables import ReviewTable
from crscore.statistics.intervals import Doubles
from crscore.statistics.ranks import rank_sum_p
from crscore.statistics.resampled import divide

Ints = npt.NDArray[np.int64]

# With many pull requests per night, short windows show a change soon; with few, only long ones do.
RECENT: Final = (1, 2, 3, 7, 14)
"""Lengths of the windows in nights."""
BEFORE: Final = 14
"""Maximum number of nights before a window in the comparison."""
MIN_BEFORE: Final = 5
"""Minimum number of nights before a window in the comparison."""
# With other seeds (3000 to 3029) than those used to choose the level, all 30 planted changes are
# found within three nights, and 1 of 180 bots that did not change is reported.
SIGNIFICANCE: Final = 0.01
"""Significance level, chosen with seeds 0 to 99 of `benchmarks/audit_planted.py`."""


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
        date.fromisoformat(day).toordinal() for day in (table.scope.since, table.scope.until)
    )
    length = last - first + 1
    days = table.day[table.pull[rows]] - first
    columns = table.columns
    # For each number, its distinct values, shape (V,), and how often each had occurred before each
    # night, shape (T + 1, V). The counts in a window are then one difference.
    numbers: dict[str, tuple[Doubles, Doubles]] = {}
    for name, column in {
        "comments per pull request": columns["comments"],
        "words per comment": divide(columns["words"], columns["comments"]),
        "usefulness": columns["usefulness"],
        "noise": columns["noise"],
    }.items():
        has_value = ~np.isnan(column[rows])
        distinct, indices = np.unique(column[rows][has_value], return_inverse=True)
        counts = np.zeros((length + 1, len(distinct)))
        np.add.at(counts, (days[has_value] + 1, indices), 1)
        numbers[name] = distinct, np.cumsum(counts, axis=0)
    # Only nights with a review count: the others are not evidence of a steady bot.
    worked = np.concatenate([[0], np.cumsum(np.bincount(days, minlength=length) > 0)])
    changes = []
    start = 0  # the first night that is compared
    for night in range(length):
        # Only data up to this night is used, so that later nights never change earlier results.
        best = min(_test(numbers, worked, start, night), default=None)
        if best is None:
            continue
        p_value, day, name, before, after = best
        p_value = p_value * length * len(numbers)
        if p_value < SIGNIFICANCE:
            # Later nights are compared with nights after this change, so that it is reported once.
            start = day
            changes.append(
                ConfigurationChange(
                    day=date.fromordinal(first + day).isoformat(),
                    number=name,
                    before=before,
                    after=after,
                    p_value=p_value,
                )
            )
    return tuple(changes)


def _test(
    numbers: Mapping[str, tuple[Doubles, Doubles]], worked: Ints, start: int, night: int
) -> Iterator[tuple[float, int, str, float, float]]:
    """Test each number in each window that ends with `night`.

    Args:
        numbers: Distinct values of each number, shape (V,), and the count of each value in all
            nights before each night, shape (T + 1, V).
        worked: Number of nights with a review before each night, shape (T + 1,).
        start: First night to use.
        night: Last night of the windows.

    Yields:
        p-value, first night of the window, name of the number, and its means before and since.
    """
    for window in RECENT:
        day = night - window + 1
        earliest = max(start, day - BEFORE)
        # Nights before the last change would show the same change again.
        if earliest >= day or worked[day] - worked[earliest] < MIN_BEFORE:
            continue
        for name, (values, counts) in numbers.items():
            old, new = counts[day] - counts[earliest], counts[night + 1] - counts[day]
            if old.any() and new.any():
                before, after = (float(side @ values / side.sum()) for side in (old, new))
                yield rank_sum_p(old, new), day, name, before, after
