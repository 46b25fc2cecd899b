"""Charts of the web pages, drawn as SVG by a template.

Places across are shares of the width, in percent, and only heights are in pixels, so that one
drawing fits every screen while its letters keep their size. Colours are the page's CSS variables:
the drawing serves light, dark and print. A page runs no script and allows no `style` attribute
(its content security policy), hence the attributes of SVG: https://www.w3.org/TR/SVG2/coords.html
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

from markupsafe import Markup

from crscore.reports import frame

TREND_PIXELS: Final = 130
"""Height of the field of a trend."""
_LABEL_PIXELS, _LABEL_LINES = 14, 6
"""Height of a label above the field, and number of lines that labels cycle through."""
_LEFT, _RIGHT = 35.0, 65.0
"""Percent of the width: a label before the first or beyond the second is on one side of its line,
so that 40 characters fit a phone's 330 pixels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Value with its interval, one row of a plot."""

    label: str
    value: float | None
    """None where undefined; the row then has no marker."""
    low: float | None
    high: float | None
    written: str
    """The value as text."""
    tone: str = ""
    """CSS class of the row: `main`, `trivial`, `good`, `bad` or none."""
    base: Bar | None = None
    """Rate to compare with, drawn hollow below the value."""

    @property
    def text(self) -> str:
        """Text of the row for screen readers and tooltips."""
        text = f"{self.label}: {self.written}"
        if self.low is not None and self.high is not None:
            text += f" (from {self.low:.3g} to {self.high:.3g})"
        return text + (f"; {self.base.text}" if self.base else "")


@dataclass(frozen=True, slots=True)
class Plot:
    """Values with their intervals, one below the other, over an axis."""

    title: str
    bars: tuple[Bar, ...]
    """At least one."""
    tick_format: str = "g"
    """Format of the axis' numbers."""
    domain: tuple[float, float] = (0.0, 1.0)
    """Ends of the axis, which has a mark at each fifth of it."""

    @property
    def caption(self) -> str:
        """Title, and the meaning of the lines."""
        has_intervals = any(bar.low is not None for bar in self.bars)
        return self.title + (", with 95 % intervals" if has_intervals else "")

    def ticks(self) -> list[tuple[float, str]]:
        """Return the marks of the axis: percent of the width, and number."""
        low, high = self.domain
        values = [low + (high - low) * fifth / 5 for fifth in range(6)]
        return [(self.across(value), f"{value:{self.tick_format}}") for value in values]

    def across(self, value: float) -> float:
        """Return the place of a value, in percent of the width."""
        low, high = self.domain
        return round(100 * (value - low) / (high - low), 2)


@dataclass(frozen=True, slots=True)
class DayPoint:
    """Value of one day."""

    day: str
    """Date, ISO 8601."""
    value: float
    group: int
    """Points of different groups are not joined."""
    text: str
    """Tooltip."""


@dataclass(frozen=True, slots=True)
class Event:
    """Day that is marked by a line across the trend."""

    day: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Values by day."""

    title: str
    points: tuple[DayPoint, ...]
    since: str
    until: str
    events: tuple[Event, ...] = ()
    top: float | None = None
    """End of the axis, which begins at 0; None for a round number above the values."""

    @property
    def text(self) -> str:
        """Points and events, in words."""
        events = (f"{event.day}: {event.label}" for event in self.events)
        return "; ".join([*(point.text for point in self.points), *events])

    @property
    def head(self) -> int:
        """Pixels above the field, for the labels of events."""
        return 20 + _LABEL_PIXELS * min(len(self.events), _LABEL_LINES)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the marks of the axis of days: percent of the width, and day."""
        first = date.fromisoformat(self.since)
        span = (date.fromisoformat(self.until) - first).days
        days = [first + timedelta(days=round(span * third / 3)) for third in range(4)]
        return [(self.across(f"{day}"), f"{day.day} {day:%b}") for day in days]

    def levels(self) -> list[tuple[float, str]]:
        """Return the marks of the axis of values: pixels from above, and number."""
        return [(self.down(part * self._top), f"{part * self._top:g}") for part in (0, 0.5, 1)]

    def across(self, day: str) -> float:
        """Return the place of a day, in percent of the width."""
        first, last, at = map(date.fromisoformat, (self.since, self.until, day))
        return round(100 * (at - first).days / ((last - first).days or 1), 2)

    def down(self, value: float) -> float:
        """Return the place of a value, in pixels from above."""
        return self.head + round(TREND_PIXELS * (1 - value / self._top), 1)

    def joints(self) -> Iterator[tuple[DayPoint, DayPoint]]:
        """Yield the points that a line joins."""
        return (pair for pair in pairwise(self.points) if pair[0].group == pair[1].group)

    def labels(self) -> Iterator[tuple[float, int, str, str]]:
        """Yield each event: percent of the width, pixels from above, side of the label, label."""
        for index, event in enumerate(self.events):
            across = self.across(event.day)
            anchor = "end" if across > _RIGHT else "start" if across < _LEFT else "middle"
            above = self.head - 18 - _LABEL_PIXELS * (index % _LABEL_LINES)
            yield across, above, anchor, event.label

    @property
    def _top(self) -> float:
        highest = max((point.value for point in self.points), default=0.0) or 1.0
        step = 10.0 ** math.floor(math.log10(highest))
        return self.top or math.ceil(highest / step) * step


def draw(chart: Plot | Trend) -> Markup:
    """Draw a chart as a figure; the page needs `reports/templates/charts.css`."""
    kind = type(chart).__name__.lower()
    return frame.fragment("reports/templates/charts.html.j2", chart=chart, kind=kind)
