"""What an answer of GitHub means: fine, not now, or not at all.

Limits come as 403 or 429, and in GraphQL inside of a 200; they are told from a refusal by their
headers first and their words second. Whatever the host says is untrusted text: it is cut to one
line without control characters before it is repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from crscore.errors import (
    BadTokenError,
    HostError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
)
from crscore.github.retry import TryAgainError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crscore.github.transport import Answer

SECONDARY_WAIT_S = 60.0
"""Wait for a secondary limit that names none; doubles."""
RESET_MARGIN_S = 1.0
"""Added to the time at which a primary limit ends: clocks differ."""
MAX_MESSAGE = 300
"""Most characters of what the host said."""
_LIMIT_WORDS = ("rate limit", "abuse detection", "please retry your request again later")
_BUSY_TYPES = frozenset({"INTERNAL", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT"})
_BUSY_WORDS = ("something went wrong", "timeout", "timedout", "try again", "loading")
_REFUSAL_TYPES = frozenset({"FORBIDDEN", "INSUFFICIENT_SCOPES", "UNAUTHORIZED"})
_TRANSIENT = frozenset({202, 408, 425})


class Fault(msgspec.Struct, frozen=True):
    """One of the errors that GraphQL lists, or REST for a field."""

    type: str | None = None
    code: str | None = None
    field: str | None = None
    message: str | None = None


class _Complaint(msgspec.Struct):
    message: str = ""
    errors: Any = None


def one_line(text: str) -> str:
    r"""Make a host's text fit to be repeated.

    Example:
        >>> one_line("Bad\r\n::error::\u202eidea\x1b[31m  here")
        'Bad ::error:: idea [31m here'
    """
    clean = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return clean if len(clean) <= MAX_MESSAGE else clean[: MAX_MESSAGE - 3] + "..."


def check_response(answer: Answer, what: str, now: Callable[[], float]) -> None:
    """Accept an answer, or raise what it means.

    Args:
        answer: Of GitHub's REST interface, or a GraphQL one with a status other than 200.
        what: What was asked for.
        now: Seconds since 1970.

    Raises:
        TryAgainError: Another try may fare better.
        HostError: None will.
    """
    status = answer.status
    if 200 <= status < 300 and status != 202:
        return
    message = _message(answer.body)
    if status == 429 or (status == 403 and _is_limit(answer.headers, message)):
        raise limited(answer.headers, message, what, now)
    if status >= 500 or status in _TRANSIENT:
        reason = "GitHub is not done yet" if status == 202 else f"GitHub answers {status}"
        raise TryAgainError(UnavailableError(what, _with(reason, message)))
    if status == 401:
        reason = _with("the token is missing, wrong or expired", message)
        raise BadTokenError(what, reason)
    if status == 403:
        raise PermissionDeniedError(what, _with("the token may not do this", message))
    if status in {404, 410}:
        reason = "there is no such thing, or the token may not see it"
        raise NotFoundError(what, _with(reason, message))
    if status == 304 or 300 <= status < 400:
        raise UnavailableError(what, f"GitHub answers {status} where that means nothing")
    raise HostError(what, _with(f"GitHub answers {status}", message))


def check_faults(
    faults: Sequence[Fault], answer: Answer, what: str, now: Callable[[], float]
) -> None:
    """Accept a GraphQL answer without errors, or raise what they mean.

    Args:
        faults: The errors that it lists; a part that failed fails the whole.
        answer: What came back.
        what: What was asked for.
        now: Seconds since 1970.

    Raises:
        TryAgainError: Another try may fare better.
        HostError: None will.
    """
    if not faults:
        return
    types = {(fault.type or "").upper() for fault in faults}
    message = one_line("; ".join(fault.message or "" for fault in faults))
    if any(kind.startswith("RATE_LIMIT") for kind in types) or _says(message, _LIMIT_WORDS):
        raise limited(answer.headers, message, what, now)
    if types & _REFUSAL_TYPES:
        raise PermissionDeniedError(what, _with("the token may not do this", message))
    if "NOT_FOUND" in types:
        reason = "there is no such thing, or the token may not see it"
        raise NotFoundError(what, _with(reason, message))
    if types & _BUSY_TYPES or (types == {""} and _says(message, _BUSY_WORDS)):
        raise TryAgainError(UnavailableError(what, _with("GitHub could not finish it", message)))
    raise HostError(what, _with("GitHub cannot do it", message))


def limited(
    headers: Mapping[str, str], message: str, what: str, now: Callable[[], float]
) -> TryAgainError:
    """Say how long a limit asks to wait: as its headers say, else a minute, then two, then four."""
    is_primary = headers.get("x-ratelimit-remaining") == "0"
    kind = "primary rate limit" if is_primary else "secondary rate limit"
    wait, doubles = SECONDARY_WAIT_S, True
    retry_after, reset = _number(headers, "retry-after"), _number(headers, "x-ratelimit-reset")
    if retry_after is not None:
        wait, doubles = retry_after, False
    elif is_primary and reset is not None:
        wait, doubles = max(reset - now(), 0.0) + RESET_MARGIN_S, False
    error = RateLimitedError(what, _with(f"{kind}, for {wait:.0f} s", message), wait)
    return TryAgainError(error, wait_s=wait, doubles=doubles, why=kind)


def _is_limit(headers: Mapping[str, str], message: str) -> bool:
    return (
        "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or _says(message, _LIMIT_WORDS)
    )


def _says(message: str, words: tuple[str, ...]) -> bool:
    return any(word in message.lower() for word in words)


def _number(headers: Mapping[str, str], name: str) -> float | None:
    """Seconds from a header; None when it is missing or not a number of 0 or more, below 1e11."""
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
    texts = [complaint.message, *(_detail(one) for one in details)]
    return one_line("; ".join(text for text in texts if text))


def _detail(found: object) -> str:
    """One of the errors in the answer to a REST request: a text, or an object with parts."""
    if isinstance(found, str):
        return found
    try:
        fault = msgspec.convert(found, Fault)
    except msgspec.ValidationError:
        return ""
    return fault.message or " ".join(word for word in (fault.field, fault.code) if word)


def _with(reason: str, message: str) -> str:
    return f"{reason} ({message})" if message else reason
