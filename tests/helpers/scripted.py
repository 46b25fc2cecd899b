"""A web server on this machine that answers what a test wrote down, and remembers what came."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_BODILESS = frozenset({204, 304})


@dataclass(kw_only=True)
class Reply:
    """One answer."""

    status: int = 200
    body: Any = None
    """What becomes JSON; bytes are sent as they are."""
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """Written instead of all this; then the connection is cut."""
    claims: int | None = None
    """The length it claims to have; then the connection is cut."""
    waits: threading.Event | None = None
    """Nothing is sent before this is set, or 5 s have passed."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request."""

    verb: str
    target: str
    headers: dict[str, str]
    body: Any


class Scripted:
    """Answers with `replies` in turn, or with what `route` says; 418 when there is nothing left."""

    def __init__(self) -> None:
        self.replies: deque[Reply] = deque()
        self.route: Any = None
        self.asked: list[Asked] = []
        self.connections: set[Any] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def will(self, *replies: Reply) -> None:
        self.replies.extend(replies)

    def targets(self) -> list[str]:
        return [request.target for request in self.asked]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _bytes(reply: Reply) -> bytes:
    if reply.status in _BODILESS:
        return b""
    return reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()


def _handler(scripted: Scripted) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body are two packets; the second would wait 40 ms for the first.
        disable_nagle_algorithm = True

        def answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            text = self.rfile.read(size)
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(
                verb=self.command,
                target=self.path,
                headers=headers,
                body=json.loads(text) if text else None,
            )
            scripted.asked.append(asked)
            scripted.connections.add(self.client_address)
            reply = Reply(status=418)
            if scripted.replies:
                reply = scripted.replies.popleft()
            elif scripted.route is not None:
                reply = scripted.route(asked)
            self.give(reply)

        def give(self, reply: Reply) -> None:
            if reply.waits is not None:
                reply.waits.wait(5)
            self.close_connection = reply.raw is not None or reply.claims is not None
            if reply.raw is not None:
                self.wfile.write(reply.raw)
                return
            body = _bytes(reply)
            self.send_response(reply.status)
            headers = {"Content-Type": "application/json; charset=utf-8", **reply.headers}
            if reply.status not in _BODILESS:
                headers["Content-Length"] = str(reply.claims or len(body))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer  # noqa: N815

    return Handler


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
