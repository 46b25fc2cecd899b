from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from crscore.reports.charts import Bar, DayPoint, Event, Plot, Trend, draw
from tests.helpers.page import HARMLESS, Reader
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


def figure(chart: Plot | Trend) -> ElementTree.Element:
    return ElementTree.fromstring(str(draw(chart)))


def texts(chart: Plot | Trend) -> list[str | None]:
    return [node.text for node in figure(chart).iter() if node.tag in {"text", "span"}]


def test_each_row_of_a_plot_is_described_in_words() -> None:
    assert PLOT.caption == "Wins, with 95 % intervals"
    labels = [node.get("aria-label") for node in figure(PLOT).iter("svg")]
    assert labels == [
        "first: 90 % (from 0.8 to 1)",
        "second: –",
        "third: 20 %; base: 10 % (from 0.05 to 0.2)",
        None,  # the axis
    ]


def test_plot_has_markers_of_known_values_only() -> None:
    circles = [float(node.get("cx", "").rstrip("%")) for node in figure(PLOT).iter("circle")]
    assert circles == [90, 20, 10]
    lines = [node for node in figure(PLOT).iter("line") if node.get("class") == "range"]
    assert [(node.get("x1"), node.get("x2")) for node in lines] == [
        ("80.0%", "100.0%"),
        ("5.0%", "20.0%"),
    ]


def test_plot_labels_rows_values_and_the_ends_of_the_axis() -> None:
    assert {"first", "second", "third", "90 %", "–", "20 %", "0", "1"} <= set(texts(PLOT))
    percent = replace(PLOT, tick_format=".0%")
    assert {"0%", "40%", "100%"} <= set(texts(percent))


def test_line_is_broken_between_groups() -> None:
    def joints(chart: Trend) -> int:
        return len(list(figure(chart).find("svg/g").iter("line")))

    assert joints(TREND) == 4
    assert joints(replace(TREND, points=tuple(replace(p, group=0) for p in TREND.points))) == 5


def test_event_is_a_dashed_line_at_its_day() -> None:
    (rule,) = [node for node in figure(TREND).iter("line") if node.get("stroke-dasharray")]
    # 3 of 29 days
    assert float(rule.get("x1", "").rstrip("%")) == pytest.approx(100 * 3 / 29, abs=0.01)
    assert "words a comment" in texts(TREND)


@pytest.mark.parametrize(("highest", "top"), [(56.0, "60"), (0.31, "0.4"), (7.0, "7")])
def test_axis_of_values_ends_at_a_round_number(highest: float, top: str) -> None:
    points = (DayPoint("2026-03-01", highest, 0, ""), DayPoint("2026-03-02", 0.1, 0, ""))
    assert texts(replace(TREND, points=points, top=None))[2] == top


def test_period_of_one_day_without_a_value_is_drawn() -> None:
    trend = replace(TREND, points=(), events=(), until=TREND.since, top=None)
    assert texts(trend)[-1] == "1 Mar"


def test_hostile_texts_are_shown_as_text() -> None:
    chart = Plot(title=EVIL, bars=(Bar(EVIL, 1.0, None, None, EVIL),))
    reader = Reader(
        draw(chart) + draw(replace(TREND, title=EVIL, events=(Event("2026-03-04", EVIL),)))
    )
    assert {tag for tag, _ in reader.elements} <= HARMLESS
