"""One request to GitHub and its answer, through PyGithub.

PyGithub's requester adds the token, the address and the headers. Three things it does are not for
us: it sleeps on its own at 202, it drops the query when it follows a 301, and it reads an answer of
any size. So it is given connections that hand those answers back before it acts on them.

What goes wrong on the way becomes `LostError`; nothing of `requests`, urllib3 or PyGithub leaves.
"""

from __future__ import annotations

import http.client
import re
import ssl
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import github
import requests
import urllib3
from github.Requester import (
    HTTPRequestsConnectionClass,
    HTTPSRequestsConnectionClass,
    RequestsResponse,
)
from urllib3.exceptions import NewConnectionError

from crscore.errors import BadTokenError, HostError
from crscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator, Mapping

MAX_ANSWER_BYTES = 50 * 2**20
"""Most bytes of one answer, unpacked."""
_ANSWER_TIMES = 4
_CHUNK_BYTES = 65536
# A token of GitHub is printable and has no spaces; anything else would be quoted in an error.
_TOKEN = re.compile(r"[\x21-\x7e]+")
# Shorter "tokens" are toys of tests, and would be found in words of every answer.
_SHORTEST_SECRET = 8
_OWN_BUSINESS = (202, 301)


class Answer(NamedTuple):
    """What came back."""

    status: int
    """HTTP status."""
    headers: Mapping[str, str]
    """By lower-case name."""
    body: str
    """Decoded; the token is not in it."""


