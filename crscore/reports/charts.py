"""Charts of the web pages: Altair specifications, drawn as SVG by vl-convert (tried with 6.3, 1.9).

No browser, network or script is needed. Colours are the page's CSS variables, so one drawing serves
light, dark and print. Each chart is drawn in two widths, of which `charts.css` shows the one that
there is room for: letters keep their size. Texts are cleaned here and escaped by the renderer.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from xml.etree import ElementTree

from markupsafe import Markup

from crscore.errors import DependencyError
from crscore.reports import escape

INSTALL: Final = "pip install altair vl-convert-python"
WIDTHS: Final = {"wide": 600, "narrow": 250}
"""Pixels of the field, by CSS class."""
_LABEL_CHARS: Final = 72
_ROW_PIXELS, _BASED_ROW_PIXELS = 44, 54
_TREND_PIXELS: Final = 130
_WRITTEN_PIXELS: Final = 84
"""Room for a value written at the end of a row."""
_EVENT_CHARS: Final = 40
_LEFT, _RIGHT = 0.4, 0.6
"""Shares of the width beyond which a label is on one side of its line."""
_SVG: Final = "http://www.w3.org/2000/svg"
_COLOURS: Final = {"main": "accent", "good": "good", "bad": "bad"}


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
    """Class of the row: `main`, `trivial`, `good`, `bad` or none."""
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
    tick_format: str = ",~f"
    """Format of the axis' numbers, as in d3-format."""
    domain: tuple[float, float] | None = None
    """Ends of the axis; None for round numbers around the values."""

    @property
    def caption(self) -> str:
        """Title, and the meaning of the lines."""
        has_intervals = any(bar.low is not None for bar in self.bars)
        return self.title + (", with 95 % intervals" if has_intervals else "")

    @property
    def description(self) -> str:
        """All rows, in words."""
        return "; ".join(bar.text for bar in self.bars)


@dataclass(frozen=True, slots=True)
class Point:
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
    points: tuple[Point, ...]
    since: str
    until: str
    events: tuple[Event, ...] = ()
    top: float | None = None
    """End of the axis, which begins at 0; None for a round number above the values."""

    @property
    def caption(self) -> str:
        """The title."""
        return self.title

    @property
    def description(self) -> str:
        """Points and events, in words."""
        events = (f"{event.day}: {event.label}" for event in self.events)
        return "; ".join([*(point.text for point in self.points), *events])


def draw(chart: Plot | Trend, *, widths: Sequence[str] = tuple(WIDTHS)) -> Markup:
    """Draw a chart as a figure.

    Args:
        chart: The chart.
        widths: Names of the widths to draw it in; one alone is shown on any screen.

    Returns:
        A `figure` with SVG drawings; the page needs `reports/templates/charts.css`.

    Raises:
        DependencyError: Altair or vl-convert is not installed.
    """
    alt, schemapi = _load("altair"), _load("altair.utils.schemapi")
    svg = _load("vl_convert").vegalite_to_svg
    description = escape.one_line(chart.description)
    drawings = []
    for name in widths:
        width = WIDTHS[name]
        # Our own specifications need no validation, which would take most of the time.
        with schemapi.debug_mode(False):
            layers = _plot(chart, width) if isinstance(chart, Plot) else _trend(chart)
            layered = alt.layer(*layers).properties(width=width).configure(**_theme())
            drawing = svg(layered.to_dict(validate=False))
        css = f"chart {name}" if len(widths) > 1 else "chart"
        drawings.append(_finished(drawing, css, description))
    caption = Markup("<figcaption>{}</figcaption>").format(escape.one_line(chart.caption))
    return Markup("<figure>\n{}\n{}\n</figure>").format(caption, Markup("\n").join(drawings))


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as exc:
        raise DependencyError(name, INSTALL) from exc


def _plot(plot: Plot, width: int) -> list[Any]:
    alt = _load("altair")
    bases = [_row(index, bar.base) for index, bar in enumerate(plot.bars) if bar.base is not None]
    low, high = plot.domain or _ends(plot)
    scale = alt.Scale(domain=[low, high], nice=plot.domain is None)
    y = alt.Y("row:O", axis=None, scale=alt.Scale(domain=list(range(len(plot.bars)))))
    rows = alt.Chart(
        alt.Data(values=[_row(index, bar) for index, bar in enumerate(plot.bars)]),
        height=(_BASED_ROW_PIXELS if bases else _ROW_PIXELS) * len(plot.bars),
    ).encode(y=y)
    axis = alt.Axis(title=None, format=plot.tick_format, tickCount=5)
    layers = _intervals(rows, {"scale": scale, "axis": axis}, offset=7, size=75)
    if bases:
        below = alt.Chart(alt.Data(values=bases)).encode(y=y)
        layers += _intervals(below, {"scale": scale, "axis": axis}, offset=15, size=40)
    text = {
        "aria": False,
        "baseline": "middle",
        "yOffset": -9,
        "fontSize": 13,
        "color": "var(--ink)",
    }
    layers += [
        rows.mark_text(align="left", limit=width - _WRITTEN_PIXELS, **text).encode(
            x=alt.value(0), text="label:N"
        ),
        rows.mark_text(align="right", **text).encode(x=alt.value(width), text="written:N"),
    ]
    for mark in plot.marks:
        anchor = (mark.value - low) / ((high - low) or 1.0)
        datum = alt.Chart(alt.Data(values=[{"at": mark.value, "label": mark.label}]))
        layers += _rule(datum, alt.X("at:Q", scale=scale), anchor, above=8)
    return layers


