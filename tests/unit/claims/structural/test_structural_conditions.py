import pytest

from crscore.claims.structural.code_to_words import code_to_words
from crscore.claims.structural.conditions import extra_of, joint_of
from tests.helpers.changes import change, said, texts


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a", "a && b", ("and", "b")),
        ("a", "b || a", ("or", "b")),
        ("a", "a and not b", ("and", "not b")),
        ("a", "a", ("", "")),
        ("", "a", ("", "")),
        ("a", "ab", ("", "")),
        ("a", "c", ("", "")),
    ],
)
def test_part_added_around_a_condition_is_found(
    before: str, after: str, expected: tuple[str, str]
) -> None:
    assert extra_of(before, after) == expected


def test_condition_that_mixes_operators_is_left_alone() -> None:
    assert joint_of("a || b", "a || b && c") == ""
    assert joint_of("a && b", "a && b && c") == "and"


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [("a", "a and b", "fewer"), ("a and b", "a", "more"), ("a", "a or b", "more")],
)
def test_narrower_or_wider_condition_is_told_by_its_cases(old: str, new: str, word: str) -> None:
    source = "def f(a, b):\n    if {}:\n        g()\n"
    made = change("a.py", source.format(old), source.format(new))
    assert said(made, f"{word} cases than before reach this branch"), texts(made)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("base.currentSnapshot() != null", "base current snapshot is not null"),
        ("!item.getType().isRepeated()", "not item get type is repeated"),
        ("a === 'x' || b", "a equals 'x' or b"),
        ("len(rows) >= limit", "len of rows is at least limit"),
        ("30 * time.Second", "30 times time second"),
        ("x", ""),
    ],
)
def test_code_read_aloud_has_operators_and_names_as_words(code: str, words: str) -> None:
    assert code_to_words(code) == words
