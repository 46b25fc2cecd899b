"""The client over real HTTP against a scripted server; only the clock is a toy."""

import base64
import contextlib
import gc
import gzip
import importlib
import logging
import pickle
import socket
import sys
import threading
import time
import traceback
import warnings
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from crscore.errors import (
    BadTokenError,
    DependencyError,
    HostError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
    UncertainWriteError,
)
from crscore.github import client
from crscore.github.client import Client
from crscore.github.conversation import CommentItem, User
from crscore.hosts import http
from crscore.hosts.http import WaitBudget
from tests.helpers import tls
from tests.helpers.scripted import Asked, Clock, Reply, Scripted

TOKEN = "ghp_0123456789abcdefghijKLMNOPQRSTUVWXYZ"
PATH = "/repos/o/r/pulls/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    number: int


@pytest.fixture
def server():
    server = Scripted()
    yield server
    server.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def connect(server, clock, monkeypatch):
    made = []

    def connecting(*, budget_s: float = 300.0, tries: int = 5, **options) -> Client:
        options = {"token": TOKEN, "api_url": server.url, "timeout_s": 10, **options}
        retries = http.RETRIES.new(total=tries - 1, backoff_jitter=0)
        monkeypatch.setattr(http, "RETRIES", retries)
        budget = WaitBudget(left_s=budget_s, sleep=clock.sleep, now=clock.now)
        made.append(Client(budget=budget, **options))
        return made[-1]

    yield connecting
    for connected in made:
        connected.close()


@pytest.fixture
def tls_server(tmp_path):
    with tls.serve(tmp_path / "both.pem") as url:
        yield url


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return closed.getsockname()[1]


def test_response_is_converted_to_the_requested_type(server, connect) -> None:
    server.will(Reply(body={"number": 1, "more": True}))
    host = connect()
    assert host.get(PATH, Pull, {"b": "2", "a": "1"}) == Pull(number=1)
    assert server.targets() == [f"{PATH}?a=1&b=2"]
    assert host.requests == 1


def test_invalid_path_is_not_sent(server, connect) -> None:
    for path in [
        "",
        "x",
        "/",
        "//evil",
        "/a/../b",
        "/a/..",
        "/./a",
        "/a?b",
        "/a#b",
        "/a b",
        "/a\n",
        "/ä",
        "/a/",
    ]:
        with pytest.raises(HostError, match="not a path"):
            connect().get(path, Any)
        assert server.asked == []


def test_path_may_have_the_characters_of_github_names(server, connect) -> None:
    server.will(Reply(body={"number": 1}))
    connect().get("/repos/o-w/r.._x/contents/a%20b/..c/@d", Pull)
    assert server.targets() == ["/repos/o-w/r.._x/contents/a%20b/..c/@d"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, BadTokenError),
        (403, PermissionDeniedError),
        (404, NotFoundError),
        (410, NotFoundError),
        (422, HostError),
        (304, UnavailableError),
    ],
)
def test_refusal_is_raised_without_a_retry(server, connect, clock, status: int, kind) -> None:
    server.will(Reply(status=status, body={"message": "No."}))
    with pytest.raises(HostError) as caught:
        connect().get(PATH, Pull)
    assert type(caught.value) is kind
    assert caught.value.request == f"GET {PATH}"
    assert (len(server.asked), clock.slept) == (1, [])


# Trouble that passes