def _ends(plot: Plot) -> tuple[float, float]:
    ends = [mark.value for mark in plot.marks] + [0.0]
    for bar in plot.bars:
        for interval in (bar, bar.base):
            ends += (
                [end for end in (interval.value, interval.low, interval.high) if end is not None]
                if interval
                else []
            )
    return min(ends), max(ends)


def _row(index: int, bar: Bar) -> dict[str, Any]:
    colour = f"var(--{_COLOURS.get(bar.tone, 'soft')})"
    return {
        "row": index,
        "label": escape.one_line(bar.label, _LABEL_CHARS),
        "written": escape.one_line(bar.written, _LABEL_CHARS),
        "description": escape.one_line(bar.text),
        "value": bar.value,
        "low": bar.low,
        "high": bar.high,
        "colour": colour,
        "fill": "var(--card)" if bar.tone == "trivial" else colour,
    }


def _intervals(rows: Any, x: dict[str, Any], *, offset: int, size: int) -> list[Any]:
    alt = _load("altair")
    described = rows.encode(description="description:N")
    line = described.transform_filter("datum.low !== null").mark_rule(
        strokeWidth=3, strokeCap="round", yOffset=offset
    )
    dot = described.transform_filter("datum.value !== null").mark_point(
        opacity=1, size=size, yOffset=offset
    )
    stroke = alt.Stroke("colour:N", scale=None)
    return [
        line.encode(x=alt.X("low:Q", **x), x2="high:Q", stroke=stroke),
        dot.encode(x=alt.X("value:Q", **x), stroke=stroke, fill=alt.Fill("fill:N", scale=None)),
    ]


def _rule(datum: Any, x: Any, anchor: float, *, above: int) -> list[Any]:
    """Draw a dashed line across, with its label above the field on the side that has room."""
    alt = _load("altair")
    align = "right" if anchor > _RIGHT else "left" if anchor < _LEFT else "center"
    label = datum.mark_text(
        aria=False, align=align, baseline="bottom", fontSize=12, color="var(--soft)"
    )
    return [
        datum.mark_rule(aria=False, strokeDash=[4, 3], color="var(--ink)").encode(x=x),
        label.encode(x=x, y=alt.value(-above), text="label:N"),
    ]


def _trend(trend: Trend) -> list[Any]:
    alt = _load("altair")
    since, until = _milliseconds(trend.since), _milliseconds(trend.until)
    scale = alt.Scale(type="utc", domain=[since, until])
    axis = alt.Axis(title=None, format="%-d %b", tickCount=4, labelFlush=True)
    x = alt.X("day:T", scale=scale, axis=axis)
    top = trend.top or max((point.value for point in trend.points), default=1.0)
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(domain=[0, top], nice=trend.top is None),
        axis=alt.Axis(title=None, tickCount=3, domain=False),
    )
    points = alt.Chart(
        alt.Data(
            values=[
                {
                    "day": _milliseconds(point.day),
                    "value": point.value,
                    "group": point.group,
                    "description": escape.one_line(point.text),
                }
                for point in trend.points
            ]
        ),
        height=_TREND_PIXELS,
    ).encode(x=x, y=y)
    layers = [
        points.mark_line(aria=False, color="var(--accent)", strokeWidth=2).encode(detail="group:N"),
        points.mark_point(opacity=1, filled=True, size=22, color="var(--accent)").encode(
            description="description:N"
        ),
    ]
    for index, event in enumerate(trend.events):
        day = _milliseconds(event.day)
        datum = alt.Chart(
            alt.Data(values=[{"day": day, "label": escape.one_line(event.label, _EVENT_CHARS)}])
        )
        anchor = (day - since) / ((until - since) or 1)
        # Labels of neighbouring days alternate between two lines.
        layers += _rule(datum, alt.X("day:T", scale=scale), anchor, above=4 + 14 * (index % 2))
    return layers


def _milliseconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1000


def _theme() -> dict[str, Any]:
    alt = _load("altair")
    return {
        "background": "transparent",
        "padding": 4,
        "font": "system-ui, sans-serif",
        "view": alt.ViewConfig(stroke=None),
        "axis": alt.AxisConfig(
            aria=False,
            labelColor="var(--soft)",
            labelFontSize=12,
            gridColor="var(--line)",
            domainColor="var(--line)",
            tickColor="var(--line)",
        ),
    }


def _finished(drawing: str, css: str, description: str) -> Markup:
    """Give a drawing its description, and its marks tooltips; drop what only scripts need."""
    root = ElementTree.fromstring(drawing)  # noqa: S314  (written by the renderer)
    for node in list(root.iter()):
        label = node.attrib.pop("aria-label", None)
        for name in ("role", "aria-hidden", "aria-roledescription"):
            node.attrib.pop(name, None)
        if label is not None:
            title = ElementTree.Element(f"{{{_SVG}}}title")
            title.text = label
            node.insert(0, title)
        for child in list(node):
            if child.get("class") in {"background", "foreground"}:
                node.remove(child)
    root.attrib |= {"class": css, "role": "img", "aria-label": description}
    ElementTree.register_namespace("", _SVG)
    text = ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)
    return Markup(text)  # noqa: S704  (all texts were escaped by the renderer)
