"""Client for GitHub's API: reads with `requests`, writes with PyGithub.

PyGithub has no conditional requests (its issue 536), reads responses of any size and drops the
query of a redirect. So REST and GraphQL are read here with the library that PyGithub uses, and
PyGithub's own objects are used to write. Every error raised is a `HostError`; none contains the
token.
"""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from crscore.errors import (
    BadTokenError,
    DependencyError,
    HostError,
    RateLimitedError,
    UnavailableError,
    UncertainWriteError,
)
from crscore.github.response_errors import (
    GraphqlError,
    Response,
    check_graphql_errors,
    check_response,
    one_line,
)
from crscore.hosts.retry import RetryBudget, TryAgainError
from crscore.version import __version__

try:
    import github
    import requests
except ImportError as exc:
    raise DependencyError("PyGithub", "pip install 'crscore[github]'") from exc

from collections.abc import Callable, Mapping

from crscore.cache import Store
from crscore.hosts.connection import NO_RESPONSE, ConnectionFailure, failure_of, read_chunks

if TYPE_CHECKING:
    from github.Issue import Issue

T = TypeVar("T")

MAX_RESPONSE_BYTES = 50 * 2**20
"""Maximum bytes of one response, decompressed."""
PAGE_ITEMS = 100
"""Items per page: GitHub's maximum."""
MAX_PAGES = 300
"""Maximum number of pages read of one list."""
SECONDS_BETWEEN_WRITES = 1.0
"""Seconds between two writes, as GitHub requests."""
_MAX_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 307, 308})
# Maximum total duration of a response, in time-outs.
_TIMEOUTS = 4
# Any other character in a path would become a query, a fragment or another path.
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[\w\-.~%!$&'()*+,;=:@]+)+", re.ASCII)
# A GitHub token is printable and has no spaces; any other would be quoted in an error.
_TOKEN = re.compile(r"[\x21-\x7e]+")
# Shorter "tokens" are used in tests only, and would be found in words of every response.
_MIN_TOKEN_LENGTH = 8
# `<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last"`
_LAST_PAGE = re.compile(r'[?&]page=(\d{1,9})(?:&[^<>]*)?>; rel="last"', re.ASCII)
# Other exceptions that PyGithub raises for a response that it cannot parse.
_NOT_UNDERSTOOD = (AssertionError, AttributeError, RuntimeError, github.BadAttributeException)
# At DEBUG level PyGithub logs whole responses, in which a server may repeat the token.
logging.getLogger("github.Requester").setLevel(logging.WARNING)


@dataclass(slots=True, kw_only=True)
class Traffic:
    """Counts of the requests sent."""

    requests: int = 0
    """Requests sent, counting each try and each redirect."""
    conditional: int = 0
    """Conditional GETs among them, which check whether a stored response is current."""
    unchanged: int = 0
    """Responses among these with status 304."""
    waited_s: float = 0.0
    """Total seconds waited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages(Generic[T]):
    """Items of a list, as far as they could be read."""

    items: tuple[T, ...]
    """Items in page order; one that moved between two requests may occur twice."""
    missing: tuple[str, ...] = ()
    """Pages that could not be read, with the reasons; empty when the list is complete."""


class ListPage(NamedTuple, Generic[T]):
    """One page of a list."""

    items: tuple[T, ...]
    """Its items, in GitHub's order."""
    has_more: bool | None
    """Whether pages follow; None for a full page whose stored links may be outdated."""


class _Page(NamedTuple, Generic[T]):
    value: T
    link: str
    """Content of the `link` header."""
    is_fresh: bool
    """True for a new header from GitHub; False for one stored with the page."""


class _StoredResponse(msgspec.Struct, frozen=True, array_like=True):
    """Response as stored."""

    etag: str
    link: str
    body: str


class _GraphqlErrors(msgspec.Struct):
    errors: list[GraphqlError] | None = None


class _GraphqlData(msgspec.Struct, Generic[T]):
    data: T


class Client:
    """Client for one GitHub server and one token. Not thread-safe.

    Args:
        token: Token to sign in with; None for anonymous requests.
        api_url: Address of GitHub's API.
        store: Stores responses between runs; None to store nothing.
        retry: Budget for waits in this run; None for a new default budget.
        timeout_s: Seconds without data after which a response counts as lost.
        report: Called with one line for each wait.

    Raises:
        BadTokenError: The token has invalid characters.
        HostError: `api_url` is not an address.
    """

    def __init__(
        self,
        *,
        token: str | None,
        api_url: str = "https://api.github.com",
        store: Store | None = None,
        retry: RetryBudget | None = None,
        timeout_s: int = 30,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.api_url = api_url.rstrip("/")
        # The address is checked before the token could be sent to it.
        _check_address(self.api_url)
        token = token.strip() if token is not None else None
        if token is not None and not _TOKEN.fullmatch(token):
            raise BadTokenError("the token", "it is empty or has characters that no token has")
        self._redact = _make_redaction(token)
        self._session = _make_session(token)
        self._github = github.Github(
            auth=github.Auth.Token(token) if token is not None else None,
            base_url=self.api_url,
            timeout=timeout_s,
            user_agent=str(self._session.headers["User-Agent"]),
            retry=None,  # PyGithub would ignore the budget
            seconds_between_requests=None,
            seconds_between_writes=SECONDS_BETWEEN_WRITES,
            lazy=True,
        )
        self._store = store
        self._retry = retry or RetryBudget()
        self._timeout_s = timeout_s
        self._report = report or (lambda _: None)
        self._traffic = Traffic()
        self._is_silent = False
        # By resource: the time until which requests are pointless, and the reason. REST and GraphQL
        # have separate limits.
        self._closed: dict[str, tuple[float, RateLimitedError]] = {}

    def __repr__(self) -> str:
        return f"Client({self.api_url!r})"

    @property
    def traffic(self) -> Traffic:
        """Counts of the requests so far; the seconds are those of the retry budget."""
        return replace(self._traffic, waited_s=self._retry.waited_s)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()
        self._github.close()

    def get(self, path: str, kind: type[T], parameters: Mapping[str, str] | None = None) -> T:
        """Read one resource.

        Args:
            path: Path of the API, with percent-escapes where needed: `/repos/o/r`.
            kind: Type that the JSON is converted to, as msgspec does it.
            parameters: Parameters of the query.

        Raises:
            HostError: It cannot be read.
        """
        return self._get(path, kind, dict(parameters or {})).value

    def page(
        self, path: str, kind: type[T], parameters: Mapping[str, str], *, number: int
    ) -> ListPage[T]:
        """Read one page of a list that need not be read to its end.

        Args:
            path: As for `get`.
            kind: Type that an item is converted to.
            parameters: Parameters of the query, besides the page's number and size.
            number: The page, from 1.

        Raises:
            HostError: It cannot be read.
        """
        page = self._get(path, list[kind], _page_query(parameters, number))  # type: ignore[valid-type]
        has_more: bool | None = 'rel="next"' in page.link
        # The stored links of an unchanged full page may be old: more pages may follow by now.
        if not has_more and not page.is_fresh and len(page.value) >= PAGE_ITEMS:
            has_more = None
        return ListPage(tuple(page.value), has_more)

    def pages(
        self,
        path: str,
        kind: type[T],
        parameters: Mapping[str, str] | None = None,
        *,
        expected: int | None = None,
    ) -> Pages[T]:
        """Read a list page by page; a page that fails permanently is omitted, the others are kept.

        The number of pages comes from the links of page 1, or from `expected`. Links stored with an
        unchanged page may be outdated, because a list grows at its end: a full page then does not
        show whether more follow.

        Args:
            path: As for `get`.
            kind: Type that an item is converted to.
            parameters: Parameters of the query, besides the page's number and size.
            expected: Number of items, if known; 0 sends nothing.

        Returns:
            The items that could be read, and why others could not; never raises for a page.
        """
        items: list[T] = []
        missing: list[str] = []
        due = None if expected is None else -(-expected // PAGE_ITEMS)  # rounded up
        last, number = (1 if due is None else due), 0
        while number < last:
            if number == MAX_PAGES:
                missing.append(f"{path}: pages after {MAX_PAGES} were not read")
                break
            number += 1
            try:
                page = self._get(path, list[kind], _page_query(parameters or {}, number))  # type: ignore[valid-type]
            except HostError as exc:
                # The last page that is known would have shown whether more follow.
                is_end = number == last and (due is None or number > due)
                which = f"page {number} and any after it" if is_end else f"page {number}"
                missing.append(f"{path}: {which}: {exc.reason}")
            else:
                items += page.value
                last = _last_page(page, number, last, due)
        return Pages(items=tuple(items), missing=tuple(missing))

    def graphql(self, query: str, variables: Mapping[str, Any], kind: type[T]) -> T:
        """Send a read-only GraphQL query, which may be repeated like a GET.

        Args:
            query: Query without mutations.
            variables: Variables of the query.
            kind: Type that `data` is converted to.

        Raises:
            HostError: The answer is missing or incomplete.
        """
        operation = "GraphQL"
        url = self._github.requester.graphql_url
        body = {"query": query, "variables": dict(variables)}

        def attempt() -> T:
            # GraphQL answers errors with status 200; both levels are checked.
            response = self._exchange("POST", url, operation, json=body)
            check_response(response, operation, self._retry.now)
            errors = _decode(response.body, _GraphqlErrors, operation).errors or []
            check_graphql_errors(errors, response, operation, self._retry.now)
            return _decode(response.body, _GraphqlData[kind], operation).data  # type: ignore[valid-type]

        return self._persist(operation, attempt)

    def issue(self, repository: str, number: int) -> Issue:
        """Return PyGithub's object of an issue or pull request, for `write`; sends nothing."""
        return self._github.get_repo(repository).get_issue(number)

    def write(self, operation: str, action: Callable[[], T]) -> T:
        """Write with PyGithub, retrying only when GitHub certainly changed nothing.

        Args:
            operation: Description of the write, for messages.
            action: Sends one request with a PyGithub object. It must also read the needed
                attributes of the response, as PyGithub raises errors for invalid ones only then.

        Returns:
            What `action` returned.

        Raises:
            UncertainWriteError: The outcome is unknown: check before repeating the write.
            HostError: The write failed.
        """

        def attempt() -> T:
            self._traffic.requests += 1
            try:
                return action()
            except github.GithubException as exc:
                status, headers, data = exc.status, exc.headers or {}, exc.data
            except NO_RESPONSE as exc:
                failure = failure_of(exc)
                if failure.may_have_arrived:
                    raise _uncertain_write(operation, failure.reason) from exc
                raise _unavailable(failure, operation) from exc
            except _NOT_UNDERSTOOD as exc:
                raise _uncertain_write(operation, "GitHub's response cannot be read") from exc
            # Outside of `except`: the exception may quote the token.
            body = self._redact(msgspec.json.encode(data).decode())
            try:
                check_response(Response(status, headers, body), operation, self._retry.now)
            # A 5xx can come after GitHub has done the write; only a limit is certainly before it.
            except TryAgainError as again:
                if isinstance(again.error, RateLimitedError):
                    raise
                raise _uncertain_write(operation, again.error.reason) from again
            raise _uncertain_write(operation, f"GitHub answers {status}")

        return self._persist(operation, attempt)

    def _get(self, path: str, kind: type[T], parameters: Mapping[str, str]) -> _Page[T]:
        """Send a GET request, conditionally when a response is stored.

        A stored body is used only after GitHub answers 304 to the token of this run. So the key
        does not include the token: a user without access gets an error, not the copy.
        """
        operation = f"GET {path}"
        if not _PATH.fullmatch(path):
            raise HostError(f"GET {one_line(path)!r}", "this is not a path of GitHub's API")
        query = sorted(parameters.items())
        key = f"github {self.api_url}{path}?{urlencode(query)}"
        stored = self._recall(key, kind)

        def attempt() -> _Page[T]:
            headers = {"If-None-Match": stored[0].etag} if stored is not None else {}
            response = self._follow(self.api_url + path, operation, query, headers)
            link = response.headers.get("link")
            if response.status == 304 and stored is not None:
                self._traffic.unchanged += 1
                return _Page(stored[1], stored[0].link if link is None else link, link is not None)
            check_response(response, operation, self._retry.now)
            value = _decode(response.body, kind, operation)
            # Without an ETag the response cannot be checked later, so it is not stored.
            etag = response.headers.get("etag", "")
            if self._store is not None and etag:
                entry = _StoredResponse(etag=etag, link=link or "", body=response.body)
                self._store.put(key, msgspec.msgpack.encode(entry))
            return _Page(value, link or "", is_fresh=True)

        return self._persist(operation, attempt)

    def _recall(self, key: str, kind: type[T]) -> tuple[_StoredResponse, T] | None:
        """Return a stored response; None when there is no readable one."""
        entry = self._store.get(key) if self._store is not None else None
        try:
            stored = msgspec.msgpack.decode(entry or b"", type=_StoredResponse)
            return stored, msgspec.json.decode(stored.body, type=kind)
        except (msgspec.DecodeError, RecursionError):
            return None

    def _persist(self, operation: str, attempt: Callable[[], T]) -> T:
        """Retry within the budget, but fail at once where a request is known to be pointless."""
        resource = "graphql" if operation == "GraphQL" else "core"
        until, limit = self._closed.get(resource, (0.0, None))
        left_s = until - self._retry.now()
        if limit is not None and left_s > 0:
            raise RateLimitedError(operation, limit.reason, left_s)
        if self._is_silent and self._retry.left_s < -self._timeout_s:
            # Otherwise a list of many pages would wait for each of them until the time-out.
            raise UnavailableError(operation, "GitHub has stopped answering, and the time is spent")
        try:
            return self._retry.retry(attempt, self._report)
        except RateLimitedError as exc:
            self._closed[resource] = (self._retry.now() + (exc.retry_after or 0.0), exc)
            raise

    def _follow(
        self, url: str, operation: str, query: list[tuple[str, str]], headers: Mapping[str, str]
    ) -> Response:
        """Send a GET request and follow redirects on this host only, as they carry the token."""
        host = urlsplit(self.api_url)[:2]
        for _ in range(_MAX_REDIRECTS + 1):
            response = self._exchange("GET", url, operation, params=query, headers=headers)
            if response.status not in _REDIRECTS:
                return response
            # The new address has its own query; a second one would be appended.
            url, query = response.headers.get("location", ""), []
            if urlsplit(url)[:2] != host:
                raise UnavailableError(operation, "it is redirected to another host, not followed")
        raise UnavailableError(operation, "it is redirected again and again")

    def _exchange(self, verb: str, url: str, operation: str, **options: Any) -> Response:
        """Send one request and read the response within size and time limits."""
        self._traffic.requests += 1
        self._traffic.conditional += "If-None-Match" in options.get("headers", ())
        options |= {"timeout": self._timeout_s, "allow_redirects": False, "stream": True}
        try:
            with self._session.request(verb, url, **options) as response:
                body = self._read_body(response, operation)
        except NO_RESPONSE as exc:
            self._is_silent = True
            raise _unavailable(failure_of(exc), operation) from exc
        self._is_silent = False
        headers = {name.lower(): self._redact(value) for name, value in response.headers.items()}
        return Response(response.status_code, headers, self._redact(body))

    def _read_body(self, response: requests.Response, operation: str) -> str:
        """Read a body strictly as UTF-8, which GitHub sends; anything else is damaged."""
        end = time.monotonic() + _TIMEOUTS * self._timeout_s
        body = bytearray()
        for chunk in read_chunks(response):
            body += chunk
            if len(body) > MAX_RESPONSE_BYTES:
                reason = f"the response is larger than {MAX_RESPONSE_BYTES:,} bytes"
                raise UnavailableError(operation, reason)
            if time.monotonic() > end:
                error = UnavailableError(
                    operation, f"the response took longer than {_TIMEOUTS} time-outs"
                )
                raise TryAgainError(error)
        return body.decode("utf-8")


def _uncertain_write(operation: str, reason: str) -> UncertainWriteError:
    """Return the error of a write whose outcome is unknown."""
    return UncertainWriteError(operation, f"{reason}; it may have been done, or not")


def _make_redaction(token: str | None) -> Callable[[str], str]:
    """Return a function that redacts the token; a closure, as no attribute may hold the token."""
    if token is None or len(token) < _MIN_TOKEN_LENGTH:
        return str
    return lambda text: text.replace(token, "***")


def _make_session(token: str | None) -> requests.Session:
    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        if token is not None:
            request.headers["Authorization"] = f"token {token}"
        return request

    session = requests.Session()
    # Without a token, too: requests would otherwise use one from the user's .netrc.
    session.auth = sign
    session.headers["Accept"] = "application/vnd.github+json"
    session.headers["User-Agent"] = f"crscore/{__version__}"
    session.headers["X-GitHub-Api-Version"] = "2022-11-28"
    return session


def _check_address(api_url: str) -> None:
    try:
        parts = urlsplit(api_url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    # The address is in `repr` and in the keys of the cache, so it may hold no password.
    is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not is_plain or port == 0:
        reason = "it is no address such as https://api.github.com"
        raise HostError("the API's address", reason)


def _page_query(parameters: Mapping[str, str], number: int) -> dict[str, str]:
    query = {**parameters, "per_page": str(PAGE_ITEMS)}
    return query | {"page": str(number)} if number > 1 else query


def _last_page(page: _Page[list[T]], number: int, last: int, due: int | None) -> int:
    """Return the number of the last page known, after reading page `number`."""
    if number == 1 and (page.is_fresh or due is None):
        # The current links override the expected number.
        match = _LAST_PAGE.search(page.link)
        last = int(match[1]) if match else 1
    if number < last:
        return last
    has_next = 'rel="next"' in page.link
    if not page.is_fresh and not has_next:
        has_next = len(page.value) >= PAGE_ITEMS and (due is None or number < due)
    return number + 1 if has_next else number


def _decode(body: str, kind: type[T], operation: str) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as exc:
        reason = f"GitHub's response is not what it should be ({one_line(str(exc))})"
        raise UnavailableError(operation, reason) from exc
    except msgspec.DecodeError as exc:
        raise TryAgainError(
            UnavailableError(operation, "GitHub's response is cut or broken")
        ) from exc
    except RecursionError as exc:
        raise UnavailableError(operation, "GitHub's response is nested too deeply") from exc


def _unavailable(failure: ConnectionFailure, operation: str) -> UnavailableError | TryAgainError:
    error = UnavailableError(operation, failure.reason)
    return error if failure.is_final else TryAgainError(error)
