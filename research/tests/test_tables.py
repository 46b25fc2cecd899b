"""Tables in Markdown."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from crscore_lab.tables import format_interval, format_value, make_table


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0, "0"), (12_345, "12,345"), (0.5, "0.500"), (-0.0001, "0.000"), (False, "no")],
)
def test_values_have_one_format(value, text) -> None:
    assert format_value(value) == text


def test_interval_needs_both_ends() -> None:
    assert format_interval(0.5, 0.25, 0.75) == "0.500 [0.250, 0.750]"
    assert format_interval(0.5, None, 0.75) == "0.500"


def test_table_is_aligned_markdown() -> None:
    rows = [
        SimpleNamespace(name="a|b", part=SimpleNamespace(n=1_000)),
        SimpleNamespace(name="c", part=SimpleNamespace(n=7)),
    ]
    text = make_table("Sizes", rows, ("name", "name"), ("n", "part.n"), ("x", lambda row: None))
    assert text.splitlines() == [
        "## Sizes",
        "",
        "| name |     n | x |",
        "|------|------:|--:|",
        "| a\\|b | 1,000 | – |",
        "| c    |     7 | – |",
    ]


def test_table_without_rows_is_empty() -> None:
    assert make_table("Nothing", [], ("name", "name")) == ""
