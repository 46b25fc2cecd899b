"""Plots of the validation page, as SVG that stays legible at any width.

A plot has no view box: positions across are percentages, positions down and sizes of text are
pixels. A narrow screen gets a narrower plot with the same letters, not a smaller picture.
Colours and markers come from the page's style sheet by class.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from crscore.reports import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MAX_NAME_CHARS: Final = 15
_ROW: Final = 42
_STEP: Final = 26
_HEIGHT: Final = 260
_TOP: Final = 22
_FOOT: Final = 26
_MIDDLE: Final = 50
_FAR_RIGHT: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A value with its interval, one row of a forest plot."""

    label: str
    """What was measured."""
    value: float | None
    """None where it is undefined: the row is drawn without a marker."""
    low: float | None = None
    """Lower end of the interval; None without one."""
    high: float | None = None
    """Upper end of the interval; None without one."""
    written: str
    """The value in words, at the end of the row."""
    look: str = ""
    """Class of the row: `main`, `trivial`, `good`, `bad` or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value to compare the others with, a line across the plot."""

    value: float
    """Where."""
    label: str
    """What it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Points joined by a line."""

    label: str
    """What it is."""
    points: tuple[tuple[float, float | None], ...]
    """Across and up; a None parts the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawing with its key."""

    title: str
    """What it shows."""
    drawing: Markup
    """An element of a page."""
    key: tuple[str, ...] = ()
    """Names of the series, in their order; empty where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, *, most: int = 5) -> tuple[float, ...]:
    """Find round numbers that cover a range.

    Args:
        low: Lowest value.
        high: Highest value.
        most: How many steps at most.

    Returns:
        At least two numbers at equal steps of 1, 2 or 5 times a power of ten; the first is at
        most `low` and the last at least `high`.

    Example:
        >>> ticks(-0.03, 0.61)
        (-0.2, 0.0, 0.2, 0.4, 0.6, 0.8)
    """
    span = high - low
    if span <= 0:
        low, high = low - 0.5, high + 0.5
        span = high - low
    power = math.floor(math.log10(span / most))
    step, decimals = 10.0**power, -power
    for factor in (1, 2, 5, 10):
        step = float(factor * 10.0**power)
        if span / step <= most:
            break
    # A value on a tick within rounding needs no further one.
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return tuple(round(at * step, max(decimals, 0)) + 0.0 for at in range(first, last + 1))


def forest(
    name: str,
    bars: Sequence[Bar],
    *,
    title: str,
    marks: Sequence[Mark] = (),
    span: tuple[float, float] = (0.0, 0.0),
    write: Callable[[float], str] = "{:g}".format,
) -> Plot:
    """Draw values with their intervals, one below the other.

    Args:
        name: Makes the ids of this plot; no two on a page may share it.
        bars: The rows, at least one.
        title: What the plot shows; it will say of intervals that they are of 95 %.
        marks: Values to compare with.
        span: What the axis has to cover besides the values.
        write: How to write the numbers of the axis.
    """
    if any(bar.low is not None for bar in bars):
        title += ", with 95 % intervals"
    ends = [one for bar in bars for one in (bar.value, bar.low, bar.high) if one is not None]
    ends += [mark.value for mark in marks]
    steps = ticks(min([*span, *ends]), max([*span, *ends]))
    across = _Scale(low=steps[0], high=steps[-1], start=3, end=97)
    top = _TOP if marks else 6
    bottom = top + _ROW * len(bars)
    described = "; ".join(f"{bar.label}: {bar.written}{_between(bar)}" for bar in bars)
    drawing = ET.Element("div", {"class": "forest marked" if marks else "forest"})
    # Beside the field or over it: the style sheet knows how much room there is. The description
    # says the same to who cannot see it.
    labels = ET.SubElement(drawing, "div", {"class": "labels", "aria-hidden": "true"})
    svg = _root(name, title, described, bottom + _FOOT)
    drawing.append(svg)
    written = ET.SubElement(drawing, "div", {"class": "labels written", "aria-hidden": "true"})
    for step in steps:
        _line(svg, "axis" if step == 0 else "grid", across(step), top, across(step), bottom)
        _text(svg, "tick", across(step), bottom + 18, write(step), anchor="middle")
    for mark in marks:
        _mark(svg, mark, across(mark.value), top, bottom)
    for row, bar in enumerate(bars):
        look = {"class": f"row {bar.look}".rstrip()}
        ET.SubElement(labels, "p", look).text = escape.one_line(bar.label)
        ET.SubElement(written, "p", look).text = escape.one_line(bar.written)
        group = ET.SubElement(svg, "g", look)
        y = top + _ROW * row + 29
        if bar.low is not None and bar.high is not None:
            _line(group, "interval", across(bar.low), y, across(bar.high), y)
        if bar.value is not None:
            _dot(group, "s1" if bar.look == "trivial" else "s0", across(bar.value), y)
    return Plot(title=title, drawing=_markup(drawing))


def lines(
    name: str,
    series: Sequence[Series],
    *,
    title: str,
    axes: tuple[str, str],
    marks: Sequence[Mark] = (),
    level: Mark | None = None,
    across: Sequence[float] = (),
) -> Plot:
    """Draw up to three lines over one axis.

    Args:
        name: Makes the ids of this plot; no two on a page may share it.
        series: At least one point with a value among them.
        title: What the plot shows.
        axes: Names of the axes, across and up.
        marks: Values across to point at.
        level: A value up to compare with.
        across: Numbers of the axis across; without them round ones.
    """
    points = [point for one in series for point in one.points]
    values = [y for _, y in points if y is not None] + ([level.value] if level else [])
    places = [x for x, _ in points] + [mark.value for mark in marks]
    up_steps = ticks(min([0.0, *values]), max(values, default=1.0), most=4)
    steps = tuple(across) or ticks(min(places), max(places))
    right = _Scale(low=steps[0], high=steps[-1], start=13, end=96)
    up = _Scale(low=up_steps[0], high=up_steps[-1], start=_HEIGHT - _FOOT - 18, end=_TOP + 16)
    svg = _root(name, title, "; ".join(_series_text(one) for one in series), _HEIGHT)
    for step in up_steps:
        _line(svg, "axis" if step == 0 else "grid", 0, up(step), 100, up(step))
        _text(svg, "tick", 0, up(step) - 4, f"{step:g}")
    for step in steps:
        _text(svg, "tick", right(step), up.start + 18, f"{step:g}", anchor="middle")
    _text(svg, "name", 0, 12, f"↑ {axes[1]}")
    _text(svg, "name", 100, _HEIGHT - 5, f"{axes[0]} →", anchor="end")
    for mark in marks:
        _mark(svg, mark, right(mark.value), _TOP, up.start)
    if level is not None:
        _line(svg, "mark", 0, up(level.value), 100, up(level.value))
        _text(svg, "mark", 100, up(level.value) - 4, level.label, anchor="end")
    for index, one in enumerate(series):
        _curve(svg, f"s{index}", one.points, right, up)
    key = tuple(one.label for one in series) if len(series) > 1 else ()
    return Plot(title=title, drawing=_markup(svg), key=key)


def slopes(
    name: str,
    pairs: Sequence[tuple[str, float, float]],
    *,
    title: str,
    sides: tuple[str, str],
) -> Plot:
    """Draw how two rankings of the same things differ.

    Args:
        name: Makes the ids of this plot; no two on a page may share it.
        pairs: Each thing's name and its rank on the left and on the right, 1 for the first;
            equal ones stand in the order of the left, then of the argument.
        title: What the plot shows.
        sides: Names of the rankings.
    """
    left = sorted(range(len(pairs)), key=lambda index: pairs[index][1])
    right = sorted(left, key=lambda index: pairs[index][2])
    described = "; ".join(f"{one[0]}: {one[1]:g} and {one[2]:g}" for one in pairs)
    svg = _root(name, title, f"{sides[0]} and {sides[1]}: {described}", 30 + _STEP * len(pairs))
    _text(svg, "name", 40, 14, sides[0], anchor="end")
    _text(svg, "name", _FAR_RIGHT, 14, sides[1])
    for index in left:
        label, one, other = pairs[index]
        y1, y2 = (30 + _STEP * order.index(index) for order in (left, right))
        group = ET.SubElement(svg, "g", {"class": "row main" if abs(one - other) >= 1 else "row"})
        _line(group, "slope", 42, y1 + 8, _FAR_RIGHT - 2, y2 + 8)
        _dot(group, "s0", 42, y1 + 8)
        _dot(group, "s0", _FAR_RIGHT - 2, y2 + 8)
        short = _cut(label, _MAX_NAME_CHARS)
        _text(group, "", 40, y1 + 13, f"{short} {one:g}", anchor="end")
        _text(group, "", _FAR_RIGHT, y2 + 13, f"{other:g} {short}")
    return Plot(title=title, drawing=_markup(svg))


def marker(index: int) -> Markup:
    """Draw the marker of a series, for the key."""
    svg = ET.Element("svg", {"class": "dot", "width": "14", "height": "14", "aria-hidden": "true"})
    _dot(svg, f"s{index}", _MIDDLE, 7)
    return _markup(svg)


def _between(bar: Bar) -> str:
    if bar.low is None or bar.high is None:
        return ""
    return f" (from {bar.low:.3g} to {bar.high:.3g})"


def _series_text(series: Series) -> str:
    values = (f"{x:g}: {'–' if y is None else f'{y:.3f}'}" for x, y in series.points)
    return f"{series.label}: {', '.join(values)}"


def _root(name: str, title: str, description: str, height: float) -> ET.Element:
    svg = ET.Element(
        "svg",
        {
            "class": "plot",
            "width": "100%",
            "height": f"{height:g}",
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-about",
        },
    )
    ET.SubElement(svg, "title", {"id": f"{name}-title"}).text = escape.one_line(title)
    about = ET.SubElement(svg, "desc", {"id": f"{name}-about"})
    about.text = escape.one_line(description)
    return svg


def _mark(svg: ET.Element, mark: Mark, x: float, top: float, bottom: float) -> None:
    _line(svg, "mark", x, top - 4, x, bottom)
    anchor = "end" if x > _FAR_RIGHT else "start" if x < 100 - _FAR_RIGHT else "middle"
    _text(svg, "mark", x, top - 9, mark.label, anchor=anchor)


def _curve(
    svg: ET.Element,
    look: str,
    points: Iterable[tuple[float, float | None]],
    right: _Scale,
    up: _Scale,
) -> None:
    drawn = [(right(x), None if y is None else up(y)) for x, y in points]
    for (x1, y1), (x2, y2) in pairwise(drawn):
        if y1 is not None and y2 is not None:
            _line(svg, f"curve {look}", x1, y1, x2, y2)
    for x, y in drawn:
        if y is not None:
            _dot(svg, look, x, y)


def _dot(parent: ET.Element, look: str, x: float, y: float) -> None:
    """Put a marker: disc, ring or square, to be told apart without colours."""
    if look == "s2":
        place = {"x": _percent(x), "y": f"{y:g}", "transform": "translate(-4 -4)"}
        ET.SubElement(parent, "rect", {"class": look, "width": "8", "height": "8", **place})
    else:
        place = {"cx": _percent(x), "cy": f"{y:g}"}
        ET.SubElement(parent, "circle", {"class": look, "r": "4.5", **place})


def _line(parent: ET.Element, look: str, x1: float, y1: float, x2: float, y2: float) -> None:
    ends = {"x1": _percent(x1), "y1": f"{y1:g}", "x2": _percent(x2), "y2": f"{y2:g}"}
    ET.SubElement(parent, "line", {"class": look, **ends})


def _text(
    parent: ET.Element, look: str, x: float, y: float, text: str, *, anchor: str = "start"
) -> None:
    given = {"x": _percent(x), "y": f"{y:g}"} | ({"class": look} if look else {})
    if anchor != "start":
        given["text-anchor"] = anchor
    ET.SubElement(parent, "text", given).text = escape.one_line(text)


def _percent(x: float) -> str:
    return f"{x:.2f}%"


def _cut(text: str, limit: int) -> str:
    line = escape.one_line(text)
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def _markup(drawing: ET.Element) -> Markup:
    # Every text and attribute in it is escaped by ElementTree; an empty element gets its end tag.
    return Markup(ET.tostring(drawing, encoding="unicode", method="html"))  # noqa: S704
