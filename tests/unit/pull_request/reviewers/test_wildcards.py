"""Patterns with `*`, against `fnmatch` and by hand."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.pull_request.reviewers.wildcards import matches, matches_any
from tests.helpers.growth import growth

"""Of processor time, under coverage; a step for each pair of pieces would take minutes."""


def test_brackets_match_themselves() -> None:
    assert matches("a[bot]", "a[bot]")
    assert not matches("a[bot]", "ab")


def test_ends_of_a_pattern_do_not_share_letters_of_the_text() -> None:
    assert not matches("ab*ba", "aba")


def test_case_is_ignored() -> None:
    assert matches_any(("x", "OCTO*"), "octo-cat")


def test_no_pattern_matches_nothing() -> None:
    assert not matches_any((), "")


@given(st.text("ab*", max_size=8), st.text("ab", max_size=12))
def test_pattern_matches_what_fnmatch_matches(pattern: str, text: str) -> None:
    assert matches(pattern, text) == fnmatch.fnmatchcase(text, pattern)


@pytest.mark.growth
def test_many_stars_take_linear_time() -> None:
    assert growth(lambda size: lambda: matches("a*" * 50 + "b", "a" * size), 16_384) < 12
