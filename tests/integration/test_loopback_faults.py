"""What can be made to go wrong on the GitHub of this machine, seen by real clients."""

from __future__ import annotations

import http.client
import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from crscore.errors import UncertainWriteError
from crscore.github.client import Client
from crscore.hosts.retry import RetryBudget
from tests.helpers.github import description, scenes, serve
from tests.helpers.github.faults import At, Fault, Kind, Places, Schedule, Script
from tests.helpers.github.writer import writer_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.helpers.github import Server

FILES = "/repos/acme/shop/pulls/7/files"
COMMENTS = "/repos/acme/shop/pulls/7/comments"
NOTES = "/repos/acme/shop/issues/7/comments"


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(scenes.shop()) as running:
        yield running


def ask(
    server: Server, path: str, *, method: str = "GET", body: Any = None, timeout: float = 10
) -> tuple[int, bytes, Any]:
    """Ask once, without any of the patience that clients have."""
    connection = http.client.HTTPConnection(server.url.rpartition("/")[2], timeout=timeout)
    try:
        connection.request(
            method,
            path,
            body=None if body is None else json.dumps(body),
            headers={"Authorization": f"Bearer {server.token}"},
        )
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def ids(server: Server, path: str) -> list[Any]:
    _, data, _ = ask(server, path)
    return [one.get("id") or one["filename"] for one in json.loads(data)]


@pytest.mark.parametrize("status", [404, 500, 502, 503, 504])
def test_another_status_comes_for_the_request_named(server: Server, status: int) -> None:
    server.faults = Script({1: Fault(kind=Kind.STATUS, status=status)})
    assert [ask(server, FILES)[0] for _ in range(3)] == [200, status, 200]
    assert [entry.fault for entry in server.log] == [None, "status", None]


@pytest.mark.parametrize("status", [403, 429])
def test_limits_look_as_githubs_do(server: Server, status: int) -> None:
    server.faults = Script(
        {
            0: Fault(kind=Kind.SECONDARY, status=status, wait_s=3),
            1: Fault(kind=Kind.PRIMARY, status=status, wait_s=5),
            2: Fault(kind=Kind.SECONDARY, status=status, wait_s=None),
        }
    )
    code, data, headers = ask(server, COMMENTS)
    assert (code, headers["Retry-After"]) == (status, "3")
    assert "secondary rate limit" in json.loads(data)["message"]
    assert description.complaints("GET", NOTES, status, json.loads(data)) == []
    code, data, headers = ask(server, COMMENTS)
    assert (code, headers["X-RateLimit-Remaining"]) == (status, "0")
    assert 3 <= int(headers["X-RateLimit-Reset"]) - time.time() <= 5
    assert "Retry-After" not in ask(server, COMMENTS)[2]


@pytest.mark.parametrize("kind", [Kind.CUT_BEFORE, Kind.CUT_AFTER])
def test_cut_connection_gives_no_byte(server: Server, kind: Kind) -> None:
    server.faults = Script({0: Fault(kind=kind)})
    with pytest.raises(http.client.RemoteDisconnected):
        ask(server, NOTES, method="POST", body={"body": "x"})
    done = [write.kind for write in server.writes]
    assert done == ([] if kind is Kind.CUT_BEFORE else ["created"])
    assert server.log[0].status == 0


def test_answer_cut_inside_is_short(server: Server) -> None:
    server.faults = Script({0: Fault(kind=Kind.CUT_INSIDE)})
    with pytest.raises(http.client.IncompleteRead):
        ask(server, FILES)


def test_half_json_is_whole_as_http(server: Server) -> None:
    server.faults = Script({0: Fault(kind=Kind.HALF_JSON)})
    status, data, _ = ask(server, FILES)
    assert status == 200
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(data)


def test_slow_answer_comes_later_than_its_client_waits(server: Server) -> None:
    server.faults = Script({0: Fault(kind=Kind.SLOW, seconds=0.4)})
    with pytest.raises(TimeoutError):
        ask(server, FILES, timeout=0.1)


def test_stale_list_is_that_of_the_head_before(server: Server) -> None:
    before, now = server.world.repositories[0].pulls[7].heads
    server.faults = Places([At(pattern="/files", fault=Fault(kind=Kind.STALE), times=1)])
    _, stale, _ = ask(server, FILES)
    assert {row["contents_url"][-40:] for row in json.loads(stale)} == {before}
    _, fresh, _ = ask(server, FILES)
    assert {row["contents_url"][-40:] for row in json.loads(fresh)} == {now}
    assert ids(server, COMMENTS)


def test_pages_are_emptied_and_repeat_items(server: Server) -> None:
    path = f"{COMMENTS}?per_page=5&page=2"
    whole = ids(server, path)
    first = ids(server, f"{COMMENTS}?per_page=5")
    server.faults = Script({2: Fault(kind=Kind.REPEATED), 3: Fault(kind=Kind.EMPTY)})
    assert ids(server, path) == [first[-1], *whole]
    assert ids(server, path) == []
    assert ids(server, path) == whole


def test_shuffled_list_loses_nothing_over_its_pages(server: Server) -> None:
    whole = ids(server, COMMENTS)
    server.faults = Places([], shuffled="/comments")
    found = [
        node_id
        for page in (1, 2, 3)
        for node_id in ids(server, f"{COMMENTS}?per_page=5&page={page}")
    ]
    assert found != whole
    assert sorted(found) == sorted(whole)


