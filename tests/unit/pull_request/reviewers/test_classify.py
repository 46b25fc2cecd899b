from __future__ import annotations

import pytest

from crscore.pull_request.reviewers.authors import Message
from crscore.pull_request.reviewers.classify import read_posts
from crscore.pull_request.reviewers.profile import profiles
from tests.helpers.posts import RABBIT, line, post, review

LIMIT = (
    "<!-- This is an auto-generated comment: summarize by coderabbit.ai -->\n"
    "<!-- This is an auto-generated comment: rate limited by coderabbit.ai -->\n\nWait."
)


def read(*messages) -> list[Message]:
    return read_posts(messages, pull_author="octo-cat")


def test_every_post_is_read_in_the_given_order() -> None:
    actual = read(line(3, "This leaks.", RABBIT), post(1, LIMIT, RABBIT), line(2, "Why?", "ada"))
    assert [(item.reviewer, item.is_bot, item.is_review, item.skip) for item in actual] == [
        ("coderabbit", True, True, None),
        ("coderabbit", True, False, "limit"),
        ("ada", False, True, None),
    ]


@pytest.mark.parametrize(
    "message",
    [
        post(1, "<!-- crscore:report -->\nIt leaks.", "github-actions[bot]"),
        post(1, "/crscore again"),
        line(1, "I fixed it.", "octo-cat"),
        post(1, "Coverage fell to 80%.", "octo-coverage[bot]"),
        review(1, "<!-- nothing -->"),
    ],
    ids=["own", "command", "answer", "report", "wordless"],
)
def test_post_that_is_not_a_review_needs_no_reason(message) -> None:
    (actual,) = read(message)
    assert (actual.is_review, actual.skip) == (False, None)


def test_unknown_bot_with_a_comment_on_a_line_reviews_in_the_conversation_too() -> None:
    bot = "octo-review[bot]"
    actual = read(post(1, "The pool leaks.", bot), line(2, "It leaks here.", bot))
    assert [item.is_review for item in actual] == [True, True]


def test_posts_of_two_kinds_with_one_id_are_distinguished() -> None:
    actual = read(line(1, "This leaks.", RABBIT), post(1, LIMIT, RABBIT))
    assert [item.is_review for item in actual] == [True, False]


def test_repeated_review_is_a_review() -> None:
    actual = read(line(1, "This leaks.", RABBIT), line(2, "This leaks.", RABBIT))
    assert [item.is_review for item in actual] == [True, True]


def test_limit_takes_precedence_over_the_walkthrough_that_it_is_written_into() -> None:
    (rabbit,) = (item for item in profiles() if item.name == "coderabbit")
    assert rabbit.not_review[0].skip == "limit"
    assert read(post(1, f"{LIMIT}\n<!-- walkthrough_start -->", RABBIT))[0].skip == "limit"
