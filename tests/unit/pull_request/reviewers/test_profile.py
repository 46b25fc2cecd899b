"""Reading the profiles of bots."""

from crscore.hosts.records import MessageKind
from crscore.pull_request.reviewers.profile import Cut, Exclusion, Profile, profiles


def test_post_without_kinds_matches_all_kinds() -> None:
    assert Exclusion(description="tips", lines=("a",)).kinds == tuple(MessageKind)


def test_profile_without_cut_cuts_nothing() -> None:
    assert Profile(title="Octo").cut == Cut()


def test_all_profiles_are_read_in_order_of_their_names() -> None:
    names = [item.name for item in profiles()]
    assert "coderabbit" in names
    assert names == sorted(names)
