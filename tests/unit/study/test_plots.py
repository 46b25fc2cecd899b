"""Places are worked out by hand from the two scales that a plot uses."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.study import _plots
from crscore.study._plots import Bar, Mark, Series


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 0.8, (0.0, 0.2, 0.4, 0.6, 0.8)),
        (-0.03, 0.61, (-0.2, 0.0, 0.2, 0.4, 0.6, 0.8)),
        (-1.0, 1.0, (-1.0, -0.5, 0.0, 0.5, 1.0)),
        (0.0, 37.0, (0.0, 10.0, 20.0, 30.0, 40.0)),
        (0.0, 0.0, (-0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6)),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, expected: tuple[float, ...]) -> None:
    assert _plots.ticks(low, high) == expected


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_cover_the_range_in_few_equal_steps(low: float, span: float) -> None:
    found = _plots.ticks(low, low + span)
    steps = [second - first for first, second in pairwise(found)]
    slack = 1e-6 * max(steps)
    assert 2 <= len(found) <= 7
    assert max(steps) - min(steps) <= slack + 1e-9 * abs(low)
    assert found[0] <= low + slack
    assert found[-1] >= low + span - slack


def forest(*bars: Bar, **options: object) -> str:
    return str(_plots.forest("p", bars, title="T", **options).drawing)


def bar(value: float | None = 0.4, **fields: object) -> Bar:
    return Bar(**({"label": "a", "value": value, "written": "0.400"} | fields))


def test_forest_puts_value_and_interval_on_the_axis() -> None:
    drawn = forest(bar(low=0.2, high=0.8))
    # 0 to 0.8 goes from 3 % to 97 %: 0.4 is the middle, 0.2 a quarter of the way.
    assert 'cx="50.00%"' in drawn
    assert re.search(r'class="interval" x1="26.50%" y1="35" x2="97.00%" y2="35"', drawn)


def test_rows_of_a_forest_stand_below_each_other() -> None:
    drawn = forest(bar(), bar(0.8))
    assert re.findall(r'cy="(\d+)"', drawn) == ["35", "77"]
    assert 'height="116"' in drawn


def test_undefined_value_has_a_row_and_no_marker() -> None:
    drawn = forest(bar(None, written="–"), bar(0.5))
    assert drawn.count("<circle") == 1
    assert drawn.count(">–<") == 1


def test_trivial_measure_is_told_by_its_marker() -> None:
    assert 'class="s1"' in forest(bar(look="trivial"))
    assert 'class="s1"' not in forest(bar(look="main"))


def test_forest_tells_its_content_in_words() -> None:
    drawn = forest(bar(low=0.2, high=0.8), bar(None, label="b", written="–"))
    assert '<title id="p-title">T, with 95 % intervals</title>' in drawn
    assert '<title id="p-title">T</title>' in forest(bar())
    assert '<desc id="p-about">a: 0.400 (from 0.2 to 0.8); b: –</desc>' in drawn
    assert 'role="img" aria-labelledby="p-title p-about"' in drawn


def test_mark_widens_the_axis_and_has_its_label() -> None:
    drawn = forest(bar(0.1), marks=[Mark(value=1.0, label="goal")])
    assert '<line class="mark" x1="97.00%"' in drawn
    assert 'text-anchor="end">goal</text>' in drawn


def test_axis_covers_the_span_and_is_written_as_asked() -> None:
    drawn = forest(bar(0.1), span=(-1.0, 1.0), write="{:+g}".format)
    assert [">-1<" in drawn, ">+0<" in drawn, ">+1<" in drawn] == [True] * 3
    # 0.1 of -1 to 1 is 55 % of the way.
    assert 'cx="54.70%"' in drawn


def test_texts_are_escaped_and_cleaned() -> None:
    evil = '</svg><script>x()</script>\x1b[31m\u202e&"'
    drawn = forest(bar(label=evil, written=evil), marks=[Mark(value=0.1, label=evil)])
    drawn += str(_plots.slopes("q", [(evil, 1.0, 1.0)], title=evil, sides=(evil, evil)).drawing)
    assert "<script" not in drawn
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    assert "&lt;/svg&gt;&lt;script&gt;" in drawn


def test_empty_label_keeps_its_end_tag() -> None:
    # `<p />` would open a paragraph in HTML and swallow the rest.
    assert "/>" not in forest(bar(label=""))


def curve(*series: Series, **options: object) -> str:
    return str(_plots.lines("p", series, title="T", axes=("x", "y"), **options).drawing)


def test_line_joins_neighbours_and_leaves_gaps() -> None:
    points = ((0.0, 0.0), (1.0, 0.5), (2.0, None), (3.0, 0.5), (4.0, 1.0))
    drawn = curve(Series(label="a", points=points))
    assert drawn.count('class="curve s0"') == 2
    assert drawn.count("<circle") == 4
    # 0 to 4 goes from 13 % to 96 %, 0 to 1 from y 216 up to 38.
    assert '<circle class="s0" r="4.5" cx="13.00%" cy="216"></circle>' in drawn
    assert '<circle class="s0" r="4.5" cx="96.00%" cy="38"></circle>' in drawn
    assert '<circle class="s0" r="4.5" cx="33.75%" cy="127"></circle>' in drawn
    assert "a: 0: 0.000, 1: 0.500, 2: –, 3: 0.500, 4: 1.000" in drawn


def test_series_have_markers_of_their_own_and_a_key() -> None:
    series = [Series(label=name, points=((0.0, 1.0), (1.0, 1.0))) for name in "abc"]
    plot = _plots.lines("p", series, title="T", axes=("x", "y"))
    assert plot.key == ("a", "b", "c")
    assert str(plot.drawing).count("<rect") == 2
    assert "<rect" in _plots.marker(2)
    assert "<circle" in _plots.marker(0)
    assert _plots.lines("p", series[:1], title="T", axes=("x", "y")).key == ()


def test_level_and_marks_are_drawn_where_they_are() -> None:
    drawn = curve(
        Series(label="a", points=((0.0, 1.0), (1.0, 1.0))),
        level=Mark(value=0.5, label="chance"),
        marks=[Mark(value=0.5, label="here")],
    )
    assert '<line class="mark" x1="0.00%" y1="127" x2="100.00%" y2="127">' in drawn
    assert '<line class="mark" x1="54.50%" y1="18" x2="54.50%" y2="216">' in drawn


def test_line_without_any_value_is_still_drawn() -> None:
    assert "<circle" not in curve(Series(label="a", points=((0.0, None), (1.0, None))))


def test_slopes_order_each_side_by_its_rank() -> None:
    drawn = str(
        _plots.slopes(
            "p", [("a", 1.0, 3.0), ("b", 2.0, 1.0), ("c", 3.0, 2.0)], title="T", sides=("l", "r")
        ).drawing
    )
    ends = re.findall(r'class="slope" x1="[\d.]+%" y1="(\d+)" x2="[\d.]+%" y2="(\d+)"', drawn)
    # Rows are 26 apart from 38 on: a falls two rows, the others rise one.
    assert ends == [("38", "90"), ("64", "38"), ("90", "64")]
    assert drawn.count('class="row main"') == 3


def test_equal_ranks_share_no_row() -> None:
    drawn = str(
        _plots.slopes("p", [("a", 1.5, 1.0), ("b", 1.5, 2.0)], title="T", sides=("l", "r")).drawing
    )
    assert re.findall(r'y1="(\d+)" x2="58.00%" y2="(\d+)"', drawn) == [("38", "38"), ("64", "64")]
    assert "row main" not in drawn
    assert ">a 1.5<" in drawn


def test_long_names_of_slopes_are_cut() -> None:
    drawn = str(_plots.slopes("p", [("n" * 40, 1.0, 1.0)], title="T", sides=("l", "r")).drawing)
    assert f">{'n' * 14}… 1<" in drawn