_PASSING = {
    "500": Reply(status=500, body={"message": "Server Error"}),
    "502 in HTML": Reply(status=502, body=b"<html>Bad Gateway</html>"),
    "503": Reply(status=503),
    "504": Reply(status=504),
    "202": Reply(status=202, body={}),
    "no answer": Reply(raw=b""),
    "no HTTP": Reply(raw=b"nonsense\r\n\r\n"),
    "headers cut": Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Le"),
    "body cut": Reply(body={"number": 2}, claims=100),
    "body without a length cut": Reply(raw=b'HTTP/1.1 200 OK\r\n\r\n{"number": 2'),
    "half an answer": Reply(body=b'{"number": '),
    "empty": Reply(body=b""),
    "a page for people": Reply(body=b"<!DOCTYPE html>", headers={"Content-Type": "text/html"}),
    "no gzip": Reply(body=b"{}", headers={"Content-Encoding": "gzip"}),
    "redirect to no address": Reply(status=301, headers={"Location": "http://["}),
    "no status": Reply(raw=b"HTTP/1.1 abc OK\r\n\r\n"),
    "header line too long": Reply(raw=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\n\r\n"),
    "too many headers": Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 200 + b"\r\n"),
    "chunk cut": Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"),
    "chunk without a size": Reply(
        raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    ),
}


@pytest.mark.parametrize("name", _PASSING)
def test_server_error_is_retried_and_then_raised(server, connect, clock, name: str) -> None:
    server.will(_PASSING[name], Reply(body={"number": 1}))
    host = connect()
    assert host.get(PATH, Pull) == Pull(number=1)
    assert clock.slept == [0]
    assert host.requests == 2
    server.route = lambda _: _PASSING[name]
    with pytest.raises(UnavailableError) as caught:
        connect(tries=3).get(PATH, Pull)
    assert len(server.asked) == 5
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_missing_response_is_retried(server, connect) -> None:
    late = threading.Event()
    server.will(Reply(body={"number": 2}, waits=late), Reply(body={"number": 1}))
    try:
        assert connect(timeout_s=1).get(PATH, Pull) == Pull(number=1)
    finally:
        late.set()


def test_unreachable_host_is_unavailable(connect, clock, closed_port) -> None:
    with pytest.raises(
        UnavailableError, match=r"127\.0\.0\.1 cannot be reached \(Connection refused"
    ):
        connect(api_url=f"http://127.0.0.1:{closed_port}").get(PATH, Pull)
    assert clock.slept == [0, 2, 4, 8]


@pytest.mark.parametrize("body", [{"number": "1"}, {}, [], None, {"message": "odd"}])
def test_response_of_another_structure_is_not_retried(server, connect, clock, body) -> None:
    server.will(Reply(body=body))
    with pytest.raises(UnavailableError, match="an unexpected structure"):
        connect().get(PATH, Pull)
    assert clock.slept == []


def test_null_is_read_like_a_missing_field(server, connect) -> None:
    item = {"id": 1, "html_url": None, "user": {"login": "ann", "type": None}, "reactions": None}
    server.will(Reply(body=item))
    read = connect().get(PATH, CommentItem)
    assert read == CommentItem(id=1, user=User(login="ann"))
    server.will(Reply(body={"number": None}))
    with pytest.raises(UnavailableError, match=r"Expected `int`, got `null`"):
        connect().get(PATH, Pull)


def test_deeply_nested_response_is_unavailable(server, connect) -> None:
    server.will(Reply(body=b"[" * 100_000 + b"]" * 100_000))
    client = connect()
    # Finalizers of other tests that ran in the deepest list would fail.
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(UnavailableError, match="nested"):
            client.get(PATH, Any)
    finally:
        gc.enable()


# Limits


def _primary(clock: Clock, wait_s: int, status: int = 403) -> Reply:
    return Reply(
        status=status,
        body={"message": "API rate limit exceeded for user ID 1."},
        headers={
            "X-RateLimit-Limit": "5000",
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": str(int(clock.time) + wait_s),
        },
    )


_SECONDARY = {"message": "You have exceeded a secondary rate limit."}


@pytest.mark.parametrize("status", [403, 429])
def test_primary_limit_is_waited_for(server, connect, clock, status: int) -> None:
    server.will(_primary(clock, 90, status), Reply(body={"number": 1}))
    messages: list[str] = []
    assert connect(report=messages.append).get(PATH, Pull) == Pull(number=1)
    assert clock.slept == [91.0]
    assert messages == [
        "the host asks to wait 91 s (primary rate limit, for 91 s "
        "(API rate limit exceeded for user ID 1.))"
    ]


