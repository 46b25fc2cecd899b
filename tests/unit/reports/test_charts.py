from __future__ import annotations

from xml.etree import ElementTree

from crscore.reports import frame
from crscore.reports.layout import Bar, Section
from tests.helpers.page import HARMLESS, Reader
from tests.helpers.results import EVIL

PLOT = Section(
    "wins",
    "Wins",
    "Wins",
    bars_title="Wins",
    bars=(
        Bar("first", 0.9, 0.8, 1.0, "90 %", tone="good"),
        Bar("second", None, None, None, "–"),
        Bar("third", 0.2, None, None, "20 %", base=Bar("base", 0.1, 0.05, 0.2, "10 %")),
    ),
)


def draw(section: Section) -> str:
    template = frame._environment().get_template("reports/templates/charts.html.j2")
    return template.render(section=section)


def figure(chart: Section) -> ElementTree.Element:
    return ElementTree.fromstring(draw(chart))


def texts(chart: Section) -> list[str | None]:
    return [node.text for node in figure(chart).iter() if node.tag in {"text", "span"}]


def test_each_row_of_a_plot_is_described_in_words() -> None:
    assert figure(PLOT).findtext("figcaption") == "Wins, with 95 % intervals"
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


def test_hostile_texts_are_shown_as_text() -> None:
    bars = (Bar(EVIL, 1.0, None, None, EVIL),)
    chart = Section("s", "S", "S", bars_title=EVIL, bars=bars)
    reader = Reader(draw(chart))
    assert {tag for tag, _ in reader.elements} <= HARMLESS
