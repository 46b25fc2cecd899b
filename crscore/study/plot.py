"""A plot of values with their intervals; the page template draws it as SVG.

The drawing has no view box: positions across are percentages, positions down and sizes of text
are pixels, so a narrow screen gets a narrower plot with the same letters.
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
    """A value with its interval, one row of a plot."""

    label: str
    value: float | None
    """None where it is undefined: the row has no marker."""
    low: float | None
    high: float | None
    written: str
    """The value as text."""
    look: str = ""
    """Class of the row: `main`, `trivial`, `good`, `bad` or none."""

    @property
    def text(self) -> str:
        """The row for readers who cannot see it."""
        if self.low is None or self.high is None:
            return f"{self.label}: {self.written}"
        return f"{self.label}: {self.written} (from {self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True, slots=True)
class Mark:
    """A value to compare the others with, a line across the plot."""

    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Values with their intervals, one below the other, over an axis that shows 0."""

    title: str
    bars: tuple[Bar, ...]
    """At least one."""
    marks: tuple[Mark, ...] = ()
    write: Callable[[float], str] = "{:g}".format
    """Writes the numbers of the axis."""

    @property
    def caption(self) -> str:
        """The title, and what the lines are."""
        has_intervals = any(bar.low is not None for bar in self.bars)
        return self.title + (", with 95 % intervals" if has_intervals else "")

    @property
    def ticks(self) -> tuple[float, ...]:
        """Numbers of the axis; they cover all values."""
        ends = [one for bar in self.bars for one in (bar.value, bar.low, bar.high)]
        ends += [0.0, *(mark.value for mark in self.marks)]
        known = [one for one in ends if one is not None]
        return round_numbers(min(known), max(known))

    @property
    def top(self) -> int:
        """First pixel of the rows: labels of marks stand above."""
        return 22 if self.marks else 6

    @property
    def bottom(self) -> int:
        """Last pixel of the rows."""
        return self.top + _ROW_PIXELS * len(self.bars)

    def x(self, value: float) -> str:
        """Place a value across the plot."""
        return f"{_MARGIN_PERCENT + self._share(value) * (100 - 2 * _MARGIN_PERCENT):.2f}%"

    def anchor(self, value: float) -> str:
        """Choose the side of a mark on which its label has room."""
        share = self._share(value)
        return "end" if share > 0.6 else "start" if share < 0.4 else "middle"

    def y(self, row: int) -> int:
        """Place a row, from 0, down the plot."""
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
    # A value on a tick within rounding needs no further one.
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return tuple(round(at * step, max(-power, 0)) + 0.0 for at in range(first, last + 1))
