"""GitHub over real HTTP: PyGithub asks a scripted server, and only the clock is a toy."""

import base64
import logging
import pickle
import socket
import subprocess
import sys
import threading
import traceback
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from crscore.cache import Store
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
from crscore.github.host import Host, Patience, Traffic
from tests.helpers.scripted import Asked, Clock, Reply, Scripted

TOKEN = "ghp_0123456789abcdefghijKLMNOPQRSTUVWXYZ"
PATH = "/repos/o/r/pulls/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    number: int


@pytest.fixture
def server():
    made = Scripted()
    yield made
    made.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    yield made
    made.close()


@pytest.fixture
def connect(server, clock):
    made = []

    def connecting(*, budget_s: float = 300.0, tries: int = 5, **options) -> Host:
        options = {"token": TOKEN, "api_url": server.url, "timeout_s": 1, **options}
        patience = Patience(
            budget_s=budget_s, sleep=clock.sleep, now=clock.now, tries=tries, chance=lambda: 1.0
        )
        made.append(Host(patience=patience, **options))
        return made[-1]

    yield connecting
    for one in made:
        one.close()


def test_answer_becomes_the_kind_asked_for(server, connect) -> None:
    server.will(Reply(body={"number": 1, "more": True}))
    host = connect()
    assert host.get(PATH, Pull, {"b": "2", "a": "1"}) == Pull(number=1)
    assert server.targets() == [f"{PATH}?a=1&b=2"]
    assert host.traffic == Traffic(requests=1)


@pytest.mark.parametrize(
    "path",
    [
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
    ],
)
@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_path_that_is_none_is_never_sent(server, connect, verb: str, path: str) -> None:
    host = connect()
    with pytest.raises(HostError, match="no path"):
        host.get(path, Any) if verb == "GET" else host.send(verb, path, None, Any)
    assert server.asked == []


def test_path_may_hold_what_github_names_hold(server, connect) -> None:
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
def test_refusal_is_raised_without_another_try(server, connect, clock, status: int, kind) -> None:
    server.will(Reply(status=status, body={"message": "No."}))
    with pytest.raises(HostError) as caught:
        connect().get(PATH, Pull)
    assert type(caught.value) is kind
    assert caught.value.what == f"GET {PATH}"
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
    "no UTF-8": Reply(body=b'{"number": 2, "a": "\xff"}'),
    "no gzip": Reply(body=b"{}", headers={"Content-Encoding": "gzip"}),
    "odd limit": Reply(body={}, headers={"X-RateLimit-Reset": "never"}),
}


@pytest.mark.parametrize("name", _PASSING)
def test_trouble_is_tried_again(server, connect, clock, name: str) -> None:
    server.will(_PASSING[name], Reply(body={"number": 1}))
    host = connect()
    assert host.get(PATH, Pull) == Pull(number=1)
    assert clock.slept == [1.0]
    assert host.traffic == Traffic(requests=2, waited_s=1.0)


@pytest.mark.parametrize("name", _PASSING)
def test_trouble_that_stays_is_unavailable(server, connect, name: str) -> None:
    server.route = lambda _: _PASSING[name]
    with pytest.raises(UnavailableError) as caught:
        connect(tries=3).get(PATH, Pull)
    assert len(server.asked) == 3
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_silence_is_tried_again(server, connect) -> None:
    late = threading.Event()
    server.will(Reply(body={"number": 2}, waits=late), Reply(body={"number": 1}))
    try:
        assert connect().get(PATH, Pull) == Pull(number=1)
    finally:
        late.set()


def test_host_that_is_not_there_is_unavailable(connect, clock) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(UnavailableError, match="cannot be reached"):
        connect(api_url=f"http://127.0.0.1:{port}").get(PATH, Pull)
    assert clock.slept == [1, 2, 4, 8]


def test_host_that_stopped_answering_is_not_asked_for_each_page(server, connect, clock) -> None:
    def hang(_: Asked) -> Reply:
        clock.time += 30
        return Reply(raw=b"")

    server.route = hang
    host = connect(budget_s=20.0)
    read = host.pages("/x", Pull, expected=5000)
    assert len(read.missing) == 50
    assert len(server.asked) == 1
    assert "stopped answering" in read.missing[-1]


