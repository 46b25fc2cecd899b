"""The client over real HTTP against a scripted server; only the clock is a toy."""

import ssl
import subprocess
import threading

import pytest

from crscore.errors import (
    BadTokenError,
    HostError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
    UncertainWriteError,
)
from crscore.gitlab.client import Client
from crscore.hosts import http
from crscore.hosts.http import WaitBudget
from tests.helpers.github.answers import Answer
from tests.helpers.github.transport import Http, handler
from tests.helpers.scripted import Clock, Reply, Scripted

SECRET = "glpat-0123456789abcdef"
PATH = "/projects/a%2Fb/merge_requests/7"


@pytest.fixture
def server():
    server = Scripted()
    yield server
    server.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def connect(server: Scripted, clock: Clock):
    connected = []

    def connecting(*, budget_s: float = 300.0, **options) -> Client:
        options = {"token": SECRET, "url": server.url, "timeout_s": 1, **options}
        budget = WaitBudget(left_s=budget_s, sleep=clock.sleep, now=clock.now)
        connected.append(Client(budget=budget, **options))
        return connected[-1]

    yield connecting
    for one in connected:
        one.close()


@pytest.mark.parametrize(
    ("options", "header"),
    [({}, "private-token"), ({"is_job": True}, "job-token"), ({"token": None}, "")],
)
def test_each_token_has_its_own_header(server, connect, options, header) -> None:
    server.will(Reply(body={}))
    connect(**options).get(PATH, dict)
    headers = server.asked[0].headers
    signed = {name for name, value in headers.items() if SECRET in value}
    assert signed == ({header} if header else set())
    assert server.targets() == [f"/api/v4{PATH}"]


def test_address_may_have_a_path(server, connect) -> None:
    server.will(Reply(body={}))
    connect(url=f"{server.url}/lab/").get(PATH, dict)
    assert server.targets() == [f"/lab/api/v4{PATH}"]


def test_redirect_is_not_followed(server, connect) -> None:
    elsewhere = Scripted()
    server.will(Reply(status=302, headers={"Location": f"{elsewhere.url}/x"}, body={}))
    try:
        with pytest.raises(UnavailableError, match="redirects to another address"):
            connect().get(PATH, dict)
        assert elsewhere.asked == []
    finally:
        elsewhere.close()


def test_next_page_is_a_number_whatever_the_links_say(server, connect) -> None:
    links = {"Link": '<https://evil.example/x>; rel="next"', "X-Next-Page": "2", "X-Total": "2"}
    server.will(Reply(body=[1], headers=links), Reply(body=[2], headers={"X-Total": "2"}))
    assert connect().pages(PATH, int, key=int) == (1, 2)
    assert [target.split("?")[1] for target in server.targets()] == [
        "page=1&per_page=100",
        "page=2&per_page=100",
    ]


def test_list_without_end_ends(server, connect, monkeypatch) -> None:
    monkeypatch.setattr(http, "MAX_PAGES", 3)
    server.route = lambda _: Reply(body=[1], headers={"X-Next-Page": "2"})
    with pytest.raises(UnavailableError, match="more than 3 pages"):
        connect().pages(PATH, int, key=int)
    assert len(server.asked) == 3


def test_list_shorter_than_its_total_is_an_error(server, connect) -> None:
    server.will(*[Reply(body=[1], headers={"X-Total": "2"})] * 2)
    with pytest.raises(UnavailableError, match="1 of 2 items were listed"):
        connect().pages(PATH, int, key=int)


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, BadTokenError), (403, PermissionDeniedError), (404, NotFoundError), (422, HostError)],
)
def test_refusal_is_its_error_at_once(server, connect, status, error) -> None:
    server.will(Reply(status=status, body={"message": f"no, {SECRET}\nno"}))
    with pytest.raises(error) as caught:
        connect().get(PATH, dict)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("reply", [Reply(status=502), Reply(status=202), Reply(body=b'{"a":')])
