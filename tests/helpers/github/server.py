"""The HTTP side: tokens, pages, rate limits, the log, and what is made to go wrong."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.helpers.github import answers, faults, git_http
from tests.helpers.github.answers import Answer, Request
from tests.helpers.github.graph import Graph
from tests.helpers.github.rest import Rest, Write
from tests.helpers.github.shapes import Shapes
from tests.helpers.github.transport import Http, handler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.helpers.github.state import Rules, World

WINDOW_S = 3_600
"""How long the requests of the hourly limit count."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One request as the log has it."""

    method: str
    path: str
    query: str
    status: int
    """Status of the answer; 0 when the connection was cut without an answer."""
    fault: str | None = None


@dataclass(kw_only=True)
class Budget:
    """The primary rate limits, one for REST (`core`) and one for GraphQL."""

    clock: Callable[[], float]
    limit: Callable[[], int]
    used: Counter[str] = field(default_factory=Counter)
    ends: float = 0

    def renew(self) -> None:
        if self.clock() >= self.ends:
            self.used, self.ends = Counter(), self.clock() + WINDOW_S

    def of(self, resource: str) -> dict[str, int]:
        """Return the state of one of the two limits."""
        limit, used = self.limit(), self.used[resource]
        left = max(limit - used, 0)
        return {"limit": limit, "used": used, "remaining": left, "reset": int(self.ends)}


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
        self.budget = Budget(clock=clock, limit=lambda: rules.requests)
        self.log: list[Entry] = []
        self.points = 0
        """Points that the GraphQL queries cost together."""
        self.faults: faults.Plan = faults.Script({})
        self._lock = threading.RLock()
        self._http = Http(("127.0.0.1", port), handler(self.meet))
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        shapes = Shapes(api=self.url)
        self.rest = Rest(world=world, shapes=shapes, rules=rules, may_write=may_write)
        self.graph = Graph(world=world, rules=rules, limit_state=lambda: self.budget.of("graphql"))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def writes(self) -> list[Write]:
        """Comments created, edited and deleted, in order."""
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
        if (name := git_http.asked(request)) is not None:
            return self._git(request, name)
        refused = self._check(request)
        if refused is not None:
            return self._finish(request, refused)
        if request.path != "/rate_limit" and not self.budget.of(_resource(request))["remaining"]:
            return self._finish(request, answers.primary_limit())
        lag = self.rules.stale_heads
        if fault is not None and fault.stale:
            self.rules.stale_heads = max(lag, 1)
        answer = self._route(request)
        self.rules.stale_heads = lag
        if fault is not None:
            fault.spoil(answer)
        if answer.items is not None:
            self._cut(request, answer, fault)
        return self._finish(request, answer)

    def _git(self, request: Request, name: str) -> Answer:
        """What git answers; it takes nothing from the limits."""
        repository, token = self.world.repository(name), git_http.password(request)
        if token and token != self.token:
            return answers.bad_credentials()
        if repository is None or (repository.private and not token):
            return answers.not_found()
        return git_http.answer(request, repository, f"{self._http.server_port}-{repository.id}")

    def _check(self, request: Request) -> Answer | None:
        """Whether the token lets this request in."""
        token = request.headers.get("authorization", "").partition(" ")[2]
        if token and token != self.token:
            return answers.bad_credentials()
        if token:
            return None
        if request.method != "GET":
            return answers.refusal(401, "Requires authentication")
        private = [
            repository.full_name.lower()
            for repository in self.world.repositories
            if repository.private
        ]
        path = f"{request.path.lower()}/"
        hidden = any(path.startswith(f"/repos/{name}/") for name in private)
        return answers.not_found() if hidden else None

    def _route(self, request: Request) -> Answer:
        if request.path == "/rate_limit":
            return Answer(body=self._limits())
        moved = self._moved(request)
        if moved is not None:
            return moved
        if request.path in ("/graphql", "/api/graphql"):
            return self.graph.answer(request) if request.method == "POST" else answers.not_found()
        return self.rest.answer(request)

    def _moved(self, request: Request) -> Answer | None:
        """A redirect for a repository's former name, to its number as GitHub does."""
        for repository in self.world.repositories:
            for name in repository.formerly:
                if f"{request.path}/".startswith(f"/repos/{name}/"):
                    place = f"{self.url}/repositories/{repository.id}"
                    place += request.path[len(f"/repos/{name}") :]
                    place += f"?{urlencode(request.query)}" if request.query else ""
                    status = 301 if request.method == "GET" else 307
                    answer = answers.refusal(status, "Moved Permanently", url=place)
                    answer.headers["Location"] = place
                    return answer
        return None

    def _cut(self, request: Request, answer: Answer, fault: faults.Fault | None) -> None:
        """Turn the whole list into the page asked for, with its `Link`."""
        items = answer.items or []
        answer.items = None
        items = self.faults.arrange(request.path, items)
        size = min(max(_number(request, "per_page", 30), 1), self.rules.page_limit)
        page = max(_number(request, "page", 1), 1)
        last = max(-(-len(items) // size), 1)
        body = items[(page - 1) * size : page * size]
        body = fault.page(body, items, page) if fault else body
        answer.body = [answer.shape(item) for item in body] if answer.shape else body
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
        for repository in self.world.repositories:
            if f"{path}/".startswith(f"/repositories/{repository.id}/"):
                return (
                    f"/repos/{repository.full_name}{path[len(f'/repositories/{repository.id}') :]}"
                )
        return path

    def _page_url(self, request: Request, page: int) -> str:
        """As GitHub writes it: by the repository's number, not by its name."""
        path = request.path
        for repository in self.world.repositories:
            if path.lower().startswith(f"/repos/{repository.full_name.lower()}/"):
                rest = path[len("/repos/") + len(repository.full_name) :]
                path = f"/repositories/{repository.id}{rest}"
        return f"{self.url}{path}?{urlencode({**request.query, 'page': page})}"

    def _finish(self, request: Request, answer: Answer) -> Answer:
        """Add the limits' headers."""
        resource = _resource(request)
        taken = 0 if request.path == "/rate_limit" else answer.points
        self.budget.used[resource] += taken
        self.points += taken if resource == "graphql" else 0
        limit_state = self.budget.of(resource)
        headers = {f"X-RateLimit-{name.title()}": str(limit_state[name]) for name in limit_state}
        headers["X-RateLimit-Resource"] = resource
        headers["X-GitHub-Request-Id"] = f"0C1E:{len(self.log):04X}"
        answer.headers = headers | answer.headers
        return answer

    def _limits(self) -> dict[str, Any]:
        rates = {name: self.budget.of(name) for name in ("core", "graphql", "search")}
        return {"resources": rates, "rate": rates["core"]}

    def _log(self, request: Request, answer: Answer, fault: faults.Fault | None) -> None:
        unanswered = fault is not None and fault.silent
        self.log.append(
            Entry(
                method=request.method,
                path=request.path,
                query=urlencode(request.query),
                status=0 if unanswered else answer.status,
                fault=fault.kind if fault else None,
            )
        )


def _resource(request: Request) -> str:
    return "graphql" if request.path.endswith("/graphql") else "core"


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
