"""What `sentences` relies on; the Markdown itself is tested through `sentences.parse`."""

from __future__ import annotations

import pytest

from crscore.review.prose import CODE_CLOSE, CODE_OPEN, MAX_PART_CHARS, read_prose


def test_code_span_stands_between_the_marks() -> None:
    assert read_prose("Use `a. b` now").units == [f"Use {CODE_OPEN}`a. b`{CODE_CLOSE} now"]


def test_marks_of_the_input_are_removed() -> None:
    assert read_prose(f"a{CODE_OPEN}b{CODE_CLOSE}").units == ["ab"]


def test_paragraph_is_one_unit_whatever_its_sentences() -> None:
    assert read_prose("One. Two.\nthree\n\nFour.").units == ["One. Two. three", "Four."]


def test_longer_body_is_read_in_parts() -> None:
    actual = read_prose("word\n" * MAX_PART_CHARS + "\n**a**\n\n- b")
    assert actual.units[-2:] == ["a", "b"]
    assert "".join(actual.units[:-2]).count("word") == MAX_PART_CHARS


@pytest.mark.parametrize("after", ["", "~~~\ntext"])
def test_code_goes_on_in_the_next_part(after: str) -> None:
    actual = read_prose("~~~\n" + "code\n\n" * MAX_PART_CHARS + after)
    assert (actual.units, set(" ".join(actual.code_blocks).split())) == (
        after.split()[1:],
        {"code"},
    )
