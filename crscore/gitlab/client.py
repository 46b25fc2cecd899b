"""Client for GitLab's API, with python-gitlab.

python-gitlab builds the requests, signs them and knows which answers are errors. Its own retries,
its redirects (which would send the token to another host) and its unlimited reading of answers are
replaced here: waits count against one budget, and answers have a maximum size. Every error raised
is a `HostError`; none contains the token.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

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
from crscore.hosts.retry import RetryBudget, TryAgainError
from crscore.reports.escape import one_line
from crscore.version import __version__

try:
    import gitlab
    import requests
except ImportError as exc:
    raise DependencyError("python-gitlab", "pip install 'crscore[gitlab]'") from exc

from crscore.hosts.connection import NO_RESPONSE, failure_of, read_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")
Item = TypeVar("Item", bound="Identified")

MAX_RESPONSE_BYTES: Final = 50 * 2**20
"""Maximum bytes of one response, decompressed."""
PAGE_ITEMS: Final = 100
"""Items per page: GitLab's maximum."""
MAX_PAGES: Final = 300
"""Maximum number of pages read of one list."""
LIMIT_WAIT_S: Final = 60.0
"""Wait in seconds for a rate limit that names none; doubles."""
MAX_MESSAGE: Final = 300
_TIMEOUTS: Final = 4
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")
_TRANSIENT: Final = frozenset({408, 425})
_REFUSALS: Final[Mapping[int, tuple[type[HostError], str]]] = {
    401: (BadTokenError, "the token is missing, wrong or expired, or may not use this"),
    403: (PermissionDeniedError, "the token may not do this"),
    404: (NotFoundError, "there is no such thing, or the token may not see it"),
}


class Identified(Protocol):
    """Item of a list, which GitLab numbers or names."""

    @property
    def id(self) -> int | str:
        """Identity in its list."""


class Token(NamedTuple):
    """Token to sign in with."""

    text: str
    is_job: bool = False
    """True for the token of a job (`CI_JOB_TOKEN`), False for one of a user, project or group."""

    def __repr__(self) -> str:
        return f"Token(***, is_job={self.is_job})"


@dataclass(slots=True, kw_only=True)
class Traffic:
    """Counts of the requests sent."""

    requests: int = 0
    """Requests sent, counting each try."""
    waited_s: float = 0.0
    """Total seconds waited."""


class Pages(NamedTuple, Generic[T]):
    """Items of a list, as far as they could be read."""

    items: tuple[T, ...]
    """Items in page order; one that moved between two requests may occur twice."""
    missing: tuple[str, ...]
    """Pages that could not be read, with the reasons; empty when the list is complete."""


