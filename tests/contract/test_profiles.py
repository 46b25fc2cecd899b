"""Every profile, over posts that look like its bot's: what remains is what they say.

The posts are ours. Beside each `<name>.md` stands `<name>.json`: who posts it where, and the
sentences of it that are review, written by hand; none when the post is no review.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from crscore.github.records import Remark, RemarkKind
from crscore.pull_request.reviewers import profile
from crscore.pull_request.reviewers.classify import read_posts
from crscore.pull_request.reviewers.identify import ReviewerThreads, identify_reviewers
from crscore.pull_request.reviewers.wildcards import matches
from crscore.review import sentences

SAMPLES = Path(__file__).parent.parent / "data" / "reviewers"
POSTS = sorted(SAMPLES.glob("*/*.md"))
PLACE = {"path": "src/app.py", "line": 12, "thread": 1}
ODD_TEXTS = ("", "*", "<details>", "```", "> ", "\r\n", "<!--")


def expected(post: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(post.with_suffix(".json").read_text(encoding="utf-8"))
    return found


def remark_of(post: Path) -> Remark:
    facts = expected(post)
    kind = RemarkKind(facts["kind"])
    return Remark(
        id=1,
        kind=kind,
        body=post.read_text(encoding="utf-8"),
        login=facts["login"],
        is_bot=facts["is_bot"],
        **(PLACE if kind is RemarkKind.LINE else {}),
    )


def heard(post: Path) -> ReviewerThreads:
    return identify_reviewers([remark_of(post)], pull_author="octo-cat")


def shown(post: Path) -> str:
    return f"{post.parent.name}-{post.stem}"


@pytest.mark.parametrize("post", POSTS, ids=shown)
def test_what_remains_of_a_post_is_its_review(post: Path) -> None:
    found = [
        sentence
        for one in heard(post).threads
        for sentence in sentences.split_comment(one.body).sentences
    ]
    assert found == expected(post)["sentences"]


@pytest.mark.parametrize("post", POSTS, ids=shown)
def test_suggestions_of_a_post_stay(post: Path) -> None:
    found = [
        code
        for one in heard(post).threads
        for code in sentences.split_comment(one.body).suggestions
    ]
    assert len(found) == expected(post).get("suggestions", 0)


@pytest.mark.parametrize("post", POSTS, ids=shown)
def test_the_bot_of_a_post_is_known(post: Path) -> None:
    assert {one.reviewer for one in heard(post).threads} <= {post.parent.name}


@pytest.mark.parametrize("post", POSTS, ids=shown)
def test_reading_of_a_post_says_whether_it_is_review_and_why_not(post: Path) -> None:
    (found,) = read_posts([remark_of(post)], pull_author="octo-cat")
    facts = expected(post)
    assert found.profile == post.parent.name
    assert found.is_review == bool(heard(post).threads)
    assert found.skip == facts.get("skip")


@pytest.mark.parametrize("name", profile.profile_names())
def test_profile_has_posts_that_are_review_and_posts_that_are_none(name: str) -> None:
    reviews = [bool(expected(post)["sentences"]) for post in SAMPLES.glob(f"{name}/*.md")]
    has_notices = bool(profile.parse_profile(name, text_of(name)).not_review)
    assert any(reviews)
    assert not has_notices or not all(reviews)


@pytest.mark.parametrize("name", profile.profile_names())
def test_profile_says_how_its_bot_is_known(name: str) -> None:
    one = profile.parse_profile(name, text_of(name))
    assert one.logins or one.markers
    assert not [mark for mark in one.markers if mark != mark.lstrip() or mark.startswith(">")]
    assert one.name == name


@pytest.mark.parametrize("name", profile.profile_names())
def test_no_pattern_of_a_profile_matches_every_text(name: str) -> None:
    one = profile.parse_profile(name, text_of(name))
    cut = one.cut
    lines = [pattern for post in one.not_review for pattern in post.lines]
    patterns = [*one.logins, *lines, *cut.lines, *cut.details, *cut.sections]
    assert not [pattern for pattern in patterns for text in ODD_TEXTS if matches(pattern, text)]
    assert all(start and end for start, end in cut.between)
    assert all((*cut.before, *one.markers, *one.signed))


def test_no_account_or_marker_belongs_to_two_bots() -> None:
    owned = [
        pattern.casefold() for one in profile.profiles() for pattern in one.logins + one.markers
    ]
    assert len(owned) == len(set(owned))


def test_every_folder_of_posts_has_a_profile() -> None:
    assert {post.parent.name for post in POSTS} == set(profile.profile_names())


def text_of(name: str) -> str:
    folder = Path(profile.__file__).parent / "profiles"
    return (folder / f"{name}.toml").read_text(encoding="utf-8")