def test_shuffled_list_is_the_same_by_name_and_by_link(server: Server) -> None:
    server.faults = Places([], shuffled="/comments")
    path = f"{COMMENTS}?per_page=5&page=2"
    assert ids(server, path) == ids(
        server, path.replace("repos/acme/shop", "repositories/90000001")
    )


def test_fault_of_a_place_ends_after_its_times(server: Server) -> None:
    fault = Fault(kind=Kind.STATUS, status=503)
    server.faults = Places([At(pattern=r"GET .*/files\?per_page=2", fault=fault, times=2)])
    assert [ask(server, f"{FILES}?per_page=2")[0] for _ in range(3)] == [503, 503, 200]
    assert ask(server, FILES)[0] == 200


def test_graphql_fails_with_status_200(server: Server) -> None:
    server.faults = Script({0: Fault(kind=Kind.QUERY), 1: Fault(kind=Kind.QUERY_LIMIT)})
    body = {"query": "{ viewer { login } }"}
    status, data, _ = ask(server, "/graphql", method="POST", body=body)
    assert (status, json.loads(data)["data"]) == (200, None)
    _, data, _ = ask(server, "/graphql", method="POST", body=body)
    assert json.loads(data)["errors"][0]["type"] == "RATE_LIMITED"
    _, data, _ = ask(server, "/graphql", method="POST", body=body)
    assert json.loads(data)["data"] == {"viewer": {"login": "github-actions[bot]"}}


def test_graphql_gives_a_part_and_says_so(server: Server) -> None:
    server.faults = Script({0: Fault(kind=Kind.QUERY_PART)})
    body = {"query": '{ viewer { login } repository(owner: "acme", name: "shop") { id } }'}
    _, data, _ = ask(server, "/graphql", method="POST", body=body)
    answer = json.loads(data)
    assert answer["data"] == {
        "viewer": {"login": "github-actions[bot]"},
        "repository": {"id": None},
    }
    assert answer["errors"][0]["path"] == ["repository", "id"]


def test_seed_decides_whatever_the_order() -> None:
    paths = [
        f"{path}?per_page={size}" for path in (FILES, COMMENTS, NOTES) for size in range(1, 21)
    ]

    def met(order: list[str]) -> dict[str, str | None]:
        with serve(scenes.shop()) as server:
            server.faults = Schedule(seed=5, kinds=[Kind.STATUS, Kind.SECONDARY, Kind.EMPTY])
            for path in order:
                ask(server, path)
            return {f"{entry.path}?{entry.query}": entry.fault for entry in server.log}

    forward = met(paths)
    assert forward == met(paths[::-1])
    assert 5 < sum(fault is not None for fault in forward.values()) < 40


def test_schedule_has_every_kind_of_fault_and_ends() -> None:
    kinds: Counter[str | None] = Counter()
    for seed in range(14):
        with serve(scenes.shop()) as server:
            server.faults = Schedule(seed=seed, rate=0.9, for_good=0, slow_s=0.01)
            for path in (f"{FILES}?page=1", COMMENTS, "/graphql", f"{NOTES}?per_page=9&page=1"):
                method = "POST" if path == "/graphql" else "GET"
                for _ in range(4):
                    try:
                        ask(server, path, method=method, body={"query": "{ viewer { login } }"})
                    except (http.client.HTTPException, OSError):
                        continue
                assert server.log[-1].fault is None
            kinds.update(entry.fault for entry in server.log)
    assert set(Kind) - {Kind(kind) for kind in kinds if kind} <= {Kind.REPEATED}


def test_lost_answer_to_a_write_is_uncertain_for_our_client(server: Server) -> None:
    server.faults = Script({0: Fault(kind=Kind.CUT_AFTER)})
    retry = RetryBudget(budget_s=9, sleep=lambda _: None)
    client = Client(token=server.token, api_url=server.url, retry=retry)
    issue = client.issue("acme/shop", 7)
    with pytest.raises(UncertainWriteError):
        client.write("a comment", lambda: issue.create_comment("once"))
    client.close()
    assert [write.body for write in server.writes] == ["once"]


def test_pushes_move_comments_along_or_leave_them_behind() -> None:
    world = scenes.shop()
    writer = writer_of(world)
    history, pull = writer.repository.history, writer.pull
    files = {path: history.text(pull.head, path) or "" for path in history.tree(pull.head)}
    cart = files["shop/cart.py"]
    with serve(world) as server:
        before = {one["id"]: one["line"] for one in json.loads(ask(server, COMMENTS)[1])}
        writer.push({**files, "shop/cart.py": "# New\n# lines\n" + cart})
        after = {one["id"]: one["line"] for one in json.loads(ask(server, COMMENTS)[1])}
        writer.push({**files, "shop/cart.py": cart.replace("codes=[]", "codes=None")})
        last = {one["id"]: one["line"] for one in json.loads(ask(server, COMMENTS)[1])}
    (root,) = (line for line in pull.lines if "codes=[]" in line.body)
    assert (before[root.id], after[root.id], last[root.id]) == (9, 11, None)
