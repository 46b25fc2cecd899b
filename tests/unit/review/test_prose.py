"""What `sentences` relies on; the Markdown itself is tested through `sentences.parse`."""

from __future__ import annotations

from crscore.review.prose import CODE_CLOSE, CODE_OPEN, MAX_MARKDOWN_CHARS, read_prose


def test_code_span_stands_between_the_marks() -> None:
    assert read_prose("Use `a. b` now").units == [f"Use {CODE_OPEN}`a. b`{CODE_CLOSE} now"]


def test_marks_of_the_input_are_removed() -> None:
    assert read_prose(f"a{CODE_OPEN}b{CODE_CLOSE}").units == ["ab"]


def test_paragraph_is_one_unit_whatever_its_sentences() -> None:
    assert read_prose("One. Two.\nthree\n\nFour.").units == ["One. Two. three", "Four."]


def test_body_at_the_limit_is_markdown() -> None:
    body = "**a**"
    filled = body + "\n" * (MAX_MARKDOWN_CHARS - len(body))
    assert (read_prose(filled).units, read_prose(f"{filled}\n").units) == (["a"], ["**a**"])


def test_unread_fence_of_a_long_body_is_code() -> None:
    body = "~~~\ncode\n~~~\ntext" + "\n" * MAX_MARKDOWN_CHARS
    assert (read_prose(body).code_blocks, read_prose(body).units) == (["code"], ["text"])