@pytest.mark.parametrize("status", [403, 429])
def test_secondary_limit_is_waited_for(server, connect, clock, status: int) -> None:
    named = Reply(status=status, body=_SECONDARY, headers={"Retry-After": "12"})
    unnamed = Reply(status=status, body=_SECONDARY)
    server.will(named, unnamed, Reply(body={"number": 1}))
    assert connect().get(PATH, Pull) == Pull(number=1)
    assert clock.slept == [12.0, 120.0]


def test_limit_beyond_the_budget_is_reported_and_nothing_more_is_sent(
    server, connect, clock
) -> None:
    server.will(_primary(clock, 3000))
    host = connect()
    with pytest.raises(RateLimitedError) as caught:
        host.get(PATH, Pull)
    assert (caught.value.retry_after, clock.slept) == (3001.0, [])
    assert len(server.asked) == 1


# Lists


class Listed:
    """A list as GitHub pages it."""

    def __init__(self, server: Scripted, size: int) -> None:
        self.server = server
        self.size = size

    def __call__(self, asked: Asked) -> Reply:
        number = int(parse_qs(urlsplit(asked.target).query)["page"][0])
        items = [{"number": n} for n in range(self.size)][(number - 1) * 100 : number * 100]
        last, headers = -(-self.size // 100), {}
        if number < last:
            base = f"{self.server.url}/x?per_page=100&page="
            headers["Link"] = f'<{base}{number + 1}>; rel="next", <{base}{last}>; rel="last"'
        return Reply(body=items, headers=headers)


def _pages(host: Client, parameters=None) -> list[int]:
    items = host.pages("/x", Pull, parameters, key=lambda item: item.number)
    return [item.number for item in items]


@pytest.mark.parametrize(("size", "requests"), [(0, 1), (1, 1), (100, 1), (101, 2), (300, 3)])
def test_list_takes_the_fewest_requests(server, connect, size, requests) -> None:
    server.route = Listed(server, size)
    host = connect()
    assert _pages(host) == list(range(size))
    assert host.requests == requests


def test_parameters_go_with_every_page(server, connect) -> None:
    server.route = Listed(server, 101)
    _pages(connect(), {"sort": "created"})
    assert server.targets() == [
        "/x?page=1&per_page=100&sort=created",
        "/x?page=2&per_page=100&sort=created",
    ]


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (Reply(status=502), "GitHub returned 502"),
        (Reply(status=404), "it does not exist"),
        (Reply(body={"message": "odd"}), "an unexpected structure"),
        (Reply(body=[{"number": "x"}]), "an unexpected structure"),
        (Reply(body=b"[{"), "truncated or damaged"),
    ],
)
def test_list_with_a_page_that_stays_broken_is_an_error(
    server, connect, broken, reason, number
) -> None:
    listed = Listed(server, 350)
    server.route = lambda asked: broken if f"page={number}&" in asked.target else listed(asked)
    with pytest.raises(HostError, match=reason):
        _pages(connect())


def test_page_that_fails_once_is_read_again(server, connect) -> None:
    server.will(Reply(status=500), Reply(raw=b""))
    server.route = Listed(server, 150)
    assert _pages(connect()) == list(range(150))


@pytest.mark.parametrize("seed", range(10))
def test_list_is_complete_or_an_error(server, connect, clock, seed: int) -> None:
    dice = Random(seed)
    listed = Listed(server, dice.choice([1, 99, 100, 101, 250, 400]))
    rate = dice.choice([0.1, 0.4, 0.8])
    limits = [_primary(clock, 5), Reply(status=429, headers={"Retry-After": "2"})]
    troubles = [*_PASSING.values(), *limits]

    def faulty(asked: Asked) -> Reply:
        return dice.choice(troubles) if dice.random() < rate else listed(asked)

    server.route = faulty
    with contextlib.suppress(HostError):
        assert _pages(connect(tries=3)) == list(range(listed.size))


