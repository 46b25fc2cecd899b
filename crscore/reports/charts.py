"""Plots of the web pages, drawn as SVG by a template."""

from __future__ import annotations

from markupsafe import Markup
from msgspec import Struct

from crscore.reports import frame


class Bar(Struct, frozen=True):
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


class Plot(Struct, frozen=True):
    """Values in [0, 1] with their intervals, one below the other, over an axis."""

    title: str
    bars: tuple[Bar, ...]
    """At least one."""

    @property
    def caption(self) -> str:
        """Title, and the meaning of the lines."""
        has_intervals = any(bar.low is not None for bar in self.bars)
        return self.title + (", with 95 % intervals" if has_intervals else "")

    def ticks(self) -> list[tuple[float, str]]:
        """Return the marks of the axis: percent of the width, and number."""
        return [(20 * fifth, f"{fifth / 5:g}") for fifth in range(6)]

    # Only heights are in pixels, so that one drawing fits every screen while its letters keep their
    # size: https://www.w3.org/TR/SVG2/coords.html
    def across(self, value: float) -> float:
        """Return the place of a value in [0, 1], in percent of the width."""
        return round(100 * value, 2)


# Places are attributes of SVG, since the page's content security policy allows no `style`
# attribute. Colours are the page's CSS variables: one drawing serves light, dark and print.
def draw(plot: Plot) -> Markup:
    """Draw a plot as a figure; the page needs `reports/templates/charts.css`."""
    return frame.fragment("reports/templates/charts.html.j2", plot=plot)
