"""Expected states were worked out by hand from the HTML standard, section 13.2.6."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.review.elements import MAX_DEPTH, Elements, covers


def hidden_after(*tags: str) -> bool:
    """Read "a", "/a" and "!a" (an element that hides) and say whether text is hidden then."""
    elements = Elements()
    for tag in tags:
        if tag.startswith("/"):
            elements.close(tag[1:])
        else:
            elements.open(tag.lstrip("!"), hides=tag.startswith("!"))
    return elements.hidden


@pytest.mark.parametrize(
    "tags",
    [
        "!div",
        "!div span /span",
        "p !div /p",  # the division ended the paragraph
        "!div p /p",
        "!div p /div p !div",
        "!p b /b",
        "!font /p",
        "p !font /p p",  # formatting goes on in the next paragraph
        "!span p /span",  # a closing tag of a span does not leave the paragraph
        "!div table tr td /div",  # nor any other a cell
        "!ul li /ul !ul",
        "ul !li ul li /li",
        "!span !span /span",
        "!font !font /font",
        "!div /span",
        "!details summary /summary",
    ],
)
def test_element_still_hides(tags: str) -> None:
    assert hidden_after(*tags.split())


@pytest.mark.parametrize(
    "tags",
    [
        "",
        "!div /div",
        "!p p",
        "!p ul",
        "!p hr",
        "p !span /p",
        "!div ul li /div",
        "ul !li li",
        "ul li !div /li",
        "dl !dt dd",
        "table tr !td td",
        "table tr !td tr",
        "table tr td !font /td",
        "!font /font",
        "div !font /font /div",
        "!br",
        "!img",
        "!td",  # no table, no cell
        "/div /p /font",
        "h1 !span /h1",
        "!h1 /h2",
    ],
)
def test_element_no_longer_hides(tags: str) -> None:
    assert not hidden_after(*tags.split())


def test_closing_tag_looks_no_farther_than_the_limit() -> None:
    inner = ["q"] * (MAX_DEPTH - 1)
    assert not hidden_after("!span", *inner, "/span")
    assert hidden_after("!span", *inner, "q", "/span")


NAMES = ("p", "div", "span", "font", "b", "li", "ul", "table", "tr", "td", "br", "h1", "dd")
events = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(["", "!", "/"])))


@given(events)
def test_without_an_element_that_hides_nothing_is_hidden(found: list[tuple[str, str]]) -> None:
    assert not hidden_after(*(f"{mark}{name}".lstrip("!") for name, mark in found))


@given(events)
def test_last_closed_table_cell_frees_what_it_held(found: list[tuple[str, str]]) -> None:
    inside = [f"{mark}{name}" for name, mark in found if name not in {"table", "tr", "td"}]
    if len(inside) < MAX_DEPTH - 5:
        assert not hidden_after("table", "tr", "td", *inside, "/td", "/table")


@pytest.mark.parametrize("start", [["q", "div"], ["p", "button"], ["table", "td"]])
@pytest.mark.parametrize("repeated", [["span", "/q"], ["!font"], ["span", "div", "/p"]])
def test_many_tags_take_seconds_at_most(start: list[str], repeated: list[str]) -> None:
    begin = time.process_time()
    hidden_after(*start, *(repeated * 30_000))
    assert time.process_time() - begin < 5


def covered(tags: str) -> dict[int, int]:
    return covers([(tag.lstrip("/"), tag.startswith("/")) for tag in tags.split()])


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("template b /template", {0: 2}),
        ("template template /template /template", {0: 3, 1: 2}),
        ("template template /template", {1: 2}),  # the first is a word
        ("template", {}),
        ("/template template", {}),
        ("script template /script /template", {0: 2}),  # raw text holds no tags
        ("script script /script", {0: 2}),
        ("template script /template /script /template", {0: 4, 1: 3}),
        ("video template /video /template", {0: 2, 1: 3}),
        ("div /div span", {}),
    ],
)
def test_covers(tags: str, expected: dict[int, int]) -> None:
    assert covered(tags) == expected
