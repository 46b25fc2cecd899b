"""One request and its answer: whatever goes wrong on the way has one name, and quotes no token."""

import contextlib
import gc
import gzip
import logging
import pickle
import socket
import ssl
import sys
import threading
import traceback
import warnings
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from crscore.errors import BadTokenError, HostError
from crscore.github import transport
from crscore.github.transport import LostError, Wire
from tests.helpers.scripted import Reply, Scripted

TOKEN = "ghp_0123456789abcdefghijKLMNOPQRSTUVWXYZ"


@pytest.fixture
def server():
    made = Scripted()
    yield made
    made.close()


@pytest.fixture
def connect():
    made = []

    def connecting(api_url: str, token: str | None = TOKEN) -> Wire:
        made.append(Wire(token=token, api_url=api_url, timeout_s=1))
        return made[-1]

    yield connecting
    for one in made:
        one.close()


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


def _get(one: Wire, path: str = "/x", **options):
    return one.exchange("GET", path, parameters={}, headers={}, **options)


def test_request_says_who_asks_and_in_which_version(server, connect) -> None:
    server.will(Reply(body=[1]))
    answer = connect(server.url).exchange(
        "GET", "/repos/o/r", parameters={"page": "2", "b": "a b"}, headers={"If-None-Match": "x"}
    )
    (asked,) = server.asked
    assert answer.status == 200
    assert answer.body == "[1]"
    assert asked.target == "/repos/o/r?b=a+b&page=2"
    assert asked.headers["authorization"] == f"token {TOKEN}"
    assert asked.headers["if-none-match"] == "x"
    assert asked.headers["accept"] == "application/vnd.github+json"
    assert asked.headers["x-github-api-version"] == "2022-11-28"
    assert asked.headers["user-agent"].startswith("crscore/")


def test_nobody_signs_in_without_a_token(server, connect) -> None:
    server.will(Reply(body=[]))
    _get(connect(server.url, token=None))
    assert "authorization" not in server.asked[0].headers


def test_interface_may_lie_below_a_path(server, connect) -> None:
    server.will(Reply(body=[]))
    one = connect(f"{server.url}/api/v3")
    _get(one)
    assert server.targets() == ["/api/v3/x"]
    assert one.graphql_url == f"{server.url}/api/graphql"


@pytest.mark.parametrize("status", [202, 301, 302, 304, 404, 500])
def test_no_status_is_acted_on(server, connect, status: int, monkeypatch) -> None:
    # PyGithub would sleep at 202, and follow a 301 without its query.
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("slept"))
    server.will(Reply(status=status, headers={"Location": f"{server.url}/y?page=2"}))
    answer = _get(connect(server.url))
    assert answer.status == status
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "location", ["https://127.0.0.1/x", "http://elsewhere.test/x", "{url}/x", ""]
)
def test_odd_redirect_is_an_answer_too(server, connect, location: str) -> None:
    # The first three make PyGithub raise RuntimeError.
    server.will(Reply(status=301, headers={"Location": location.format(url=server.url)}))
    assert _get(connect(server.url)).status == 301


def test_connection_is_used_again_but_not_for_a_fresh_one(server, connect) -> None:
    server.will(Reply(body=1), Reply(body=2), Reply(body=3))
    one = connect(server.url)
    _get(one)
    _get(one)
    assert len(server.connections) == 1
    _get(one, fresh=True)
    assert len(server.connections) == 2


# What goes wrong on the way

_BROKEN = {
    "no answer at all": Reply(raw=b""),
    "no HTTP": Reply(raw=b"SSH-2.0-OpenSSH_9.6\r\n"),
    "status is no number": Reply(raw=b"HTTP/1.1 abc OK\r\n\r\n"),
    "header line too long": Reply(raw=b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\n\r\n"),
    "too many headers": Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 200 + b"\r\n"),
    "body cut": Reply(body={"a": 1}, claims=500),
    "chunk cut": Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"),
    "chunk without a size": Reply(
        raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    ),
    "no gzip": Reply(body=b"{}", headers={"Content-Encoding": "gzip"}),
    "no UTF-8": Reply(body=b'"\xff\xfe"'),
    "redirect to no address": Reply(status=301, headers={"Location": "http://["}),
    "limit is no number": Reply(
        body=1, headers={"X-RateLimit-Remaining": "many", "X-RateLimit-Limit": "5000"}
    ),
    "reset never comes": Reply(body=1, headers={"X-RateLimit-Reset": "inf"}),
}


@pytest.mark.parametrize("name", _BROKEN)
def test_broken_answer_is_lost(server, connect, name: str) -> None:
    server.will(_BROKEN[name])
    with pytest.raises(LostError) as caught:
        _get(connect(server.url))
    assert not caught.value.undone
    assert not caught.value.lasting