def test_transient_error_is_retried(server, connect, clock, reply) -> None:
    server.will(reply, Reply(body={"a": 1}))
    assert connect().get(PATH, dict) == {"a": 1}
    assert len(server.asked) == 2


def test_rate_limit_waits_as_long_as_it_says(server, connect, clock) -> None:
    server.will(Reply(status=429, headers={"Retry-After": "17"}), Reply(body={}))
    host = connect()
    host.get(PATH, dict)
    assert host.budget.waited_s == 17


def test_rate_limit_beyond_the_budget_is_not_waited_for(server, connect) -> None:
    server.will(Reply(status=429, headers={"Retry-After": "900"}))
    host = connect(budget_s=60)
    with pytest.raises(RateLimitedError):
        host.get(PATH, dict)
    assert len(server.asked) == 1


@pytest.mark.parametrize("value", ["-5", "nan", "inf", "soon", "1e300"])
def test_invalid_wait_is_ignored(server, connect, value) -> None:
    server.will(Reply(status=429, headers={"Retry-After": value}), Reply(body={}))
    host = connect()
    host.get(PATH, dict)
    assert host.budget.waited_s == http.LIMIT_WAIT_S


def test_large_response_is_refused(server, connect, monkeypatch) -> None:
    monkeypatch.setattr(http, "MAX_RESPONSE_BYTES", 1000)
    server.will(Reply(body=["x" * 2000]))
    with pytest.raises(UnavailableError, match="larger"):
        connect().get(PATH, list)


def test_deeply_nested_response_is_refused(server, connect) -> None:
    server.route = lambda _: Reply(body=b"[" * 100_000)
    with pytest.raises(UnavailableError):
        connect().get(PATH, list)


def write(host: Client) -> int:
    notes = host.notes("a/b", 7)
    return host.write("a note", lambda: notes.create({"body": "x"}, obey_rate_limit=False).id)


def test_write_after_a_rate_limit_is_repeated(server, connect, clock) -> None:
    server.will(Reply(status=429, headers={"Retry-After": "3"}), Reply(status=201, body={"id": 5}))
    assert write(connect()) == 5
    assert clock.slept == [3]


@pytest.mark.parametrize(
    "reply", [Reply(status=502), Reply(status=201, body=b"{"), Reply(status=201, body={})]
)
def test_write_that_may_have_been_done_is_not_repeated(server, connect, reply) -> None:
    server.will(reply)
    with pytest.raises(UncertainWriteError, match="unknown whether the write succeeded"):
        write(connect())
    assert len(server.asked) == 1


def test_write_without_a_response_is_uncertain_and_not_repeated(server, connect) -> None:
    server.will(Reply(raw=b""))
    with pytest.raises(UncertainWriteError):
        write(connect())
    assert [(asked.verb, asked.body) for asked in server.asked] == [("POST", {"body": "x"})]


@pytest.mark.parametrize("text", ["", "a b", "glpat-x\n", "é"])
def test_invalid_token_is_refused(connect, text) -> None:
    with pytest.raises(BadTokenError):
        connect(token=text)


@pytest.mark.parametrize(
    "url",
    ["gitlab.com", "ftp://gitlab.com", "https://a:b@gitlab.com", "https://x/?a", "https://x:0"],
)
def test_invalid_address_is_refused(connect, url) -> None:
    with pytest.raises(HostError, match="not an address"):
        connect(url=url)


def test_own_certificate_is_trusted_when_its_file_is_given(connect, tmp_path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
            "-days", "2", "-keyout", key, "-out", certificate,
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    http = Http(("127.0.0.1", 0), handler(lambda _: (Answer(body={"a": 1}), None)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    http.socket = context.wrap_socket(http.socket, server_side=True)
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    url = f"https://127.0.0.1:{http.server_port}"
    try:
        assert connect(url=url, certificates=str(certificate)).get(PATH, dict) == {"a": 1}
        with pytest.raises(
            UnavailableError, match=r"the certificate of 127\.0\.0\.1 cannot be trusted"
        ):
            connect(url=url).get(PATH, dict)
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
