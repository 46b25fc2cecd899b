"""Chats with an OpenAI-compatible server, through the client and the retries of `openai`.

Redirects are not followed, as they would take the chat, and on the same host the key, to where
nobody sent them. No body is read past a limit.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import httpx2
import openai

from crscore.llm.engines.base import Answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from crscore.llm.engines.base import Message, Sampling
    from crscore.llm.engines.openai import Options, RequestFormat

RETRIES: Final = 3
"""Most times that a request is repeated where the server fails, is busy or cannot be reached."""
CONNECT_S: Final = 10.0
"""Seconds for a connection to be made."""
MAX_ANSWER_BYTES = 8 * 2**20
"""Longest answer read, as it is sent."""
MAX_ERROR_BYTES: Final = 64 * 2**10
"""Most that is read of a refusal."""
MAX_QUOTED: Final = 300
"""Most characters of a server's words in a message."""
MAX_FORMATS: Final = 6
"""Most times that one chat is sent in another format."""
MAX_FAILURES: Final = 3
"""Chats in a row that the server does not answer, after which no more are sent."""
_NO_KEY: Final = "none"
"""Sent where no key is given: the client insists on one, local servers ignore it."""
_TOO_LONG: Final = ("context length", "context_length", "context size", "maximum context", "n_ctx")
_REFUSALS: Final = {
    401: ("key", "the key is refused"),
    403: ("key", "the key is refused"),
    404: ("model", "no such model, or no such address"),
    429: ("busy", "too many requests"),
}
_FINAL: Final = frozenset(("key", "model", "redirect", "quota"))
"""Kinds of faults that every chat would have."""
_PASSING: Final = frozenset(("time", "busy", "unreached"))
"""Kinds of faults that, several in a row, are the server's for good."""
_SILENT: Final = {
    "content_filter": "the server's content filter stopped the answer",
    "length": "the limit on tokens was used up before the answer began",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a chat has no answer."""

    kind: str
    """A word for it; `long` is the chat's own fault, others are the server's."""
    text: str
    """One clause for the user."""


@dataclass(slots=True, kw_only=True)
class Client:
    """Sends the chats of one call, in one event loop."""

    options: Options
    """The model, its server, and how it is asked."""
    sampling: Sampling
    """How to draw."""
    request_format: RequestFormat
    """Shared by all calls."""
    _stopped: Fault | None = None
    """The fault that ended the run: no more chats are sent."""
    _failures: int = 0
    """Chats in a row that the server did not answer."""

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
        """Send a chat, in another format for as long as the server refuses a part of it."""
        for attempt in range(1, MAX_FORMATS + 1):
            body = self.request_format.body(self.options.model, chat, self.sampling)
            try:
                # As `extra_body`, which is sent as it is: to check the same parts against its
                # types costs the client more than the request.
                reply = await client.chat.completions.with_raw_response.create(
                    model=self.options.model, messages=[], extra_body=body
                )
            except openai.APIStatusError as exc:
                message = _error_message(exc.body)
                if (
                    attempt == MAX_FORMATS
                    or _is_too_long(exc)
                    or not self.request_format.adapt(body, exc.status_code, message)
                ):
                    raise
            else:
                return _read_reply(reply.content, reply.headers.get("content-type", "no type"))
        raise AssertionError


class _LimitedStream(httpx2.AsyncByteStream):
    """A body that is not read past a limit: an error is cut there, an answer refused."""

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
    """Return what an error of the client says to the user."""
    if isinstance(error, openai.APIStatusError):
        return _refusal(error)
    if isinstance(error.__cause__, httpx2.ConnectTimeout):
        return Fault("unreached", "no connection to the server in time")
    if isinstance(error, openai.APITimeoutError):
        return Fault("time", "no answer in time")
    if isinstance(error.__cause__, httpx2.ConnectError):
        return Fault("unreached", "the server is not reachable")
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
    """Return whether the server says that the chat does not fit the model's context."""
    text = error.response.text.lower()
    return error.status_code in {400, 413, 422, 500} and any(words in text for words in _TOO_LONG)


def _error_message(body: object) -> str:
    """Return the words in an error: OpenAI's, FastAPI's or somebody else's."""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    return _one_line(body if isinstance(body, str) else json.dumps(body), MAX_QUOTED)


def _one_line(text: str, limit: int) -> str:
    """Make a server's words safe to show: one line of printable characters, cut at a limit."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _read_reply(body: bytes, content_type: str) -> Answer | Fault:
    """Return the first choice of a reply; without text it has a reason."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):  # brackets without end are valid JSON
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
    """Return the text, why it ended, and why there is none."""
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
    return "", finish, _SILENT.get(str(finish), "the model said nothing")


def _content_text(content: object) -> str:
    """Return a message's content: a text, or a list of parts as some servers write it."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _tokens(data: dict[str, Any], name: str) -> int | None:
    usage = data.get("usage")
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None
