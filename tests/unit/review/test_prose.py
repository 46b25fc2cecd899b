"""What `sentences` relies on; the Markdown itself is tested through `sentences.parse`."""

from __future__ import annotations

import pytest

from crscore.review.sentences import CODE_CLOSE, CODE_OPEN, MAX_PART_CHARS, Unit, read_prose
from tests.helpers.growth import growth

SUGGESTION = "```suggestion\nx = 1\n```"


def texts(body: str) -> list[str]:
    return [unit.text for unit in read_prose(body).units]


def headings(body: str) -> list[str]:
    return [unit.text for unit in read_prose(body).units if unit.is_heading]


def test_code_span_is_between_the_marks() -> None:
    assert texts("Use `a. b` now") == [f"Use {CODE_OPEN}`a. b`{CODE_CLOSE} now"]


def test_marks_of_the_input_are_removed() -> None:
    assert texts(f"a{CODE_OPEN}b{CODE_CLOSE}") == ["ab"]


def test_paragraph_is_one_unit_whatever_its_sentences() -> None:
    assert texts("One. Two.\nthree\n\nFour.") == ["One. Two. three", "Four."]


def test_longer_body_is_read_in_parts() -> None:
    actual = read_prose("word\n" * (MAX_PART_CHARS // 2) + "\n**a**\n\n- b")
    assert actual.units[-2:] == [Unit("a", is_heading=True), Unit("b")]
    assert sum(unit.text.count("word") for unit in actual.units[:-2]) == MAX_PART_CHARS // 2


@pytest.mark.parametrize("after", ["", "~~~\ntext"])
def test_code_goes_on_in_the_next_part(after: str) -> None:
    actual = read_prose("~~~\n" + "code\n\n" * (MAX_PART_CHARS // 2) + after)
    assert [unit.text for unit in actual.units] == after.split()[1:]
    assert set(" ".join(actual.code_blocks).split()) == {"code"}


# Headings


@pytest.mark.parametrize(
    "body",
    [
        "# Title",
        "###### Title",
        "Title\n---",
        "**Title**",
        "__Title__",
        "<b>Title</b>",
        "**Title**: ⚠️",
        "_**Title**_ | **Title**",
        "- **Title**",
        "**Title** <span hidden>text</span>",
        "<details><summary>Title</summary></details>",
        "# Title with `code`",
        "**Title `code`**",
    ],
)
def test_title_is_a_heading(body: str) -> None:
    assert headings(f"Text.\n\n{body}\n\nText.") == texts(body)


@pytest.mark.parametrize(
    "body",
    ["Text", "**Bold** text", "text **bold**", "`code`", "*slanted*", "> quoted", "- item", "1) x"],
)
def test_text_is_no_heading(body: str) -> None:
    for around in ("{}", "# Title\n\n{}", "**Title**\n\n{}", "{}\n\n**Title**"):
        assert set(headings(around.format(body))) <= {"Title"}


def test_header_cells_are_headings_and_other_cells_are_not() -> None:
    assert headings("| File | Notes |\n|---|---|\n| a | Long. |") == ["File", "Notes"]


def test_text_of_a_folded_section_is_no_heading() -> None:
    assert headings("<details><summary>Title</summary>\n\nText.\n\n</details>") == ["Title"]


# Code and the text before it


@pytest.mark.parametrize(
    ("body", "follows"),
    [
        (SUGGESTION, -1),
        (f"One.\n\n{SUGGESTION}", 0),
        (f"One.\n\n- Two.\n  {SUGGESTION.replace(chr(10), chr(10) + '  ')}\n- Three.", 1),
        (f"One.\n\n{SUGGESTION}\n\nTwo.", 0),
        (f"One.\n\n{SUGGESTION}\n\nTwo.\n\n{SUGGESTION}", 0),
    ],
)
def test_code_follows_the_text_before_it(body: str, follows: int) -> None:
    assert read_prose(body).follows == {"x = 1": follows}


def test_code_of_a_dropped_section_follows_the_text_before_it() -> None:
    section = "<details><summary>{}</summary>\n\nText.\n\n{}\n\n</details>"
    inner = section.format("🤖 Prompt for AI Agents", SUGGESTION)
    outer = section.format("Review details", inner)
    for dropped in (inner, outer):
        prose = read_prose(f"One.\n\n{dropped}\n\nTwo.\n\nThree.")
        assert [unit.text for unit in prose.units] == ["One.", "Two.", "Three."]
        assert (prose.suggestions, prose.follows) == (["x = 1"], {"x = 1": 0})


def test_hidden_code_follows_nothing() -> None:
    assert read_prose(f"One.\n\n<div hidden>\n\n{SUGGESTION}\n\n</div>").follows == {}


@pytest.mark.growth
def test_time_is_linear_in_dropped_sections_with_code() -> None:
    section = "<details><summary>Review details</summary>\n\n```\n{}\n```\n\n</details>\n\n"

    def prepare(size: int):
        body = "".join(section.format(at) for at in range(size))
        return lambda: read_prose(body)

    assert growth(prepare, 200) < 8


@pytest.mark.parametrize(
    ("fence", "offsets"),
    [
        ("```suggestion", None),
        ("```suggestion:-0+1", (0, 1)),
        ("~~~suggestion:-3+12", (3, 12)),
        ("~~~~ Suggestion:-1+0", (1, 0)),
        ("```suggestion:+2", (0, 2)),
        ("```suggestion:-2", (2, 0)),
        ("```suggestion:-1+1 js", (1, 1)),
        ("```suggestion:later", None),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_suggestion_has_its_own_offsets(fence, offsets, end):
    close = fence[: fence.lower().index("s")].strip()
    body = f"{fence}\nx = 1\n{close}\nOr:\n```suggestion:-9+9\ny = 2\n```\n".replace("\n", end)
    prose = read_prose(body)
    assert list(zip(prose.suggestions, prose.suggestion_offsets, strict=True)) == [
        ("x = 1", offsets),
        ("y = 2", (9, 9)),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "```markdown\nIt leaks.\n\n- Close it.\n```",
        "\n~~~MD\nIt leaks.\n\n- Close it.\n~~~\n",
        "Here is my review:\n\n````md\nIt leaks.\n\n- Close it.\n````",
        "```markdown\nIt leaks.\n\n- Close it.",
        "```markdown\nIt leaks.\n\n```py\nx = 1\n```\n\n- Close it.\n```",
    ],
)
def test_fence_around_a_whole_review_is_removed(body: str) -> None:
    """https://github.com/dotCMS/core/pull/36303."""
    assert [unit.text for unit in read_prose(body).units] == ["It leaks.", "Close it."]


@pytest.mark.parametrize(
    "body",
    [
        "```\nIt leaks.\n```",
        "How about this title?\n\n```markdown\n# Title\n```",
        "```markdown\n# Title\n```\nThat is shorter.",
        "```markdown\n# Title\n```\nor\n```\nText\n```",
        "```mdx\n# Title\n```",
    ],
)
def test_block_of_proposed_markdown_is_code(body: str) -> None:
    assert read_prose(body).code_blocks