def test_list_that_changed_between_two_pages_is_read_once_more(server, connect) -> None:
    whole, more = Listed(server, 120), {"Link": '<x>; rel="next"'}
    server.will(
        Reply(body=[{"number": 0}, {"number": 1}], headers=more),
        Reply(body=[{"number": 1}, {"number": 3}]),
    )
    server.route = whole
    assert sorted(_pages(connect())) == list(range(120))
    assert len(server.asked) == 4


def test_announced_page_without_items_is_an_error(server, connect) -> None:
    server.will(Reply(body=[{"number": 0}], headers={"Link": '<x>; rel="next"'}), Reply(body=[]))
    with pytest.raises(UnavailableError, match="page 2 of the list has no items"):
        _pages(connect())


def test_page_without_items_is_not_the_end_where_more_follow(server, connect) -> None:
    server.will(Reply(body=[], headers={"Link": '<x>; rel="next"'}))
    with pytest.raises(UnavailableError, match="page 1 of the list has no items"):
        connect().page("/x", Pull, 1)


@pytest.mark.parametrize(
    ("size", "number", "more"), [(250, 1, True), (250, 3, False), (100, 1, False)]
)
def test_single_page_says_whether_more_follow(server, connect, size, number, more) -> None:
    server.route = Listed(server, size)
    page = connect().page("/x", Pull, number)
    assert (page.items[0].number, page.has_more) == (100 * (number - 1), more)


def test_list_that_grew_while_it_was_read_is_read_to_its_new_end(server, connect) -> None:
    listed = Listed(server, 250)

    def growing(asked: Asked) -> Reply:
        reply = listed(asked)
        listed.size = 301
        return reply

    server.route = growing
    assert _pages(connect()) == list(range(301))


def test_list_without_end_is_an_error(server, connect, monkeypatch) -> None:
    monkeypatch.setattr(http, "MAX_PAGES", 5)
    links = '<http://h/x?page=2>; rel="next", <http://h/x?page=999999999>; rel="last"'
    server.route = lambda _: Reply(body=[{"number": 1}], headers={"Link": links})
    with pytest.raises(UnavailableError, match="more than 5 pages"):
        _pages(connect())
    assert len(server.asked) == 5


# Redirects


def test_repository_that_moved_is_found_with_its_query(server, connect) -> None:
    # PyGithub would drop the query, and page 2 would be page 1.
    moved = f"{server.url}/repositories/9/x?page=2&per_page=100"
    server.will(Reply(status=301, headers={"Location": moved}), Reply(body={"number": 1}))
    assert connect().get("/x", Pull, {"page": "2", "per_page": "100"}) == Pull(number=1)
    assert server.targets()[1] == "/repositories/9/x?page=2&per_page=100"


@pytest.mark.parametrize(
    "location",
    ["http://elsewhere.test/x", "https://127.0.0.1/x", "", "/x", "http://127.0.0.1:1/x"],
)
def test_token_is_not_sent_to_another_host(server, connect, location: str) -> None:
    server.will(Reply(status=302, headers={"Location": location}))
    with pytest.raises(UnavailableError, match="redirects to another address"):
        connect().get(PATH, Pull)


def test_redirect_in_a_circle_ends(server, connect, clock) -> None:
    server.route = lambda _: Reply(status=307, headers={"Location": f"{server.url}/x"})
    with pytest.raises(UnavailableError, match="redirects to another address"):
        connect().get("/x", Pull)
    assert len(server.asked) == 4


# GraphQL


