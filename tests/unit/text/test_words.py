from crscore.text.words import split_identifier, stem


def test_name_is_split_at_capitals_digits_and_underscores() -> None:
    parts = {
        "user_id": ["user", "id"],
        "userId2": ["user", "id", "2"],
        "HTTPServer2_name": ["http", "server", "2", "name"],
        "MAX_SIZE": ["max", "size"],
        "$scope.名前": ["scope", "名前"],
        "__init__": ["init"],
        "_": [],
        "": [],
    }
    assert {name: split_identifier(name) for name in parts} == parts


def test_forms_of_a_word_share_their_stem() -> None:
    for family in [
        ("rename", "renames", "renamed", "renaming"),
        ("validate", "validates", "validated", "validating"),
        ("quick", "quickly"),
        ("pass", "passes", "passed"),
        ("stop", "stopped", "stopping"),
        ("limit", "limits", "limited"),
    ]:
        assert len({stem(word) for word in family}) == 1


def test_stem_keeps_three_letters_or_the_word() -> None:
    for word in ("is", "use", "bee", "ings", "s", "", "es"):
        assert len(stem(word)) >= min(3, len(word))
