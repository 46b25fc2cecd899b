"""What a server's reply means: an answer, or a fault that says what to do next."""

from __future__ import annotations

import email.utils
import json
import time
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from crscore.llm.engines.base import Answer

if TYPE_CHECKING:
    from crscore.llm.engines._openai_wire import Reply

MAX_SAID = 300
"""Most characters of a server's words in a message."""
_TOO_LONG = ("context length", "context_length", "context size", "maximum context", "n_ctx")


class Next(Enum):
    """What a fault asks for."""

    GIVE_UP = auto()
    """This chat has no answer; others may."""
    STOP = auto()
    """No chat can have an answer: a wrong key, model or address."""
    RETRY = auto()
    """The same may work a little later."""
    WAIT = auto()
    """All must wait: too many requests."""


_FAILED = ("server", "the server failed ({})", Next.RETRY)
_MEANINGS = {
    300: ("redirect", "the server sends elsewhere, which is not followed ({})", Next.STOP),
    401: ("key", "the key is refused ({})", Next.STOP),
    403: ("key", "the key is refused ({})", Next.STOP),
    404: ("model", "no such model, or no such address ({})", Next.STOP),
    408: _FAILED,
    409: _FAILED,
    425: _FAILED,
    429: ("busy", "too many requests ({})", Next.WAIT),
    500: _FAILED,
}
"""HTTP status, 300 and 500 for all of their hundred -> kind, meaning, what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a chat has no answer."""

    kind: str
    """A word for it: faults of the same kind in all chats are the server's, not the chats'."""
    text: str
    """One clause for the user."""
    next: Next
    """What to do."""
    retry_after_s: float | None = None
    """How long the server asks to wait."""
    own: bool = False
    """True when it is the chat's own: another chat would have had an answer."""


class Good(NamedTuple):
    """An answer, and who gave it."""

    answer: Answer
    """It may still be without text, with a reason."""
    model: str | None
    """The model as the server names it."""


def read_reply(reply: Reply) -> Good | Fault:
    """Read a reply.

    Args:
        reply: Anything a server may send.

    Returns:
        The answer, which has a reason where the model said nothing, or a fault.
    """
    if not 200 <= reply.status < 300:
        return _refusal(reply)
    try:
        # RecursionError: brackets without end are valid JSON that cannot be read.
        data = json.loads(reply.body)
    except (ValueError, RecursionError):
        kind = reply.headers.get("content-type", "no type")
        text = f"the reply is no JSON ({plain(kind, 40)}, {len(reply.body):,} bytes)"
        return Fault(kind="garbled", text=text, next=Next.RETRY)
    if not isinstance(data, dict):
        return Fault(kind="garbled", text="the reply is no JSON object", next=Next.RETRY)
    if "choices" not in data and data.get("error"):
        text = f"the server reports an error: {_message(data)}"
        return Fault(kind="error", text=text, next=Next.GIVE_UP)
    model = data.get("model")
    return Good(_answer(data), plain(model, 200) if isinstance(model, str) and model else None)


def too_long(reply: Reply) -> bool:
    """True when the server says that the chat does not fit the model's context."""
    said = reply.body.decode(errors="replace").lower()
    return reply.status in {400, 413, 422, 500} and any(words in said for words in _TOO_LONG)


def reply_text(reply: Reply) -> str:
    """Return what a server says in an error, one line."""
    text = reply.body.decode(errors="replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return plain(text, MAX_SAID)
    return _message(data)


def plain(text: str, most: int) -> str:
    """Make words of a server safe to show: one line of printable characters, at most so many."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _answer(data: dict[str, Any]) -> Answer:
    """Take the first choice."""
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return _without(data, "the server's reply has no choice in it")
    text = _text(message.get("content"))
    finish = choice.get("finish_reason")
    if text.strip():
        return Answer(
            text=text,
            whole=finish != "length",
            input_tokens=_tokens(data, "prompt_tokens"),
            output_tokens=_tokens(data, "completion_tokens"),
        )
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return _without(data, f"the model refused: {plain(refusal, MAX_SAID)}")
    if finish == "content_filter":
        return _without(data, "the server's content filter stopped the answer")
    if finish == "length":
        return _without(data, "the limit on tokens was used up before the answer began")
    return _without(data, "the model said nothing")


def _without(data: dict[str, Any], reason: str) -> Answer:
    return Answer(
        text="",
        whole=False,
        reason=reason,
        input_tokens=_tokens(data, "prompt_tokens"),
        output_tokens=_tokens(data, "completion_tokens"),
    )


def _text(content: object) -> str:
    """Read a message's content: a text, or a list of parts as some servers write it."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _tokens(data: dict[str, Any], name: str) -> int | None:
    usage = data.get("usage")
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _refusal(reply: Reply) -> Fault:
    status, words = reply.status, reply_text(reply)
    told = f"HTTP {status}" + (f": {words}" if words else "")
    kind, meaning, then = _meaning(reply, _retry_after(reply))
    return Fault(
        kind=kind,
        text=meaning.format(told),
        next=then,
        retry_after_s=_retry_after(reply),
        own=kind == "long",
    )


def _meaning(reply: Reply, wait_s: float | None) -> tuple[str, str, Next]:
    status = reply.status
    if too_long(reply):
        return "long", "the chat does not fit the model's context ({})", Next.GIVE_UP
    if status == 429 and b"insufficient_quota" in reply.body:
        return "quota", "the account is used up ({})", Next.STOP
    if status == 503 and wait_s is not None:
        status = 429
    if 300 <= status < 400:
        status = 300
    status = min(status, 500)
    return _MEANINGS.get(status, ("refused", "the request is refused ({})", Next.GIVE_UP))


def _retry_after(reply: Reply) -> float | None:
    """Seconds to wait, from milliseconds, seconds or a date; None when it says nothing usable."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(reply.headers[name]) * unit
        except (KeyError, ValueError):
            continue
        return seconds if 0 <= seconds < 1e9 else None  # false for NaN as well
    try:
        moment = email.utils.parsedate_to_datetime(reply.headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return max(0.0, moment.timestamp() - time.time())


def _message(data: object) -> str:
    """Find the words in an error: OpenAI's, FastAPI's or somebody else's."""
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or json.dumps(error)
    return plain(error if isinstance(error, str) else json.dumps(error), MAX_SAID)