def test_query_and_variables_are_sent(server, connect) -> None:
    server.will(Reply(body={"data": {"number": 1}}))
    assert connect().graphql("query($a: Int!) { x }", {"a": 1}, Pull) == Pull(number=1)
    (asked,) = server.asked
    assert (asked.verb, asked.target) == ("POST", "/graphql")
    assert asked.body == {"query": "query($a: Int!) { x }", "variables": {"a": 1}}


def test_query_is_repeated_without_the_pause_of_writes(server, connect, clock) -> None:
    server.will(Reply(body={"data": {"number": 1}}), Reply(body={"data": {"number": 2}}))
    host = connect()
    assert [host.graphql("{ x }", {}, Pull).number for _ in range(2)] == [1, 2]
    assert clock.slept == []


@pytest.mark.parametrize(
    "first",
    [
        Reply(status=502, body=b"<html>"),
        Reply(raw=b""),
        Reply(body={"data": None, "errors": [{"message": "Something went wrong while executing"}]}),
        Reply(body=b'{"data": {"number"'),
        Reply(body={"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}),
        Reply(body={"errors": [{"type": "RATE_LIMIT", "message": "already exceeded"}]}),
        Reply(body={"errors": [{"message": "You have exceeded a secondary rate limit"}]}),
        Reply(body={"errors": [{"type": "INTERNAL", "message": "oops"}]}),
        Reply(body={"errors": [{"type": "SERVICE_UNAVAILABLE"}]}),
    ],
)
def test_query_with_a_transient_error_is_retried(server, connect, clock, first: Reply) -> None:
    server.will(first, Reply(body={"data": {"number": 1}}))
    assert connect().graphql("{ x }", {}, Pull) == Pull(number=1)
    assert len(clock.slept) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"data": {"x": None}, "errors": [{"type": "NOT_FOUND", "message": "no"}]}, NotFoundError),
        ({"data": {"number": 1}, "errors": [{"message": "a part failed"}]}, HostError),
        ({"errors": [{"type": "FORBIDDEN", "message": "no"}]}, PermissionDeniedError),
        ({"errors": [{"type": "INSUFFICIENT_SCOPES"}]}, PermissionDeniedError),
        ({"errors": [{"type": "MAX_NODE_LIMIT_EXCEEDED", "message": "too many"}]}, HostError),
        ({"errors": [{}]}, HostError),
        ({"data": None}, UnavailableError),
        ({}, UnavailableError),
        ([], UnavailableError),
        ({"errors": "odd"}, UnavailableError),
    ],
)
def test_query_that_failed_in_any_part_is_an_error(server, connect, body, kind) -> None:
    server.will(Reply(body=body))
    with pytest.raises(HostError) as caught:
        connect().graphql("{ x }", {}, Pull)
    assert type(caught.value) is kind


def test_query_of_a_bad_token_says_so(server, connect) -> None:
    server.will(Reply(status=401, body={"message": "Bad credentials"}))
    with pytest.raises(BadTokenError):
        connect().graphql("{ x }", {}, Pull)


# Writes


@pytest.fixture
def no_pause(monkeypatch) -> None:
    monkeypatch.setattr(client, "SECONDS_BETWEEN_WRITES", None)


WRITTEN = Reply(status=201, body={"html_url": "https://h/1"})


def write(asking: Client) -> str:
    issue = asking.issue("o/r", 7)
    return asking.write("the comment", lambda: issue.create_comment("é").html_url)


def test_write_is_sent_once(server, connect) -> None:
    server.will(WRITTEN)
    asking = connect()
    assert write(asking) == "https://h/1"
    (asked,) = server.asked
    assert (asked.verb, asked.target) == ("POST", "/repos/o/r/issues/7/comments")
    assert asked.body == {"body": "é"}
    assert asked.headers["authorization"] == f"token {TOKEN}"
    assert asked.headers["user-agent"].startswith("crscore/")
    assert asking.requests == 1


