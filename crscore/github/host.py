"""GitHub, asked politely: conditionally, patiently, and never twice for what may have been done.

All errors that leave are `HostError` or its leaves. The token is in none of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import parse_qsl, urlsplit

import msgspec

from crscore.errors import (
    DependencyError,
    HostError,
    RateLimitedError,
    UnavailableError,
    UncertainWriteError,
)
from crscore.github import pages
from crscore.github.etag_cache import Answers, Kept, linked
from crscore.github.pages import Page, Pages
from crscore.github.response_errors import Fault, check_faults, check_response, one_line
from crscore.github.retry import Patience, TryAgainError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crscore.cache import Store
    from crscore.github.transport import Answer

__all__ = ["Host", "Pages", "Patience", "Traffic"]

T = TypeVar("T")

BETWEEN_WRITES_S = 1.0
"""Time between two writes, as GitHub asks for."""
_MAX_REDIRECTS = 3
_READ_MOVES = frozenset({301, 302, 307, 308})
# A write keeps its verb and its body only with these two.
_WRITE_MOVES = frozenset({307, 308})
# What a path may hold: anything else would become a query, a fragment or another path.
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[\w\-.~%!$&'()*+,;=:@]+)+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a host was asked so far."""

    requests: int = 0
    """Sent, each try and each redirect on its own."""
    conditional: int = 0
    """Of these, GETs that only asked whether a kept answer still holds."""
    unchanged: int = 0
    """Of these, answered with 304."""
    waited_s: float = 0.0
    """Seconds waited."""


class _Faults(msgspec.Struct):
    errors: list[Fault] | None = None


class _Data(msgspec.Struct, Generic[T]):
    data: T


