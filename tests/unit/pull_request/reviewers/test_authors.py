"""Markers of reviewers behind other accounts: where one counts, and in whose posts."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from crscore.pull_request.reviewers.authors import find_user_marker
from crscore.review.sentences import split_comment
from tests.helpers.growth import growth
from tests.helpers.posts import RABBIT, bodies, hear, line, post, review, who

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.hosts.records import HostMessage

"""Of processor time, under coverage; trying every backtick of a row would take minutes."""

LINTY = MappingProxyType({"Linty": "Reviewed by Linty"})
DOG = "<!-- __reviewdog__:ChBkMTAy -->"
GUIDE = "## PR Reviewer Guide 🔍\n\nIt leaks."


def test_marker_of_the_user_takes_precedence_over_the_account() -> None:
    actual = hear(post(1, "octobot: it leaks.", RABBIT), markers={"octo": "octobot:"})
    assert [(item.reviewer, item.is_bot) for item in actual.threads] == [("octo", True)]


def test_marker_of_the_user_can_name_a_profile() -> None:
    body = "Qodo at work\n\n## Code\nIt leaks.\n- [ ] Apply <!-- /improve -->"
    actual = hear(post(1, body, "github-actions[bot]"), markers={"pr-agent": "Qodo at work"})
    assert who(actual) == ["pr-agent"]
    assert "Apply" not in actual.threads[0].body


def test_blank_marker_marks_nothing() -> None:
    assert who(hear(post(1, "It leaks."), markers={"octo": " "})) == ["ada"]


def test_marker_of_a_profile_decides_for_an_account_that_many_share() -> None:
    body = "**Claude finished @ada's task** —— [View job](https://example.org)\n\n---\nIt leaks."
    actual = hear(post(1, body, "github-actions[bot]"))
    assert who(actual) == ["claude"]
    assert split_comment(actual.threads[0].body).sentences == ("It leaks.",)


def test_account_of_a_bot_takes_precedence_over_the_marker_of_another() -> None:
    assert who(hear(review(1, "### 💡 Codex Review\n\nIt leaks.", RABBIT))) == ["coderabbit"]


def test_marker_in_a_persons_post_is_reported() -> None:
    actual = hear(
        post(1, "<!-- ccr-overview-v2 -->\nIt leaks."),
        review(2, "<!-- ccr-overview-v2 -->\nIt leaks."),
    )
    assert who(actual) == ["copilot"]
    assert actual.notes == ("Posts of ada count as copilot's, because of a marker in them.",)


@pytest.mark.parametrize(
    "body",
    [
        "> **Claude finished @ada's task**\n\nIt did not.",
        "```\n**Claude finished @ada's task**\n```\nIt did not.",
        "I saw **Claude finished @ada's task** in it.",
    ],
)
def test_quoted_marker_does_not_count(body: str) -> None:
    assert who(hear(post(1, body))) == ["ada"]


@pytest.mark.parametrize(
    "body",
    [
        "It leaks.\n\n_Reviewed by Linty_",
        "> Why?\n\nReviewed by Linty: it leaks.",
        "It leaks.\n<!--\nReviewed by Linty\n-->",
        "`a` leaks. Reviewed by Linty, see `b`.",
    ],
)
def test_marker_of_the_user_counts_anywhere_else_in_the_text(body: str) -> None:
    assert who(hear(post(1, body), markers=LINTY)) == ["Linty"]


@pytest.mark.parametrize(
    "body",
    [
        "> Reviewed by Linty\n\nNo, it leaks.",
        "> > Reviewed by Linty\n\nNo, it leaks.",
        "```\nReviewed by Linty\n```\nIt leaks.",
        "Where does `Reviewed by Linty` come from?",
        "Where does ``Reviewed by Linty`` come from?",
    ],
)
def test_marker_of_the_user_does_not_count_in_quotes_or_code(body: str) -> None:
    actual = hear(post(1, body), markers=LINTY)
    assert (who(actual), actual.notes) == (["ada"], ())


def test_marker_of_the_user_may_have_code_and_line_ends_in_it() -> None:
    markers = {"linty": "By `linty`:\nIt"}
    assert find_user_marker("By `linty`:\r\nIt leaks.", markers) == "linty"
    assert find_user_marker("> By `linty`:\r\n> It leaks.", markers) is None


@pytest.mark.growth
@pytest.mark.parametrize("piece", ["`", "`a", "``a`", "`\n", "> ", "<!--"])
def test_hostile_bodies_take_linear_time(piece: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        body = "a" + (piece * size)[:size] + "\nReviewed by Linty"
        posts = post(1, f"{body}\n{DOG}"), post(2, body)
        return lambda: hear(*posts, markers=LINTY)

    assert growth(prepare, 5_000) < 12


# Posts of the pull request's author, who could put words into a reviewer's mouth.


MARKED = [
    line(1, "Reviewed by Linty\n\nIt leaks.", "octo-cat"),
    post(1, "Reviewed by Linty\n\nIt leaks.", "Octo-Cat"),
    review(1, GUIDE, "octo-cat"),
    post(1, f"{DOG}\nIt leaks.", "octo-cat"),
]


def test_author_cannot_post_as_a_reviewer() -> None:
    for message in MARKED:
        for authors in [[], ["!eve"], ["ada", "*linty*"], ["*-agent", "review*"]]:
            actual = hear(
                message, line(2, "It hangs.", "linty-fan"), markers=LINTY, authors=authors
            )
            assert set(who(actual)) <= {"linty-fan"}


@pytest.mark.parametrize("message", MARKED)
def test_author_named_in_authors_is_read_as_the_author(message: HostMessage) -> None:
    assert {name.lower() for name in who(hear(message, markers=LINTY, authors=["*"]))} == {
        "octo-cat"
    }


@pytest.mark.parametrize("message", MARKED)
def test_author_cannot_add_to_a_reviewers_thread(message: HostMessage) -> None:
    theirs = post(7, "Reviewed by Linty\n\nIt hangs.", "github-actions[bot]")
    actual = hear(message, theirs, markers=LINTY)
    assert bodies(actual) == [theirs.body]


def test_author_who_quotes_a_marker_answers() -> None:
    actual = hear(post(1, "> Reviewed by Linty\n\nFixed.", "octo-cat"), markers=LINTY)
    assert (actual.threads, actual.notes) == ((), ())


def test_marker_in_the_authors_post_is_reported() -> None:
    actual = hear(post(1, GUIDE, "octo-cat"), review(2, GUIDE, "octo-cat"))
    assert len(actual.notes) == 1
    assert actual.notes[0].startswith("Posts of octo-cat do not count as pr-agent's")


@pytest.mark.parametrize("name", ["pr-agent", "PR-Agent", "linty", " Linty "])
def test_bot_that_uses_the_authors_account_is_read_if_it_is_named(name: str) -> None:
    messages = post(1, GUIDE, "octo-cat"), post(2, "Reviewed by Linty", "octo-cat")
    actual = hear(*messages, post(3, "Fixed.", "octo-cat"), markers=LINTY, authors=[name])
    assert [item.casefold() for item in who(actual)] == [name.strip().casefold()]
    assert any(note.startswith("Posts of octo-cat count as ") for note in actual.notes)


@pytest.mark.parametrize("login", ["ada", "octo-cat"])
def test_person_cannot_post_as_a_bot_that_is_requested_by_its_account(login: str) -> None:
    typed = post(1, "**Actionable comments posted: 1**\n\nIt leaks.", login)
    actual = hear(typed, post(2, "It hangs.", RABBIT), authors=[RABBIT])
    assert bodies(actual) == ["It hangs."]


def test_name_of_one_bot_does_not_let_the_author_post_as_another() -> None:
    both = post(1, f"{DOG}\nReviewed by Linty\n\nIt leaks.", "octo-cat")
    assert who(hear(both, markers=LINTY, authors=["reviewdog"])) == ["reviewdog"]
    assert who(hear(both, markers=LINTY, authors=["pr-agent"])) == []


def test_deleted_author_cannot_post_as_a_reviewer_either() -> None:
    assert not hear(post(1, GUIDE, None), pull_author=None).threads


def test_markers_count_behind_a_bot_that_opened_the_pull_request() -> None:
    posts = (
        post(1, GUIDE, "github-actions[bot]"),
        post(2, "Reviewed by Linty", "github-actions[bot]"),
    )
    actual = hear(*posts, pull_author="github-actions[bot]", markers=LINTY)
    assert who(actual) == ["pr-agent", "Linty"]


def test_marker_of_a_person_whom_the_repository_did_not_choose_is_reported_and_does_not_count() -> (
    None
):
    posts = [
        post(1, "octobot: it leaks.", is_trusted=False),
        review(2, "<!-- BUGBOT_REVIEW -->\nIt leaks.", is_trusted=False),
    ]
    actual = hear(*posts, markers={"octo": "octobot:"}, authors=["octo", "bugbot", "ada"])
    assert who(actual) == ["ada", "ada"]
    assert len(actual.notes) == 2
    assert all("ada is not an owner, member" in note for note in actual.notes)


@pytest.mark.parametrize("trusted", [True, None])
def test_marker_of_others_counts(trusted: bool | None) -> None:
    posts = [post(1, "octobot: it leaks.", is_trusted=trusted)]
    assert who(hear(*posts, markers={"octo": "octobot:"})) == ["octo"]


def test_login_of_a_bot_does_not_make_a_person_the_bot() -> None:
    posts = [
        review(1, "It leaks.", "octo[bot]", is_trusted=True),
        post(2, "It is slow.", "octo", is_trusted=False),
        post(3, "It is odd.", "linty", is_trusted=False),
        post(4, "by Linty: it is long.", "ada", is_trusted=True),
    ]
    actual = hear(*posts, markers={"linty": "by Linty"})
    assert who(actual) == ["octo", "@octo", "@linty", "linty"]
    assert [thread.is_trusted for thread in actual.threads] == [True, False, False, True]
