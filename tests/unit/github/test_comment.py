"""One comment, whatever happens on the way; over HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crscore.github import client
from crscore.github.client import Client
from crscore.hosts import sticky
from crscore.hosts.http import WaitBudget
from crscore.hosts.records import HostMessage, MessageKind, OwnMessages
from crscore.hosts.sticky import Outcome, Posted
from tests.helpers.github import faults, scenes
from tests.helpers.github.faults import Fault, Kind
from tests.helpers.github.server import Server, serve

NAME, NUMBER = "acme/shop", 7


@pytest.fixture(autouse=True)
def no_pause(monkeypatch) -> None:
    monkeypatch.setattr(client, "SECONDS_BETWEEN_WRITES", None)


TEXT = "Reviews cover half of the change.\n"
KEY = b"a key"


@contextmanager
def shop(**rules: object) -> Iterator[tuple[Server, Client]]:
    with serve(scenes.shop(), **rules) as server:
        budget = WaitBudget(left_s=60, sleep=lambda _: None)
        host = Client(token="loopback-token", api_url=server.url, budget=budget)
        host.comment_key = KEY
        yield server, host


def notes(server: Server) -> list[Any]:
    """Our comments as the host has them."""
    pull = server.world.repositories[0].pulls[NUMBER]
    return [note for note in pull.notes if note.body.startswith(sticky.MARKER)]


def texts(server: Server) -> list[str]:
    """Texts of our comments, without their markers."""
    return [note.body.partition("\n")[2] for note in notes(server)]


def find_own(server: Server) -> tuple[HostMessage, ...]:
    return sticky.find_own([message(note.id, note.body) for note in notes(server)], KEY)


def message(number: int, body: str, *, mine: bool | None = True) -> HostMessage:
    return HostMessage(
        id=number,
        kind=MessageKind.CONVERSATION,
        body=body,
        login="github-actions[bot]",
        is_bot=True,
        is_own=mine,
        url=f"https://example.com/{number}",
    )


def post(
    server: Server, host: Client, text: str = TEXT, *, is_complete: bool = True, first: bool = False
) -> Posted:
    existing = OwnMessages(() if first else find_own(server), is_complete)
    return sticky.post(host, NAME, NUMBER, text, existing)


def test_first_run_makes_the_comment() -> None:
    with shop() as (server, host):
        posted = post(server, host)
        assert (posted.outcome, posted.reason) == (Outcome.CREATED, "")
        assert texts(server) == [TEXT]
        assert f" id={notes(server)[0].id} " in notes(server)[0].body
        assert str(notes(server)[0].id) in posted.url


def test_second_run_edits_it_in_place() -> None:
    with shop() as (server, host):
        post(server, host)
        posted = post(server, host, TEXT + "More.\n")
        assert posted.outcome is Outcome.UPDATED
        assert texts(server) == [TEXT + "More.\n"]


@pytest.mark.parametrize("kept", [TEXT, TEXT.replace("\n", "\r\n"), TEXT.rstrip()])
def test_run_with_the_same_text_writes_nothing(kept: str) -> None:
    with shop() as (server, host):
        post(server, host, kept)
        written = len(server.writes)
        assert post(server, host).outcome is Outcome.UNCHANGED
        assert len(server.writes) == written


def test_second_comment_of_a_concurrent_run_is_deleted() -> None:
    with shop() as (server, host):
        for _ in range(2):
            post(server, host, first=True)
        first = notes(server)[0].id
        post(server, host)
        assert [note.id for note in notes(server)] == [first]


def test_incomplete_list_creates_no_comment() -> None:
    with shop() as (server, host):
        posted = post(server, host, is_complete=False)
        assert (posted.outcome, server.writes) == (Outcome.FAILED, [])
        assert "may already exist" in posted.reason


def test_read_only_token_is_an_outcome() -> None:
    with shop(permissions="read") as (server, host):
        posted = post(server, host)
        assert (posted.outcome, server.writes) == (Outcome.REFUSED, [])


@pytest.mark.parametrize(
    "kind", [Kind.CUT_AFTER, Kind.CUT_INSIDE, Kind.HALF_JSON, Kind.CUT_BEFORE, Kind.STATUS]
)
@pytest.mark.parametrize("times", [1, 2])
def test_lost_response_to_the_first_write_leaves_one_comment(kind: Kind, times: int) -> None:
    with shop() as (server, host):
        server.faults = faults.Script({k: Fault(kind=kind) for k in range(times)})
        assert post(server, host).outcome in (Outcome.FAILED, Outcome.CREATED)
        server.faults = faults.Script({})
        post(server, host)
        assert texts(server) == [TEXT]
        assert f" id={notes(server)[0].id} " in notes(server)[0].body


@pytest.mark.parametrize("kind", [Kind.CUT_AFTER, Kind.CUT_INSIDE, Kind.CUT_BEFORE])
def test_edit_without_a_response_is_repeated(kind: Kind) -> None:
    with shop() as (server, host):
        post(server, host)
        server.faults = faults.Script({len(server.log): Fault(kind=kind)})
        assert post(server, host, TEXT + "More.\n").outcome is Outcome.UPDATED
        assert texts(server) == [TEXT + "More.\n"]


def test_secondary_limit_on_a_write_is_waited_for() -> None:
    with shop() as (server, host):
        server.faults = faults.Script({0: Fault(kind=Kind.SECONDARY, status=403, wait_s=3)})
        assert post(server, host).outcome is Outcome.CREATED
        assert len(notes(server)) == 1


NONCE = "8f14e45fceea167a"
SIGNED = sticky.sign(TEXT, KEY, 7, NONCE)


@pytest.mark.parametrize(
    ("body", "mine", "expected"),
    [
        (SIGNED, True, True),
        (SIGNED.replace("\n", "\r\n").rstrip(), True, True),
        (sticky.sign(TEXT, KEY, "draft", NONCE), True, True),
        (SIGNED, False, False),
        (SIGNED, None, False),
        (f"See {SIGNED}", True, False),
        # Texts of another workflow, which posts through the same account.
        (sticky.sign(TEXT, KEY, 8, NONCE), True, False),
        (sticky.sign(TEXT, b"", 7, NONCE), True, False),
        (sticky.sign(TEXT, KEY, 8, NONCE).replace("id=8", "id=7"), True, False),
        (f"{sticky.MARKER} -->\nBuild 7 passed.", True, False),
        (f"{SIGNED}\nBuild 7 passed.", True, False),
        (SIGNED.replace("half", "most"), True, False),
        (SIGNED.partition("\n")[0], True, False),
        (sticky.MARKER, True, False),
    ],
)
def test_comment_is_found_by_its_author_its_id_and_its_key(
    body: str, mine: bool | None, expected: bool
) -> None:
    assert bool(sticky.find_own([message(7, body, mine=mine)], KEY)) is expected


@pytest.mark.parametrize("first", ["draft", 7])
def test_copies_of_a_draft_are_not_own(first: int | str) -> None:
    own = message(7, sticky.sign(TEXT, KEY, first, NONCE))
    copy = message(8, sticky.sign(TEXT, KEY, "draft", NONCE))
    assert sticky.find_own([own, copy], KEY) == (own,)


def test_key_is_a_secret_that_later_runs_have() -> None:
    def key(**options: object) -> bytes:
        return Client(**{"token": "a-token", **options}).comment_key

    assert key(token="ghs_0123456789") == key(token=None) == b""
    assert key(token="ghs_0123456789", comment_key="secret") == key(comment_key="secret")
    assert len({key(), key(token="another"), key(comment_key="secret"), b""}) == 4
    assert b"a-token" not in key()
