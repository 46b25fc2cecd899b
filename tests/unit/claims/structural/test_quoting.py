"""Which parts of changed code a sentence quotes."""

import pytest

from crscore.claims.structural.quoting import write_exchange
from crscore.syntax.change import squeeze

LONG = "a_rather_long_name_that_stands_in_both_of_the_two_versions"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("3", "4", "`4` instead of `3`"),
        (f"f({LONG}, g(1, 4))", f"f({LONG}, g(1, 7))", "`g(1, 7)` instead of `g(1, 4)`"),
        (f"f({LONG}, g('a b'))", f"f({LONG}, g('a c d'))", "`g('a c d')` instead of `g('a b')`"),
        (f"({LONG}, *one, *last)", f"({LONG}, *one, *two, *last)", "`*two`"),
        (f"old(x) or old(y) or {LONG}", f"new(x) or new(y) or {LONG}", "`new` instead of `old`"),
        (f"[{LONG}, f(a)]", f"[{LONG}, f(b, h(c))]", "`f(b, h(c))` instead of `f(a)`"),
    ],
)  # fmt: skip
def test_of_long_code_what_differs_is_quoted(before: str, after: str, expected: str) -> None:
    assert write_exchange(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"f({LONG}, second)", f"f({LONG})"),  # nothing remains of it to quote
        (f'f("{LONG}" + x)', f'f("{LONG}, and" + x + ")")'),  # across the end of a string
    ],
)
def test_long_code_without_a_quotable_difference_is_quoted_whole(before: str, after: str) -> None:
    assert write_exchange(before, after) == f"`{after}` instead of `{before}`"


def test_code_that_is_cut_off_is_not_quoted() -> None:
    assert not write_exchange("a, b…", "a, c…")


def test_the_last_comma_of_a_list_of_lines_is_layout() -> None:
    assert squeeze("f(\n    a,\n    b,\n)") == squeeze("f(a, b)")
    assert squeeze("(a,)") != squeeze("(a)")
