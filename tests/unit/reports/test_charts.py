from __future__ import annotations

import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from crscore.errors import DependencyError
from crscore.reports.charts import Bar, DayPoint, Event, Plot, Trend, draw
from tests.helpers.results import EVIL

PLOT = Plot(
    title="Wins",
    bars=(
        Bar("first", 0.9, 0.8, 1.0, "90 %", tone="good"),
        Bar("second", None, None, None, "–"),
        Bar("third", 0.2, None, None, "20 %", base=Bar("base", 0.1, 0.05, 0.2, "10 %")),
    ),
)
TREND = Trend(
    title="Usefulness",
    points=tuple(
        DayPoint(f"2026-03-{day:02}", 50.0 + day, int(day > 3), f"{day} March: {50 + day}")
        for day in range(1, 7)
    ),
    since="2026-03-01",
    until="2026-03-30",
    events=(Event("2026-03-04", "words a comment"),),
    top=100.0,
)


def drawing(chart: Plot | Trend) -> ElementTree.Element:
    """Return the wide one of the two drawings, without namespaces."""
    figure = ElementTree.fromstring(str(draw(chart)))
    for node in figure.iter():
        node.tag = node.tag.rpartition("}")[2]
    return figure.findall("svg")[0]


def texts(chart: Plot | Trend) -> list[str | None]:
    return [node.text for node in drawing(chart).iter("text")]


def strokes(chart: Plot | Trend) -> list[str | None]:
    return [node.get("stroke") for node in drawing(chart).iter() if node.find("title") is not None]


def test_plot_is_described_in_words() -> None:
    assert PLOT.caption == "Wins, with 95 % intervals"
    assert drawing(PLOT).get("aria-label") == (
        "first: 90 % (from 0.8 to 1); second: –; third: 20 %; base: 10 % (from 0.05 to 0.2)"
    )


def test_plot_has_markers_of_known_values_only() -> None:
    message_text = [node.text for node in drawing(PLOT).iter("title")]
    first, base = PLOT.bars[0].text, PLOT.bars[2].base.text
    assert message_text == [first, first, PLOT.bars[2].text, base, base]
    assert strokes(PLOT) == [*["var(--good)"] * 2, *["var(--soft)"] * 3]


def test_plot_labels_rows_and_values() -> None:
    assert {"first", "second", "third", "90 %", "–", "20 %"} <= set(texts(PLOT))


def test_axis_has_the_ends_of_the_domain() -> None:
    ticks = [float(item) for item in texts(PLOT)[:8] if item and item.replace(".", "").isdigit()]
    assert (min(ticks), max(ticks)) == (0.0, 1.0)


def test_line_is_broken_between_groups() -> None:
    lines = [node.get("d") for node in drawing(TREND).iter("path") if node.get("fill") is None]
    assert len([item for item in lines if item and "L" in item]) == 2
    joined = replace(TREND, points=tuple(replace(item, group=0) for item in TREND.points))
    lines = [node.get("d") for node in drawing(joined).iter("path") if node.get("fill") is None]
    assert len([item for item in lines if item and "L" in item]) == 1


def test_event_is_a_dashed_line_at_its_day() -> None:
    (rule,) = [node for node in drawing(TREND).iter("line") if node.get("stroke-dasharray")]
    at = float(rule.get("transform", "").partition("(")[2].partition(",")[0])
    # The field is 600 pixels wide and shows 29 days.
    assert at == pytest.approx(600 * 3 / 29, abs=1)
    assert "words a comment" in texts(TREND)


def test_two_drawings_are_equal_and_differ_in_width() -> None:
    assert draw(TREND) == draw(TREND)
    narrow = ElementTree.fromstring(str(draw(TREND)))[2]
    assert float(narrow.get("width", "")) < 310


def test_hostile_texts_are_shown_as_text() -> None:
    chart = Plot(title=EVIL, bars=(Bar(EVIL, 1.0, None, None, EVIL),))
    tags = {node.tag.rpartition("}")[2] for node in ElementTree.fromstring(str(draw(chart))).iter()}
    assert tags <= {"figure", "figcaption", "svg", "g", "path", "line", "text", "title"}
    trend = replace(TREND, title=EVIL, events=(Event("2026-03-04", EVIL),))
    assert "<script" not in draw(trend)


def test_missing_package_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(DependencyError, match="pip install vl-convert-python"):
        draw(PLOT)
