"""Detects from the reviews of a bot that its configuration changed.

For each day of the period, the pull requests created in the last days (windows of `WINDOW_DAYS`)
are compared with the pull requests created in up to 14 days before the window. There is one
rank-sum test for each measure of the bot's reviews, such as words per comment. The p-values are
corrected for all days and measures of a bot (Bonferroni), but not for the windows, because these
overlap; `benchmarks/audit_planted.py` counts the false alarms. The test assumes that the pull
requests are similar: a large migration may look like a change of the bot.
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

# If there are many pull requests a day, short windows show a change soon; if there are few, only
# long windows do.
WINDOW_DAYS: Final = (1, 2, 3, 7, 14)
"""Lengths of the windows in days."""
DAYS_BEFORE: Final = 14
"""Maximum number of days before a window that are compared with the window."""
MIN_BEFORE: Final = 5
"""Minimum number of days before a window on which the bot reviewed a pull request."""
# The level was chosen with seeds 0 to 99 of `benchmarks/audit_planted.py`. With seeds 3000 to 3029,
# all 30 changes are found within three days, and 1 of 180 bots that did not change is reported.
SIGNIFICANCE: Final = 0.01
"""Significance level of the corrected p-values."""


def find_changes(table: ReviewTable, reviewer: str) -> tuple[ConfigurationChange, ...]:
    """Find the days on which a bot began to behave differently.

    Args:
        table: Reviews of a period.
        reviewer: Name of the bot.

    Returns:
        The changes, sorted by day. After a change, days are compared only with days after it.
    """
    rows = table.rows_of(reviewer)
    first, last = (
        date.fromisoformat(day).toordinal() for day in (table.scope.since, table.scope.until)
    )
    length = last - first + 1
    days = table.day[table.pull[rows]] - first
    columns = table.columns
    # For each measure, its V distinct values, shape (V,), and how often each value occurred before
    # each of T days, shape (T + 1, V). The counts in a window are then one subtraction.
    measures: dict[str, tuple[Doubles, Doubles]] = {}
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
        measures[name] = distinct, np.cumsum(counts, axis=0)
    # Number of days with a review before each day. Days without a review do not show how the bot
    # behaved.
    active = np.concatenate([[0], np.cumsum(np.bincount(days, minlength=length) > 0)])
    changes = []
    start = 0  # the first day that is compared
    for last_day in range(length):
        # Only data up to this day are used, so that later days never change earlier results.
        best = min(_test_windows(measures, active, start, last_day), default=None)
        if best is None:
            continue
        p_value, day, name, before, after = best
        p_value = p_value * length * len(measures)
        if p_value < SIGNIFICANCE:
            # Later days are compared only with days after this change, so that it is reported once.
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


def _test_windows(
    measures: Mapping[str, tuple[Doubles, Doubles]], active: Ints, start: int, last_day: int
) -> Iterator[tuple[float, int, str, float, float]]:
    """Test each measure in each window that ends with `last_day`.

    Args:
        measures: For each name of a measure, its V distinct values, shape (V,), and the count of
            each value in all days before each of T days, shape (T + 1, V).
        active: Number of days with a review before each day, shape (T + 1,).
        start: First day to use.
        last_day: Last day of the windows.

    Yields:
        The p-value, the first day of the window, the name of the measure, and the means of the
        measure before the window and in it.
    """
    for window in WINDOW_DAYS:
        day = last_day - window + 1
        earliest = max(start, day - DAYS_BEFORE)
        if earliest >= day or active[day] - active[earliest] < MIN_BEFORE:
            continue
        for name, (values, counts) in measures.items():
            old, new = counts[day] - counts[earliest], counts[last_day + 1] - counts[day]
            if old.any() and new.any():
                before, after = (float(side @ values / side.sum()) for side in (old, new))
                yield rank_sum_p(old, new), day, name, before, after
