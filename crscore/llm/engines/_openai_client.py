"""Chats with an OpenAI-compatible server, through the client and the retries of `openai`.

Redirects are not followed, as they would send the chat, and on the same host the key, to an address
that was not configured. No body is read past a limit.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx2
import openai

from crscore.llm.engines.base import Answer, Message, Sampling
from crscore.llm.engines.openai import Options, RequestFormat

RETRIES: Final = 3
"""Maximum repetitions of a request when the server fails, is busy or cannot be reached."""
CONNECT_S: Final = 10.0
"""Connection timeout in seconds."""
MAX_ANSWER_BYTES = 8 * 2**20
"""Maximum bytes of an answer, as sent."""
MAX_ERROR_BYTES: Final = 64 * 2**10
"""Maximum bytes read of an error response."""
MAX_QUOTED: Final = 300
"""Maximum characters of a server's message that are shown."""
MAX_FORMATS: Final = 6
"""Maximum formats in which one chat is sent."""
MAX_FAILURES: Final = 3
"""Unanswered chats in a row after which no more are sent."""
_NO_KEY: Final = "none"
"""Key sent when none is given: the client requires one, local servers ignore it."""
_TOO_LONG: Final = ("context length", "context_length", "context size", "maximum context", "n_ctx")
_REFUSALS: Final = {
    401: ("key", "the key is refused"),
    403: ("key", "the key is refused"),
    404: ("model", "no such model, or no such address"),
    429: ("busy", "too many requests"),
}
_FINAL: Final = frozenset(("key", "model", "redirect", "quota"))
"""Kinds of faults that affect every chat."""
_PASSING: Final = frozenset(("time", "busy", "unreached"))
"""Kinds of faults that are permanent when several occur in a row."""
_SILENT: Final = {
    "content_filter": "the server's content filter stopped the answer",
    "length": "the limit on tokens was used up before the answer began",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Reason why a chat has no answer."""

    kind: str
    """Kind of fault; `long` is caused by the chat, others by the server."""
    text: str
    """One clause for the user."""


@dataclass(slots=True, kw_only=True)
class Client:
    """Client that sends the chats of one call, in one event loop."""

    options: Options
    """Options of the model and its server."""
    sampling: Sampling
    """Sampling settings."""
    request_format: RequestFormat
    """Request format, shared by all calls."""
    _stopped: Fault | None = None
    """Fault that ended the run: no more chats are sent."""
    _failures: int = 0
    """Number of chats in a row that the server did not answer."""

    async def ask_all(self, chats: Sequence[Sequence[Message]]) -> tuple[Answer | Fault, ...]:
        """Send all chats, some at a time, and return the answers in order."""
        results: dict[int, Answer | Fault] = {}
        waiting = iter(range(len(chats)))
        seconds = self.options.timeout_s
        async with openai.AsyncOpenAI(
            base_url=self.options.base_url,
            api_key=self.options.api_key or _NO_KEY,
            max_retries=RETRIES,
            timeout=openai.Timeout(seconds, connect=min(CONNECT_S, seconds), pool=None),
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False, event_hooks={"response": [_limit_body]}
            ),
        ) as client:

            async def work() -> None:
                for index in waiting:
                    results[index] = await self._ask(client, chats[index])

            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.options.concurrency, len(chats))):
                    group.create_task(work())
        return tuple(results[index] for index in range(len(chats)))

    async def _ask(self, client: openai.AsyncOpenAI, chat: Sequence[Message]) -> Answer | Fault:
        if self._stopped is not None:
            return self._stopped
        try:
            async with asyncio.timeout(self.options.timeout_s):
                result = await self._send(client, chat)
        except TimeoutError:
            result = Fault("time", "no answer in time")
        except openai.OpenAIError as exc:
            result = _fault(exc)
        if isinstance(result, Answer):
            self._failures = 0
            return result
        self._failures += result.kind in _PASSING
        if result.kind in _FINAL or self._failures >= MAX_FAILURES:
            self._stopped = self._stopped or result
        return result

    async def _send(self, client: openai.AsyncOpenAI, chat: Sequence[Message]) -> Answer | Fault:
        """Send a chat, changing the format as long as the server rejects a part of it."""
        formats = 0
        while True:
            body = self.request_format.body(self.options.model, chat, self.sampling)
            try:
                # As `extra_body`, which is sent unchanged: to check the same parts against its
                # types costs the client more than the request.
                reply = await client.chat.completions.with_raw_response.create(
                    model=self.options.model, messages=[], extra_body=body
                )
            except openai.APIStatusError as exc:
                formats += 1
                message = _error_message(exc.body)
                if (
                    formats == MAX_FORMATS
                    or _is_too_long(exc)
                    or not self.request_format.adapt(body, exc.status_code, message)
                ):
                    raise
            else:
                return _read_reply(reply.content, reply.headers.get("content-type", "no type"))


class _LimitedStream(httpx2.AsyncByteStream):
    """Response body with a size limit: an error is cut there, an answer rejected."""

    def __init__(self, response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101  (by the client)
        self._stream = response.stream
        self._is_error = response.status_code >= 300

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            yield part
            size += len(part)
            if self._is_error and size > MAX_ERROR_BYTES:
                return
            if size > MAX_ANSWER_BYTES:
                raise openai.OpenAIError(f"the answer is longer than {MAX_ANSWER_BYTES:,} bytes")

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit_body(response: httpx2.Response) -> None:
    response.stream = _LimitedStream(response)


def _fault(error: openai.OpenAIError) -> Fault:
    """Convert an error of the client to a fault."""
    if isinstance(error, openai.APIStatusError):
        return _refusal(error)
    if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
        return Fault("unreached", "the server is not reachable")
    if isinstance(error, openai.APITimeoutError):
        return Fault("time", "no answer in time")
    if isinstance(error, openai.APIConnectionError):
        return Fault("lost", "the connection broke")
    return Fault("lost", str(error))


def _refusal(error: openai.APIStatusError) -> Fault:
    status, message = error.status_code, _error_message(error.body)
    if _is_too_long(error):
        kind, meaning = "long", "the chat does not fit the model's context"
    elif status == 429 and error.code == "insufficient_quota":
        kind, meaning = "quota", "the account is used up"
    elif status < 400:
        kind, meaning = "redirect", "the server sends elsewhere, which is not followed"
    elif status >= 500 or status in {408, 409}:
        kind, meaning = "server", "the server failed"
    else:
        kind, meaning = _REFUSALS.get(status, ("refused", "the request is refused"))
    return Fault(kind, f"{meaning} (HTTP {status}{f': {message}' if message else ''})")


def _is_too_long(error: openai.APIStatusError) -> bool:
    """Return whether the server reports that the chat does not fit the model's context."""
    text = error.response.text.lower()
    return error.status_code in {400, 413, 422, 500} and any(words in text for words in _TOO_LONG)


def _error_message(body: object) -> str:
    """Return the message in an error: OpenAI's, FastAPI's or another format."""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    return _one_line(body if isinstance(body, str) else json.dumps(body), MAX_QUOTED)


def _one_line(text: str, limit: int) -> str:
    """Make a server's message safe to show: one line of printable characters, cut at a limit."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _read_reply(body: bytes, content_type: str) -> Answer | Fault:
    """Return the first choice of a reply; it has a reason when it has no text."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):  # very deep nesting is valid JSON
        kind = _one_line(content_type, 40)
        return Fault("garbled", f"the reply is no JSON ({kind}, {len(body):,} bytes)")
    if not isinstance(data, dict):
        return Fault("garbled", "the reply is no JSON object")
    if "choices" not in data and data.get("error"):
        return Fault("error", f"the server reports an error: {_error_message(data['error'])}")
    text, finish, reason = _first_choice(data)
    return Answer(
        text=text,
        whole=reason is None and finish != "length",
        reason=reason,
        input_tokens=_tokens(data, "prompt_tokens"),
        output_tokens=_tokens(data, "completion_tokens"),
    )


def _first_choice(data: dict[str, Any]) -> tuple[str, object, str | None]:
    """Return the text, the finish reason, and the reason for a missing text."""
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return "", None, "the server's reply has no choice in it"
    text, finish = _content_text(message.get("content")), choice.get("finish_reason")
    if text.strip():
        return text, finish, None
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return "", finish, f"the model refused: {_one_line(refusal, MAX_QUOTED)}"
    return "", finish, _SILENT.get(str(finish), "the model answered nothing")


def _content_text(content: object) -> str:
    """Return a message's content: a text, or a list of parts as some servers send it."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _tokens(data: dict[str, Any], name: str) -> int | None:
    usage = data.get("usage")
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None