def test_one_slow_failure_is_not_held_against_a_host_that_answers(server, connect, clock) -> None:
    def slow(_: Asked) -> Reply:
        clock.time += 300
        return Reply(status=504)

    server.will(Reply(raw=b""), Reply(body={"number": 1}))
    server.route = slow
    host = connect(budget_s=20.0)
    host.get(PATH, Pull)
    with pytest.raises(UnavailableError):
        host.get(PATH, Pull)
    server.will(Reply(body={"number": 1}))
    assert host.get(PATH, Pull) == Pull(number=1)


@pytest.mark.parametrize("body", [{"number": "1"}, {}, [], None, {"message": "odd"}])
def test_answer_of_another_shape_is_unavailable_at_once(server, connect, clock, body) -> None:
    server.will(Reply(body=body))
    with pytest.raises(UnavailableError, match="not what it should be"):
        connect().get(PATH, Pull)
    assert clock.slept == []


def test_answer_that_is_nested_without_end_is_unavailable(server, connect) -> None:
    server.will(Reply(body=b"[" * 100_000 + b"]" * 100_000))
    with pytest.raises(UnavailableError, match="nested"):
        connect().get(PATH, Any)


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
    said: list[str] = []
    assert connect(say=said.append).get(PATH, Pull) == Pull(number=1)
    assert clock.slept == [91.0]
    assert said == ["GitHub asks to wait 91 s (primary rate limit)"]


@pytest.mark.parametrize("status", [403, 429])
def test_secondary_limit_is_waited_for(server, connect, clock, status: int) -> None:
    named = Reply(status=status, body=_SECONDARY, headers={"Retry-After": "12"})
    unnamed = Reply(status=status, body=_SECONDARY)
    server.will(named, unnamed, Reply(body={"number": 1}))
    assert connect().get(PATH, Pull) == Pull(number=1)
    assert clock.slept == [12.0, 120.0]


def test_limit_beyond_the_budget_is_told_and_nothing_more_is_sent(server, connect, clock) -> None:
    server.will(_primary(clock, 3000))
    host = connect()
    with pytest.raises(RateLimitedError) as caught:
        host.get(PATH, Pull)
    assert (caught.value.retry_after, clock.slept) == (3001.0, [])
    clock.time += 1000
    with pytest.raises(RateLimitedError) as caught:
        host.get("/user", Any)
    assert caught.value.retry_after == 2001.0
    assert len(server.asked) == 1


def test_host_is_asked_again_when_its_limit_is_over(server, connect, clock) -> None:
    server.will(_primary(clock, 3000), Reply(body={"number": 1}))
    host = connect()
    with pytest.raises(RateLimitedError):
        host.get(PATH, Pull)
    clock.time += 3001
    assert host.get(PATH, Pull) == Pull(number=1)


def test_pages_after_a_limit_are_not_asked_for_one_by_one(server, connect, clock) -> None:
    link = f'<{server.url}/x?page=2>; rel="next", <{server.url}/x?page=9>; rel="last"'
    server.will(Reply(body=[{"number": 1}], headers={"Link": link}), _primary(clock, 3000))
    read = connect().pages("/x", Pull)
    assert read.items == (Pull(number=1),)
    assert len(read.missing) == 8
    assert len(server.asked) == 2


def test_limit_of_rest_does_not_hold_for_graphql(server, connect, clock) -> None:
    server.will(_primary(clock, 3000), Reply(body={"data": {"number": 1}}))
    host = connect()
    with pytest.raises(RateLimitedError):
        host.get(PATH, Pull)
    assert host.graphql("query { x }", {}, Pull) == Pull(number=1)


# Asking whether a kept answer still holds


def _tagged(body: Any, etag: str, **headers: str) -> Reply:
    return Reply(body=body, headers={"ETag": etag, **headers})


def test_unchanged_answer_is_the_kept_one(server, connect, store) -> None:
    server.will(_tagged({"number": 1}, 'W/"a"'), Reply(status=304))
    assert connect(store=store).get(PATH, Pull) == Pull(number=1)
    host = connect(store=store)
    assert host.get(PATH, Pull) == Pull(number=1)
    assert server.asked[1].headers["if-none-match"] == 'W/"a"'
    assert host.traffic == Traffic(requests=1, conditional=1, unchanged=1)


