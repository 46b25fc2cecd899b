import functools
import re

import pytest

from crscore.pull_request.documents import for_people
from tests.helpers import overviews


def size(text: str) -> int:
    return len(text.encode())


def numbered(number: int) -> overviews.Overview:
    url = f"https://github.com/octo/shop/pull/{number}"
    return overviews.replace(overviews.review(), number=number, url=url)


def test_each_pull_request_has_its_own_heading() -> None:
    shown = for_people.render_summary([numbered(7), numbered(8)])
    headings = [line for line in shown.split("\n") if line.startswith("## ")]
    assert headings == [
        f"## Review of [octo/shop#&#8203;{n}](https://github.com/octo/shop/pull/{n})"
        for n in (7, 8)
    ]
    assert shown.count("<sub>Measured at ") == 2


def test_together_has_no_sum_if_rows_are_left_out() -> None:
    shown = for_people.render_summary([overviews.replace(overviews.review(), other_reviewers=4)])
    assert "| **Together** | **62** | **67** | **57** | **–** | **–** |" in shown
    assert "\n*4 more not listed.*\n" in shown


def test_ten_points_are_not_folded() -> None:
    points = tuple(overviews.point(f"Point {index} of many.") for index in range(12))
    together = overviews.replace(overviews.review().together, unaddressed=12, points=20)
    shown = for_people.render_summary(
        [overviews.replace(overviews.review(), open=points, together=together)]
    )
    openly, folded = shown.split("<details>", 1)
    assert (openly.count("of many."), folded.count("of many.")) == (10, 2)


@functools.cache
def largest(limit: int = for_people.MAX_SUMMARY_BYTES) -> str:
    return for_people.render_summary([overviews.largest()], limit=limit)


@pytest.mark.parametrize("limit", [3_000, 20_000, 300_000, for_people.MAX_SUMMARY_BYTES])
def test_largest_summary_is_within_its_limit(limit: int) -> None:
    shown = largest(limit)
    assert 0 < size(shown) <= limit
    assert shown.count("<details>") == shown.count("</details>")
    assert shown.startswith("## Review of ")
    assert "<sub>Measured at " in shown


def test_size_is_counted_in_bytes() -> None:
    text = "\N{RAINBOW}" * 600
    actual = overviews.replace(overviews.largest(), notes=(text,) * 100, missing=(text,) * 100)
    assert size(for_people.render_summary([actual], limit=50_000)) <= 50_000


def test_omitted_items_are_counted() -> None:
    assert re.search(
        r"\*Shortened: [\d,]+ items left out to keep within",
        largest(20_000),
    )
    assert "Shortened" not in for_people.render_summary([overviews.review()])


def test_all_of_an_overview_fits_when_it_is_alone() -> None:
    shown = largest()
    assert "Shortened" not in shown
    assert size(shown) > 300_000


def test_size_is_shared_among_pull_requests() -> None:
    shown = for_people.render_summary([overviews.largest()] * 2, limit=60_000)
    assert size(shown) <= 60_000
    # The table of reviewers fits into the share of each; the rest is left out by items.
    assert shown.count("<sub>Measured at ") == 2
    assert re.search(r"\*Shortened: [\d,]+ items left out", shown)


def test_pull_requests_beyond_the_limit_are_counted() -> None:
    shown = for_people.render_summary([overviews.review()] * 50, limit=20_000)
    assert size(shown) <= 20_000
    assert re.search(r"\*Shortened: .*\d+ pull requests left out", shown)


@pytest.mark.parametrize("limit", [0, -5, 150, 900])
def test_without_space_there_is_nothing_or_a_note(limit: int) -> None:
    assert size(for_people.render_summary([overviews.review()], limit=limit)) <= max(limit, 0)
