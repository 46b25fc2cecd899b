"""Plot of values with their intervals; the page template draws it as SVG.

The drawing has no view box: horizontal positions are percentages, vertical positions and text sizes
are pixels, so a narrow screen gets a narrower plot with text of the same size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_STEPS: Final = 5
_ROW_PIXELS: Final = 42
_MARGIN_PERCENT: Final = 3


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
    look: str = ""
    """CSS class of the row: `main`, `trivial`, `good`, `bad` or none."""

    @property
    def text(self) -> str:
        """Text of the row for screen readers."""
        if self.low is None or self.high is None:
            return f"{self.label}: {self.written}"
        return f"{self.label}: {self.written} (from {self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True, slots=True)
class Mark:
    """Reference value, drawn as a line across the plot."""

    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Values with their intervals, one below the other, over an axis that includes 0."""

    title: str
    bars: tuple[Bar, ...]
    """At least one."""
    marks: tuple[Mark, ...] = ()
    write: Callable[[float], str] = "{:g}".format
    """Formats the numbers of the axis."""

    @property
    def caption(self) -> str:
        """Title, and the meaning of the lines."""
        has_intervals = any(bar.low is not None for bar in self.bars)
        return self.title + (", with 95 % intervals" if has_intervals else "")

    @property
    def ticks(self) -> tuple[float, ...]:
        """Numbers of the axis, covering all values."""
        ends = [one for bar in self.bars for one in (bar.value, bar.low, bar.high)]
        ends += [0.0, *(mark.value for mark in self.marks)]
        known = [one for one in ends if one is not None]
        return round_numbers(min(known), max(known))

    @property
    def top(self) -> int:
        """First pixel of the rows, below the labels of the marks."""
        return 22 if self.marks else 6

    @property
    def bottom(self) -> int:
        """Last pixel of the rows."""
        return self.top + _ROW_PIXELS * len(self.bars)

    def x(self, value: float) -> str:
        """Return the horizontal position of a value."""
        return f"{_MARGIN_PERCENT + self._share(value) * (100 - 2 * _MARGIN_PERCENT):.2f}%"

    def anchor(self, value: float) -> str:
        """Return the side of a mark that has room for its label."""
        share = self._share(value)
        return "end" if share > 0.6 else "start" if share < 0.4 else "middle"

    def y(self, row: int) -> int:
        """Return the vertical position of a row, from 0."""
        return self.top + _ROW_PIXELS * row + 29

    def _share(self, value: float) -> float:
        low, *_, high = self.ticks
        return (value - low) / (high - low)


def round_numbers(low: float, high: float) -> tuple[float, ...]:
    """Find round numbers that cover a range.

    Returns:
        At least two numbers at equal steps of 1, 2 or 5 times a power of ten; the first is at
        most `low` and the last at least `high`.

    Example:
        >>> round_numbers(-0.03, 0.61)
        (-0.2, 0.0, 0.2, 0.4, 0.6, 0.8)
    """
    span = high - low or 1.0
    power = math.floor(math.log10(span / MAX_STEPS))
    steps = [float(factor * 10.0**power) for factor in (1, 2, 5, 10)]
    step = next((one for one in steps if span / one <= MAX_STEPS), steps[-1])
    # A value within rounding of a tick needs no further one.
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return tuple(round(at * step, max(-power, 0)) + 0.0 for at in range(first, last + 1))