def test_answer_of_two_lengths_is_lost(server, connect) -> None:
    server.will(Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n{"))
    with pytest.raises(LostError):
        _get(connect(server.url))
    with warnings.catch_warnings():
        # urllib3 leaves the socket of such an answer to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_silence_is_lost_after_the_timeout(server, connect) -> None:
    late = threading.Event()
    server.will(Reply(body=1, waits=late))
    try:
        with pytest.raises(LostError, match="in time") as caught:
            _get(connect(server.url))
    finally:
        late.set()
    assert not caught.value.undone


def test_host_that_is_not_there_was_surely_not_reached(connect) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(LostError) as caught:
        _get(connect(f"http://127.0.0.1:{port}"))
    assert caught.value.undone


def test_name_that_nobody_has_was_surely_not_reached(connect) -> None:
    with pytest.raises(LostError) as caught:
        _get(connect("http://nobody.invalid"))
    assert caught.value.undone


def test_address_may_be_of_the_newer_kind(connect) -> None:
    with pytest.raises(LostError) as caught:
        _get(connect("http://[::1]:1"))
    assert caught.value.undone


@pytest.mark.skipif(sys.platform != "linux", reason="other systems queue differently")
def test_host_that_does_not_take_the_call_was_surely_not_reached(connect) -> None:
    with contextlib.ExitStack() as open_ones:
        full = open_ones.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            caller = open_ones.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())
        with pytest.raises(LostError, match="reached in time") as caught:
            _get(connect(f"http://127.0.0.1:{full.getsockname()[1]}"))
    assert caught.value.undone


def test_certificate_that_nobody_vouches_for_is_not_tried_again(connect, tls_server) -> None:
    with pytest.raises(LostError, match="certificate") as caught:
        _get(connect(tls_server))
    assert caught.value.undone
    assert caught.value.lasting


def test_plain_port_speaks_no_tls(server, connect) -> None:
    with pytest.raises(LostError):
        _get(connect(f"https://127.0.0.1:{server.port}"))


def test_proxy_that_is_no_address_is_lost(server, connect, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://[broken")
    monkeypatch.setenv("NO_PROXY", "")
    with pytest.raises(LostError):
        _get(connect("http://host.invalid"))


def test_answer_of_any_size_is_not_read(server, connect, monkeypatch) -> None:
    monkeypatch.setattr(transport, "MAX_ANSWER_BYTES", 100_000)
    server.will(Reply(body=b"a" * 100_001), Reply(body=b"a" * 100_000))
    one = connect(server.url)
    with pytest.raises(LostError, match="larger than 100,000 bytes") as caught:
        _get(one)
    assert caught.value.lasting
    assert len(_get(one).body) == 100_000


def test_small_answer_that_unpacks_to_a_large_one_is_not_read(server, connect, monkeypatch) -> None:
    monkeypatch.setattr(transport, "MAX_ANSWER_BYTES", 100_000)
    packed = gzip.compress(b"a" * 50_000_000)
    assert len(packed) < 100_000
    server.will(Reply(body=packed, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(LostError, match="larger than"):
        _get(connect(server.url))


def test_answer_that_trickles_is_given_up(server, connect, monkeypatch) -> None:
    monkeypatch.setattr(transport, "_ANSWER_TIMES", 0)
    server.will(Reply(body=b"a" * 1_000_000))
    with pytest.raises(LostError, match="took longer than"):
        _get(connect(server.url))


# The token


@pytest.mark.parametrize("token", ["", " ", "a b", "a\nb", "a\x00", "naïve", "a\r\nX-Evil: 1"])
def test_token_that_is_none_is_refused_unquoted(token: str) -> None:
    with pytest.raises(BadTokenError) as caught:
        Wire(token=token, api_url="http://127.0.0.1", timeout_s=1)
    assert not token.strip() or token not in str(caught.value)


def test_token_that_the_host_repeats_is_struck_out(server, connect, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    server.will(Reply(status=401, body={"message": f"bad {TOKEN}"}, headers={"X-Echo": TOKEN}))
    answer = _get(connect(server.url))
    assert answer.body == '{"message": "bad ***"}'
    assert answer.headers["x-echo"] == "***"
    assert "127.0.0.1" in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("name", _BROKEN)
def test_token_is_in_no_error(server, connect, name: str) -> None:
    server.will(_BROKEN[name])
    with pytest.raises(LostError) as caught:
        _get(connect(server.url))
    told = "".join(traceback.format_exception(caught.value))
    assert TOKEN not in told
    assert TOKEN.encode() not in pickle.dumps(caught.value)


# Addresses


@pytest.mark.parametrize(
    "api_url",
    [
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
    ],
)
def test_address_that_is_none_is_refused_unquoted(api_url: str) -> None:
    with pytest.raises(HostError) as caught:
        Wire(token=None, api_url=api_url, timeout_s=1)
    assert "secret" not in str(caught.value)


def test_only_the_same_host_is_here(connect) -> None:
    one = connect("https://github.example/api/v3")
    assert one.leads_here("https://github.example/api/v3/x?page=2")
    elsewhere = ["http://github.example/x", "https://github.example:444/x", "https://evil/x", "/x"]
    assert not any(one.leads_here(url) for url in [*elsewhere, "https://[", ""])