def test_kept_answer_serves_another_process(server, connect, store, tmp_path) -> None:
    server.will(_tagged({"number": 7}, 'W/"a"'), Reply(status=304))
    connect(store=store).get(PATH, Pull)
    script = (
        "import sys; from pathlib import Path; from crscore.github.host import Host; "
        "from crscore.cache import Store; store = Store(Path(sys.argv[2])); "
        "host = Host(token=None, api_url=sys.argv[1], store=store); "
        f"print(host.get({PATH!r}, dict), host.traffic.unchanged); host.close(); store.close()"
    )
    command = [sys.executable, "-c", script, server.url, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "{'number': 7} 1\n"


def test_changed_answer_replaces_the_kept_one(server, connect, store) -> None:
    server.will(_tagged({"number": 1}, '"a"'), _tagged({"number": 2}, '"b"'), Reply(status=304))
    host = connect(store=store)
    assert [host.get(PATH, Pull).number for _ in range(3)] == [1, 2, 2]
    assert [one.headers.get("if-none-match") for one in server.asked] == [None, '"a"', '"b"']


def test_nothing_is_kept_without_a_store(server, connect) -> None:
    server.will(_tagged({"number": 1}, '"a"'), _tagged({"number": 1}, '"a"'))
    host = connect()
    host.get(PATH, Pull)
    host.get(PATH, Pull)
    assert host.traffic == Traffic(requests=2)


def test_kept_answer_is_no_answer_for_a_token_that_may_not_see_it(server, connect, store) -> None:
    server.will(_tagged({"number": 1}, '"a"'), Reply(status=404, body={"message": "Not Found"}))
    connect(store=store).get(PATH, Pull)
    with pytest.raises(NotFoundError):
        connect(store=store, token="ghp_of_somebody_else").get(PATH, Pull)


def test_kept_answer_that_cannot_be_read_is_asked_for_again(server, connect, store) -> None:
    server.will(_tagged({"other": 1}, '"a"'), Reply(status=304), _tagged({"number": 2}, '"a"'))
    connect(store=store).get(PATH, dict)
    host = connect(store=store)
    assert host.get(PATH, Pull) == Pull(number=2)
    assert "if-none-match" not in server.asked[2].headers
    assert host.traffic == Traffic(requests=2, conditional=1, unchanged=1)


def test_answer_that_is_nonsense_is_not_kept(server, connect, store) -> None:
    server.will(_tagged(b'{"number": ', '"a"'), _tagged({"number": 1}, '"b"'), Reply(status=304))
    host = connect(store=store)
    assert host.get(PATH, Pull) == host.get(PATH, Pull) == Pull(number=1)
    assert server.asked[2].headers["if-none-match"] == '"b"'


def test_trouble_while_asking_for_a_kept_answer_is_trouble(server, connect, store) -> None:
    server.will(_tagged({"number": 1}, '"a"'), Reply(status=502), Reply(status=304))
    host = connect(store=store)
    host.get(PATH, Pull)
    assert host.get(PATH, Pull) == Pull(number=1)
    assert host.traffic == Traffic(requests=3, conditional=2, unchanged=1, waited_s=1.0)


# Lists


class Listed:
    """A list as GitHub pages it, with the ETag of each page made of the page alone."""

    def __init__(self, server: Scripted, size: int, *, says_links: bool = True) -> None:
        self.server = server
        self.size = size
        self.says_links = says_links

    def __call__(self, asked: Asked) -> Reply:
        number = int(parse_qs(urlsplit(asked.target).query).get("page", ["1"])[0])
        items = [{"number": n} for n in range(self.size)][(number - 1) * 100 : number * 100]
        last = -(-self.size // 100)
        headers = {"ETag": f'"{number}-{len(items)}"'}
        unchanged = asked.headers.get("if-none-match") == headers["ETag"]
        if number < last and (self.says_links or not unchanged):
            base = f"{self.server.url}/x?per_page=100&page="
            headers["Link"] = f'<{base}{number + 1}>; rel="next", <{base}{last}>; rel="last"'
        return Reply(status=304 if unchanged else 200, body=items, headers=headers)


def _numbers(read) -> list[int]:
    return [one.number for one in read.items]


@pytest.mark.parametrize("expected", [True, False])
@pytest.mark.parametrize(("size", "requests"), [(0, 1), (1, 1), (100, 1), (101, 2), (300, 3)])
def test_list_takes_the_fewest_requests(server, connect, size, requests, expected) -> None:
    server.route = Listed(server, size)
    host = connect()
    read = host.pages("/x", Pull, expected=size if expected and size else None)
    assert _numbers(read) == list(range(size))
    assert host.traffic.requests == requests


def test_parameters_go_with_every_page(server, connect) -> None:
    server.route = Listed(server, 101)
    connect().pages("/x", Pull, {"sort": "created"})
    assert server.targets() == [
        "/x?per_page=100&sort=created",
        "/x?page=2&per_page=100&sort=created",
    ]


@pytest.mark.parametrize("says_links", [True, False])
@pytest.mark.parametrize("expected", [True, False])
def test_list_that_grew_behind_unchanged_pages_is_read_whole(
    server, connect, store, says_links: bool, expected: bool
) -> None:
    # The page's ETag does not change when another page is added behind it.
    listed = server.route = Listed(server, 200, says_links=says_links)
    connect(store=store).pages("/x", Pull)
    listed.size = 350
    host = connect(store=store)
    read = host.pages("/x", Pull, expected=350 if expected else None)
    assert _numbers(read) == list(range(350))
    assert host.traffic == Traffic(requests=4, conditional=2, unchanged=2)


@pytest.mark.parametrize("size", [100, 250, 300])
def test_unchanged_list_of_known_size_takes_only_conditional_requests(
    server, connect, store, size: int
) -> None:
    server.route = Listed(server, size, says_links=False)
    connect(store=store).pages("/x", Pull, expected=size)
    host = connect(store=store)
    assert _numbers(host.pages("/x", Pull, expected=size)) == list(range(size))
    pages = -(-size // 100)
    assert host.traffic == Traffic(requests=pages, conditional=pages, unchanged=pages)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (Reply(status=502), "GitHub answers 502"),
        (Reply(body={"message": "odd"}), "not what it should be"),
        (Reply(body=[{"number": "x"}]), "not what it should be"),
        (Reply(body=b"[{"), "cut or broken"),
    ],
)
def test_page_in_the_middle_that_stays_broken_is_left_out(server, connect, broken, reason) -> None:
    listed = Listed(server, 350)
    server.route = lambda asked: broken if "?page=2" in asked.target else listed(asked)
    read = connect().pages("/x", Pull)
    assert _numbers(read) == [*range(100), *range(200, 350)]
    (missing,) = read.missing
    assert missing.startswith("/x: page 2: ")
    assert reason in missing


def test_page_that_fails_once_is_not_missing(server, connect) -> None:
    server.will(Reply(status=500), Reply(raw=b""))
    server.route = Listed(server, 150)
    read = connect().pages("/x", Pull)
    assert (_numbers(read), read.missing) == (list(range(150)), ())


@pytest.mark.parametrize("seed", range(25))
def test_list_is_whole_or_says_what_is_missing(server, connect, store, clock, seed: int) -> None:
    dice = Random(seed)
    listed = Listed(server, dice.choice([1, 99, 100, 101, 250, 400]))
    rate = dice.choice([0.1, 0.4, 0.8])
    limits = [_primary(clock, 5), Reply(status=429, headers={"Retry-After": "2"})]
    troubles = [*_PASSING.values(), *limits]

    def faulty(asked: Asked) -> Reply:
        return dice.choice(troubles) if dice.random() < rate else listed(asked)

    server.route = faulty
    for _ in range(2):
        read = connect(store=store, tries=3).pages("/x", Pull, expected=listed.size)
        found = _numbers(read)
        assert found == sorted(set(found))
        lost = {int(one.split(":")[1].removeprefix(" page ")) for one in read.missing}
        whole = range(listed.size)
        assert found == [number for number in whole if number // 100 + 1 not in lost]


# Redirects


def test_repository_that_moved_is_found_with_its_query(server, connect) -> None:
    # PyGithub would drop the query, and page 2 would be page 1.
    moved = f"{server.url}/repositories/9/x?page=2&per_page=100"
    server.will(Reply(status=301, headers={"Location": moved}), Reply(body={"number": 1}))
    assert connect().get("/x", Pull, {"page": "2", "per_page": "100"}) == Pull(number=1)
    assert server.targets()[1] == "/repositories/9/x?page=2&per_page=100"


@pytest.mark.parametrize(
    "location", ["http://elsewhere.test/x", "https://127.0.0.1/x", "", "/x", "http://127.0.0.1:1/x"]
)
def test_token_goes_to_no_other_host(server, connect, location: str) -> None:
    server.will(Reply(status=302, headers={"Location": location}))
    with pytest.raises(UnavailableError, match="another host"):
        connect().get(PATH, Pull)


def test_redirect_in_a_circle_ends(server, connect, clock) -> None:
    server.route = lambda _: Reply(status=307, headers={"Location": f"{server.url}/x"})
    with pytest.raises(UnavailableError, match="again and again"):
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
    ],
)
def test_query_that_met_trouble_is_asked_again(server, connect, clock, first: Reply) -> None:
    server.will(first, Reply(body={"data": {"number": 1}}))
    assert connect().graphql("{ x }", {}, Pull) == Pull(number=1)
    assert len(clock.slept) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"data": {"x": None}, "errors": [{"type": "NOT_FOUND", "message": "no"}]}, NotFoundError),
        ({"data": {"number": 1}, "errors": [{"message": "a part failed"}]}, HostError),
        ({"errors": [{"type": "FORBIDDEN", "message": "no"}]}, PermissionDeniedError),
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


