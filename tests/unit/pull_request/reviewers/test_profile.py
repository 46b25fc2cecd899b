"""Reading a profile: what is refused, and how it is named."""

import pytest

from crscore.errors import ConfigError
from crscore.hosts.records import MessageKind
from crscore.pull_request.reviewers.profile import Cut, parse_profile, profiles


def test_profile_is_named_after_its_file() -> None:
    assert parse_profile("octo", 'title = "Octo"').name == "octo"


def test_post_without_kinds_stands_anywhere() -> None:
    actual = parse_profile(
        "octo", 'title = "Octo"\n[[not_review]]\ndescription = "tips"\nlines = ["a"]'
    )
    assert actual.not_review[0].kinds == tuple(MessageKind)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("title = 1", "title"),
        ('title = "Octo"\nlogin = "octo"', "file"),
        ('title = "Octo"\nname = "octo"', "name"),
        ('title = "Octo"\n[cut]\nbetween = [["a"]]', "cut.between[0]"),
        (
            'title = "Octo"\n[[not_review]]\ndescription = "a"\nkinds = ["email"]',
            "not_review[0].kinds[0]",
        ),
        ("title = ", "file"),
    ],
)
def test_wrong_profile_is_refused_with_its_key(text: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_profile("octo", text)
    assert caught.value.key == key
    assert caught.value.origin == "octo.toml"


def test_profile_without_cut_cuts_nothing() -> None:
    assert parse_profile("octo", 'title = "Octo"').cut == Cut()


def test_all_profiles_are_read_in_order_of_their_names() -> None:
    names = [item.name for item in profiles()]
    assert names == sorted(names)
