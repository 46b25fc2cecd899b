"""Conversion of errors in GitHub's responses to crscore's errors.

Rate limits have status 403 or 429, and in GraphQL 200; they are distinguished from a refusal by
their headers first and their text second. GitHub's text is untrusted: it is reduced to one line
without control characters before it is repeated.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from crscore.errors import (
    BadTokenError,
    HostError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
)
from crscore.hosts.retry import TryAgainError

SECONDARY_WAIT_S = 60.0
"""Wait in seconds for a secondary limit without one; doubles."""
RESET_MARGIN_S = 1.0
"""Seconds added to the end of a primary limit, as clocks differ."""
MAX_MESSAGE = 300
"""Maximum characters of GitHub's message."""
_LIMIT_WORDS = ("rate limit", "abuse detection", "please retry your request again later")
_BUSY_WORDS = ("something went wrong", "timeout", "timedout", "try again", "loading")
_BUSY_TYPES = frozenset({"INTERNAL", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT"})
_TRANSIENT = frozenset({202, 408, 425})
_NO_RIGHT = (PermissionDeniedError, "the token may not do this")
_NOT_THERE = (NotFoundError, "there is no such thing, or the token may not see it")
_REFUSALS: Mapping[int | str, tuple[type[HostError], str]] = {
    401: (BadTokenError, "the token is missing, wrong or expired"),
    403: _NO_RIGHT,
    404: _NOT_THERE,
    410: _NOT_THERE,
    "FORBIDDEN": _NO_RIGHT,
    "INSUFFICIENT_SCOPES": _NO_RIGHT,
    "UNAUTHORIZED": _NO_RIGHT,
    "NOT_FOUND": _NOT_THERE,
}
"""Error and reason by HTTP status, or by type of a GraphQL error; the first match applies."""


class Response(NamedTuple):
    """Response from GitHub."""

    status: int
    """HTTP status."""
    headers: Mapping[str, str]
    """Headers by lower-case name."""
    body: str
    """Decoded body, without the token."""


class GraphqlError(msgspec.Struct, frozen=True):
    """Error listed by GraphQL, or by REST for a field."""

    type: str | None = None
    code: str | None = None
    field: str | None = None
    message: str | None = None


class _Complaint(msgspec.Struct):
    message: str = ""
    errors: Any = None


def one_line(text: str) -> str:
    r"""Clean GitHub's text so that it can be repeated.

    Example:
        >>> one_line("Bad\r\n::error::\u202eidea\x1b[31m  here")
        'Bad ::error:: idea [31m here'
    """
    clean = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return clean if len(clean) <= MAX_MESSAGE else clean[: MAX_MESSAGE - 3] + "..."


def check_response(response: Response, operation: str, now: Callable[[], float]) -> None:
    """Accept a response, or raise the error it represents.

    Args:
        response: Response of the REST or GraphQL API.
        operation: Description of the request.
        now: Seconds since 1970.

    Raises:
        TryAgainError: Another try may succeed.
        HostError: No other try will succeed.
    """
    status = response.status
    # 202: GitHub is still computing the answer.
    if 200 <= status < 300 and status != 202:
        return
    message = _message(response.body)
    # 403 also means a missing right; only the headers and the text tell them apart.
    if status == 429 or (status == 403 and _is_limit(response.headers, message)):
        raise _limit_error(response.headers, message, operation, now)
    reason = f"GitHub answers {status}"
    if status >= 500 or status in _TRANSIENT:
        raise TryAgainError(UnavailableError(operation, _join(reason, message)))
    if 300 <= status < 400:
        raise UnavailableError(operation, f"{reason} where that means nothing")
    kind, reason = _REFUSALS.get(status, (HostError, reason))
    raise kind(operation, _join(reason, message))


def check_graphql_errors(
    errors: Sequence[GraphqlError], response: Response, operation: str, now: Callable[[], float]
) -> None:
    """Accept a GraphQL response without errors, or raise the error they represent.

    Args:
        errors: Its list of errors; a failed part fails the whole response.
        response: The response, for its headers.
        operation: Description of the request.
        now: Seconds since 1970.

    Raises:
        TryAgainError: Another try may succeed.
        HostError: No other try will succeed.
    """
    if not errors:
        return
    types = {(error.type or "").upper() for error in errors}
    message = one_line("; ".join(error.message or "" for error in errors))
    if any(kind.startswith("RATE_LIMIT") for kind in types) or _has_any(message, _LIMIT_WORDS):
        raise _limit_error(response.headers, message, operation, now)
    for refusal in _REFUSALS:
        if refusal in types:
            kind, reason = _REFUSALS[refusal]
            raise kind(operation, _join(reason, message))
    if types & _BUSY_TYPES or (types == {""} and _has_any(message, _BUSY_WORDS)):
        raise TryAgainError(
            UnavailableError(operation, _join("GitHub could not finish it", message))
        )
    raise HostError(operation, _join("GitHub cannot do it", message))


def _limit_error(
    headers: Mapping[str, str], message: str, operation: str, now: Callable[[], float]
) -> TryAgainError:
    """Return a limit's wait in an error: from its headers, else one, two, then four minutes."""
    is_primary = headers.get("x-ratelimit-remaining") == "0"
    # With nothing left, the limit of the hour is reached; otherwise that of too many at once.
    kind = "primary rate limit" if is_primary else "secondary rate limit"
    wait, doubles = SECONDARY_WAIT_S, True
    retry_after, reset = _number(headers, "retry-after"), _number(headers, "x-ratelimit-reset")
    if retry_after is not None:
        wait, doubles = retry_after, False
    elif is_primary and reset is not None:
        wait, doubles = max(reset - now(), 0.0) + RESET_MARGIN_S, False
    error = RateLimitedError(operation, _join(f"{kind}, for {wait:.0f} s", message), wait)
    return TryAgainError(error, wait_s=wait, doubles=doubles, cause=kind)


def _is_limit(headers: Mapping[str, str], message: str) -> bool:
    return (
        "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or _has_any(message, _LIMIT_WORDS)
    )


def _has_any(message: str, words: tuple[str, ...]) -> bool:
    return any(word in message.lower() for word in words)


def _number(headers: Mapping[str, str], name: str) -> float | None:
    """Return a header's number; None when it is missing or not in [0, 1e11)."""
    try:
        value = float(headers.get(name, ""))
    except ValueError:
        return None
    return value if 0.0 <= value < 1e11 else None


def _message(body: str) -> str:
    try:
        complaint = msgspec.json.decode(body, type=_Complaint)
    except (msgspec.DecodeError, RecursionError):
        return ""
    details = complaint.errors if isinstance(complaint.errors, list) else [complaint.errors]
    texts = [complaint.message, *(_detail(detail) for detail in details)]
    return one_line("; ".join(text for text in texts if text))


def _detail(detail: object) -> str:
    """Return the text of an error listed by REST: a string, or an object with parts."""
    if isinstance(detail, str):
        return detail
    try:
        error = msgspec.convert(detail, GraphqlError)
    except msgspec.ValidationError:
        return ""
    return error.message or " ".join(word for word in (error.field, error.code) if word)


def _join(reason: str, message: str) -> str:
    return f"{reason} ({message})" if message else reason