def test_write_is_sent_once(server, connect) -> None:
    server.will(Reply(status=201, body={"number": 5}))
    assert connect().send("POST", "/x/comments", {"body": "é"}, Pull) == Pull(number=5)
    (asked,) = server.asked
    assert (asked.verb, asked.target, asked.body) == ("POST", "/x/comments", {"body": "é"})


def test_write_without_an_answer_gives_none(server, connect) -> None:
    server.will(Reply(status=204), Reply(status=202, body={}))
    host = connect()
    assert host.send("DELETE", "/x/comments/1", None, type(None)) is None
    assert host.send("POST", "/x/dispatches", {}, dict) == {}


def test_writes_stand_a_second_apart(server, connect, clock) -> None:
    server.route = lambda _: Reply(body={"number": 1})
    host = connect(budget_s=0.5)
    for _ in range(2):
        host.send("PATCH", "/x", {}, Pull)
    clock.time += 0.75
    host.send("PATCH", "/x", {}, Pull)
    clock.time += 60
    host.send("PATCH", "/x", {}, Pull)
    assert clock.slept == [1.0, 0.25]


def test_write_has_a_connection_of_its_own(server, connect) -> None:
    # A kept one may have been closed by the host meanwhile, which would leave the write open.
    server.will(Reply(body={"number": 1}), Reply(body={"number": 1}), Reply(body={"number": 1}))
    host = connect()
    host.get(PATH, Pull)
    host.send("PATCH", "/x", {}, Pull)
    host.get(PATH, Pull)
    assert len(server.connections) == 2


