import pytest

from crscore.text.words import split_identifier, stem


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("user_id", ["user", "id"]),
        ("userId2", ["user", "id", "2"]),
        ("HTTPServer2_name", ["http", "server", "2", "name"]),
        ("MAX_SIZE", ["max", "size"]),
        ("$scope.名前", ["scope", "名前"]),
        ("__init__", ["init"]),
        ("_", []),
        ("", []),
    ],
)
def test_name_is_split_at_capitals_digits_and_underscores(name: str, parts: list[str]) -> None:
    assert split_identifier(name) == parts


@pytest.mark.parametrize(
    "family",
    [
        ("rename", "renames", "renamed", "renaming"),
        ("validate", "validates", "validated", "validating"),
        ("quick", "quickly"),
        ("pass", "passes", "passed"),
        ("stop", "stopped", "stopping"),
        ("limit", "limits", "limited"),
    ],
)
def test_forms_of_a_word_share_their_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize("word", ["is", "use", "bee", "ings", "s", "", "es"])
def test_stem_keeps_three_letters_or_the_word(word: str) -> None:
    assert len(stem(word)) >= min(3, len(word))
