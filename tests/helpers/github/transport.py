"""HTTP itself: bytes to requests, answers to bytes, connections that end when the server does."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.helpers.github.answers import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.helpers.github.faults import Fault

    Meet = Callable[[Request], tuple[Answer, Fault | None]]

API_PREFIX = "/api/v3"
"""Where the API of a GitHub Enterprise Server starts; accepted in front of every path."""


class Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.open: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        self.open.discard(request)
        super().close_request(request)

    def close_connections(self) -> None:
        """End the connections that clients keep open for a next request."""
        for connection in list(self.open):
            with suppress(OSError):
                connection.shutdown(2)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; anything else is a bug of ours and is shown."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def handler(meet: Meet) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            request = _request(self.command, self.path, self.headers, self.rfile.read(length))
            answer, fault = meet(request)
            if fault is not None and fault.seconds:
                time.sleep(fault.seconds)
            data = _bytes(answer)
            sent = fault.wire(data) if fault else data
            with suppress(ConnectionError):
                self.wfile.write(sent)
            if sent != data or (fault is not None and fault.silent):
                self.close_connection = True

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_PUT(self) -> None:
            self._serve()

        def do_PATCH(self) -> None:
            self._serve()

        def do_DELETE(self) -> None:
            self._serve()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return Handler


def _bytes(answer: Answer) -> bytes:
    """The answer as HTTP has it, in one piece: two writes would wait for each other."""
    body = b"" if answer.body is None else encoded(answer)
    headers = {"Content-Type": "application/json; charset=utf-8"} | answer.headers
    if answer.status not in (204, 304):
        headers["Content-Length"] = str(len(body))
    phrase = BaseHTTPRequestHandler.responses.get(answer.status, ("",))[0]
    lines = [f"HTTP/1.1 {answer.status} {phrase}", "Server: github.com"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def _request(method: str, target: str, headers: Any, body: bytes) -> Request:
    split = urlsplit(target)
    path = unquote(split.path)
    try:
        decoded = json.loads(body) if body else None
    except ValueError:
        decoded = None
    return Request(
        method=method,
        path=path.removeprefix(API_PREFIX) if path.startswith(f"{API_PREFIX}/") else path,
        query=dict(parse_qsl(split.query, keep_blank_values=True)),
        headers={name.lower(): value for name, value in headers.items()},
        body=decoded,
        raw=body,
    )


def encoded(answer: Answer) -> bytes:
    if isinstance(answer.body, bytes):
        return answer.body
    return json.dumps(answer.body, separators=(",", ":")).encode()