def test_writes_are_a_second_apart(server, connect, monkeypatch) -> None:
    monkeypatch.setattr(client, "SECONDS_BETWEEN_WRITES", 0.2)
    server.will(WRITTEN, WRITTEN)
    asking = connect()
    start = time.monotonic()
    write(asking)
    write(asking)
    assert time.monotonic() - start >= 0.2


@pytest.mark.parametrize(
    ("first", "wait_s"),
    [
        (Reply(status=403, body=_SECONDARY), 60),
        (Reply(status=429, body=_SECONDARY, headers={"Retry-After": "3"}), 3),
    ],
)
@pytest.mark.usefixtures("no_pause")
def test_write_after_a_rate_limit_is_repeated(server, connect, clock, first, wait_s) -> None:
    server.will(first, WRITTEN)
    assert write(connect()) == "https://h/1"
    assert clock.slept == [wait_s]


@pytest.mark.usefixtures("no_pause")
def test_write_that_was_not_sent_is_repeated(connect, clock, closed_port) -> None:
    asking = connect(api_url=f"http://127.0.0.1:{closed_port}", tries=3)
    with pytest.raises(UnavailableError):
        write(asking)
    assert asking.requests == 3


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(status=502, body=b"<html>"),
        Reply(status=503, headers={"Retry-After": "1"}),
        Reply(status=408),
        Reply(status=500, body=["odd"]),
        Reply(raw=b""),
        Reply(body={"html_url": "https://h/1"}, claims=100),
        Reply(status=201, body={"html_url": 7}),
        Reply(
            status=201, body={}, headers={"X-RateLimit-Remaining": "x", "X-RateLimit-Limit": "1"}
        ),
    ],
)
def test_write_that_may_have_been_done_is_not_repeated(server, connect, reply: Reply) -> None:
    server.will(reply)
    with pytest.raises(UncertainWriteError, match="unknown whether the write succeeded"):
        write(connect())
    assert len(server.asked) == 1


def test_write_without_a_response_is_uncertain(server, connect) -> None:
    late = threading.Event()
    server.will(Reply(body={}, waits=late))
    try:
        with pytest.raises(UncertainWriteError):
            write(connect(timeout_s=1))
    finally:
        late.set()
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, BadTokenError),
        (403, PermissionDeniedError),
        (404, NotFoundError),
        (422, HostError),
    ],
)
def test_refused_write_is_certainly_not_done(server, connect, status: int, kind) -> None:
    server.will(Reply(status=status, body={"message": "no", "errors": [{"message": "too long"}]}))
    with pytest.raises(HostError, match=r"no; .*too long") as caught:
        write(connect())
    assert type(caught.value) is kind
    assert len(server.asked) == 1


@pytest.mark.parametrize("location", ["http://elsewhere.test/x", "https://127.0.0.1/x"])
def test_write_follows_no_redirect_to_another_host(server, connect, location: str) -> None:
    server.will(Reply(status=301, headers={"Location": location}))
    with pytest.raises(UncertainWriteError):
        write(connect())
    assert len(server.asked) == 1


# On the way


def test_request_has_the_user_agent_and_the_api_version(server, connect) -> None:
    server.will(Reply(body={"number": 1}))
    connect().get(PATH, Pull, {"b": "a b"})
    (asked,) = server.asked
    assert asked.target == f"{PATH}?b=a+b"
    assert asked.headers["authorization"] == f"token {TOKEN}"
    assert asked.headers["accept"] == "application/vnd.github+json"
    assert asked.headers["x-github-api-version"] == "2022-11-28"
    assert asked.headers["user-agent"].startswith("crscore/")


