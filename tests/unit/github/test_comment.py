"""One comment, whatever happens on the way; over HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crscore.github import client, comment
from crscore.github.client import Client
from crscore.hosts import sticky
from crscore.hosts.http import WaitBudget
from crscore.hosts.records import HostMessage, MessageKind
from crscore.hosts.sticky import Outcome, Posted
from tests.helpers.github import faults, scenes
from tests.helpers.github.faults import Fault, Kind
from tests.helpers.github.server import Server, serve

NAME, NUMBER = "acme/shop", 7


@pytest.fixture(autouse=True)
def no_pause(monkeypatch) -> None:
    monkeypatch.setattr(client, "SECONDS_BETWEEN_WRITES", None)


BODY = f"{sticky.MARKER} v1 -->\n\nReviews cover half of the change.\n"


@contextmanager
def shop(**rules: object) -> Iterator[tuple[Server, Client]]:
    with serve(scenes.shop(), **rules) as server:
        budget = WaitBudget(left_s=60, sleep=lambda _: None)
        yield server, Client(token="loopback-token", api_url=server.url, budget=budget)


def ours(server: Server) -> list[HostMessage]:
    """Our comments as a reader of the conversation finds them."""
    pull = server.world.repositories[0].pulls[NUMBER]
    return [
        HostMessage(
            id=note.id,
            kind=MessageKind.CONVERSATION,
            body=note.body,
            login="github-actions[bot]",
            is_bot=True,
            is_own=True,
            url=f"https://example.com/{note.id}",
        )
        for note in pull.notes
        if note.body.startswith(sticky.MARKER)
    ]


def post(server: Server, host: Client, body: str = BODY, *, certain: bool = True) -> Posted:
    return comment.post(host, NAME, NUMBER, body, ours(server), certain=certain)


def test_first_run_makes_the_comment() -> None:
    with shop() as (server, host):
        posted = post(server, host)
        assert (posted.outcome, posted.reason) == (Outcome.CREATED, "")
        assert [comment.body for comment in ours(server)] == [BODY]
        assert str(ours(server)[0].id) in posted.url


def test_second_run_edits_it_in_place() -> None:
    with shop() as (server, host):
        post(server, host)
        posted = post(server, host, BODY + "More.\n")
        assert posted.outcome is Outcome.UPDATED
        assert [comment.body for comment in ours(server)] == [BODY + "More.\n"]


@pytest.mark.parametrize("kept", [BODY, BODY.replace("\n", "\r\n"), BODY.rstrip()])
def test_run_without_news_writes_nothing(kept: str) -> None:
    with shop() as (server, host):
        post(server, host, kept)
        written = len(server.writes)
        assert post(server, host).outcome is Outcome.UNCHANGED
        assert len(server.writes) == written


def test_second_comment_left_by_a_race_goes_away() -> None:
    with shop() as (server, host):
        for _ in range(2):
            comment.post(host, NAME, NUMBER, BODY, (), certain=True)
        first = ours(server)[0].id
        post(server, host)
        assert [comment.id for comment in ours(server)] == [first]


def test_uncertain_list_makes_no_comment() -> None:
    with shop() as (server, host):
        posted = post(server, host, certain=False)
        assert (posted.outcome, server.writes) == (Outcome.FAILED, [])
        assert "may exist already" in posted.reason


def test_read_only_token_is_an_outcome() -> None:
    with shop(permissions="read") as (server, host):
        posted = post(server, host)
        assert (posted.outcome, server.writes) == (Outcome.REFUSED, [])


@pytest.mark.parametrize(
    "kind", [Kind.CUT_AFTER, Kind.CUT_INSIDE, Kind.HALF_JSON, Kind.CUT_BEFORE, Kind.STATUS]
)
@pytest.mark.parametrize("times", [1, 2])
def test_lost_answer_to_the_first_write_leaves_one_comment(kind: Kind, times: int) -> None:
    with shop() as (server, host):
        server.faults = faults.Script({k: Fault(kind=kind) for k in range(0, 2 * times, 2)})
        posted = post(server, host)
        assert len(ours(server)) == (posted.outcome is Outcome.CREATED)


@pytest.mark.parametrize("kind", [Kind.CUT_AFTER, Kind.CUT_INSIDE, Kind.CUT_BEFORE])
def test_lost_answer_to_an_edit_is_done_again(kind: Kind) -> None:
    with shop() as (server, host):
        post(server, host)
        server.faults = faults.Script({len(server.log): Fault(kind=kind)})
        assert post(server, host, BODY + "More.\n").outcome is Outcome.UPDATED
        assert [comment.body for comment in ours(server)] == [BODY + "More.\n"]


def test_secondary_limit_on_a_write_is_waited_for() -> None:
    with shop() as (server, host):
        server.faults = faults.Script({0: Fault(kind=Kind.SECONDARY, status=403, wait_s=3)})
        assert post(server, host).outcome is Outcome.CREATED
        assert len(ours(server)) == 1


SIGNED = sticky.sign("Reviews cover half of the change.\n")


@pytest.mark.parametrize(
    ("body", "mine", "expected"),
    [
        (SIGNED, True, True),
        (SIGNED.replace("\n", "\r\n").rstrip(), True, True),
        (SIGNED, False, False),
        (SIGNED, None, False),
        (f"See {SIGNED}", True, False),
        # Texts of another workflow, which posts through the same account.
        (BODY, True, False),
        (f"{sticky.MARKER} -->\nBuild 7 passed.", True, False),
        (f"{SIGNED}\nBuild 7 passed.", True, False),
        (SIGNED.replace("half", "most"), True, False),
        (SIGNED.partition("\n")[0], True, False),
        (sticky.MARKER, True, False),
    ],
)
def test_sticky_is_told_by_its_signed_marker_and_by_who_wrote_it(
    body: str, mine: bool | None, expected: bool
) -> None:
    message = HostMessage(
        id=1, kind=MessageKind.CONVERSATION, body=body, login="x", is_bot=False, is_own=mine
    )
    assert sticky.is_sticky(message) is expected
