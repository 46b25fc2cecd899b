"""The DOM; what is read of it is tested through `split_comment`."""

from __future__ import annotations

import pytest

from crscore.review.markdown import lines_are_remarks, parse_markdown
from crscore.review.sentences import read_prose


def tags(html: str) -> int:
    """Count the elements of a document."""
    _, node = parse_markdown(html)
    count = 0
    while node is not None:
        count += sum(1 for actual in node.traverse() if actual.is_element_node)
        node = node.next
    return count


# Worked out by hand from the HTML standard, section 13.2.6.
def test_element_still_hides() -> None:
    for html in [
        "<div hidden><span></span>",
        "<p><div hidden></p>",  # the division ended the paragraph
        "<div hidden><p></div><p><div hidden>",
        "<font hidden></p>",
        "<span hidden><p></span>",  # a closing tag of a span does not leave the paragraph
        "<div hidden><table><tr><td></div>",  # nor any other a cell
        "<span hidden><span hidden></span>",
        "<font hidden><font hidden></font>",
        "<div hidden></span>",
        "<details hidden><summary></summary>",
    ]:
        actual = read_prose(f"<div>{html}zebra")
        assert (actual.units, actual.hidden) == ([], ["zebra"])


def test_element_no_longer_hides() -> None:
    for html in [
        "<div hidden></div>",
        "<p hidden><p>",
        "<p hidden><ul>",
        "<p hidden><hr>",
        "<p><span hidden></p>",
        "<div hidden><ul><li></div>",
        "<ul><li hidden><li>",
        "<ul><li><div hidden></li>",
        "<dl><dt hidden><dd>",
        "<table><tr><td hidden><td>",
        "<table><tr><td hidden><tr><td>",
        "<table><tr><td><font hidden></td>",
        "<font hidden></font>",
        "<img hidden>",
        "<td hidden>",  # no table, no cell
        "</div></p></font>",
        "<h1><span hidden></h1>",
        "<h1 hidden></h2>",
        "<template><template></template>",
        "<template>",
        "<plaintext>",
        "<select>",
        "<script>a</script>",
    ]:
        assert read_prose(f"<div>{html}zebra").units[-1].text.endswith("zebra")


def test_left_open_formatting_multiplies_no_elements() -> None:
    opened = "".join(f"<b class={number}>" for number in range(100))
    hiding = "".join(f"<font hidden class={number}>" for number in range(6))
    assert tags(f"{opened}{hiding}{'<p>a' * 100}") < 350


@pytest.mark.parametrize("content", ["One", "one\ntwo", "One,\nTwo", "One\n(two)", "One\nnitty"])
def test_break_is_a_wrap(content: str) -> None:
    assert not lines_are_remarks(content)


@pytest.mark.parametrize("content", ["one\nTwo", "one\n`two`", "one\nnit: two", "one\n2\n- Three"])
def test_break_is_meant(content: str) -> None:
    assert lines_are_remarks(content)