class Host:
    """One GitHub under one token. For one thread.

    Args:
        token: What to sign in with; None to ask as anybody.
        api_url: Where its interface is.
        store: Keeps answers between runs; None keeps nothing.
        patience: How much waiting this run can afford; a new default one when None.
        timeout_s: Seconds without a byte after which an answer counts as lost.
        say: Takes one line each time the run waits.

    Raises:
        BadTokenError: The token has characters that no token has.
        HostError: `api_url` is no address.
        DependencyError: PyGithub or tenacity is not installed.
    """

    def __init__(
        self,
        *,
        token: str | None,
        api_url: str = "https://api.github.com",
        store: Store | None = None,
        patience: Patience | None = None,
        timeout_s: int = 30,
        say: Callable[[str], None] | None = None,
    ) -> None:
        try:
            import tenacity  # noqa: F401, PLC0415

            from crscore.github.transport import LostError, Wire  # noqa: PLC0415
        except ImportError as exc:
            raise DependencyError("PyGithub", "pip install 'crscore[github]'") from exc
        self.api_url = api_url.rstrip("/")
        secret = token.strip() if token is not None else None
        self._wire = Wire(token=secret, api_url=self.api_url, timeout_s=timeout_s)
        self._lost = LostError
        self._answers = Answers(store, self.api_url)
        self._patience = patience if patience is not None else Patience()
        self._say = say if say is not None else _say_nothing
        self._traffic = Traffic()
        self._written: float | None = None
        self._overdraft_s = float(timeout_s)
        self._is_silent = False
        # By resource: until when asking is pointless, and why. Limits of the two are apart.
        self._shut: dict[str, tuple[float, RateLimitedError]] = {}

    def __repr__(self) -> str:
        return f"Host({self.api_url!r})"

    @property
    def traffic(self) -> Traffic:
        """What was asked so far; the seconds are those of the patience, which hosts may share."""
        return replace(self._traffic, waited_s=self._patience.waited_s)

    def close(self) -> None:
        """Let go of the connection."""
        self._wire.close()

    def get(self, path: str, kind: type[T], parameters: Mapping[str, str] | None = None) -> T:
        """Ask for one thing.

        Args:
            path: Of the interface, with percent-escapes where they are needed: `/repos/o/r`.
            kind: What the JSON becomes, as msgspec reads it.
            parameters: Of the query.

        Raises:
            HostError: It cannot be had.
        """
        return self._ask(path, kind, dict(parameters or {}))[0]

    def pages(
        self,
        path: str,
        kind: type[T],
        parameters: Mapping[str, str] | None = None,
        *,
        expected: int | None = None,
    ) -> Pages[T]:
        """Ask for a list, page by page; a page that fails for good is left out, not the rest.

        Args:
            path: As for `get`.
            kind: What an item becomes.
            parameters: Of the query, beside the page's number and size.
            expected: How many items there are, where that is known; 0 asks for nothing.

        Returns:
            The items that were had, and why others were not. Whatever became of a page is in
            `missing`, never raised.
        """

        def page(of: Mapping[str, str]) -> Page[T]:
            items, link, is_sure = self._ask(path, list[kind], {**(parameters or {}), **of})  # type: ignore[valid-type]
            return Page(items, linked(link), is_sure)

        return pages.read_pages(page, path, expected=expected)

    def graphql(self, query: str, variables: Mapping[str, Any], kind: type[T]) -> T:
        """Ask a GraphQL query. It must change nothing: it is repeated like a GET.

        Args:
            query: Without mutations.
            variables: Of the query.
            kind: What `data` becomes.

        Raises:
            HostError: It cannot be had, or not all of it.
        """
        what = "GraphQL"
        body = {"query": query, "variables": dict(variables)}

        def attempt() -> T:
            answer = self._exchange("POST", self._wire.graphql_url, what, body=body)
            check_response(answer, what, self._patience.now)
            faults = _decoded(answer.body, _Faults, what).errors or []
            check_faults(faults, answer, what, self._patience.now)
            return _decoded(answer.body, _Data[kind], what).data  # type: ignore[valid-type]

        return self._persist(what, attempt)

    def send(self, verb: str, path: str, body: Mapping[str, Any] | None, kind: type[T]) -> T:
        """Write something; repeated only when GitHub surely did nothing.

        Args:
            verb: POST, PATCH, PUT or DELETE.
            path: As for `get`.
            body: Sent as JSON; None for no body.
            kind: What the answer becomes; `type(None)` where there is none.

        Raises:
            UncertainWriteError: It may have been done, or not: look before repeating it.
            HostError: It was not done.
        """
        what = _named(verb, path)

        def attempt() -> T:
            self._space_out()
            answer = self._exchange(verb, path, what, body=body, is_write=True)
            try:
                if answer.status != 202:
                    check_response(answer, what, self._patience.now)
            except TryAgainError as again:
                if isinstance(again.error, RateLimitedError):
                    raise
                raise _uncertain(what, again.error.reason) from again
            try:
                return _decoded(answer.body or "null", kind, what)
            except (TryAgainError, UnavailableError) as exc:
                raise _uncertain(what, "GitHub's answer cannot be read") from exc

        return self._persist(what, attempt)

    def _ask(self, path: str, kind: type[T], parameters: Mapping[str, str]) -> tuple[T, str, bool]:
        """GET something: its value, its `link` header, and whether that header is new."""
        what = _named("GET", path)
        kept = self._answers.recall(path, parameters)

        def attempt() -> tuple[T, str, bool]:
            nonlocal kept
            headers = {"If-None-Match": kept.etag} if kept is not None else {}
            answer = self._exchange("GET", path, what, parameters=parameters, headers=headers)
            if answer.status == 304 and kept is not None:
                link = answer.headers.get("link")
                try:
                    value = _decoded(kept.body, kind, what)
                except (HostError, TryAgainError):
                    # Damaged, or kept by a version that read it differently: ask anew.
                    kept = None
                    return attempt()
                return value, kept.link if link is None else link, link is not None
            check_response(answer, what, self._patience.now)
            value = _decoded(answer.body, kind, what)
            link = answer.headers.get("link", "")
            etag = answer.headers.get("etag", "")
            self._answers.keep(path, parameters, Kept(etag=etag, link=link, body=answer.body))
            return value, link, True

        return self._persist(what, attempt)

    def _persist(self, what: str, attempt: Callable[[], T]) -> T:
        """Try within the patience, and not at all where that is known to be pointless."""
        resource = "graphql" if what == "GraphQL" else "core"
        until, limit = self._shut.get(resource, (0.0, None))
        left = until - self._patience.now()
        if limit is not None and left > 0:
            raise RateLimitedError(what, limit.reason, left)
        if self._is_silent and self._patience.left_s < -self._overdraft_s:
            # A list of many pages would wait for each of them as long as a time-out lasts.
            raise UnavailableError(what, "GitHub has stopped answering, and the time is spent")
        try:
            return self._patience.keep_trying(attempt, self._say)
        except RateLimitedError as exc:
            self._shut[resource] = (self._patience.now() + (exc.retry_after or 0.0), exc)
            raise

    def _exchange(
        self,
        verb: str,
        url: str,
        what: str,
        *,
        parameters: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        is_write: bool = False,
    ) -> Answer:
        """Send one request, and again where it moved to, on this host only."""
        moves = _READ_MOVES if verb == "GET" else _WRITE_MOVES
        query = dict(parameters or {})
        for _ in range(_MAX_REDIRECTS + 1):
            self._count(requests=1, conditional=int("If-None-Match" in (headers or {})))
            try:
                answer = self._wire.exchange(
                    verb, url, parameters=query, headers=headers or {}, body=body, fresh=is_write
                )
            except self._lost as lost:
                self._is_silent = True
                if is_write and not lost.undone:
                    raise _uncertain(what, lost.reason) from lost
                error = UnavailableError(what, lost.reason)
                raise (error if lost.lasting else TryAgainError(error)) from lost
            self._is_silent = False
            self._count(unchanged=int(answer.status == 304))
            if answer.status not in moves:
                return answer
            url, query = self._moved(answer.headers.get("location", ""), what)
        raise UnavailableError(what, "it is redirected again and again")

    def _moved(self, location: str, what: str) -> tuple[str, dict[str, str]]:
        """Where a redirect leads: the token goes nowhere else."""
        if not self._wire.leads_here(location):
            raise UnavailableError(what, "it is redirected to another host, which is not followed")
        there = urlsplit(location)
        return there._replace(query="", fragment="").geturl(), dict(parse_qsl(there.query))

    def _space_out(self) -> None:
        now = self._patience.now()
        if self._written is not None:
            gap = self._written + BETWEEN_WRITES_S - now
            self._patience.pause(min(gap, BETWEEN_WRITES_S))
        self._written = self._patience.now()

    def _count(self, **more: int) -> None:
        counts = {name: getattr(self._traffic, name) + number for name, number in more.items()}
        self._traffic = replace(self._traffic, **counts)


def _named(verb: str, path: str) -> str:
    """Name a request; a path that is none is refused before anything is sent."""
    if not _PATH.fullmatch(path):
        raise HostError(f"{verb} {one_line(path)!r}", "this is no path of GitHub's interface")
    return f"{verb} {path}"


def _decoded(body: str, kind: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as exc:
        reason = f"GitHub's answer is not what it should be ({one_line(str(exc))})"
        raise UnavailableError(what, reason) from exc
    except msgspec.DecodeError as exc:
        raise TryAgainError(UnavailableError(what, "GitHub's answer is cut or broken")) from exc
    except RecursionError as exc:
        raise UnavailableError(what, "GitHub's answer is nested too deeply") from exc


def _uncertain(what: str, reason: str) -> UncertainWriteError:
    return UncertainWriteError(what, f"{reason}; it may have been done, or not")


def _say_nothing(line: str) -> None:
    """Take no interest in waits."""
