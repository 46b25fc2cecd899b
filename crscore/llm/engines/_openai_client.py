"""Chats with an OpenAI-compatible server, through the client and the retries of `openai`.

Redirects are not followed: they would send the chat, and on the same host also the key, to an
address that is not configured. Response bodies are read up to a limit only, and uncompressed: a
small body could unpack to any size.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx2
import openai

from crscore.llm.engines._openai_request import OpenAIOptions, RequestFormat
from crscore.llm.engines.base import Answer, Message, Sampling

MAX_RETRIES: Final = 3
"""Maximum retries of a request when the server fails, is busy or cannot be reached."""
CONNECT_TIMEOUT_S: Final = 10.0
"""Connection timeout in seconds."""
MAX_ANSWER_BYTES = 8 * 2**20
"""Maximum size of an answer's body."""
MAX_ERROR_BYTES: Final = 64 * 2**10
"""Number of bytes after which an error's body is cut off."""
MAX_QUOTED_CHARS: Final = 300
"""Number of characters after which a server's message is cut off."""
MAX_FORMATS: Final = 6
"""Maximum number of request formats tried for one chat."""
MAX_FAILURES_IN_A_ROW: Final = 3
"""Consecutive unanswered chats after which no more are sent."""
_PLACEHOLDER_KEY: Final = "none"
"""Key sent when none is configured: the client requires one, and local servers ignore it."""
_TOO_LONG_PHRASES: Final = (
    "context length",
    "context_length",
    "context size",
    "maximum context",
    "n_ctx",
)
_REFUSALS: Final = {
    401: ("key", "the server rejects the key"),
    403: ("key", "the server rejects the key"),
    404: ("model", "the server has no such model, or the address is wrong"),
    429: ("busy", "too many requests"),
}
_PERMANENT_KINDS: Final = frozenset(("key", "model", "redirect", "quota"))
"""Kinds of faults that affect every chat: the first one ends the run."""
_TRANSIENT_KINDS: Final = frozenset(("time", "busy", "unreached"))
"""Kinds of faults that end the run only when several occur in a row."""
_EMPTY_ANSWER_REASONS: Final = {
    "content_filter": "the server's content filter stopped the answer",
    "length": "the token limit was reached before the answer began",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Reason why a chat has no answer."""

    kind: str
    """`long` when the chat is the cause; all others concern the server."""
    text: str
    """Message for the user, a clause."""


@dataclass(slots=True, kw_only=True)
class Client:
    """Client that sends the chats of one call, in one event loop."""

    options: OpenAIOptions
    sampling: Sampling
    request_format: RequestFormat
    """Shared by all calls, so that what one learns from the server's errors serves the next."""
    _stopped: Fault | None = None
    """Fault that ended the run: no more chats are sent."""
    _failures: int = 0
    """Number of consecutive chats that the server did not answer."""

    async def ask_all(self, chats: Sequence[Sequence[Message]]) -> tuple[Answer | Fault, ...]:
        """Send all chats, several at a time, and return the answers in order."""
        results: dict[int, Answer | Fault] = {}
        waiting = iter(range(len(chats)))
        seconds = self.options.timeout_s
        async with openai.AsyncOpenAI(
            base_url=self.options.base_url,
            api_key=self.options.api_key or _PLACEHOLDER_KEY,
            max_retries=MAX_RETRIES,
            timeout=openai.Timeout(seconds, connect=min(CONNECT_TIMEOUT_S, seconds), pool=None),
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False, event_hooks={"response": [_limit_body]}
            ),
        ) as client:

            async def work() -> None:
                # All workers share the iterator, so each index is taken once.
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
            result = _fault_of_error(exc)
        if isinstance(result, Answer):
            self._failures = 0
            return result
        self._failures += result.kind in _TRANSIENT_KINDS
        if result.kind in _PERMANENT_KINDS or self._failures >= MAX_FAILURES_IN_A_ROW:
            self._stopped = self._stopped or result
        return result

    async def _send(self, client: openai.AsyncOpenAI, chat: Sequence[Message]) -> Answer | Fault:
        """Send a chat, changing the format as long as the server rejects a part of it."""
        formats = 0
        while True:
            body = self.request_format.body(self.options.model, chat, self.sampling)
            try:
                # As `extra_body`, which is sent unchanged: checking the same parts against the
                # client's types takes more time than the request.
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
    """Response body with a size limit, where an error is cut off and an answer is rejected."""

    def __init__(self, response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101  (by the client)
        self._stream = response.stream
        self._is_error = response.status_code >= 300
        self._encoding = _one_line(response.headers.get("content-encoding") or "identity", 40)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._encoding != "identity":
            if self._is_error:
                return
            raise openai.OpenAIError(f"the answer is compressed ({self._encoding}), unasked")
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


def _fault_of_error(error: openai.OpenAIError) -> Fault:
    """Return the fault that an error of the client reports."""
    if isinstance(error, openai.APIStatusError):
        return _fault_of_status(error)
    if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
        return Fault("unreached", f"the server is not reachable ({error.__cause__})")
    if isinstance(error, openai.APITimeoutError):
        return Fault("time", "no answer in time")
    if isinstance(error, openai.APIConnectionError):
        return Fault("lost", "the connection broke")
    return Fault("lost", str(error))


def _fault_of_status(error: openai.APIStatusError) -> Fault:
    status, message = error.status_code, _error_message(error.body)
    if _is_too_long(error):
        kind, meaning = "long", "the chat does not fit the model's context"
    elif status == 429 and error.code == "insufficient_quota":
        kind, meaning = "quota", "the account's quota is used up"
    elif status < 400:
        kind, meaning = "redirect", "the server redirects, which is not followed"
    elif status >= 500 or status in {408, 409}:
        kind, meaning = "server", "the server failed"
    else:
        kind, meaning = _REFUSALS.get(status, ("refused", "the server rejects the request"))
    return Fault(kind, f"{meaning} (HTTP {status}{f': {message}' if message else ''})")


def _is_too_long(error: openai.APIStatusError) -> bool:
    """Return whether the server reports that the chat does not fit the model's context."""
    text = error.response.text.lower()
    # Servers differ in the status and the wording of this error.
    return error.status_code in {400, 413, 422, 500} and any(
        words in text for words in _TOO_LONG_PHRASES
    )


def _error_message(body: object) -> str:
    """Return the message in the body of an error: OpenAI's, FastAPI's or another format."""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body
    return _one_line(body if isinstance(body, str) else json.dumps(body), MAX_QUOTED_CHARS)


def _one_line(text: str, limit: int) -> str:
    """Make a server's message safe to show: one line of printable characters up to a limit."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _read_reply(body: bytes, content_type: str) -> Answer | Fault:
    """Return the answer in a reply's first choice, with a reason when its text is empty."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):  # very deep nesting is valid JSON
        shown_type = _one_line(content_type, 40)
        return Fault("garbled", f"the reply is not JSON ({shown_type}, {len(body):,} bytes)")
    if not isinstance(data, dict):
        return Fault("garbled", "the reply is not a JSON object")
    if "choices" not in data and data.get("error"):
        return Fault("error", f"the server reports an error: {_error_message(data['error'])}")
    text, finish, reason = _first_choice(data)
    return Answer(
        text=text,
        whole=reason is None and finish != "length",
        reason=reason,
        input_tokens=_token_count(data, "prompt_tokens"),
        output_tokens=_token_count(data, "completion_tokens"),
    )


def _first_choice(data: dict[str, Any]) -> tuple[str, object, str | None]:
    """Return the text, the finish reason, and the reason for a missing text."""
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return "", None, "the reply has no choices"
    text, finish = _content_text(message.get("content")), choice.get("finish_reason")
    if text.strip():
        return text, finish, None
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return "", finish, f"the model refused: {_one_line(refusal, MAX_QUOTED_CHARS)}"
    return "", finish, _EMPTY_ANSWER_REASONS.get(str(finish), "the model's answer is empty")


def _content_text(content: object) -> str:
    """Return a message's text; some servers send a list of parts."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _token_count(data: dict[str, Any], name: str) -> int | None:
    usage = data.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) else None
