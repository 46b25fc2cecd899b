"""What a request without a readable response means."""

import http.client
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import requests
import urllib3

NO_RESPONSE: Final = (
    OSError,
    ValueError,
    http.client.HTTPException,
    urllib3.exceptions.HTTPError,
)
"""Errors of a request without a readable response."""


_CHUNK_BYTES: Final = 64 * 1024


def read_chunks(response: requests.Response) -> Iterator[bytes]:
    """Yield a body, unpacked, as it arrives.

    `iter_content` waits for a full chunk, so a host that sends a byte now and then would be waited
    for without end, and no limit of time would be noticed.
    """
    while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=True):
        yield chunk


class ConnectionFailure(NamedTuple):
    """Request without a readable response."""

    reason: str
    may_have_arrived: bool = True
    is_final: bool = False


def failure_of(exc: Exception) -> ConnectionFailure:
    """Describe the failure of a request without quoting more of it than the host's name."""
    cause = getattr(next(iter(exc.args), None), "reason", None)
    if "CERTIFICATE_VERIFY_FAILED" in str(exc):
        return ConnectionFailure(
            "its certificate cannot be trusted", may_have_arrived=False, is_final=True
        )
    if isinstance(exc, requests.ConnectTimeout):
        return ConnectionFailure(f"{_host(exc)} cannot be reached in time", may_have_arrived=False)
    if isinstance(cause, urllib3.exceptions.NewConnectionError):
        system = getattr(cause.__cause__, "strerror", None)
        reason = f" ({system})" if system else ""
        return ConnectionFailure(f"{_host(exc)} cannot be reached{reason}", may_have_arrived=False)
    # `requests` wraps some time-outs of a body in other errors; only the text shows it.
    if isinstance(exc, requests.Timeout) or "timed out" in str(exc):
        return ConnectionFailure("no response in time")
    return ConnectionFailure("the connection broke, or the response cannot be read")


def _host(exc: Exception) -> str:
    request = getattr(exc, "request", None)
    return urlsplit(getattr(request, "url", None) or "").hostname or "it"