class LostError(Exception):
    """A request got no answer that can be read.

    Args:
        reason: What happened, one clause.
        undone: True when the request surely never reached the host.
        lasting: True when another try will not fare better.
    """

    def __init__(self, reason: str, *, undone: bool = False, lasting: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.undone = undone
        self.lasting = lasting


class _Handed(Exception):  # noqa: N818 - it is no error, it carries an answer past PyGithub
    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class _Read(RequestsResponse):
    def __init__(self, response: requests.Response, answer: Answer) -> None:
        super().__init__(response)
        self._answer = answer

    def getheaders(self) -> ItemsView[str, str]:
        return dict(self._answer.headers).items()

    def read(self) -> str:
        return self._answer.body


class _Careful:
    """Reads an answer up to a size, and hands over those that PyGithub would act on."""

    secret = ""
    session: requests.Session
    protocol: str
    host: str
    port: int
    url: str
    verb: str
    timeout: int | None
    headers: dict[str, str]
    input: Any

    def getresponse(self) -> RequestsResponse:
        response = self.session.request(
            self.verb,
            f"{self.protocol}://{self.host}:{self.port}{self.url}",
            headers=self.headers,
            data=self.input,
            timeout=self.timeout,
            allow_redirects=False,
            stream=True,
        )
        with response:
            body = _body(response, _ANSWER_TIMES * (self.timeout or 0.0))
        headers = {name.lower(): self._safe(value) for name, value in response.headers.items()}
        answer = Answer(response.status_code, headers, self._safe(body))
        if answer.status in _OWN_BUSINESS:
            raise _Handed(answer)
        return _Read(response, answer)

    def _safe(self, text: str) -> str:
        return text.replace(self.secret, "***") if self.secret else text


class _Plain(_Careful, HTTPRequestsConnectionClass):
    pass


class _Secure(_Careful, HTTPSRequestsConnectionClass):
    pass


def _body(response: requests.Response, patience_s: float) -> str:
    """Read a body, strictly as UTF-8: what GitHub sends, and anything else is damage."""
    start = time.monotonic()
    parts: list[bytes] = []
    size = 0
    for part in response.iter_content(_CHUNK_BYTES):
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise LostError(f"the answer is larger than {MAX_ANSWER_BYTES:,} bytes", lasting=True)
        if time.monotonic() - start > patience_s:
            raise LostError(f"the answer took longer than {patience_s:.0f} s")
    return b"".join(parts).decode("utf-8")


class Wire:
    """A connection to one host under one token. For one thread.

    Args:
        token: What to sign in with; None to ask as anybody.
        api_url: Where the interface is, without a slash at the end.
        timeout_s: Seconds without a byte after which an answer counts as lost.

    Raises:
        BadTokenError: The token has characters that no token has.
        HostError: `api_url` is no address.
    """

    def __init__(self, *, token: str | None, api_url: str, timeout_s: int) -> None:
        if token is not None and not _TOKEN.fullmatch(token):
            raise BadTokenError("the token", "it is empty or has characters that no token has")
        _check_address(api_url)
        self._secret = token if token is not None and len(token) >= _SHORTEST_SECRET else ""
        self._timeout_s = timeout_s
        self._address = urlsplit(api_url)
        self._requester = github.Github(
            auth=github.Auth.Token(token) if token is not None else None,
            base_url=api_url,
            timeout=timeout_s,
            user_agent=f"crscore/{__version__}",
            per_page=100,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            api_version="2022-11-28",
        ).requester
        self._connection = self._connect()

    @property
    def graphql_url(self) -> str:
        """Where GraphQL queries go."""
        return self._requester.graphql_url

    def leads_here(self, url: str) -> bool:
        """Whether an address is on this host, reached in the same way."""
        try:
            there = urlsplit(url)
            return (there.scheme, there.netloc) == (self._address.scheme, self._address.netloc)
        except ValueError:
            return False

    def exchange(
        self,
        verb: str,
        url: str,
        *,
        parameters: Mapping[str, str],
        headers: Mapping[str, str],
        body: Mapping[str, Any] | None = None,
        fresh: bool = False,
    ) -> Answer:
        """Send one request.

        Args:
            verb: GET, POST, PATCH, PUT or DELETE.
            url: A path of the interface, or a full address on this host.
            parameters: Of the query.
            headers: Beside the usual ones.
            body: Sent as JSON.
            fresh: True for a connection of its own: an old one that the host has closed meanwhile
                would leave it open whether the request arrived.

        Returns:
            The answer, whatever its status.

        Raises:
            LostError: There is none.
        """
        connection = self._connect() if fresh else self._connection
        asked = {"Accept": "application/vnd.github+json", **headers}
        try:
            return Answer(
                *self._requester.requestJson(verb, url, dict(parameters), asked, body, connection)
            )
        except _Handed as handed:
            return handed.answer
        except (requests.RequestException, urllib3.exceptions.HTTPError) as exc:
            raise _lost(exc) from exc
        except (OSError, http.client.HTTPException) as exc:
            raise LostError("the connection broke") from exc
        except (ValueError, ArithmeticError, AssertionError, RuntimeError) as exc:
            # No UTF-8, or headers that PyGithub cannot read.
            raise LostError("the answer cannot be read") from exc
        finally:
            if fresh:
                connection.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._connection.close()
        self._requester.close()

    def _connect(self) -> _Plain | _Secure:
        kind = _Secure if self._address.scheme == "https" else _Plain
        host = self._address.hostname or ""
        # An IPv6 address loses its brackets above and needs them in an address.
        host = f"[{host}]" if ":" in host else host
        connection = kind(host, self._address.port, timeout=self._timeout_s)
        connection.secret = self._secret
        return connection


def _lost(exc: Exception) -> LostError:
    """Say what became of a request, in words that quote nothing of it."""
    causes = tuple(_causes(exc))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return LostError("its certificate cannot be trusted", undone=True, lasting=True)
    if any(isinstance(cause, NewConnectionError) for cause in causes):
        return LostError("it cannot be reached", undone=True)
    if isinstance(exc, requests.ConnectTimeout):
        return LostError("it cannot be reached in time", undone=True)
    if isinstance(exc, requests.Timeout) or any(
        isinstance(cause, TimeoutError) for cause in causes
    ):
        return LostError("no answer in time")
    if isinstance(exc, requests.exceptions.ContentDecodingError):
        return LostError("the answer cannot be unpacked")
    return LostError("the connection broke")


def _causes(exc: BaseException | None) -> Iterator[BaseException]:
    """An exception and what lies inside: urllib3 keeps its causes in arguments and `reason`."""
    seen: set[int] = set()
    waiting: list[object] = [exc]
    while waiting:
        found = waiting.pop()
        if isinstance(found, BaseException) and id(found) not in seen:
            seen.add(id(found))
            yield found
            waiting += [*found.args, getattr(found, "reason", None), found.__cause__]


def _check_address(api_url: str) -> None:
    try:
        parts = urlsplit(api_url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not is_plain or port == 0:
        reason = "it is no address such as https://api.github.com"
        raise HostError("the interface's address", reason)