def test_no_sign_in_without_a_token(server, connect, tmp_path, monkeypatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server.will(Reply(body={"number": 1}), WRITTEN)
    asking = connect(token=None)
    asking.get(PATH, Pull)
    write(asking)
    assert not any("authorization" in asked.headers for asked in server.asked)


def test_api_address_may_have_a_path(server, connect) -> None:
    server.will(Reply(body={"number": 1}), Reply(body={"data": {"number": 1}}), WRITTEN)
    asking = connect(api_url=f"{server.url}/api/v3/")
    asking.get("/x", Pull)
    asking.graphql("{ x }", {}, Pull)
    write(asking)
    written = "/api/v3/repos/o/r/issues/7/comments"
    assert server.targets() == ["/api/v3/x", "/api/graphql", written]


def test_reading_uses_one_connection(server, connect) -> None:
    server.route = lambda _: Reply(body={"number": 1})
    asking = connect()
    for _ in range(3):
        asking.get(PATH, Pull)
    assert len(server.connections) == 1


@pytest.mark.parametrize("url", ["http://nobody.invalid", "http://[::1]:1"])
def test_address_without_a_server_cannot_be_reached(connect, url: str) -> None:
    with pytest.raises(UnavailableError, match="cannot be reached"):
        connect(api_url=url, tries=1).get(PATH, Pull)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems queue differently")
def test_host_that_does_not_accept_connections_cannot_be_reached(connect) -> None:
    with contextlib.ExitStack() as open_ones:
        full = open_ones.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            caller = open_ones.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        with pytest.raises(UnavailableError, match="cannot be reached"):
            connect(api_url=url, tries=1, timeout_s=1).get(PATH, Pull)


def test_certificate_of_an_unknown_authority_is_not_tried_again(connect, clock, tls_server) -> None:
    asking = connect(api_url=tls_server)
    with pytest.raises(UnavailableError, match="certificate"):
        asking.get(PATH, Pull)
    assert asking.requests == 1


def test_plain_port_has_no_tls(server, connect) -> None:
    with pytest.raises(UnavailableError):
        connect(api_url=f"https://127.0.0.1:{server.port}", tries=1).get(PATH, Pull)


@pytest.mark.parametrize(
    ("address", "words", "tries"),
    [
        ("http://127.0.0.1:1", r"the proxy .* cannot be reached \(Connection refused\)", 2),
        ("http://[broken", "the proxy .* cannot be reached", 2),
    ],
)
def test_proxy_that_fails_is_named(connect, monkeypatch, address, words, tries) -> None:
    monkeypatch.setenv("HTTP_PROXY", address)
    monkeypatch.setenv("NO_PROXY", "")
    asking = connect(api_url="http://host.invalid", tries=2)
    with pytest.raises(UnavailableError, match=words):
        asking.get(PATH, Pull)
    assert asking.requests == tries


def test_missing_file_of_certificates_is_named(connect, monkeypatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/certificates.pem")
    asking = connect(api_url="https://host.invalid")
    with pytest.raises(UnavailableError, match="the file of trusted certificates cannot be used"):
        asking.get(PATH, Pull)
    assert asking.requests == 1


def test_file_without_certificates_is_named(connect, monkeypatch, tmp_path, tls_server) -> None:
    (tmp_path / "empty.pem").touch()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "empty.pem"))
    with pytest.raises(UnavailableError, match="the file of trusted certificates cannot be used"):
        connect(api_url=tls_server).get(PATH, Pull)


@pytest.mark.parametrize("packed", [False, True])
def test_response_over_the_maximum_size_is_not_read(
    server, connect, monkeypatch, packed: bool
) -> None:
    monkeypatch.setattr(http, "MAX_RESPONSE_BYTES", 100_000)
    body, headers = b'"' + b"a" * 99_999 + b'"', {}
    if packed:
        body, headers = gzip.compress(body), {"Content-Encoding": "gzip"}
        assert len(body) < 1_000
    server.will(Reply(body=body, headers=headers), Reply(body=b'"' + b"a" * 99_998 + b'"'))
    asking = connect()
    with pytest.raises(UnavailableError, match="larger than 100,000 bytes"):
        asking.get(PATH, str)
    assert asking.requests == 1
    assert len(asking.get(PATH, str)) == 99_998


