"""The gate on reviewers, against the simulated hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crscore.errors import ConfigError
from crscore.github.host import GitHub
from crscore.pull_request import coverage
from tests.helpers.github import scenes
from tests.helpers.github.people import RABBIT
from tests.helpers.github.state import User
from tests.helpers.github.writer import Spot, Writer
from tests.helpers.gitlab import schedules
from tests.helpers.gitlab.server import serve
from tests.helpers.schedules import Clock
from tests.unit.github.shops import NAME, NUMBER, pull_of, shop

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.helpers.github.state import World

SPOT = Spot(path="shop/cart.py", line=None, body="The lock is never released here.")


def write(world: World) -> Writer:
    repository = world.repositories[0]
    return Writer(world=world, repository=repository, pull=repository.pulls[NUMBER])


def push(writer: Writer) -> None:
    history = writer.repository.history
    files = {path: history.blob(sha) for path, sha in history.tree(writer.pull.head).items()}
    writer.push({**files, "README.md": b"# A newer commit"})


def failed(act: Callable[[Writer], object], *reviewers: str) -> tuple[str, ...]:
    """Push, act, and judge; the checks of the pull request stay green."""
    world = scenes.shop()
    push(write(world))
    act(write(world))
    with shop(world) as (_, client):
        return coverage.judge(GitHub(client), NAME, NUMBER, reviewers or ("coderabbit",)).failed


def test_push_after_the_last_review_fails() -> None:
    (line,) = failed(lambda _: None)
    assert line.startswith("acme/shop#7: coderabbit did not review the newest commit ")
    assert "; the last review is of " in line


def test_review_of_the_newest_commit_passes_in_two_requests() -> None:
    world = scenes.shop()
    push(write(world))
    write(world).review(RABBIT, body="**Actionable comments posted: 1**", spots=[SPOT])
    with shop(world) as (_, client):
        result = coverage.judge(GitHub(client), NAME, NUMBER, ["CodeRabbitAI"])
        assert (result.failed, client.requests) == ((), 2)


@pytest.mark.parametrize("reviewer", ["coderabbit", "coderabbitai[bot]", "coderabbit*"])
def test_reviewer_is_named_by_login_profile_or_pattern(reviewer: str) -> None:
    assert failed(lambda writer: writer.review(RABBIT, state="APPROVED"), reviewer) == ()


def test_comments_on_lines_are_a_review_and_an_answer_is_none() -> None:
    assert failed(lambda writer: writer.review(RABBIT, spots=[SPOT])) == ()

    def answer(writer: Writer) -> None:
        root = next(line for line in writer.pull.lines if line.reply_to is None)
        writer.reply(root, RABBIT, "Thank you, that is fixed.")

    assert failed(answer)


def test_dismissed_review_and_notice_of_a_limit_do_not_count() -> None:
    limit = (
        "<!-- This is an auto-generated comment: rate limited by coderabbit.ai -->\n\n"
        "> [!WARNING]\n> ## Rate limit exceeded"
    )
    assert failed(lambda writer: writer.review(RABBIT, state="DISMISSED", body="Fine."))
    assert failed(lambda writer: writer.review(RABBIT, body=limit))


def test_each_reviewer_must_have_reviewed() -> None:
    (line,) = failed(lambda writer: writer.review(RABBIT, body="Fine."), "coderabbit", "nobody")
    assert "nobody did not review" in line
    assert line.endswith("or any other")


def test_waits_until_the_review_comes_and_no_longer_than_allowed() -> None:
    world, pauses = scenes.shop(), []
    push(write(world))
    with shop(world) as (server, client):

        def sleep(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 2:
                Writer(
                    world=server.world,
                    repository=server.world.repositories[0],
                    pull=pull_of(server),
                ).review(RABBIT, body="Fine.")

        subject = (GitHub(client), NAME, NUMBER, ["coderabbit"])
        assert coverage.judge(*subject, wait_s=45, sleep=sleep).failed == ()
        assert pauses == [30, 15]
        assert coverage.judge(*subject[:3], ["nobody"], wait_s=31, sleep=pauses.append).failed
        assert pauses[2:] == [30, 1]


def test_no_reviewer_is_a_mistake_of_the_user() -> None:
    with shop() as (_, client), pytest.raises(ConfigError, match="reviewer"):
        coverage.judge(GitHub(client), NAME, NUMBER, [])


@pytest.mark.parametrize(
    ("act", "is_reviewed"), [(None, False), ("review", True), ("line", True), ("answer", False)]
)
def test_gitlab_counts_threads_begun_after_the_push(act: str | None, is_reviewed: bool) -> None:
    world, clock = scenes.shop(), Clock()
    push(write(world))
    if act == "review":
        write(world).review(RABBIT, body="The lock is never released.")
    elif act == "line":
        write(world).review(RABBIT, spots=[SPOT])
    elif act == "answer":
        root = next(line for line in write(world).pull.lines if line.reply_to is None)
        write(world).reply(root, RABBIT, "Thank you, that is fixed.")
    with serve(world, clock=clock.now) as server:
        host = schedules.host_of(server, clock, seed=0)
        result = coverage.judge(host, NAME, NUMBER, ["coderabbit"])
    assert bool(result.failed) is not is_reviewed


STRANGER = User(login="coderabbit", id=7_001, association="NONE")


@pytest.mark.parametrize("reviewer", ["coderabbit", "code*", "*", "bugbot"])
def test_review_of_an_outsider_does_not_count_for_a_reviewer(reviewer: str) -> None:
    def act(writer: Writer) -> None:
        writer.review(STRANGER, body="<!-- BUGBOT_REVIEW -->\nIt leaks.", spots=[SPOT])

    assert failed(act, reviewer)
    assert failed(act, "@coderabbit") == ()
