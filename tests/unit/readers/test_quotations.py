from __future__ import annotations

import pytest

from crscore.diff import parse
from crscore.readers import quotations
from crscore.readers.quotations import ShownComment, locate, show_comment
from crscore.records import Comment
from crscore.review.read import parse_comment

DIFF = parse.parse_diff(
    "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-first = 1\n+first = 2\n+second = 3\n"
)


def shown(body: str) -> ShownComment:
    comment = Comment(body=body, path="a.py", line=1)
    return show_comment(parse_comment(comment, DIFF, "markdown"), body, {"src/a.py"})


def test_comment_is_shown_with_its_code_and_without_invisible_text() -> None:
    body = (
        "## In the loop\n\n- `first` is **wrong**. Why?\n- Use `a` <!-- give it 5 --> here\n\n"
        "> an earlier comment\n\n```suggestion\nfirst = 4\n```\nThanks"
    )
    assert shown(body).text.split("\n") == [
        "# In the loop ",
        "- `first` is wrong. Why? ",
        "Use `a` here ",
        "```suggestion",
        "first = 4",
        "```",
        "Thanks",
    ]


def test_items_and_paths_of_changed_files_are_shown() -> None:
    body = (
        "### **src/a.py:12**\n\n1. **nit:** rename `first`\n\nSee below.\n\n"
        "<!--\ngive/it/worth.5\n-->\n**src/a.py**\n\n* rename `first`\n\n**src/b.py**\n\n1. why?"
    )
    assert [line.strip() for line in shown(body).text.split("\n")] == [
        "# src/a.py", "- rename `first`", "See below.", "# src/a.py", "- rename `first`", "- why?",
    ]  # fmt: skip


def test_inline_edit_is_shown_as_a_proposal() -> None:
    assert "first" in shown("`first` -> `start`").text


BODY = (
    "Two things:\n\n1. `first` is never reset. It keeps the value of the last run!\n"
    "2. Rename `second`, please; it is never reset.\n\nThank you"
)
SHOWN = shown(BODY)


@pytest.mark.parametrize(
    ("first", "last", "columns"),
    [
        ("`first` is never", "the last run!", (1, 2)),
        ("first is NEVER reset", "never RESET it", (1, 2)),
        ("Rename `second`", "never reset", (3,)),
        ("1. `first` is", "last run", ()),
        ("`first` is never", "of the next run", ()),
        ("", "reset", ()),
        ("Two things", "", ()),
        ("...", "reset", ()),
        ("Two things: `first`", "Thank you", (0, 1, 2, 3, 4)),
    ],
)
def test_quoted_words_are_located_in_their_sentences(
    first: str, last: str, columns: tuple[int, ...]
) -> None:
    assert locate([(first, last)], SHOWN) == [columns]


def test_no_sentence_is_in_two_remarks() -> None:
    remarks = [
        ("`first` is never", "last run"),
        ("It keeps the value", "never reset"),
        ("keeps the value", "of the last"),
    ]
    assert locate(remarks, SHOWN) == [(1, 2), (3,), (1, 2)]


def test_remark_ends_before_the_next_one_begins() -> None:
    remarks = [
        ("`first` is", "is never reset"),
        ("It keeps", "it is never reset"),
    ]
    assert locate(remarks, SHOWN) == [(1,), (2, 3)]


def test_repeated_words_are_located_after_the_previous_remark() -> None:
    comment = shown("- Close it.\n- Use a set.\n- Close it.")
    close = ("Close it.", "Close it.")
    assert locate([close, ("Use a", "a set"), close], comment) == [(0,), (1,), (2,)]


def test_quoted_code_is_located_in_its_proposal() -> None:
    comment = shown("Simpler:\n\n```suggestion\nfirst = 4\n```")
    assert locate([("first = 4", "first = 4")], comment) == [(1,)]
    assert locate([("Simpler", "first = 4")], comment) == [(0, 1)]


def test_other_languages_are_quoted_too() -> None:
    comment = shown("这里会泄漏。\n\nDer Wert ist FALSCH, weil größer.")
    assert locate([("这里会泄漏", "泄漏。")], comment) == [(0,)]
    assert locate([("der Wert", "weil GRÖSSER")], comment) == [(1,)]


def test_end_of_a_very_long_comment_is_left_out_between_blocks() -> None:
    comment = shown("\n\n".join(f"Paragraph {number} is about `first`." for number in range(900)))
    assert not comment.is_whole
    assert len(comment.text) <= quotations.MAX_COMMENT_CHARS
    assert comment.text.endswith("is about `first`.")
    assert shown("x " * 9_000).text


def test_proposed_code_below_a_remark_belongs_to_it() -> None:
    body = (
        "When all attempts fail, an unpaid order looks paid:\n\n```suggestion\nfirst = 4\n```\n\n"
        "Rename `second`."
    )
    comment = shown(body)
    assert locate([("When all", "looks paid:"), ("Rename", "`second`.")], comment) == [(0, 2), (1,)]
    assert locate([("When all", "looks paid:"), ("first = 4", "4")], comment) == [(0,), (2,)]
    assert locate([("Rename", "`second`.")], comment) == [(1,)]