@pytest.mark.parametrize(
    "first",
    [
        Reply(status=403, body=_SECONDARY),
        Reply(status=429, body=_SECONDARY, headers={"Retry-After": "3"}),
    ],
)
def test_write_that_met_a_limit_is_repeated(server, connect, clock, first: Reply) -> None:
    server.will(first, Reply(status=201, body={"number": 1}))
    assert connect().send("POST", "/x", {}, Pull) == Pull(number=1)
    assert clock.slept[0] >= 3


def test_write_that_never_left_is_repeated(connect, clock) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    host = connect(api_url=f"http://127.0.0.1:{port}", tries=3)
    with pytest.raises(UnavailableError):
        host.send("POST", "/x", {}, Pull)
    assert host.traffic.requests == 3


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(status=502, body=b"<html>"),
        Reply(status=503, headers={"Retry-After": "1"}),
        Reply(status=408),
        Reply(raw=b""),
        Reply(body={"number": 1}, claims=100),
        Reply(status=201, body=b'{"num'),
        Reply(status=201, body={"other": 1}),
        Reply(status=201, body=b""),
    ],
)
def test_write_that_may_have_been_done_is_not_repeated(server, connect, reply: Reply) -> None:
    server.will(reply)
    with pytest.raises(UncertainWriteError, match="may have been done"):
        connect().send("POST", "/x", {}, Pull)
    assert len(server.asked) == 1


