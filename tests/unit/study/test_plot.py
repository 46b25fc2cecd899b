import pytest

from crscore.study.plot import Bar, Mark, Plot, round_numbers


def plot(*values: float | None, marks: tuple[Mark, ...] = ()) -> Plot:
    bars = tuple(Bar("b", value, None, None, str(value)) for value in values)
    return Plot(title="What", bars=bars, marks=marks)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (0.0, 0.95, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (-0.194, 0.833, (-0.5, 0.0, 0.5, 1.0)),
        (0.0, 0.0, (0.0, 0.2)),
        (12.0, 4000.0, (0.0, 1000.0, 2000.0, 3000.0, 4000.0)),
    ],
)
def test_axis_has_round_numbers_that_cover_all(low: float, high: float, expected) -> None:
    assert round_numbers(low, high) == pytest.approx(expected)


@pytest.mark.parametrize("span", [1e-9, 0.003, 0.7, 1.0, 99.0, 1e6])
def test_steps_are_few_and_equal(span: float) -> None:
    found = round_numbers(0.0, span)
    assert 2 <= len(found) <= 7
    assert found[-1] >= span * (1 - 1e-9)


def test_places_follow_the_values_and_leave_a_margin() -> None:
    shown = plot(0.0, 1.0)
    assert [shown.x(value) for value in (0.0, 0.5, 1.0)] == ["3.00%", "50.00%", "97.00%"]


def test_axis_shows_zero_the_ends_of_intervals_and_the_marks() -> None:
    bar = Bar("b", 0.5, 0.31, 0.6, "0.5")
    shown = Plot(title="What", bars=(bar,), marks=(Mark(value=0.9, label="goal"),))
    assert (shown.ticks[0], shown.ticks[-1]) == (0.0, 1.0)
    assert shown.caption == "What, with 95 % intervals"
    assert bar.text == "b: 0.5 (from 0.31 to 0.6)"


def test_row_without_a_value_needs_no_axis_of_its_own() -> None:
    shown = plot(None, 0.4)
    assert shown.ticks[-1] == pytest.approx(0.4)
    assert (shown.caption, shown.bars[0].text) == ("What", "b: None")


def test_rows_stand_below_each_other_under_the_labels_of_the_marks() -> None:
    mark = Mark(value=0.1, label="goal")
    assert plot(1.0, marks=(mark,)).top > plot(1.0).top
    shown = plot(1.0, 1.0, 1.0)
    assert shown.y(0) < shown.y(1) < shown.y(2) < shown.bottom


@pytest.mark.parametrize(("value", "anchor"), [(0.1, "start"), (0.5, "middle"), (0.9, "end")])
def test_label_of_a_mark_stands_where_there_is_room(value: float, anchor: str) -> None:
    assert plot(0.0, 1.0).anchor(value) == anchor
