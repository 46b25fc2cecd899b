"""Lines, headings and folded parts, by hand."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.pull_request.reviewers.outline import Outline
from tests.helpers.growth import growth

"""Of processor time, under coverage; a step for each pair of pieces would take minutes."""


def fold(title: str, content: str = "...") -> str:
    return f"<details>\n<summary>{title}</summary>\n\n{content}\n</details>"


def folded(text: str) -> list[str]:
    return [part.title for part in Outline(text).folded]


def sections(text: str) -> dict[str, str]:
    return {part.title: text[part.start : part.end] for part in Outline(text).sections}


def test_nested_parts_are_found_inside_out() -> None:
    assert folded(fold("outer", fold("inner"))) == ["inner", "outer"]


def test_part_reaches_from_its_opening_to_its_closing_tag() -> None:
    text = f"before\n{fold('a', fold('b'))} after"
    outer = Outline(text).folded[-1]
    assert text[outer.start : outer.end] == fold("a", fold("b"))


def test_part_in_a_quote_is_found() -> None:
    assert folded("> <details>\n> <summary>a</summary>\n>\n> b\n> </details>") == ["a"]


@pytest.mark.parametrize(
    "text",
    [
        "<details><summary>open</summary> text",
        "text </details>",
        "```html\n<details><summary>code</summary></details>\n```",
        "- ~~~\n<details><summary>code</summary></details>\n~~~",
        "`<details>` and `</details>`",
        "<!-- <details><summary>unseen</summary></details> -->",
        "<!--\n<details><summary>unseen</summary>\n</details>\n-->",
    ],
)
def test_unclosed_parts_code_and_comments_are_not_parts(text: str) -> None:
    assert folded(text) == []


def test_unclosed_comment_is_text() -> None:
    assert folded(f"<!-- {fold('seen')}") == ["seen"]


def test_part_after_a_comment_on_its_line_is_found() -> None:
    assert folded(f"<!--\n--> {fold('seen')}") == ["seen"]


def test_quoted_fence_ends_with_its_quote() -> None:
    assert folded(f"> ```\n> code\n\n{fold('seen')}") == ["seen"]


def test_shorter_fence_does_not_end_a_code_block() -> None:
    actual = Outline("````\n```\ncode")
    assert actual.open_fence == "````"
    assert [line.is_visible for line in actual.lines] == [False, False, False]


def test_title_is_without_tags_and_bold() -> None:
    assert folded(fold("<b>Using</b> &nbsp;**it**:")) == ["Using it"]


def test_part_without_summary_has_no_title() -> None:
    assert folded("<details>text</details>") == [""]


def test_section_ends_at_the_next_heading_of_its_level() -> None:
    text = "# a\none\n## b\ntwo\n# c\nthree"
    assert sections(text) == {"a": "# a\none\n## b\ntwo\n", "b": "## b\ntwo\n", "c": "# c\nthree"}


def test_section_inside_of_a_part_ends_with_it() -> None:
    text = f"{fold('x', '## a' + chr(10) + 'one')}\ntwo"
    assert sections(text)["a"] == "## a\none\n"


def test_heading_inside_of_a_part_ends_no_section_outside() -> None:
    text = f"## a\n{fold('x', '# b')}\ntwo"
    assert sections(text)["a"] == text


def test_html_heading_has_a_level() -> None:
    assert sections("<h3>a</h3>\none\n## b")["a"] == "<h3>a</h3>\none\n"


def test_line_without_quote_marks_and_asterisks_is_plain() -> None:
    line = Outline("> > **bold** text ").lines[0]
    assert (line.text, line.content, line.quoted) == ("bold text", "**bold** text", True)


def test_carriage_return_is_not_content() -> None:
    assert Outline("a\r\nb").lines[0].content == "a"


@given(
    st.lists(
        st.sampled_from(
            [
                "<details>",
                "</details>",
                "<summary>",
                "</summary>",
                "<!--",
                "-->",
                "```",
                "# a",
                "> ",
                "`",
                "\n",
                "x",
            ]
        )
    ).map("".join)
)
def test_every_place_lies_in_the_text(text: str) -> None:
    actual = Outline(text)
    parts = [*actual.sections, *actual.folded]
    assert all(0 <= part.start <= part.end <= len(text) for part in parts)
    assert "\n".join(text[line.start : line.end] for line in actual.lines) == text


@pytest.mark.growth
@pytest.mark.parametrize(
    "piece",
    [
        "<details>",
        "<details><summary>",
        "</details>",
        "<!--",
        "<!-- -->",
        "`",
        "``",
        "> ",
        "# ",
        "\n# a",
        "\n```",
        "<details>\n## a\n",
        "<summary>",
        "<h1",
        "<",
    ],
)
def test_hostile_body_takes_linear_time(piece: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = (piece * size)[:size]
        return lambda: (Outline(text), Outline(text + "</details>" * (size // 32) + "-->"))

    assert growth(prepare, 5_000) < 12
