"""Requests to an OpenAI-compatible server: their options and their format."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import msgspec

from crscore.llm.engines.base import Message, Sampling, replace_surrogates

_SCHEMA_NAMES: Final = (
    "response_format", "json_schema", "json_object", "structured output", "guided",
)  # fmt: skip
_OLD_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"
_OPTIONAL_PARTS: Final = ("temperature", "top_p", "seed")


class OpenAIOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the model and its server."""

    model: str = ""
    """Name of the model on the server."""
    base_url: str = ""
    """Address of the server, usually ending in `/v1`; "" for OpenAI's own."""
    api_key: str | None = None
    """Key sent with each request; None for a server that requires none."""
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 16
    """Maximum requests at a time."""
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 300.0
    """Seconds for one answer, from the first byte sent to the last one read."""
    max_model_len: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] | None = None
    """Maximum tokens of a chat and its answer together; None when unknown."""
    offline: bool = False
    """Never use the network."""


@dataclass(slots=True, kw_only=True)
class RequestFormat:
    """Format of requests that one server accepts, learned from its error responses.

    Compatible servers differ. OpenAI's reasoning models require `max_completion_tokens` instead of
    `max_tokens` and reject `temperature`; a server without structured output rejects
    `response_format` with 400 or 422, llama.cpp's Python server with 500. The error messages name
    the rejected part.
    """

    limit_name: str = _OLD_LIMIT
    """Name of the parameter that limits the tokens."""
    rejected_parts: set[str] = field(default_factory=set)
    """Parts that the server rejected."""

    def body(self, model: str, chat: Sequence[Message], sampling: Sampling) -> dict[str, Any]:
        """Return the request for one chat."""
        parts: dict[str, Any] = {
            "model": model,
            "messages": [
                {"role": message.role, "content": replace_surrogates(message.text)}
                for message in chat
            ],
            self.limit_name: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
        }
        if sampling.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": dict(sampling.schema)}
            parts["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {name: value for name, value in parts.items() if name not in self.rejected_parts}

    def adapt(self, sent: dict[str, Any], status: int, message: str) -> bool:
        """Adapt to a rejected request; return whether another format remains to be tried."""
        message = message.lower()
        if status not in {400, 422, 500, 501}:
            return False
        if _OLD_LIMIT in sent and _NEW_LIMIT in message:
            self.limit_name = _NEW_LIMIT
            return True
        if (
            _NEW_LIMIT in sent
            and _NEW_LIMIT in message
            and _OLD_LIMIT in message.replace(_NEW_LIMIT, "")
        ):
            self.limit_name = _OLD_LIMIT
            return True
        if "response_format" in sent and any(name in message for name in _SCHEMA_NAMES):
            self.rejected_parts.add("response_format")
            return True
        # A server failure that happens to name a part does not mean that it rejects it.
        newly_rejected = {
            name for name in _OPTIONAL_PARTS if name in sent and name in message and status < 500
        }
        self.rejected_parts |= newly_rejected
        return bool(newly_rejected)
