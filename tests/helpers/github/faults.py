"""Faults, by the k-th request, by path, or by a seed."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from tests.helpers.github import answers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.helpers.github.answers import Answer, Request

FOREVER = 10**9


class Kind(StrEnum):
    """Kind of a fault."""

    STATUS = "status"
    """Another status instead of the answer."""
    PRIMARY = "primary"
    """The hourly limit, until `seconds` from now."""
    SECONDARY = "secondary"
    """A secondary limit with `Retry-After`."""
    CUT_BEFORE = "cut before"
    """The connection ends before the request is looked at."""
    CUT_INSIDE = "cut inside"
    """The request is done; the connection ends in the middle of the answer."""
    CUT_AFTER = "cut after"
    """The request is done; no answer comes."""
    HALF_JSON = "half json"
    """The answer is whole as HTTP and half as JSON."""
    SLOW = "slow"
    """The answer comes late."""
    EMPTY = "empty"
    """A page of a list has no items."""
    REPEATED = "repeated"
    """A page of a list starts with the last item of the page before it."""
    STALE = "stale"
    """The file list is that of the head before the last push."""
    QUERY = "query"
    """GraphQL says 200 and that something went wrong."""
    QUERY_PART = "query part"
    """GraphQL says 200, gives a part of what was asked for, and says what it could not give."""
    QUERY_LIMIT = "query limit"
    """GraphQL says 200 and that the limit is reached."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that goes wrong with one request."""

    kind: Kind
    status: int = 502
    """Of STATUS and of the limits (403 or 429)."""
    wait_s: int | None = 1
    """Of the limits: what the answer asks to wait; None says nothing of it."""
    seconds: float = 0.0
    """Of SLOW: how late the answer is."""

    @property
    def silent(self) -> bool:
        """True when the client gets no byte."""
        return self.kind in (Kind.CUT_BEFORE, Kind.CUT_AFTER)

    @property
    def stale(self) -> bool:
        return self.kind is Kind.STALE

    def instead(self, now: float) -> Answer | None:
        """The answer that replaces looking at the request at all."""
        if self.kind is Kind.STATUS and self.status < 500:
            return answers.refusal(self.status, "Not this time")
        if self.kind is Kind.STATUS:
            return answers.server_error(self.status)
        if self.kind is Kind.SECONDARY:
            return answers.secondary_limit(self.status, self.wait_s)
        if self.kind is Kind.PRIMARY:
            answer = answers.primary_limit(self.status)
            answer.headers["X-RateLimit-Remaining"] = "0"
            answer.headers["X-RateLimit-Reset"] = str(int(now) + (self.wait_s or 0))
            return answer
        if self.kind is Kind.CUT_BEFORE:
            return answers.server_error(503)  # never sent
        if self.kind in (Kind.QUERY, Kind.QUERY_LIMIT):
            return answers.query_failed(limited=self.kind is Kind.QUERY_LIMIT)
        return None

    def spoil(self, answer: Answer) -> None:
        """Take a part of a GraphQL answer away, as GitHub does when one field takes too long."""
        if self.kind is Kind.QUERY_PART and (answer.body or {}).get("data"):
            inner, path = answer.body["data"], []
            while isinstance(inner, dict) and inner:
                name = list(inner)[-1]
                path.append(name)
                outer, inner = inner, inner[name]
            outer[name] = None
            error = {"message": "Something went wrong while executing your query.", "path": path}
            answer.body["errors"] = [error]

    def page(self, body: list[Any], items: list[Any], page: int) -> list[Any]:
        """The page as the fault has it."""
        if self.kind is Kind.EMPTY:
            return []
        if self.kind is Kind.REPEATED and page > 1 and body:
            return [items[items.index(body[0]) - 1], *body]
        return body

    def wire(self, data: bytes) -> bytes:
        """The bytes that are really sent."""
        head, _, body = data.partition(b"\r\n\r\n")
        if self.silent:
            return b""
        if self.kind is Kind.CUT_INSIDE:
            return head + b"\r\n\r\n" + body[: len(body) // 2]
        if self.kind is Kind.HALF_JSON and body:
            half = body[: len(body) // 2]
            whole, short = f"Content-Length: {len(body)}", f"Content-Length: {len(half)}"
            return head.replace(whole.encode(), short.encode()) + b"\r\n\r\n" + half
        return data


class Plan(Protocol):
    """Says what goes wrong."""

    def meet(self, number: int, request: Request) -> Fault | None:
        """The fault of the request that is the `number`-th, from 0."""

    def arrange(self, path: str, items: list[Any]) -> list[Any]:
        """The order a whole list is served in."""


@dataclass(frozen=True)
class Script:
    """Faults by number of the request, from 0."""

    faults: Mapping[int, Fault]

    def meet(self, number: int, request: Request) -> Fault | None:
        return self.faults.get(number)

    def arrange(self, path: str, items: list[Any]) -> list[Any]:
        return items


@dataclass(frozen=True, kw_only=True)
class At:
    """A fault of the first `times` requests whose `METHOD /path?query` a pattern finds."""

    pattern: str
    fault: Fault
    times: int = FOREVER


@dataclass
class Places:
    """Faults by where they happen; the first of the list that still has something to do."""

    places: Sequence[At]
    shuffled: str | None = None
    """Lists whose path this pattern finds come in another order, the same on every page."""
    done: Counter[int] = field(default_factory=Counter)

    def meet(self, number: int, request: Request) -> Fault | None:
        for index, place in enumerate(self.places):
            if self.done[index] < place.times and re.search(place.pattern, _line(request)):
                self.done[index] += 1
                return place.fault
        return None

    def arrange(self, path: str, items: list[Any]) -> list[Any]:
        if self.shuffled is None or not re.search(self.shuffled, path):
            return items
        return _shuffled(path, items)


@dataclass
class Schedule:
    """Random faults: the same seed gives each request the same ones, in whatever order they come.

    Every distinct request draws whether it is faulty, how often and how.
    """

    seed: int
    rate: float = 0.3
    """Chance that a distinct request is faulty at all."""
    for_good: float = 0.1
    """Chance that a faulty one stays so for good."""
    shuffle: float = 0.2
    """Chance that a list comes in another order."""
    slow_s: float = 0.0
    """How late slow answers are; 0 leaves them out."""
    wait_s: int = 1
    """Seconds that the limits ask to wait."""
    kinds: Sequence[Kind] = ()
    """Those to draw from; empty for all of them."""
    met: Counter[str] = field(default_factory=Counter)

    def meet(self, number: int, request: Request) -> Fault | None:
        line = _line(request)
        self.met[line] += 1
        draw = random.Random(f"{self.seed} {line}")
        if draw.random() >= self.rate:
            return None
        times = FOREVER if draw.random() < self.for_good else draw.randint(1, 3)
        if self.met[line] > times:
            return None
        # Each time another fault; one that is for good stays the same.
        turn = 0 if times == FOREVER else self.met[line]
        return self._draw(random.Random(f"{self.seed} {line} {turn}"), request)

    def _draw(self, draw: random.Random, request: Request) -> Fault:
        kinds = list(self.kinds or Kind)
        if not self.slow_s:
            kinds = [kind for kind in kinds if kind is not Kind.SLOW]
        if not request.path.endswith("/graphql"):
            kinds = [kind for kind in kinds if not kind.startswith("query")]
        if "page" not in request.query and "per_page" not in request.query:
            kinds = [kind for kind in kinds if kind not in (Kind.EMPTY, Kind.REPEATED)]
        if not request.path.endswith("/files"):
            kinds = [kind for kind in kinds if kind is not Kind.STALE]
        fault = Fault(kind=draw.choice(kinds), wait_s=self.wait_s)
        if fault.kind is Kind.STATUS:
            return replace(fault, status=draw.choice((500, 502, 503, 504)))
        if fault.kind in (Kind.PRIMARY, Kind.SECONDARY):
            return replace(fault, status=draw.choice((403, 429)))
        return replace(fault, seconds=self.slow_s) if fault.kind is Kind.SLOW else fault

    def arrange(self, path: str, items: list[Any]) -> list[Any]:
        if random.Random(f"{self.seed} order {path}").random() >= self.shuffle:
            return items
        return _shuffled(f"{self.seed} {path}", items)


def _line(request: Request) -> str:
    query = "&".join(f"{key}={value}" for key, value in sorted(request.query.items()))
    variables = ""
    if isinstance(request.body, dict) and "query" in request.body:
        variables = f" {request.body.get('query')} {request.body.get('variables')}"
    return f"{request.method} {request.path}?{query}{variables}"


def _shuffled(seed: str, items: list[Any]) -> list[Any]:
    mixed = list(items)
    random.Random(seed).shuffle(mixed)
    return mixed
