"""The request as one server wants it: what it refuses is asked otherwise from then on.

Servers that call themselves compatible differ in what they accept. OpenAI's reasoning models want
`max_completion_tokens` where all others know `max_tokens`, and take no `temperature`; a server
without structured output refuses `response_format` with 400 or 422, llama.cpp's Python server with
500. Each is told in a message that names the part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crscore.llm.engines.base import sendable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.llm.engines.base import Message, Sampling

SHORT, LONG = "max_tokens", "max_completion_tokens"
REFUSALS = frozenset({400, 422, 500, 501})
"""HTTP statuses of a request that has a part too many."""
_SCHEMA_NAMES = ("response_format", "json_schema", "json_object", "structured output", "guided")
_OPTIONAL = ("temperature", "top_p", "seed")


@dataclass(slots=True, kw_only=True)
class Shape:
    """How requests to one server are written; shared by the chats of a run, and changes in it."""

    limit: str = SHORT
    """Name of the limit on tokens."""
    left_out: set[str] = field(default_factory=set)
    """Parts that the server refused."""

    def body(self, model: str, chat: Sequence[Message], sampling: Sampling) -> dict[str, Any]:
        """Write the request for one chat."""
        parts: dict[str, Any] = {
            "model": model,
            "messages": [
                {"role": message.role, "content": sendable(message.text)} for message in chat
            ],
            self.limit: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
        }
        if sampling.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": dict(sampling.schema)}
            parts["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {name: value for name, value in parts.items() if name not in self.left_out}

    def adapt(self, sent: dict[str, Any], status: int, text: str) -> bool:
        """Learn from a refusal.

        Args:
            sent: The request that was refused.
            status: Its HTTP status.
            text: What the server said.

        Returns:
            True when the same chat may be asked again, in another way.
        """
        if status not in REFUSALS:
            return False
        said = text.lower()
        if SHORT in sent and LONG in said:
            self.limit = LONG
            return True
        if LONG in sent and LONG in said and SHORT in said.replace(LONG, ""):
            self.limit = SHORT
            return True
        if "response_format" in sent and any(name in said for name in _SCHEMA_NAMES):
            self.left_out.add("response_format")
            return True
        if status >= 500:  # a failure that happens to name a part is no refusal of it
            return False
        named = {name for name in _OPTIONAL if name in sent and name in said}
        self.left_out |= named
        return bool(named)
