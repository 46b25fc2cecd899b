"""One request to an OpenAI-compatible server: bytes, or one of two errors of ours.

The `openai` client (tried: 3.52, 3.54) makes the connections and the request. Its retries are off:
they know nothing of the other chats of a run. Redirects are not followed, as they would take the
chat, and on the same host the key, to where nobody sent them. No body is read past a limit.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crscore.errors import DependencyError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

INSTALL = "pip install 'crscore[openai]'"
CONNECT_S = 10.0
"""Seconds for a connection to be made."""
MAX_ANSWER_BYTES = 8 * 2**20
"""Longest answer read, unpacked."""
MAX_ERROR_BYTES = 64 * 2**10
"""Most that is read of a refusal."""
_NO_KEY = "none"
"""Sent where no key is given: the client insists on one, local servers look at none."""


class LostError(Exception):
    """No answer came: not connected, cut off, or too much of it."""

    def __init__(self, text: str, *, connected: bool = True) -> None:
        super().__init__(text, connected)
        self.text = text
        self.connected = connected

    def __str__(self) -> str:
        return self.text


class SilentError(Exception):
    """The answer did not come, or did not end, in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the server said."""

    status: int
    """HTTP status."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    """Unpacked; the beginning only where the status is no success."""


class _RefusedError(Exception):
    """Carries a reply that is no success past the client, which would read it without a limit."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class Wire:
    """Connections to one server, in one event loop.

    Raises:
        DependencyError: The `openai` package is not installed.
    """

    def __init__(self, base_url: str, api_key: str | None, timeout_s: float) -> None:
        try:
            import httpx2  # noqa: PLC0415
            import openai  # noqa: PLC0415
        except ImportError as exc:
            raise DependencyError("openai", INSTALL) from exc
        self._timeout_s = timeout_s
        self._untied: tuple[type[Exception], ...] = (httpx2.ConnectError, httpx2.ConnectTimeout)
        self._silent: tuple[type[Exception], ...] = (httpx2.TimeoutException, TimeoutError)
        self._broken: tuple[type[Exception], ...] = (
            httpx2.HTTPError,
            httpx2.StreamError,
            openai.OpenAIError,
        )
        self._client: Any = openai.AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or _NO_KEY,
            max_retries=0,
            timeout=openai.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s), pool=None),
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False, event_hooks={"response": [_stop_at_refusal]}
            ),
        )

    async def __aenter__(self) -> Wire:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.close()

    async def ask(self, body: Mapping[str, Any]) -> Reply:
        """Send one chat.

        Args:
            body: The request, as the server is to read it.

        Returns:
            The reply, whatever its status.

        Raises:
            SilentError: It took longer than the limit, from first to last byte.
            LostError: There was no connection, it broke, or the answer was too long.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._ask(body)
        except _RefusedError as exc:
            return exc.reply
        except self._silent as exc:
            if isinstance(exc, self._untied):
                raise LostError("no connection in time", connected=False) from None
            raise SilentError from None
        except self._broken as exc:
            raise self._lost(exc) from None  # the chain would hold the request with its key

    async def _ask(self, body: Mapping[str, Any]) -> Reply:
        create = self._client.chat.completions.with_streaming_response.create
        # As `extra_body`, which goes out as it is: to check the same parts one by one against its
        # types takes the client a third of the time that a request costs here.
        async with create(model=body["model"], messages=[], extra_body=dict(body)) as response:
            content = await _read(response.iter_bytes(), MAX_ANSWER_BYTES)
            if content is None:
                raise LostError(f"the answer is longer than {MAX_ANSWER_BYTES:,} bytes")
            return Reply(
                status=int(response.status_code), headers=dict(response.headers), body=content
            )

    def _lost(self, error: Exception) -> LostError:
        cause = error.__cause__ or error
        if isinstance(cause, self._untied):
            text = "no connection in time" if isinstance(cause, self._silent) else "not reachable"
            return LostError(text, connected=False)
        if isinstance(cause, self._silent):
            raise SilentError from None
        return LostError("the connection broke")


async def _stop_at_refusal(response: Any) -> None:
    if response.status_code < 300:
        return
    content = await _read(response.aiter_bytes(), MAX_ERROR_BYTES, cut=True)
    reply = Reply(
        status=int(response.status_code), headers=dict(response.headers), body=content or b""
    )
    raise _RefusedError(reply)


async def _read(parts: Any, most: int, *, cut: bool = False) -> bytes | None:
    """Read at most so many bytes; None when there are more, unless they may be cut."""
    content = bytearray()
    async for part in parts:
        content += part
        if len(content) > most:
            return bytes(content[:most]) if cut else None
    return bytes(content)
