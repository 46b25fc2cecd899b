"""Who is heard, what counts as said, and as which comment; each rule by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.pull_request.reviewers.identify import ReviewerThreads, thread_comments
from crscore.records import Side
from crscore.review.sentences import split_comment
from tests.helpers.growth import growth
from tests.helpers.posts import RABBIT, bodies, hear, line, post, review, when, who

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.hosts.records import HostMessage

"""Of processor time, under coverage; a step for each pair of pieces would take minutes."""

OWN = "<!-- crscore:v1 -->\n# Coverage of the review"


def test_people_and_known_bots_are_read() -> None:
    actual = hear(line(1, "It leaks."), line(2, "It leaks.", RABBIT))
    assert [(item.reviewer, item.is_bot) for item in actual.threads] == [
        ("ada", False),
        ("coderabbit", True),
    ]


def test_no_message_leaves_no_review() -> None:
    assert hear() == ReviewerThreads(threads=())


def test_app_without_suffix_is_the_same_app() -> None:
    assert who(hear(line(1, "It leaks.", "coderabbitai", is_bot=True))) == ["coderabbit"]


def test_person_with_the_login_of_an_app_is_a_person() -> None:
    actual = hear(line(1, "It leaks.", "coderabbitai"))
    assert [(item.reviewer, item.is_bot) for item in actual.threads] == [("coderabbitai", False)]


def test_person_with_the_name_of_a_profile_is_not_that_bot() -> None:
    actual = hear(line(1, "It leaks.", "Claude"), line(2, "It hangs.", "claude[bot]"))
    assert who(actual) == ["@Claude", "claude"]


def test_deleted_accounts_are_one_reviewer() -> None:
    assert set(who(hear(line(1, "It leaks.", None), review(2, "It hangs.", None)))) == {"ghost"}


@pytest.mark.parametrize("mine", [True, None])
def test_comment_of_crscore_is_not_a_review(mine: bool | None) -> None:
    messages = post(1, OWN, "github-actions[bot]", is_own=mine), post(2, "  \n" + OWN, is_own=mine)
    assert hear(*messages) == ReviewerThreads(threads=())


def test_report_that_another_account_posted_is_no_review_and_is_reported() -> None:
    actual = hear(post(1, f"{OWN}\n\nIt leaks.", is_own=False), line(2, OWN, "bob", is_own=False))
    assert actual.threads == ()
    assert actual.notes == (
        "Posts of ada, bob that begin like reports of crscore were not scored.",
    )


def test_command_is_not_review_text_but_the_rest_of_its_post_is() -> None:
    assert bodies(hear(post(1, "/crscore"), post(2, "/crscore again\n\nIt leaks."))) == [
        "It leaks."
    ]


@pytest.mark.parametrize("body", ["", "  \n", "<!-- it leaks -->", "---", "👍", "/crscore"])
def test_post_without_words_makes_no_comment(body: str) -> None:
    assert not hear(review(1, body)).threads


def test_post_of_a_bot_with_nothing_but_its_decoration_makes_no_comment() -> None:
    assert not hear(review(1, "**Actionable comments posted: 2**", RABBIT)).threads


def test_approval_with_text_counts_as_review() -> None:
    assert bodies(hear(review(1, "LGTM", state="APPROVED"))) == ["LGTM"]


def test_suggestion_without_words_of_a_bot_is_read() -> None:
    assert who(hear(line(1, "```suggestion\na = 1\n```", RABBIT))) == ["coderabbit"]


# The pull request's author.


@pytest.mark.parametrize("message", [line(1, "Fixed.", "octo-cat"), post(1, "Ready.", "Octo-Cat")])
def test_author_of_the_pull_request_is_not_a_reviewer(message: HostMessage) -> None:
    assert hear(message) == ReviewerThreads(threads=())


def test_author_named_in_authors_is_included() -> None:
    assert who(hear(line(1, "I should fix this.", "octo-cat"), authors=["octo-*"])) == ["octo-cat"]


def test_review_bot_that_wrote_the_change_is_read_but_its_answers_are_not() -> None:
    actual = hear(
        line(1, "It leaks.", "Copilot", is_bot=True),
        line(2, "I fixed it.", "Copilot", is_bot=True, thread=9),
        pull_author="Copilot",
    )
    assert bodies(actual) == ["It leaks."]


def test_deleted_author_excludes_other_deleted_accounts_with_a_note() -> None:
    actual = hear(line(1, "It leaks.", None), line(2, "It hangs."), pull_author=None)
    assert who(actual) == ["ada"]
    assert "deleted accounts" in actual.notes[0]


def test_deleted_account_named_in_authors_is_included() -> None:
    assert who(hear(line(1, "It leaks.", None), pull_author=None, authors=["ghost"])) == ["ghost"]


# Whom to hear.


@pytest.mark.parametrize("pattern", ["coderabbit", "CodeRabbit*", RABBIT, "coderabbitai", "*[bot]"])
def test_author_is_chosen_by_login_or_name(pattern: str) -> None:
    assert who(hear(line(1, "It leaks."), line(2, "It hangs.", RABBIT), authors=[pattern])) == [
        "coderabbit"
    ]


def test_exclusion_alone_leaves_the_rest_as_it_is() -> None:
    messages = [line(1, "It leaks."), line(2, "It hangs.", RABBIT), line(3, "Fixed.", "octo-cat")]
    assert who(hear(*messages, authors=["!CODERABBIT"])) == ["ada"]


def test_exclusion_counts_more_than_choice() -> None:
    assert who(hear(line(1, "It leaks."), line(2, "It hangs.", "bob"), authors=["*", "!b*"])) == [
        "ada"
    ]


def test_choice_without_a_match_names_the_reviewers() -> None:
    actual = hear(line(1, "It leaks."), authors=["eve"])
    assert actual == ReviewerThreads(
        threads=(), notes=("The author pattern eve matches no reviewer; present: ada.",)
    )


def test_reports_of_unknown_bots_are_left_out_and_named() -> None:
    actual = hear(post(1, "Coverage is 91 %.", "codecov[bot]"), post(2, "Preview.", "vercel[bot]"))
    assert actual.threads == ()
    assert len(actual.notes) == 1
    assert "codecov, vercel" in actual.notes[0]


def test_report_is_read_if_its_bot_is_named_in_authors() -> None:
    actual = hear(post(1, "Coverage is 91 %.", "codecov[bot]"), authors=["codecov"])
    assert (who(actual), actual.notes) == (["codecov"], ())


def test_unknown_bot_with_a_comment_on_a_line_is_read_everywhere() -> None:
    actual = hear(post(1, "Two bugs.", "octo[bot]"), line(2, "It leaks.", "octo[bot]"))
    assert bodies(actual) == ["Two bugs.", "It leaks."]


def test_report_through_a_shared_account_is_left_out_though_another_post_is_on_a_line() -> None:
    actual = hear(
        post(1, "Coverage is 91 %.", "github-actions[bot]"),
        line(2, "It is out of date.", "github-actions[bot]"),
    )
    assert bodies(actual) == ["It is out of date."]
    assert "github-actions" in actual.notes[0]


def test_post_of_a_shared_account_with_a_marker_is_read() -> None:
    markers = {"github-actions": "Review:"}
    actual = hear(post(1, "Review: it leaks.", "github-actions[bot]"), markers=markers)
    assert (who(actual), actual.notes) == (["github-actions"], ())


# Threads and places.


def test_posts_of_one_reviewer_in_a_thread_are_one_comment() -> None:
    actual = hear(
        line(1, "It leaks."),
        line(2, "Where?", "octo-cat", thread=1),
        line(3, "In the loop.", thread=1),
    )
    assert bodies(actual) == ["It leaks.\n\nIn the loop."]
    assert [item.id for item in actual.threads[0].posts] == [1, 3]


def test_replies_of_others_are_theirs_with_the_place_of_the_thread() -> None:
    actual = hear(
        line(1, "It leaks."), line(2, "It hangs too.", "bob", thread=1, line=None, path=None)
    )
    assert who(actual) == ["ada", "bob"]
    assert [item.place.id for item in actual.threads] == [1, 1]


def test_answer_of_a_bot_to_a_person_is_its_own() -> None:
    actual = hear(line(1, "Does it leak?"), line(2, "It does, in the loop.", RABBIT, thread=1))
    assert who(actual) == ["ada", "coderabbit"]


def test_thread_without_its_first_post_has_the_location_of_the_next() -> None:
    assert hear(line(5, "It hangs.", thread=1, line=8)).threads[0].place.line == 8


def test_reviews_and_posts_are_comments_of_their_own() -> None:
    assert len(hear(review(1, "It leaks."), post(1, "It hangs.")).threads) == 2


def test_open_code_block_does_not_take_in_the_next_post() -> None:
    actual = hear(line(1, "It leaks:\n````\n```\na = 1"), line(2, "It hangs.", thread=1))
    assert split_comment(actual.threads[0].body).sentences == ("It leaks:", "It hangs.")


def test_comment_has_the_place_the_hunk_and_the_reviewer() -> None:
    actual = hear(
        line(7, "It leaks.", start_line=2, outdated=True, hunk="@@ -1 +1 @@\n+a", side=Side.OLD)
    )
    comment = thread_comments(actual, "e4")[0]
    assert (comment.path, comment.line, comment.start_line, comment.side) == (
        "a.py",
        3,
        2,
        Side.OLD,
    )
    assert (comment.outdated, comment.diff_hunk) == (True, "@@ -1 +1 @@\n+a")
    assert (comment.author, comment.id, comment.body) == ("ada", "7", "It leaks.")


def test_comment_without_a_place_counts_in_the_new_side() -> None:
    comment = thread_comments(hear(review(1, "It leaks.")), "e4")[0]
    assert (comment.path, comment.line, comment.side) == (None, None, Side.NEW)


def test_comment_on_an_older_commit_is_an_earlier_one() -> None:
    heard = hear(line(1, "It leaks.", commit="c2"), line(2, "It hangs.", commit="e4"))
    comments = thread_comments(heard, "e4")
    assert [comment.earlier for comment in comments] == [True, False]


# The same words again.


def test_same_comment_after_a_push_counts_once_and_the_current_one_stays() -> None:
    old = line(1, "It leaks.", RABBIT, outdated=True, line=9)
    actual = hear(old, line(2, "It  leaks.", RABBIT))
    assert [item.place.id for item in actual.threads] == [2]


def test_same_words_on_another_line_are_another_comment() -> None:
    assert len(hear(line(1, "Unused."), line(2, "Unused.", line=9)).threads) == 2


def test_same_words_on_the_other_side_are_another_comment() -> None:
    sides = line(1, "Unused.", line=14, side=Side.OLD), line(2, "Unused.", line=14, side=Side.NEW)
    assert [item.place.side for item in hear(*sides).threads] == [Side.OLD, Side.NEW]


def test_same_words_on_a_line_that_is_gone_from_the_other_side_are_another_comment() -> None:
    gone = line(1, "Unused.", line=14, side=Side.OLD, outdated=True)
    assert len(hear(gone, line(2, "Unused.", line=14)).threads) == 2


def test_same_words_on_the_same_line_of_the_old_side_count_once() -> None:
    twice = line(1, "Unused.", side=Side.OLD), line(2, "Unused.", side=Side.OLD)
    assert len(hear(*twice).threads) == 1


def test_same_words_of_another_reviewer_are_another_comment() -> None:
    assert who(hear(review(1, "LGTM"), review(2, "LGTM", "bob"))) == ["ada", "bob"]


def test_repeated_review_counts_once() -> None:
    assert len(hear(review(1, "LGTM"), review(2, "LGTM")).threads) == 1


def test_paragraph_that_repeats_a_comment_on_a_line_is_removed() -> None:
    actual = hear(
        line(1, "The lock is never released.\n\nUse `with`.", "octo[bot]"),
        review(2, "One bug.\n\nThe lock is never released.", "octo[bot]"),
    )
    assert bodies(actual) == ["The lock is never released.\n\nUse `with`.", "One bug."]


def test_line_ends_make_no_difference_to_repeated_posts() -> None:
    actual = hear(
        line(1, "The lock is never released.\r\n\r\nUse `with`.", "octo[bot]"),
        review(2, "One bug.\r\n\r\nThe lock is never released.", "octo[bot]"),
    )
    assert bodies(actual) == ["The lock is never released.\n\nUse `with`.", "One bug."]


def test_paragraph_of_few_words_or_with_a_tag_is_kept() -> None:
    body = "Use it.\n\n<details>\nthe lock is never released"
    actual = hear(line(1, body, "octo[bot]"), review(2, f"One bug.\n\n{body}", "octo[bot]"))
    assert actual.threads[1].body == f"One bug.\n\n{body}"


# Order and size.

MESSAGES = (
    line(1, "It leaks."),
    line(2, "Where?", "octo-cat", thread=1),
    line(3, "In the loop.", thread=1),
    line(4, "It hangs.", RABBIT, created=when(1)),
    line(5, "It hangs.", RABBIT, outdated=True),
    review(1, "LGTM", "bob", created=""),
    review(6, "LGTM", "bob", created=""),
    post(3, "Coverage.", "codecov[bot]"),
    post(9, "It hangs.", None),
    post(1, OWN),
)


@given(st.integers(0, 2**32))
def test_order_of_the_comments_does_not_matter(seed: int) -> None:
    shuffled = random.Random(seed).sample(MESSAGES, len(MESSAGES))
    assert hear(*shuffled) == hear(*MESSAGES)


def test_messages_are_in_order_of_time_kind_and_id() -> None:
    places = [
        (item.posts[0].created, item.posts[0].kind, item.posts[0].id)
        for item in hear(*MESSAGES).threads
    ]
    assert places == sorted(places)


def test_comments_are_kept_as_given() -> None:
    given_one = line(1, "It leaks.\r\n")
    assert hear(given_one).threads[0].posts == (given_one,)


@given(
    st.lists(
        st.sampled_from(
            [
                "<details>",
                "</details>",
                "<!--",
                "-->",
                "```",
                "> ",
                "**Claude finished @",
                "\n\n",
                "/crscore",
                "It leaks. ",
            ]
        )
    ).map("".join),
    st.sampled_from(["ada", RABBIT, "github-actions[bot]", "octo[bot]", None]),
)
def test_any_body_is_accepted(body: str, login: str | None) -> None:
    for item in hear(line(1, body, login), review(2, body, login)).threads:
        assert item.body.strip()


@pytest.mark.growth
def test_time_grows_with_the_number_of_comments() -> None:
    body = "It locks.\n\n<details><summary>Why</summary>\n\nIt leaks.\n\n</details>\n"

    def prepare(count: int) -> Callable[[], object]:
        messages = [
            replace(line(at % 60, f"{body} {at}", RABBIT), id=at, thread=at) for at in range(count)
        ]
        assert len(hear(*messages).threads) == count
        return lambda: hear(*messages)

    assert growth(prepare, 50) < 12


@pytest.mark.growth
@pytest.mark.parametrize(
    "piece", ["<details>", "<!-- tips_start -->", "a\n\n", "```\n\n", "**Claude finished @\n"]
)
def test_hostile_bodies_of_people_take_linear_time(piece: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        body = (piece * size)[:size] + "word"
        return lambda: hear(line(1, body), review(2, body + " more"))

    assert growth(prepare, 5_000) < 12


def test_dismissed_review_counts() -> None:
    actual = hear(review(1, "It leaks.", state="DISMISSED"), review(2, "LGTM", state="APPROVED"))
    assert who(actual) == ["ada", "ada"]
