"""Every profile, over posts that look like its bot's: what remains is what they say.

The posts are ours. Beside each `<name>.md` stands `<name>.json`: who posts it where, and the
sentences of it that are review, written by hand; none when the post is no review.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from crscore.hosts.records import HostMessage, MessageKind
from crscore.pull_request.reviewers import profile
from crscore.pull_request.reviewers.classify import read_posts
from crscore.pull_request.reviewers.identify import identify_reviewers
from crscore.pull_request.reviewers.wildcards import matches
from crscore.review import sentences

NAMES = [item.name for item in profile.profiles()]
SAMPLES = Path(__file__).parent.parent / "data" / "reviewers"
POSTS = sorted(SAMPLES.glob("*/*.md"))
PLACE = {"path": "src/app.py", "line": 12, "thread": 1}
ODD_TEXTS = ("", "*", "<details>", "```", "> ", "\r\n", "<!--")


def expected(post: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(post.with_suffix(".json").read_text(encoding="utf-8"))
    return facts


def remark_of(post: Path) -> HostMessage:
    facts = expected(post)
    kind = MessageKind(facts["kind"])
    return HostMessage(
        id=1,
        kind=kind,
        body=post.read_text(encoding="utf-8"),
        login=facts["login"],
        is_bot=facts["is_bot"],
        **(PLACE if kind is MessageKind.LINE else {}),
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_remains_of_a_bots_posts_is_its_review(name: str) -> None:
    for post in sorted(SAMPLES.glob(f"{name}/*.md")):
        facts, remark = expected(post), remark_of(post)
        threads = identify_reviewers([remark], pull_author="octo-cat").threads
        comments = [sentences.split_comment(thread.body) for thread in threads]
        assert [text for item in comments for text in item.sentences] == facts["sentences"], post
        blocks = [code for item in comments for code in item.suggestions]
        assert len(blocks) == facts.get("suggestions", 0), post
        assert {thread.reviewer for thread in threads} <= {name}, post
        (message,) = read_posts([remark], pull_author="octo-cat")
        (bot,) = (item for item in profile.profiles() if item.name == name)
        assert message.profile == bot, post
        assert message.is_review == bool(threads), post
        assert message.skip == facts.get("skip"), post


@pytest.mark.parametrize("name", NAMES)
def test_profile_identifies_its_bot_and_has_posts_of_both_kinds(name: str) -> None:
    (bot,) = (bot for bot in profile.profiles() if bot.name == name)
    reviews = [bool(expected(post)["sentences"]) for post in SAMPLES.glob(f"{name}/*.md")]
    assert any(reviews)
    assert not bot.not_review or not all(reviews)
    assert bot.logins or bot.markers
    assert not [mark for mark in bot.markers if mark != mark.lstrip() or mark.startswith(">")]
    cut = bot.cut
    lines = [pattern for post in bot.not_review for pattern in post.lines]
    patterns = [*bot.logins, *lines, *cut.lines, *cut.details, *cut.sections]
    assert not [pattern for pattern in patterns for text in ODD_TEXTS if matches(pattern, text)]
    assert all(start and end for start, end in cut.between)
    assert all(bot.markers)


def test_no_account_or_marker_belongs_to_two_bots() -> None:
    owned = [
        pattern.casefold() for item in profile.profiles() for pattern in item.logins + item.markers
    ]
    assert len(owned) == len(set(owned))


def test_every_folder_of_posts_has_a_profile() -> None:
    assert {post.parent.name for post in POSTS} == set(NAMES)


def text_of(name: str) -> str:
    folder = Path(profile.__file__).parent / "profiles"
    return (folder / f"{name}.toml").read_text(encoding="utf-8")
