"""The HTTP side: tokens, pages, ETags, rate limits, the log, and what is made to go wrong."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tests.helpers.github import answers, faults
from tests.helpers.github.answers import Answer, Request
from tests.helpers.github.graph import Graph
from tests.helpers.github.rest import Rest, Write
from tests.helpers.github.shapes import Shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.helpers.github.state import Rules, World

API_PREFIX = "/api/v3"
"""Where the API of a GitHub Enterprise Server starts; accepted in front of every path."""
WINDOW_S = 3_600


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One request as the log has it."""

    method: str
    path: str
    query: str
    conditional: bool
    status: int
    """What was answered; 0 when the connection was cut without an answer."""
    fault: str | None = None


@dataclass(kw_only=True)
class Budget:
    """The primary rate limit; answers with 304 cost nothing."""

    clock: Callable[[], float]
    used: int = 0
    ends: float = 0

    def renew(self) -> None:
        if self.clock() >= self.ends:
            self.used, self.ends = 0, self.clock() + WINDOW_S


class Server:
    """A GitHub that answers on this machine."""

    def __init__(
        self,
        world: World,
        *,
        token: str | None,
        may_write: bool,
        rules: Rules,
        clock: Callable[[], float],
        port: int = 0,
    ) -> None:
        self.world, self.token, self.rules = world, token, rules
        self.budget = Budget(clock=clock)
        self.log: list[Entry] = []
        self.faults: faults.Plan = faults.Script({})
        self._lock = threading.RLock()
        self._http = _Http(("127.0.0.1", port), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        shapes = Shapes(api=self.url)
        self.rest = Rest(world=world, shapes=shapes, rules=rules, may_write=may_write)
        self.graph = Graph(world=world, rules=rules)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def writes(self) -> list[Write]:
        """What was created, edited and deleted, in order."""
        return self.rest.writes

    @property
    def may_write(self) -> bool:
        return self.rest.may_write

    @may_write.setter
    def may_write(self, value: bool) -> None:
        self.rest.may_write = value

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.close_connections()
        self._http.server_close()

    def meet(self, request: Request) -> tuple[Answer, faults.Fault | None]:
        """Decide the whole answer to one request, and the fault it meets."""
        with self._lock:
            request = replace(request, path=self._named(request.path))
            fault = self.faults.meet(len(self.log), request)
            answer = self._answer(request, fault)
            self._log(request, answer, fault)
            return answer, fault

    def _answer(self, request: Request, fault: faults.Fault | None) -> Answer:
        self.budget.renew()
        early = fault.instead(self.budget.clock()) if fault else None
        if early is not None:
            return self._finish(request, early)
        refused = self._check(request)
        if refused is not None:
            return self._finish(request, refused)
        if self.budget.used >= self.rules.requests and request.path != "/rate_limit":
            return self._finish(request, answers.primary_limit())
        lag, self.rules.stale_heads = self.rules.stale_heads, int(bool(fault and fault.stale))
        self.rules.stale_heads = max(lag, self.rules.stale_heads)
        answer = self._route(request)
        self.rules.stale_heads = lag
        if answer.items is not None:
            self._cut(request, answer, fault)
        return self._finish(request, answer)

    def _check(self, request: Request) -> Answer | None:
        """Whether the token lets this request in."""
        given = request.headers.get("authorization", "").partition(" ")[2]
        if given and given != self.token:
            return answers.bad_credentials()
        if given:
            return None
        if request.method != "GET":
            return answers.refusal(401, "Requires authentication")
        private = [one.full_name.lower() for one in self.world.repositories if one.private]
        hidden = any(request.path.lower().startswith(f"/repos/{name}") for name in private)
        return answers.not_found() if hidden else None

    def _route(self, request: Request) -> Answer:
        if request.path == "/rate_limit":
            return Answer(body=self._limits())
        if request.path in ("/graphql", "/api/graphql"):
            return self.graph.answer(request) if request.method == "POST" else answers.not_found()
        return self.rest.answer(request)

    def _cut(self, request: Request, answer: Answer, fault: faults.Fault | None) -> None:
        """Turn the whole list into the page asked for, with its `Link`."""
        items = answer.items or []
        answer.items = None
        items = self.faults.arrange(request.path, items)
        size = min(max(_number(request, "per_page", 30), 1), self.rules.page_limit)
        page = max(_number(request, "page", 1), 1)
        last = max(-(-len(items) // size), 1)
        body = items[(page - 1) * size : page * size]
        answer.body = fault.page(body, items, page) if fault else body
        links = [("prev", page - 1), ("next", page + 1), ("last", last), ("first", 1)]
        wanted = [
            (relation, target)
            for relation, target in links
            if (page > 1 if relation in ("prev", "first") else page < last)
        ]
        if wanted:
            answer.headers["Link"] = ", ".join(
                f'<{self._page_url(request, target)}>; rel="{relation}"'
                for relation, target in wanted
            )

    def _named(self, path: str) -> str:
        """The path by the repository's name, for one that a `Link` gave by its number."""
        for one in self.world.repositories:
            if path.startswith(f"/repositories/{one.id}/"):
                return f"/repos/{one.full_name}{path[len(f'/repositories/{one.id}') :]}"
        return path

    def _page_url(self, request: Request, page: int) -> str:
        """As GitHub writes it: by the repository's number, not by its name."""
        path = request.path
        for one in self.world.repositories:
            if path.lower().startswith(f"/repos/{one.full_name.lower()}/"):
                path = f"/repositories/{one.id}{path[len('/repos/') + len(one.full_name) :]}"
        return f"{self.url}{path}?{urlencode({**request.query, 'page': page})}"

    def _finish(self, request: Request, answer: Answer) -> Answer:
        """Add the ETag and the limits' headers, or make it a 304."""
        if answer.status == 200 and request.method == "GET":
            etag = f'W/"{hashlib.sha256(_encoded(answer)).hexdigest()}"'
            answer.headers["ETag"] = etag
            if request.headers.get("if-none-match", "").removeprefix("W/") == etag[2:]:
                answer.status, answer.body = 304, None
        if answer.status != 304 and request.path != "/rate_limit":
            self.budget.used += 1
        left = max(self.rules.requests - self.budget.used, 0)
        headers = {
            "X-RateLimit-Limit": str(self.rules.requests),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Reset": str(int(self.budget.ends)),
            "X-RateLimit-Used": str(self.budget.used),
            "X-RateLimit-Resource": "graphql" if request.path.endswith("/graphql") else "core",
            "X-GitHub-Request-Id": f"0C1E:{len(self.log):04X}",
        }
        answer.headers = headers | answer.headers
        return answer

    def _limits(self) -> dict[str, Any]:
        rate = {
            "limit": self.rules.requests,
            "used": self.budget.used,
            "remaining": max(self.rules.requests - self.budget.used, 0),
            "reset": int(self.budget.ends),
        }
        return {"resources": {"core": rate, "graphql": rate, "search": rate}, "rate": rate}

    def _log(self, request: Request, answer: Answer, fault: faults.Fault | None) -> None:
        unanswered = fault is not None and fault.silent
        self.log.append(
            Entry(
                method=request.method,
                path=request.path,
                query=urlencode(request.query),
                conditional=request.conditional,
                status=0 if unanswered else answer.status,
                fault=fault.kind if fault else None,
            )
        )


class _Http(ThreadingHTTPServer):
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


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            request = _request(self.command, self.path, self.headers, self.rfile.read(length))
            answer, fault = server.meet(request)
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

        def do_PATCH(self) -> None:
            self._serve()

        def do_DELETE(self) -> None:
            self._serve()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return Handler


def _bytes(answer: Answer) -> bytes:
    """The answer as HTTP has it, in one piece: two writes would wait for each other."""
    body = b"" if answer.body is None else _encoded(answer)
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
    )


def _encoded(answer: Answer) -> bytes:
    if isinstance(answer.body, bytes):
        return answer.body
    return json.dumps(answer.body, separators=(",", ":")).encode()


def _number(request: Request, name: str, default: int) -> int:
    value = request.query.get(name, "")
    return int(value) if value.isascii() and value.isdigit() else default


@contextmanager
def serve(
    world: World,
    *,
    token: str | None = "loopback-token",
    permissions: str | None = None,
    page_limit: int | None = None,
    rules: Rules | None = None,
    clock: Callable[[], float] = time.time,
    port: int = 0,
) -> Iterator[Server]:
    """Serve a world until the block ends.

    Args:
        world: What there is; writes change it.
        token: The only good one; None lets nobody but the anonymous in.
        permissions: `write` or `read`; None for what the world says.
        page_limit: Most items a page, whatever `per_page` asks for; None for what the rules say.
        rules: All limits; None for those of the world.
        clock: Seconds since 1970, for the rate limit's window.
        port: Port to listen on; 0 takes a free one.

    Yields:
        The server; its `url` is the API address.
    """
    rules = rules or world.rules
    rules.page_limit = page_limit or rules.page_limit
    server = Server(
        world,
        token=token,
        may_write=(permissions or world.permissions) == "write",
        rules=rules,
        clock=clock,
        port=port,
    )
    server.start()
    try:
        yield server
    finally:
        server.stop()
