"""Charts of the web pages: Vega-Lite specifications, drawn as SVG by vl-convert (tested with 1.9).

No browser, network or script is needed. Colours are the page's CSS variables, so one drawing serves
light, dark and print. Each chart is drawn in two widths, and `charts.css` shows the one that fits
the screen, so that letters keep their size. Texts are cleaned here and escaped by the renderer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from xml.etree import ElementTree

from markupsafe import Markup

from crscore.errors import DependencyError
from crscore.reports import escape

INSTALL: Final = "pip install vl-convert-python"
WIDTHS: Final = {"wide": 600, "narrow": 250}
"""Pixels of the field, by CSS class."""
_LABEL_CHARS: Final = 72
_ROW_PIXELS, _BASED_ROW_PIXELS = 44, 54
_TREND_PIXELS: Final = 130
_WRITTEN_PIXELS: Final = 84
"""Room for a value written at the end of a row."""
_EVENT_CHARS: Final = 40
_LABEL_PIXELS, _LABEL_LINES = 14, 6
"""Height of a label above the field, and number of lines that labels cycle through."""
_LEFT, _RIGHT = 0.4, 0.6
"""Shares of the width: a label before the first or beyond the second is on one side of its line."""
_SVG: Final = "http://www.w3.org/2000/svg"
_COLOURS: Final = {"main": "accent", "good": "good", "bad": "bad"}
_THEME: Final = {
    "background": "transparent",
    "padding": 4,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "aria": False,
        "labelColor": "var(--soft)",
        "labelFontSize": 12,
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "titleColor": "var(--soft)",
        "titleFontWeight": "normal",
    },
}
_DESCRIPTION: Final = {"field": "description", "type": "nominal"}
_LABEL: Final = {"field": "label", "type": "nominal"}
_STROKE: Final = {"field": "colour", "type": "nominal", "scale": None}
_FILL: Final = {"field": "fill", "type": "nominal", "scale": None}


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
class Plot:
    """Values with their intervals, one below the other, over an axis."""

    title: str
    bars: tuple[Bar, ...]
    """At least one."""
    tick_format: str = ",~f"
    """Format of the axis' numbers, as in d3-format."""
    domain: tuple[float, float] = (0.0, 1.0)
    """Ends of the axis."""

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
        widths: Names of the widths to draw it in; a single width is shown on any screen.

    Returns:
        A `figure` with SVG drawings; the page needs `reports/templates/charts.css`.

    Raises:
        DependencyError: vl-convert is not installed.
    """
    try:
        from vl_convert import vegalite_to_svg  # noqa: PLC0415
    except ImportError as exc:
        raise DependencyError("vl_convert", INSTALL) from exc
    description = escape.one_line(chart.description)
    drawings = []
    for name in widths:
        width = WIDTHS[name]
        if isinstance(chart, Plot):
            layers = _plot(chart, width)
            has_bases = any(bar.base for bar in chart.bars)
            height = (_BASED_ROW_PIXELS if has_bases else _ROW_PIXELS) * len(chart.bars)
        else:
            layers, height = _trend(chart), _TREND_PIXELS
        drawing = vegalite_to_svg(
            {"layer": layers, "width": width, "height": height, "config": _THEME}
        )
        css = f"chart {name}" if len(widths) > 1 else "chart"
        drawings.append(_finished(drawing, css, description))
    caption = Markup("<figcaption>{}</figcaption>").format(escape.one_line(chart.caption))
    return Markup("<figure>\n{}\n{}\n</figure>").format(caption, Markup("\n").join(drawings))


def _layer(
    rows: list[dict[str, Any]], mark: str, style: dict[str, Any], **encoding: Any
) -> dict[str, Any]:
    return {"data": {"values": rows}, "mark": {"type": mark, **style}, "encoding": encoding}


def _plot(plot: Plot, width: int) -> list[dict[str, Any]]:
    rows = [_row(index, bar) for index, bar in enumerate(plot.bars)]
    bases = [_row(index, bar.base) for index, bar in enumerate(plot.bars) if bar.base is not None]
    x = {
        "type": "quantitative",
        "scale": {"domain": list(plot.domain)},
        "axis": {"title": None, "format": plot.tick_format, "tickCount": 5},
    }
    scale = {"domain": list(range(len(rows)))}
    y = {"field": "row", "type": "ordinal", "axis": None, "scale": scale}
    layers = _intervals(rows, x, y, offset=7, size=75)
    if bases:
        layers += _intervals(bases, x, y, offset=15, size=40)
    style = {
        "aria": False,
        "baseline": "middle",
        "yOffset": -9,
        "fontSize": 13,
        "color": "var(--ink)",
    }
    left = style | {"align": "left", "limit": width - _WRITTEN_PIXELS}
    written = {"field": "written", "type": "nominal"}
    layers += [
        _layer(rows, "text", left, x={"value": 0}, y=y, text=_LABEL),
        _layer(rows, "text", style | {"align": "right"}, x={"value": width}, y=y, text=written),
    ]
    return layers


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


def _intervals(
    rows: list[dict[str, Any]], x: dict[str, Any], y: dict[str, Any], *, offset: int, size: int
) -> list[dict[str, Any]]:
    shared = {"y": y, "stroke": _STROKE, "description": _DESCRIPTION}
    line = {"strokeWidth": 3, "strokeCap": "round", "yOffset": offset}
    dot = {"opacity": 1, "size": size, "yOffset": offset}
    ranged = [row for row in rows if row["low"] is not None]
    valued = [row for row in rows if row["value"] is not None]
    return [
        _layer(ranged, "rule", line, x=x | {"field": "low"}, x2={"field": "high"}, **shared),
        _layer(valued, "point", dot, x=x | {"field": "value"}, fill=_FILL, **shared),
    ]


def _trend(trend: Trend) -> list[dict[str, Any]]:
    since, until = _milliseconds(trend.since), _milliseconds(trend.until)
    x = {
        "field": "day",
        "type": "temporal",
        "scale": {"type": "utc", "domain": [since, until]},
        "axis": {"title": None, "format": "%-d %b", "tickCount": 4, "labelFlush": True},
    }
    top = trend.top or max((point.value for point in trend.points), default=1.0)
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, top], "nice": trend.top is None},
        "axis": {"title": None, "tickCount": 3, "domain": False},
    }
    points = [
        {
            "day": _milliseconds(point.day),
            "value": point.value,
            "group": point.group,
            "description": escape.one_line(point.text),
        }
        for point in trend.points
    ]
    line = {"aria": False, "color": "var(--accent)", "strokeWidth": 2}
    dot = {"opacity": 1, "filled": True, "size": 22, "color": "var(--accent)"}
    layers = [
        _layer(points, "line", line, x=x, y=y, detail={"field": "group", "type": "nominal"}),
        _layer(points, "point", dot, x=x, y=y, description=_DESCRIPTION),
    ]
    across = {"aria": False, "strokeDash": [4, 3], "color": "var(--ink)"}
    ruled = {key: x[key] for key in ("field", "type", "scale")}
    for index, event in enumerate(trend.events):
        day = _milliseconds(event.day)
        row = {"day": day, "label": escape.one_line(event.label, _EVENT_CHARS)}
        # The label is above the field, on the side that has room, and covers no earlier label.
        share = (day - since) / ((until - since) or 1)
        text = {
            "aria": False,
            "align": "right" if share > _RIGHT else "left" if share < _LEFT else "center",
            "baseline": "bottom",
            "fontSize": 12,
            "color": "var(--soft)",
        }
        offset_above = {"value": -4 - _LABEL_PIXELS * (index % _LABEL_LINES)}
        layers += [
            _layer([row], "rule", across, x=ruled),
            _layer([row], "text", text, x=ruled, y=offset_above, text=_LABEL),
        ]
    return layers


def _milliseconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1000


def _finished(drawing: str, css: str, description: str) -> Markup:
    """Give a drawing its description, and its marks tooltips; drop attributes for scripts."""
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
