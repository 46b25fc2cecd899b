"""HTTP client that reads from code hosts; writes go through the hosts' own libraries.

All requests of a run share one budget for waits. Responses are limited in size and duration, no
redirect to another host is followed, and the token is masked as soon as a response is read. All
errors are `HostError`s. If a page of a list cannot be read, an error is raised, so no list is ever
incomplete. The reasons are in docs/design/017-asking-github.md.
"""

import errno
import http.client
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec
import requests
import urllib3
from urllib3 import Retry

from crscore.errors import (
    BadTokenError,
    HostError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
    UncertainWriteError,
)
from crscore.reports.escape import one_line
from crscore.text import count_noun, mask_secret
from crscore.version import __version__

T = TypeVar("T")

# The limits on the size and the duration of a response, and on the number of pages, protect against
# a server that never stops sending or whose list never ends.
MAX_RESPONSE_BYTES: Final = 50 * 2**20
"""Maximum number of bytes of one decompressed response."""
# https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api and
# https://docs.gitlab.com/api/rest/#pagination
PAGE_ITEMS: Final = 100
"""Items per page, the maximum of both GitHub and GitLab."""
MAX_PAGES: Final = 300
"""Maximum number of pages to read from one list."""
MAX_TIMEOUTS: Final = 4
"""Maximum duration of a response, as a multiple of the timeout."""
# "Wait for at least one minute before retrying":
# https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
LIMIT_WAIT_S: Final = 60.0
"""Seconds to wait after a rate limit if the host does not say how long; doubled with each try."""
MAX_MESSAGE: Final = 300
"""Maximum number of characters of a host's message that an error quotes."""
# This waits 0, 2, 4 and 8 seconds, plus up to one random second, so that runs that failed at the
# same time do not retry at the same time.
RETRIES: Final = Retry(total=4, backoff_factor=1, backoff_max=30, backoff_jitter=1)
_CHUNK_BYTES: Final = 64 * 1024
# Any other character in a path would start a query or a fragment, or change the path.
_PATH: Final = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[\w\-.~%!$&'()*+,;=:@]+)+", re.ASCII)
# A token has only printable ASCII characters and no spaces. Any other character would make the
# header invalid, and `requests` would raise an error that quotes the header with the token.
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")
# Shorter tokens occur only in tests; masking them would replace parts of ordinary words.
_MIN_TOKEN_LENGTH: Final = 8
REFUSALS: Final[Mapping[int, tuple[type[HostError], str]]] = {
    401: (BadTokenError, "the token is missing, wrong or expired, or is not accepted here"),
    403: (PermissionDeniedError, "the token lacks a permission"),
    404: (NotFoundError, "it does not exist, or the token has no access to it"),
    410: (NotFoundError, "it does not exist, or the token has no access to it"),
}
"""HTTP status -> type and reason of the error to raise."""
_NO_RESPONSE: Final = (OSError, ValueError, http.client.HTTPException, urllib3.exceptions.HTTPError)
"""Exceptions that are raised if a request gets no readable response."""


@dataclass(slots=True, kw_only=True)
class WaitBudget:
    """Seconds that one run may spend on waits and failed tries. Not thread-safe."""

    left_s: float = 300.0
    """Seconds that are left."""
    waited_s: float = 0.0
    """Seconds waited so far."""
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time
    """Returns the seconds since 1970, as hosts state their limits."""


@dataclass(eq=False)
class TransientError(Exception):
    """Raised if a try failed but another one may succeed."""

    error: HostError
    """Error to raise if there is no further try."""
    wait_s: float | None = None
    """Seconds to wait before the next try; None for the usual waits."""
    doubles: bool = False
    """True if the wait doubles with each try, because the host did not say how long to wait."""
    may_have_arrived: bool = True
    """False if it is certain that the host did not get the request."""


class Page(NamedTuple, Generic[T]):
    """Page of a list."""

    items: tuple[T, ...]
    has_more: bool
    """Whether another page follows, according to the host."""
    total: int | None
    """Number of items in the whole list; None if the host does not report it."""


class HostClient(ABC):
    """Client for one code host and one token. Not thread-safe.

    Args:
        address: Address of the API, to which paths are appended.
        headers: Headers of all requests, including the one with the token.
        token: Token to mask in responses; None for anonymous requests.
        certificates: File of trusted certificates; None for the defaults of `requests`.
        budget: Budget for the waits of this run; None for a new one.
        max_requests: Maximum number of requests; None for no limit.
        timeout_s: Maximum seconds without data before a request fails.
        report: Called with one line for each wait.

    Raises:
        BadTokenError: The token has invalid characters.
        HostError: `address` is not a valid address.
    """

    name: ClassVar[str]
    """Name of the host in messages."""
    library_errors: ClassVar[tuple[type[Exception], ...]]
    """Exceptions of the host's library."""
    comment_key: bytes
    """Key of crscore's comments: see `sticky.derive_key`."""

    def __init__(
        self,
        address: str,
        headers: Mapping[str, str],
        token: str | None,
        *,
        certificates: str | None = None,
        budget: WaitBudget | None = None,
        max_requests: int | None = None,
        timeout_s: int = 30,
        report: Callable[[str], None] | None = None,
    ) -> None:
        # The address is checked before the token could be sent to it.
        try:
            parts = urlsplit(address)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        # Messages show the address, so it must not contain a password.
        is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
        if parts.scheme not in {"http", "https"} or not parts.hostname or not is_plain or port == 0:
            reason = "it is not an address such as https://gitlab.com or https://api.github.com"
            raise HostError(f"{self.name}'s address", reason)
        if token is not None and not _TOKEN.fullmatch(token):
            raise BadTokenError("the token", "it is empty or has an invalid character like a space")
        self.budget = budget or WaitBudget()
        self.session = HostSession(headers, token, certificates, timeout_s)
        self._address = address
        self._max_requests = max_requests
        self._report = report or (lambda _: None)
        self.requests = 0
        """Requests sent so far, counting each try and each redirect."""

    def close(self) -> None:
        """Close the connections."""
        self.session.close()

    # The hosts' libraries raise their own errors, but `write` needs the response.
    @abstractmethod
    def read_refusal(self, exc: Exception) -> tuple[int, Mapping[str, str], bytes] | None:
        """Return the response that made the host's library raise an exception.

        Args:
            exc: One of `library_errors`.

        Returns:
            The status, the headers by lower-case name, and the body; None if they are unknown.
        """

    # Each of the next three methods raises `UncertainWriteError` if the outcome of the write is
    # unknown, and another `HostError` if nothing was written.
    @abstractmethod
    def create_comment(self, repository: str, number: int, body: str) -> tuple[int, str]:
        """Write a comment on a pull request; return the comment's id and address."""

    @abstractmethod
    def edit_comment(self, repository: str, number: int, comment: int, body: str) -> str:
        """Replace a comment's text; return the comment's address."""

    @abstractmethod
    def delete_comment(self, repository: str, number: int, comment: int) -> None:
        """Delete a comment."""

    def get(self, path: str, kind: type[T], parameters: Mapping[str, str] | None = None) -> T:
        """Read one resource.

        Args:
            path: Path of the API, with percent-escapes where needed: `/repos/o/r`.
            kind: Type to which msgspec converts the JSON.
            parameters: Parameters of the query.

        Raises:
            HostError: The resource cannot be read.
        """
        return self._get(path, kind, parameters or {})[0]

    def page(
        self, path: str, kind: type[T], number: int, parameters: Mapping[str, str] | None = None
    ) -> Page[T]:
        """Read one page of a list and convert its items to `kind`; the first page has number 1.

        Raises:
            HostError: The page cannot be read, or is empty although the previous page announced it.
        """
        query = {**(parameters or {}), "per_page": str(PAGE_ITEMS), "page": str(number)}
        items, headers = self._get(path, list[kind], query)  # type: ignore[valid-type]
        # GitHub names the next page only in links; for GitLab's headers, see
        # https://docs.gitlab.com/api/rest/#other-pagination-headers.
        next_page = headers.get("x-next-page")
        has_more = 'rel="next"' in headers.get("link", "") if next_page is None else bool(next_page)
        if not items and (has_more or number > 1):
            # An empty page that the previous page announced is an error of the host. If it were
            # taken for the end of the list, the rest of the list could be missing.
            raise UnavailableError(f"GET {path}", f"page {number} of the list has no items")
        total = re.fullmatch(r"[0-9]{1,9}", headers.get("x-total", ""))
        return Page(tuple(items), has_more, int(total[0]) if total else None)

    def pages(
        self,
        path: str,
        kind: type[T],
        parameters: Mapping[str, str] | None = None,
        *,
        key: Callable[[T], Hashable] = attrgetter("id"),
    ) -> tuple[T, ...]:
        """Read a whole list.

        If a list changes while it is read, items are repeated or skipped between two pages. The
        list is then read a second time, and the result has the items of both readings.

        Args:
            path: See `get`.
            kind: Type to which each item is converted.
            parameters: Parameters of the query, without the page's number and size.
            key: Returns the identity of an item.

        Raises:
            HostError: A page cannot be read, there are too many pages, or items are missing.
        """
        # A list has no version, so only repeated and missing items show that it changed.
        unique: dict[Hashable, T] = {}
        for _ in range(2):
            items: list[T] = []
            for number in range(1, MAX_PAGES + 1):
                page = self.page(path, kind, number, parameters)
                items += page.items
                if not page.has_more:
                    break
            else:
                raise UnavailableError(f"GET {path}", f"the list has more than {MAX_PAGES} pages")
            reading = {key(item): item for item in items}
            unique |= reading
            if len(reading) == len(items) and page.total in (None, len(items)):
                break
        if page.total is not None and len(unique) < page.total:
            reason = f"only {len(unique)} of {page.total} items were listed"
            raise UnavailableError(f"GET {path}", reason)
        return tuple(unique.values())

    def write(self, operation: str, action: Callable[[], T]) -> T:
        """Write with the host's library, and retry only if it is certain that nothing was written.

        Args:
            operation: Description of the write, for messages.
            action: Sends one request. It must also read the attributes of the response that are
                needed, because some libraries check an attribute only when it is read.

        Returns:
            What `action` returned.

        Raises:
            UncertainWriteError: The outcome is unknown; check it before repeating the write.
            HostError: The write failed.
        """

        def attempt() -> T:
            self._count(operation)
            try:
                return action()
            except _NO_RESPONSE as exc:
                error = _explain_failure(exc, operation)
                if isinstance(error, TransientError) and error.may_have_arrived:
                    raise _make_uncertain(operation, error.error.reason) from exc
                raise error from exc
            except self.library_errors as exc:
                refusal = self.read_refusal(exc)
            # Outside of `except`, so that no error is chained to `exc`, which may quote the token.
            if refusal is None:
                raise _make_uncertain(operation, f"{self.name}'s response cannot be read")
            status, headers, body = refusal
            try:
                self.check(status, headers, self.session.mask(body), operation)
            # The host can fail (500 and more) after it has written, but it checks a rate limit
            # before it writes.
            except TransientError as exc:
                if isinstance(exc.error, RateLimitedError):
                    raise
                raise _make_uncertain(operation, exc.error.reason) from exc
            raise _make_uncertain(operation, f"{self.name} returned {status}")

        return self.retry(attempt)

    def retry(self, attempt: Callable[[], T]) -> T:
        """Call `attempt` until it raises no `TransientError`; stop if no try or no budget is left.

        Returns:
            What `attempt` returned.

        Raises:
            HostError: The error of the last try.
        """
        # urllib3's `Retry` counts the tries and computes the waits, but several requests cannot
        # share a budget of waits in it.
        retries, budget = RETRIES, self.budget
        while True:
            start = budget.now()
            try:
                return attempt()
            except TransientError as exc:
                # The budget must not grow if the clock is set back.
                budget.left_s -= max(budget.now() - start, 0.0)
                try:
                    retries = retries.increment(error=exc)
                except urllib3.exceptions.MaxRetryError:
                    raise exc.error from exc.__cause__
                wait_s, prefix = retries.get_backoff_time(), "trying again in"
                if exc.wait_s is not None:
                    doublings = len(retries.history) - 1 if exc.doubles else 0
                    wait_s, prefix = exc.wait_s * 2.0**doublings, "the host asks to wait"
                if wait_s > budget.left_s:
                    raise exc.error from exc.__cause__
                self._report(f"{prefix} {wait_s:.0f} s ({exc.error.reason})")
            budget.left_s -= wait_s
            budget.waited_s += wait_s
            budget.sleep(wait_s)

    def send(self, verb: str, url: str, operation: str, **options: Any) -> requests.Response:
        """Send one request and check its response.

        Args:
            verb: HTTP method.
            url: Full address on this host.
            operation: Description of the request, for messages.
            options: Options of `requests`.

        Raises:
            TransientError: Another try may succeed.
            HostError: No other try will succeed.
        """
        # At most three redirects are followed, so that a loop of redirects ends.
        for _ in range(4):
            self._count(operation)
            try:
                response = self.session.request(verb, url, **options)
            except _NO_RESPONSE as exc:
                raise _explain_failure(exc, operation) from exc
            if verb != "GET" or response.status_code not in {301, 302, 307, 308}:
                break
            # The host redirects from a repository's former name, to an address with the query.
            location, options = response.headers.get("location", ""), {}
            # The token is sent along, so the redirect must not lead to another host.
            if not location.startswith(f"{self._address}/"):
                break
            url = location
        self.check(response.status_code, response.headers, response.content, operation)
        return response

    def check(self, status: int, headers: Mapping[str, str], body: bytes, operation: str) -> None:
        """Raise the error that a response describes; return if the response is a success.

        Raises:
            TransientError: Another try may succeed.
            HostError: No other try will succeed.
        """
        if 200 <= status < 300 and status != 202:
            return
        message = _read_message(body)
        # 403 means a rate limit or a missing permission; only the headers and the text show which.
        is_limit = "retry-after" in headers or _is_spent(headers) or has_limit_words(message)
        if status == 429 or (status == 403 and is_limit):
            raise self.limit_error(headers, message, operation)
        reason = f"{self.name} returned {status}"
        # 202: GitHub is still computing the response. 408, 425: the request came too late or early.
        if status >= 500 or status in {202, 408, 425}:
            raise TransientError(UnavailableError(operation, join_reason(reason, message)))
        if 300 <= status < 400:
            reason = "it redirects to another address, which crscore does not follow; give that one"
            raise UnavailableError(operation, reason)
        kind, reason = REFUSALS.get(status, (HostError, reason))
        raise kind(operation, join_reason(reason, message))

    def limit_error(
        self, headers: Mapping[str, str], message: str, operation: str
    ) -> TransientError:
        """Return the error for a rate limit, with the wait that the headers ask for."""
        # If no requests are left, the hourly limit was reached; else it is a limit on requests in a
        # short time or at the same time.
        kind = "primary rate limit" if _is_spent(headers) else "secondary rate limit"
        wait_s, doubles = LIMIT_WAIT_S, True
        reset = headers.get("x-ratelimit-reset", headers.get("ratelimit-reset", ""))
        if _is_spent(headers) and re.fullmatch(r"[0-9]{1,12}", reset):
            # One second is added, because the clocks of the host and of this machine may differ.
            wait_s, doubles = max(int(reset) - self.budget.now(), 0.0) + 1.0, False
        with suppress(KeyError, urllib3.exceptions.InvalidHeader):
            wait_s, doubles = float(RETRIES.parse_retry_after(headers["retry-after"])), False
        reason = join_reason(f"{kind}, for {wait_s:.0f} s", message)
        error = RateLimitedError(operation, reason, wait_s)
        return TransientError(error, wait_s=wait_s, doubles=doubles)

    def decode(self, body: bytes, kind: type[T], operation: str) -> T:
        """Convert a JSON body to `kind`.

        Raises:
            TransientError: The body is truncated or damaged.
            UnavailableError: The body has another structure.
        """
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.ValidationError as exc:
            # A host can send null for a field that it documents as always set, as in
            # https://github.com/yanyongyu/githubkit/issues/214. Such a field is read as missing.
            with suppress(msgspec.ValidationError, RecursionError):
                return msgspec.convert(json.loads(body, object_pairs_hook=_drop_nulls), kind)
            text = one_line(str(exc), MAX_MESSAGE)
            reason = f"{self.name}'s response has an unexpected structure ({text})"
            raise UnavailableError(operation, reason) from exc
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            error = UnavailableError(operation, f"{self.name}'s response is truncated or damaged")
            raise TransientError(error) from exc
        except RecursionError as exc:
            reason = f"{self.name}'s response is nested too deeply"
            raise UnavailableError(operation, reason) from exc

    def _get(
        self, path: str, kind: type[T], parameters: Mapping[str, str]
    ) -> tuple[T, Mapping[str, str]]:
        if not _PATH.fullmatch(path):
            reason = f"it is not a path of {self.name}'s API"
            raise HostError(f"GET {one_line(path, MAX_MESSAGE)!r}", reason)
        operation, query = f"GET {path}", sorted(parameters.items())

        def attempt() -> tuple[T, Mapping[str, str]]:
            response = self.send("GET", self._address + path, operation, params=query)
            return self.decode(response.content, kind, operation), response.headers

        return self.retry(attempt)

    def _count(self, operation: str) -> None:
        if self._max_requests is not None and self.requests >= self._max_requests:
            reason = f"the budget of {count_noun(self._max_requests, 'request')} is spent"
            raise RateLimitedError(operation, reason)
        self.requests += 1


class HostSession(requests.Session):
    """Session that follows no redirect, reads bodies within limits and masks the token.

    Args:
        headers: Headers of all requests.
        token: Token to mask; None if there is none.
        certificates: File of trusted certificates; None for the defaults of `requests`.
        timeout_s: Maximum seconds without data. The whole body may take `MAX_TIMEOUTS` times this.
    """

    def __init__(
        self,
        headers: Mapping[str, str],
        token: str | None,
        certificates: str | None,
        timeout_s: int,
    ) -> None:
        super().__init__()
        self.headers["User-Agent"] = f"crscore/{__version__}"
        self.certificates = certificates
        self.last_headers: Mapping[str, str] = {}
        self._timeout_s = timeout_s
        secret = (token or "").encode()

        # These functions are closures, so that no attribute of the session holds the token.
        def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
            request.headers.update(headers)
            return request

        def mask(body: bytes) -> bytes:
            return mask_secret(body, secret) if len(secret) >= _MIN_TOKEN_LENGTH else body

        # `auth` is set even without a token: otherwise `requests` would use the user's .netrc.
        self.auth = sign
        self.mask = mask

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request and read the whole response, within the limits on its size and time."""
        options |= {"allow_redirects": False, "stream": True, "timeout": self._timeout_s}
        if self.certificates is not None:
            options["verify"] = self.certificates
        with super().send(request, **options) as response:
            end = time.monotonic() + MAX_TIMEOUTS * self._timeout_s
            body = bytearray()
            # `iter_content` waits for a full chunk, so the time limit could not end the response of
            # a host that sends one byte now and then.
            while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=True):
                body += chunk
                if len(body) > MAX_RESPONSE_BYTES:
                    limit = f"{MAX_RESPONSE_BYTES:,} bytes"
                    raise OSError(errno.EFBIG, f"the response is larger than {limit}")
                if time.monotonic() > end:
                    raise requests.ReadTimeout
        response._content = self.mask(bytes(body))  # `Response.content` returns this attribute
        for name, value in response.headers.items():
            response.headers[name] = self.mask(value.encode()).decode()
        self.last_headers = response.headers
        return response


def _drop_nulls(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in pairs if value is not None}


def has_limit_words(message: str) -> bool:
    """Return whether a message mentions a rate limit."""
    # https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    words = ("rate limit", "abuse detection", "please retry your request again later")
    return any(word in message.lower() for word in words)


def join_reason(reason: str, message: str) -> str:
    """Append the host's message, if any, to a reason."""
    return f"{reason} ({message})" if message else reason


def _is_spent(headers: Mapping[str, str]) -> bool:
    return headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining")) == "0"


def _read_message(body: bytes) -> str:
    """Return the message and the details of an error response as one line."""
    try:
        complaint = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    # GitHub lists the errors of each field; GitLab's message can be an object of lists.
    parts = (complaint.get("message") or complaint.get("error"), complaint.get("errors"))
    texts = (
        part if isinstance(part, str) else msgspec.json.encode(part).decode()
        for part in parts
        if part
    )
    return one_line("; ".join(texts), MAX_MESSAGE)


def _make_uncertain(operation: str, reason: str) -> UncertainWriteError:
    return UncertainWriteError(operation, f"{reason}; it is unknown whether the write succeeded")


_CERTIFICATE_FAULTS: Final = (
    "TLS CA certificate bundle", "NO_CERTIFICATE_OR_CRL_FOUND", "CERTIFICATE_VERIFY_FAILED",
)  # fmt: skip


def _explain_failure(exc: Exception, operation: str) -> HostError | TransientError:
    """Return the error for a request without a readable response.

    Only the host's name and the system's message are quoted from the exception, because a library
    may repeat the token in its own message.
    """
    if isinstance(exc, OSError) and exc.errno == errno.EFBIG:
        return UnavailableError(operation, str(exc.strerror))
    address = getattr(getattr(exc, "request", None), "url", None) or ""
    host = urlsplit(address).hostname or "the host"
    # `requests` has no separate exception for a faulty certificate, only words in the message:
    # https://github.com/psf/requests/blob/main/src/requests/adapters.py, cert_verify
    if any(words in str(exc) for words in _CERTIFICATE_FAULTS):
        reason = f"the certificate of {host} cannot be trusted, or the file of trusted certificates"
        return UnavailableError(operation, f"{reason} cannot be used")
    cause = getattr(next(iter(exc.args), None), "reason", None)
    system = getattr(getattr(cause, "original_error", cause), "__cause__", None)
    detail = f" ({strerror})" if (strerror := getattr(system, "strerror", None)) else ""
    may_have_arrived = False
    # The host's address was checked beforehand, so an invalid address is the proxy's.
    invalid_address = requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema
    if isinstance(exc, requests.exceptions.ProxyError | invalid_address):
        proxy = "the proxy of the environment (HTTPS_PROXY or HTTP_PROXY)"
        reason = f"{proxy} cannot be reached{detail}"
    elif isinstance(exc, requests.ConnectTimeout | requests.exceptions.SSLError) or isinstance(
        cause, urllib3.exceptions.NewConnectionError
    ):
        reason = f"{host} cannot be reached{detail}"
    else:
        may_have_arrived = True
        # `requests` wraps some timeouts in other errors, so that only the text shows them.
        is_late = isinstance(exc, requests.Timeout) or "timed out" in str(exc)
        broken = "the connection broke, or the response cannot be read"
        reason = "no response in time" if is_late else broken
    error = UnavailableError(operation, reason)
    return TransientError(error, may_have_arrived=may_have_arrived)