def test_write_that_met_silence_is_uncertain(server, connect) -> None:
    late = threading.Event()
    server.will(Reply(body={"number": 1}, waits=late))
    try:
        with pytest.raises(UncertainWriteError):
            connect().send("POST", "/x", {}, Pull)
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
        (301, UnavailableError),
    ],
)
def test_write_that_was_refused_was_not_done(server, connect, status: int, kind) -> None:
    reply = Reply(status=status, body={"message": "no"}, headers={"Location": f"{server.url}/y"})
    server.will(reply)
    with pytest.raises(HostError) as caught:
        connect().send("POST", "/x", {}, Pull)
    assert type(caught.value) is kind
    assert len(server.asked) == 1


def test_write_follows_a_move_that_keeps_its_body(server, connect) -> None:
    moved = Reply(status=307, headers={"Location": f"{server.url}/repositories/9/x"})
    server.will(moved, Reply(status=201, body={"number": 1}))
    assert connect().send("POST", "/x", {"a": 1}, Pull) == Pull(number=1)
    last = server.asked[1]
    assert (last.verb, last.target, last.body) == ("POST", "/repositories/9/x", {"a": 1})


# The token


def _everywhere(server: Scripted, host: Host) -> list[HostError]:
    caught = []
    for ask in (
        lambda: host.get(PATH, Pull),
        lambda: host.graphql("{ x }", {}, Pull),
        lambda: host.send("POST", "/x", {}, Pull),
    ):
        with pytest.raises(HostError) as one:
            ask()
        caught.append(one.value)
    return caught


@pytest.mark.parametrize("status", [200, 401, 403, 404, 422, 429, 500])
def test_token_that_the_host_repeats_is_in_no_error_log_or_store(
    server, connect, store, tmp_path, status: int, caplog
) -> None:
    caplog.set_level(logging.DEBUG)
    headers = {"ETag": f'"{TOKEN}"', "X-Echo": TOKEN}
    errors = [{"message": TOKEN}]
    server.route = lambda _: Reply(
        status=status, body={"message": f"for {TOKEN}", "errors": errors}, headers=headers
    )
    said: list[str] = []
    host = connect(store=store, tries=2, say=said.append)
    for error in _everywhere(server, host):
        assert TOKEN not in "".join(traceback.format_exception(error))
        assert TOKEN.encode() not in pickle.dumps(error)
    assert TOKEN not in caplog.text + repr(host) + str(vars(host)) + "".join(said)


def test_token_is_not_in_the_store(server, connect, store, tmp_path) -> None:
    server.will(_tagged({"number": 1, "echo": TOKEN}, f'"{TOKEN}"', Link=f"<{TOKEN}>"))
    connect(store=store).get(PATH, Pull)
    store.close()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b'"number": 1' in kept
    assert TOKEN.encode() not in kept
    assert base64.b64encode(TOKEN.encode()) not in kept


def test_space_around_a_token_is_dropped(server, connect) -> None:
    server.will(Reply(body={"number": 1}))
    connect(token=f" {TOKEN}\n").get(PATH, Pull)
    assert server.asked[0].headers["authorization"] == f"token {TOKEN}"


def test_host_is_shown_by_its_address_alone(connect, server) -> None:
    assert repr(connect()) == f"Host('{server.url}')"


def test_hosts_do_not_share_their_patience(server) -> None:
    hosts = [Host(token=None, api_url=server.url) for _ in range(2)]
    assert hosts[0]._patience is not hosts[1]._patience
    for host in hosts:
        host.close()


@pytest.mark.parametrize("package", ["github", "tenacity"])
def test_missing_package_is_named_with_its_command(package: str, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "crscore.github.transport", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DependencyError, match=r"crscore\[github\]"):
        Host(token=None)


def test_slash_at_the_end_of_the_address_is_no_part_of_it(server, connect) -> None:
    server.will(Reply(body={"number": 1}))
    connect(api_url=f"{server.url}/api/v3/").get("/x", Pull)
    assert server.targets() == ["/api/v3/x"]