class Page(NamedTuple, Generic[T]):
    """Page of a list."""

    items: tuple[T, ...]
    has_more: bool
    """Whether GitLab says that another page follows."""
    total: int | None
    """Items of the list; None for lists over 10,000 items."""


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """Client for one GitLab server and one token. Not thread-safe.

    Args:
        token: Token to sign in with; None for anonymous requests.
        url: Address of the server, with its path if it has one.
        certificates: File of the certificates to trust; None for those of `requests`.
        retry: Budget for waits in this run; None for a new default budget.
        max_requests: Requests after which no other is sent; None for no limit.
        timeout_s: Seconds without data after which a response counts as lost.
        report: Called with one line for each wait.

    Raises:
        BadTokenError: The token has invalid characters.
        HostError: `url` is not an address.
    """

    def __init__(
        self,
        *,
        token: Token | None,
        url: str,
        certificates: str | None = None,
        retry: RetryBudget | None = None,
        max_requests: int | None = None,
        timeout_s: int = 30,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        _check_address(self.url)
        if token is not None and not _TOKEN.fullmatch(token.text):
            raise BadTokenError("the token", "it is empty or has characters that no token has")
        self.is_job = token is not None and token.is_job
        self.is_signed_in = token is not None
        secret = token.text if token is not None else ""
        # Shorter "tokens" are used in tests only, and would be found in words of every response.
        self._redact: Callable[[bytes], bytes] = (
            (lambda body: body.replace(secret.encode(), b"***")) if len(secret) >= 8 else bytes
        )
        self._session = _Session(timeout_s)
        self._gitlab = gitlab.Gitlab(
            self.url,
            private_token=None if self.is_job else secret or None,
            job_token=secret if self.is_job else None,
            ssl_verify=certificates or True,
            timeout=timeout_s,
            user_agent=f"crscore/{__version__}",
            session=self._session,
            keep_base_url=True,
        )
        self._retry = retry or RetryBudget()
        self._max_requests = max_requests
        self._report = report or (lambda _: None)
        self._traffic = Traffic()
        self._closed: tuple[float, str] = (0.0, "")

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    @property
    def traffic(self) -> Traffic:
        """Counts of the requests so far; the seconds are those of the retry budget."""
        return replace(self._traffic, waited_s=self._retry.waited_s)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def get(self, path: str, kind: type[T], **query: str) -> T:
        """Read one resource.

        Args:
            path: Path below `/api/v4`, with percent-escapes where needed.
            kind: Type that the JSON is converted to.
            query: Parameters of the query.

        Raises:
            HostError: It cannot be read.
        """
        return self._get(path, kind, query)[0]

    def page(self, path: str, kind: type[T], number: int, **query: str) -> Page[T]:
        """Read one page of a list.

        Args:
            path: As for `get`.
            kind: Type that an item is converted to.
            number: Number of the page, from 1.
            query: Parameters of the query, besides the page's number and size.

        Raises:
            HostError: It cannot be read.
        """
        query |= {"per_page": str(PAGE_ITEMS), "page": str(number)}
        items, headers = self._get(path, list[kind], query)  # type: ignore[valid-type]
        total = headers.get("x-total", "")
        # More digits than any list has items could not even be converted.
        count = int(total) if total.isascii() and total.isdigit() and len(total) < 10 else None
        return Page(tuple(items), bool(headers.get("x-next-page")), count)

    def pages(self, path: str, kind: type[T], **query: str) -> Pages[T]:
        """Read a list page by page; a page that fails permanently is omitted with those after it.

        Args:
            path: As for `get`.
            kind: Type that an item is converted to.
            query: Parameters of the query, besides the page's number and size.

        Returns:
            The items that could be read; never raises for a page.
        """
        items: list[T] = []
        total: int | None = 0
        for number in range(1, MAX_PAGES + 1):
            try:
                page = self.page(path, kind, number, **query)
            except HostError as exc:
                return Pages(tuple(items), (f"page {number} and any after it: {exc.reason}",))
            items += page.items
            total = page.total
            if not page.has_more:
                break
        else:
            return Pages(tuple(items), (f"pages after {MAX_PAGES} were not read",))
        if total is not None and total > len(items):
            return Pages(tuple(items), (f"{len(items)} of {total} items were listed",))
        return Pages(tuple(items), ())

    def read_list(self, path: str, kind: type[Item]) -> Pages[Item]:
        """Read a list, once more where pages repeat items, as they do when a list shifts."""
        pages = self.pages(path, kind)
        unique = {item.id: item for item in pages.items}
        if len(unique) < len(pages.items) or pages.missing:
            pages = self.pages(path, kind)
            unique |= {item.id: item for item in pages.items}
        return Pages(tuple(unique.values()), pages.missing)

    def write(self, verb: str, path: str, kind: type[T], data: dict[str, str] | None = None) -> T:
        """Write, retrying only when GitLab certainly changed nothing.

        Args:
            verb: `post`, `put` or `delete`.
            path: As for `get`.
            kind: Type that the answer's JSON is converted to; bytes for any answer.
            data: Body of the request.

        Raises:
            UncertainWriteError: The outcome is unknown: check before repeating the write.
            HostError: The write failed.
        """
        operation = f"{verb.upper()} {path}"

        def attempt() -> T:
            try:
                answer = self._send(verb, path, operation, data=data)
                self._check(answer, operation)
            except TryAgainError as again:
                # A 5xx can come after the write was done; only a limit is certainly before it.
                if isinstance(again.error, RateLimitedError):
                    raise
                reason = f"{again.error.reason}; it may have been done, or not"
                raise UncertainWriteError(operation, reason) from again
            try:
                return _decode(answer.body, kind, operation)
            except (TryAgainError, UnavailableError) as exc:
                reason = "GitLab's response cannot be read; it may have been done, or not"
                raise UncertainWriteError(operation, reason) from exc

        return self._persist(operation, attempt)

    def _get(
        self, path: str, kind: type[T], query: Mapping[str, str]
    ) -> tuple[T, Mapping[str, str]]:
        operation = f"GET {path}"

        def attempt() -> tuple[T, Mapping[str, str]]:
            answer = self._send("get", path, operation, query=dict(query))
            self._check(answer, operation)
            return _decode(answer.body, kind, operation), answer.headers

        return self._persist(operation, attempt)

    def _persist(self, operation: str, attempt: Callable[[], T]) -> T:
        """Retry within the budget, but fail at once while a limit is known to last."""
        until, reason = self._closed
        if (left_s := until - self._retry.now()) > 0:
            raise RateLimitedError(operation, reason, left_s)
        try:
            return self._retry.retry(attempt, self._report)
        except RateLimitedError as exc:
            self._closed = (self._retry.now() + (exc.retry_after or 0.0), exc.reason)
            raise

    def _send(
        self,
        verb: str,
        path: str,
        operation: str,
        *,
        query: dict[str, Any] | None = None,
        data: dict[str, str] | None = None,
    ) -> _Answer:
        """Send one request with python-gitlab and return the answer, an error's too."""
        if self._max_requests is not None and self._traffic.requests >= self._max_requests:
            reason = f"the budget of {self._max_requests} requests is spent"
            raise RateLimitedError(operation, reason)
        self._traffic.requests += 1
        try:
            response = self._gitlab.http_request(
                verb,
                path,
                query_data=query,
                post_data=data,
                obey_rate_limit=False,
                retry_transient_errors=False,
            )
            status, body = response.status_code, response.content
        except gitlab.GitlabError as exc:
            status, body = exc.response_code or 0, exc.response_body or b""
        except _TooLargeError:
            reason = f"the response is larger than {MAX_RESPONSE_BYTES:,} bytes"
            raise UnavailableError(operation, reason) from None
        except NO_RESPONSE as exc:
            failure = failure_of(exc)
            error = UnavailableError(operation, failure.reason)
            raise (error if failure.is_final else TryAgainError(error)) from exc
        return _Answer(status, self._session.headers_received, self._redact(body))

    def _check(self, answer: _Answer, operation: str) -> None:
        """Accept an answer, or raise the error it represents."""
        status = answer.status
        if 200 <= status < 300 and status != 202:
            return
        message = one_line(answer.body.decode("utf-8", "replace"), MAX_MESSAGE)
        reason = f"GitLab answers {status}"
        if status == 429:
            raise self._limit(answer.headers, operation)
        if status >= 500 or status in _TRANSIENT or status == 202:
            raise TryAgainError(UnavailableError(operation, reason))
        if 300 <= status < 400:
            reason = "it is redirected, which is not followed; give the current name and address"
            raise UnavailableError(operation, reason)
        kind, reason = _REFUSALS.get(status, (HostError, reason))
        raise kind(operation, f"{reason} ({message})" if message else reason)

    def _limit(self, headers: Mapping[str, str], operation: str) -> TryAgainError:
        """Return the error of a rate limit with its wait: from the headers, else doubling."""
        wait, doubles = LIMIT_WAIT_S, True
        if (after := _number(headers, "retry-after")) is not None:
            wait, doubles = after, False
        elif (reset := _number(headers, "ratelimit-reset")) is not None:
            # A second more, as clocks differ.
            wait, doubles = max(reset - self._retry.now(), 0.0) + 1.0, False
        error = RateLimitedError(operation, f"rate limit, for {wait:.0f} s", wait)
        return TryAgainError(error, wait_s=wait, doubles=doubles, cause="rate limit")


class _TooLargeError(Exception):
    """A response is larger than the maximum."""


class _Session(requests.Session):
    """Session that follows no redirect and reads bodies within limits.

    Args:
        timeout_s: Seconds without data; the whole body may take four times as long.
    """

    def __init__(self, timeout_s: int) -> None:
        super().__init__()
        self._timeout_s = timeout_s
        self.headers_received: dict[str, str] = {}
        # requests would otherwise sign in with a password from the user's .netrc.
        self.auth = lambda request: request

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request and read the response."""
        options |= {"allow_redirects": False, "stream": True}
        with super().send(request, **options) as response:
            self.headers_received = {
                name.lower(): value for name, value in response.headers.items()
            }
            end = time.monotonic() + _TIMEOUTS * self._timeout_s
            body = bytearray()
            for chunk in read_chunks(response):
                body += chunk
                if len(body) > MAX_RESPONSE_BYTES:
                    raise _TooLargeError
                if time.monotonic() > end:
                    raise requests.ReadTimeout
            response._content = bytes(body)
        return response


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not is_plain or port == 0:
        raise HostError("GitLab's address", "it is no address such as https://gitlab.com")


def _decode(body: bytes, kind: type[T], operation: str) -> T:
    if kind is bytes:
        return body  # type: ignore[return-value]
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as exc:
        reason = f"GitLab's response is not what it should be ({one_line(str(exc), MAX_MESSAGE)})"
        raise UnavailableError(operation, reason) from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        error = UnavailableError(operation, "GitLab's response is cut or broken")
        raise TryAgainError(error) from exc
    except RecursionError as exc:
        raise UnavailableError(operation, "GitLab's response is nested too deeply") from exc


def _number(headers: Mapping[str, str], name: str) -> float | None:
    """Return a header's number; None when it is missing or not in [0, 1e11)."""
    try:
        value = float(headers.get(name, ""))
    except ValueError:
        return None
    return value if 0.0 <= value < 1e11 else None