def test_slow_response_is_aborted(server, connect, monkeypatch) -> None:
    monkeypatch.setattr(http, "MAX_TIMEOUTS", 0)
    server.will(Reply(body=b"a" * 1_000_000))
    with pytest.raises(UnavailableError, match="no response in time"):
        connect(tries=1).get(PATH, Pull)


def test_response_with_two_lengths_is_an_error(server, connect) -> None:
    server.will(Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n{"))
    with pytest.raises(UnavailableError):
        connect(tries=1).get(PATH, Pull)
    with warnings.catch_warnings():
        # urllib3 leaves the socket of such a response to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


# The token


def _everywhere(server: Scripted, host: Client) -> list[HostError]:
    caught = []
    for ask in (
        lambda: host.get(PATH, Pull),
        lambda: host.graphql("{ x }", {}, Pull),
        lambda: write(host),
    ):
        with pytest.raises(HostError) as one:
            ask()
        caught.append(one.value)
    return caught


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize("status", [401, 403, 404, 422, 429, 500])
@pytest.mark.parametrize("login", ["", "x:", "me:", "x-access-token:"])
def test_token_that_the_host_repeats_is_in_no_error_or_log(
    server, connect, status: int, login: str, caplog
) -> None:
    caplog.set_level(logging.DEBUG)
    coded = base64.b64encode(f"{login}{TOKEN}".encode()).decode()
    headers = {"X-Echo": TOKEN, "X-Login": coded}
    errors = [{"message": TOKEN}]
    server.route = lambda _: Reply(
        status=status, body={"message": f"for {TOKEN}, {coded}", "errors": errors}, headers=headers
    )
    messages: list[str] = []
    host = connect(tries=2, report=messages.append)
    for error in _everywhere(server, host):
        text = "".join(traceback.format_exception(error))
        assert TOKEN not in text
        # Of the code of a login, no part of the token stays.
        assert coded[len(login) * 4 // 3 + 2 :][:8] not in text
        assert TOKEN.encode() not in pickle.dumps(error)
    assert TOKEN not in caplog.text + repr(host) + str(vars(host)) + "".join(messages)


def test_space_around_a_token_is_dropped(server, connect) -> None:
    server.will(Reply(body={"number": 1}))
    connect(token=f" {TOKEN}\n").get(PATH, Pull)
    assert server.asked[0].headers["authorization"] == f"token {TOKEN}"


def test_host_is_shown_by_its_address_alone(connect, server) -> None:
    assert repr(connect()) == f"Client('{server.url}')"


def test_clients_do_not_share_their_budget(server) -> None:
    clients = [Client(token=None, api_url=server.url) for _ in range(2)]
    assert clients[0].budget is not clients[1].budget
    for connected in clients:
        connected.close()


def test_invalid_token_is_refused_without_quoting_it() -> None:
    for token in ["", " ", "a b", "a\nb", "a\x00", "naïve", "a\r\nX-Evil: 1"]:
        with pytest.raises(BadTokenError) as caught:
            Client(token=token)
        assert not token.strip() or token not in str(caught.value)


def test_invalid_address_is_refused_without_quoting_it() -> None:
    for api_url in [
        "",
        "api.github.com",
        "ftp://api.github.com",
        "https://",
        "https://h:99999",
        "https://h:x",
        "https://h:0",
        "https://[h",
        "https://user:secret@h",
        "https://h?x=1",
        "https://h#x",
    ]:
        with pytest.raises(HostError) as caught:
            Client(token=None, api_url=api_url)
        assert "secret" not in str(caught.value)


def test_missing_package_is_named_with_its_command(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "crscore.github.client")
    monkeypatch.setitem(sys.modules, "github", None)
    with pytest.raises(DependencyError, match=r"crscore\[github\]"):
        importlib.import_module("crscore.github.client")
