"""The client over real HTTP against a scripted server; only the clock is a toy."""

import base64
import contextlib
import gc
import gzip
import importlib
import logging
import pickle
import socket
import ssl
import subprocess
import sys
import threading
import time
import traceback
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

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
from crscore.github import client
from crscore.github.client import Client, Pages, Traffic
from crscore.hosts.retry import RetryBudget
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
def store(tmp_path):
    made = Store(tmp_path)
    yield made
    made.close()


@pytest.fixture
def connect(server, clock):
    made = []

    def connecting(*, budget_s: float = 300.0, tries: int = 5, **options) -> Client:
        options = {"token": TOKEN, "api_url": server.url, "timeout_s": 10, **options}
        retry = RetryBudget(
            budget_s=budget_s, sleep=clock.sleep, now=clock.now, tries=tries, chance=lambda: 1.0
        )
        made.append(Client(retry=retry, **options))
        return made[-1]

    yield connecting
    for connected in made:
        connected.close()


@pytest.fixture
def tls_server(tmp_path):
    """Speaks TLS under a certificate that it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "both.pem"
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    file.write_bytes(key.private_bytes(pem, form, plain) + made.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)

    def serve() -> None:
        with contextlib.suppress(OSError):
            taken, _ = listening.accept()
            with taken, context.wrap_socket(taken, server_side=True):
                pass

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(5)
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return closed.getsockname()[1]


def test_answer_becomes_the_kind_asked_for(server, connect) -> None:
    server.will(Reply(body={"number": 1, "more": True}))
    host = connect()
    assert host.get(PATH, Pull, {"b": "2", "a": "1"}) == Pull(number=1)
    assert server.targets() == [f"{PATH}?a=1&b=2"]
    assert host.traffic == Traffic(requests=1)


def test_path_that_is_none_is_never_sent(server, connect) -> None:
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
    "no UTF-8": Reply(body=b'{"number": 2, "a": "\xff"}'),
    "no gzip": Reply(body=b"{}", headers={"Content-Encoding": "gzip"}),
    "no status": Reply(raw=b"HTTP/1.1 abc OK\r\n\r\n"),
    "header line too long": Reply(raw=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\n\r\n"),
    "too many headers": Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 200 + b"\r\n"),
    "chunk cut": Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"),
    "chunk without a size": Reply(
        raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    ),
    "redirect to no address": Reply(status=301, headers={"Location": "http://["}),
}


@pytest.mark.parametrize("name", _PASSING)
def test_trouble_is_tried_again_and_unavailable_when_it_stays(
    server, connect, clock, name: str
) -> None:
    server.will(_PASSING[name], Reply(body={"number": 1}))
    host = connect()
    assert host.get(PATH, Pull) == Pull(number=1)
    assert clock.slept == [1.0]
    assert host.traffic == Traffic(requests=2, waited_s=1.0)
    server.route = lambda _: _PASSING[name]
    with pytest.raises(UnavailableError) as caught:
        connect(tries=3).get(PATH, Pull)
    assert len(server.asked) == 5
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_silence_is_tried_again(server, connect) -> None:
    late = threading.Event()
    server.will(Reply(body={"number": 2}, waits=late), Reply(body={"number": 1}))
    try:
        assert connect(timeout_s=1).get(PATH, Pull) == Pull(number=1)
    finally:
        late.set()


def test_host_that_is_not_there_is_unavailable(connect, clock, closed_port) -> None:
    with pytest.raises(
        UnavailableError, match=r"127\.0\.0\.1 cannot be reached \(Connection refused"
    ):
        connect(api_url=f"http://127.0.0.1:{closed_port}").get(PATH, Pull)
    assert clock.slept == [1, 2, 4, 8]


def test_host_that_stopped_answering_is_not_asked_for_each_page(server, connect, clock) -> None:
    def hang(_: Asked) -> Reply:
        clock.time += 30
        return Reply(raw=b"")

    server.route = hang
    host = connect(budget_s=20.0, timeout_s=1)
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
    host = connect(budget_s=20.0, timeout_s=1)
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
    assert messages == ["the host asks to wait 91 s (primary rate limit)"]


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
        "import sys; from pathlib import Path; from crscore.github.client import Client; "
        "from crscore.cache import Store; store = Store(Path(sys.argv[2])); "
        "host = Client(token=None, api_url=sys.argv[1], store=store); "
        f"print(host.get({PATH!r}, dict), host.traffic.unchanged); host.close(); store.close()"
    )
    command = [sys.executable, "-c", script, server.url, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "{'number': 7} 1\n"


def test_changed_answer_replaces_the_kept_one(server, connect, store) -> None:
    server.will(_tagged({"number": 1}, '"a"'), _tagged({"number": 2}, '"b"'), Reply(status=304))
    host = connect(store=store)
    assert [host.get(PATH, Pull).number for _ in range(3)] == [1, 2, 2]
    assert [request.headers.get("if-none-match") for request in server.asked] == [
        None,
        '"a"',
        '"b"',
    ]


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


@pytest.mark.parametrize("value", [b"", b"{}", b"\xff\xff", b"\x93\x01\x02\x03", None])
def test_kept_answer_that_cannot_be_read_is_asked_for_again(server, connect, store, value) -> None:
    server.will(_tagged({"other": 1}, '"a"'), _tagged({"number": 2}, '"a"'))
    asking = connect(store=store)
    asking.get(PATH, dict)
    if value is not None:
        store.put(f"github {server.url}{PATH}?", value)
    assert asking.get(PATH, Pull) == Pull(number=2)
    assert asking.traffic == Traffic(requests=2)


def test_kept_answers_of_other_parameters_and_hosts_are_others(server, connect, store) -> None:
    server.route = lambda _: _tagged({"number": 1}, '"a"')
    asking = connect(store=store)
    asking.get(PATH, Pull, {"page": "1", "a": "b"})
    asking.get(PATH, Pull, {"a": "b", "page": "2"})
    connect(store=store, api_url=f"{server.url}/api").get(PATH, Pull, {"page": "1", "a": "b"})
    assert not any("if-none-match" in asked.headers for asked in server.asked)
    asking.get(PATH, Pull, {"a": "b", "page": "1"})
    assert "if-none-match" in server.asked[-1].headers


def test_answer_without_a_name_is_not_kept(server, connect, store) -> None:
    server.will(Reply(body={"number": 1}))
    connect(store=store).get(PATH, Pull)
    assert store.summary() == ()


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
    return [item.number for item in read.items]


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


@pytest.mark.parametrize("seed", range(10))
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
        numbers = _numbers(read)
        assert numbers == sorted(set(numbers))
        lost = {int(text.split(":")[1].removeprefix(" page ")) for text in read.missing}
        whole = range(listed.size)
        assert numbers == [number for number in whole if number // 100 + 1 not in lost]


def test_nothing_is_asked_for_where_nothing_is_expected(server, connect) -> None:
    assert connect().pages("/x", Pull, expected=0) == Pages(items=())
    assert server.asked == []


@pytest.mark.parametrize(
    ("size", "number", "more"), [(250, 1, True), (250, 3, False), (100, 1, False)]
)
def test_single_page_says_whether_more_follow(server, connect, size, number, more) -> None:
    server.route = Listed(server, size)
    page = connect().page("/x", Pull, {}, number=number)
    assert (page.items[0].number, page.has_more) == (100 * (number - 1), more)


def test_full_unchanged_page_does_not_know_whether_more_follow(server, connect, store) -> None:
    server.route = Listed(server, 100, says_links=False)
    fresh, kept = (connect(store=store).page("/x", Pull, {}, number=1) for _ in range(2))
    assert (fresh.has_more, kept.has_more, kept.items) == (False, None, fresh.items)


def test_links_of_today_beat_what_was_expected(server, connect) -> None:
    # The files API stops at 3,000 files, whatever the pull request says it has.
    server.route = Listed(server, 150)
    asking = connect()
    assert len(asking.pages("/x", Pull, expected=900).items) == 150
    assert asking.traffic.requests == 2


def test_page_whose_link_names_no_last_page_is_the_last(server, connect) -> None:
    links = ["-1", "x", "", "1e9", "9" * 30]
    server.will(
        *(
            Reply(body=[{"number": 1}], headers={"Link": f'<http://h/x?page={n}>; rel="last"'})
            for n in links
        )
    )
    for _ in links:
        assert len(connect().pages("/x", Pull).items) == 1
    assert len(server.asked) == len(links)


def test_first_page_that_fails_costs_only_itself_when_the_size_is_known(server, connect) -> None:
    listed = Listed(server, 250)
    server.route = lambda asked: listed(asked) if "?page=" in asked.target else Reply(status=404)
    read = connect().pages("/x", Pull, expected=250)
    assert _numbers(read) == list(range(100, 250))
    assert read.missing[0].startswith("/x: page 1: ")


def test_first_page_that_fails_says_that_more_may_be_missing(server, connect) -> None:
    server.route = lambda _: Reply(status=404)
    read = connect().pages("/x", Pull)
    assert read.missing[0].startswith("/x: page 1 and any after it: ")
    assert len(server.asked) == 1


def test_list_that_grew_while_it_was_read_is_read_to_its_new_end(server, connect) -> None:
    listed = Listed(server, 250)

    def growing(asked: Asked) -> Reply:
        reply = listed(asked)
        listed.size = 301
        return reply

    server.route = growing
    assert _numbers(connect().pages("/x", Pull)) == list(range(301))


def test_page_that_fails_at_an_unknown_end_says_that_more_may_be_missing(
    server, connect, store
) -> None:
    listed = server.route = Listed(server, 100)
    connect(store=store).pages("/x", Pull)
    listed.size = 350
    listed.says_links = False
    server.route = lambda asked: Reply(status=404) if "?page=2" in asked.target else listed(asked)
    read = connect(store=store).pages("/x", Pull)
    assert read.missing[0].startswith("/x: page 2 and any after it: ")


def test_old_links_do_not_end_a_list_whose_page_fails(server, connect, store) -> None:
    listed = server.route = Listed(server, 150, says_links=False)
    connect(store=store).pages("/x", Pull)
    listed.size = 350
    server.route = lambda asked: Reply(status=404) if "?page=2" in asked.target else listed(asked)
    read = connect(store=store).pages("/x", Pull, expected=350)
    assert _numbers(read) == [*range(100), *range(200, 350)]
    assert read.missing[0].startswith("/x: page 2: ")


@pytest.mark.parametrize("last", ["", ', <http://h/x?page=999999999>; rel="last"'])
def test_list_without_end_is_left_and_said_so(server, connect, monkeypatch, last: str) -> None:
    monkeypatch.setattr(client, "MAX_PAGES", 5)
    links = f'<http://h/x?page=2>; rel="next"{last}'
    server.route = lambda _: Reply(body=[{"number": 1}], headers={"Link": links})
    read = connect().pages("/x", Pull)
    assert len(read.items) == 5
    assert read.missing == ("/x: pages after 5 were not read",)


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
    assert asking.traffic == Traffic(requests=1)


def test_writes_stand_apart(server, connect, monkeypatch) -> None:
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
def test_write_that_met_a_limit_is_repeated(server, connect, clock, first, wait_s) -> None:
    server.will(first, WRITTEN)
    assert write(connect()) == "https://h/1"
    assert clock.slept == [wait_s]


@pytest.mark.usefixtures("no_pause")
def test_write_that_never_left_is_repeated(connect, clock, closed_port) -> None:
    asking = connect(api_url=f"http://127.0.0.1:{closed_port}", tries=3)
    with pytest.raises(UnavailableError):
        write(asking)
    assert asking.traffic.requests == 3


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
    with pytest.raises(UncertainWriteError, match="may have been done"):
        write(connect())
    assert len(server.asked) == 1


def test_write_that_met_silence_is_uncertain(server, connect) -> None:
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
def test_write_that_was_refused_was_not_done(server, connect, status: int, kind) -> None:
    server.will(Reply(status=status, body={"message": "no", "errors": [{"message": "too long"}]}))
    with pytest.raises(HostError, match=r"no; too long") as caught:
        write(connect())
    assert type(caught.value) is kind
    assert len(server.asked) == 1


@pytest.mark.parametrize("location", ["http://elsewhere.test/x", "https://127.0.0.1/x"])
def test_write_is_led_to_no_other_host(server, connect, location: str) -> None:
    server.will(Reply(status=301, headers={"Location": location}))
    with pytest.raises(UncertainWriteError):
        write(connect())
    assert len(server.asked) == 1


# On the way


def test_request_says_who_asks_and_in_which_version(server, connect) -> None:
    server.will(Reply(body={"number": 1}))
    connect().get(PATH, Pull, {"b": "a b"})
    (asked,) = server.asked
    assert asked.target == f"{PATH}?b=a+b"
    assert asked.headers["authorization"] == f"token {TOKEN}"
    assert asked.headers["accept"] == "application/vnd.github+json"
    assert asked.headers["x-github-api-version"] == "2022-11-28"
    assert asked.headers["user-agent"].startswith("crscore/")


def test_nobody_signs_in_without_a_token(server, connect, tmp_path, monkeypatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server.will(Reply(body={"number": 1}), WRITTEN)
    asking = connect(token=None)
    asking.get(PATH, Pull)
    write(asking)
    assert not any("authorization" in asked.headers for asked in server.asked)


def test_interface_may_lie_below_a_path(server, connect) -> None:
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
def test_address_where_nobody_is_cannot_be_reached(connect, url: str) -> None:
    with pytest.raises(UnavailableError, match="cannot be reached"):
        connect(api_url=url, tries=1).get(PATH, Pull)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems queue differently")
def test_host_that_does_not_take_the_call_cannot_be_reached(connect) -> None:
    with contextlib.ExitStack() as open_ones:
        full = open_ones.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            caller = open_ones.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        with pytest.raises(UnavailableError, match="reached in time"):
            connect(api_url=url, tries=1).get(PATH, Pull)


def test_certificate_that_nobody_vouches_for_is_not_tried_again(connect, clock, tls_server) -> None:
    asking = connect(api_url=tls_server)
    with pytest.raises(UnavailableError, match="certificate"):
        asking.get(PATH, Pull)
    assert asking.traffic.requests == 1


def test_plain_port_speaks_no_tls(server, connect) -> None:
    with pytest.raises(UnavailableError):
        connect(api_url=f"https://127.0.0.1:{server.port}", tries=1).get(PATH, Pull)


def test_proxy_that_is_no_address_is_trouble(connect, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://[broken")
    monkeypatch.setenv("NO_PROXY", "")
    with pytest.raises(UnavailableError):
        connect(api_url="http://host.invalid", tries=1).get(PATH, Pull)


@pytest.mark.parametrize("packed", [False, True])
def test_response_of_any_size_is_not_read(server, connect, monkeypatch, packed: bool) -> None:
    monkeypatch.setattr(client, "MAX_RESPONSE_BYTES", 100_000)
    body, headers = b'"' + b"a" * 99_999 + b'"', {}
    if packed:
        body, headers = gzip.compress(body), {"Content-Encoding": "gzip"}
        assert len(body) < 1_000
    server.will(Reply(body=body, headers=headers), Reply(body=b'"' + b"a" * 99_998 + b'"'))
    asking = connect()
    with pytest.raises(UnavailableError, match="larger than 100,000 bytes"):
        asking.get(PATH, str)
    assert asking.traffic.requests == 1
    assert len(asking.get(PATH, str)) == 99_998


def test_response_that_trickles_is_given_up(server, connect, monkeypatch) -> None:
    monkeypatch.setattr(client, "_TIMEOUTS", 0)
    server.will(Reply(body=b"a" * 1_000_000))
    with pytest.raises(UnavailableError, match="took longer than"):
        connect(tries=1).get(PATH, Pull)


def test_response_of_two_lengths_is_trouble(server, connect) -> None:
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
def test_token_that_the_host_repeats_is_in_no_error_log_or_store(
    server, connect, store, tmp_path, status: int, caplog
) -> None:
    caplog.set_level(logging.DEBUG)
    headers = {"ETag": f'"{TOKEN}"', "X-Echo": TOKEN}
    errors = [{"message": TOKEN}]
    server.route = lambda _: Reply(
        status=status, body={"message": f"for {TOKEN}", "errors": errors}, headers=headers
    )
    messages: list[str] = []
    host = connect(store=store, tries=2, report=messages.append)
    for error in _everywhere(server, host):
        assert TOKEN not in "".join(traceback.format_exception(error))
        assert TOKEN.encode() not in pickle.dumps(error)
    assert TOKEN not in caplog.text + repr(host) + str(vars(host)) + "".join(messages)


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
    assert repr(connect()) == f"Client('{server.url}')"


def test_clients_do_not_share_their_budget(server) -> None:
    clients = [Client(token=None, api_url=server.url) for _ in range(2)]
    assert clients[0]._retry is not clients[1]._retry
    for connected in clients:
        connected.close()


def test_token_that_is_none_is_refused_unquoted() -> None:
    for token in ["", " ", "a b", "a\nb", "a\x00", "naïve", "a\r\nX-Evil: 1"]:
        with pytest.raises(BadTokenError) as caught:
            Client(token=token)
        assert not token.strip() or token not in str(caught.value)


def test_address_that_is_none_is_refused_unquoted() -> None:
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
