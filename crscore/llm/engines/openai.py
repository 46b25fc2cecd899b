"""Any OpenAI-compatible server: `vllm serve`, llama.cpp, Ollama, a cloud.

Tool: the package `openai` (extra `crscore[openai]`, tried: 3.52, 3.54), endpoint
`/chat/completions`. No process, no exit code; the replies are JSON. Each chat is one request, many
at a time. The address and the key are options, filled from the environment by the configuration;
the key is in no message and no `repr`. Design: docs/design/022-engines.md.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

import msgspec

from crscore.errors import ConfigError, DependencyError, EngineError
from crscore.llm.engines.base import Answer, Engine, Message, Sampling, sendable

if TYPE_CHECKING:
    from crscore.llm.engines._openai_client import Fault

INSTALL: Final = "pip install 'crscore[openai]'"
OPENAI_URL: Final = "https://api.openai.com/v1"
"""Default server where there is a key and no address."""
_ORIGIN: Final = "engine openai"
_SCHEMA_NAMES: Final = (
    "response_format", "json_schema", "json_object", "structured output", "guided",
)  # fmt: skip
_SHORT, _LONG = "max_tokens", "max_completion_tokens"
_OPTIONAL: Final = ("temperature", "top_p", "seed")
_HINTS: Final = {
    "key": "set OPENAI_API_KEY to a key of this server",
    "model": "name a model of this server, and give its address with the /v1 in OPENAI_BASE_URL",
    "unreached": "start it, or set OPENAI_BASE_URL to one that runs",
    "time": "raise timeout_s, or lower concurrency",
    "redirect": "give its final address in OPENAI_BASE_URL",
    "busy": "lower concurrency, or try later",
}


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the model and its server."""

    model: str = ""
    """Name of the model on the server."""
    base_url: str = ""
    """Address of the server, usually ending in `/v1`; OpenAI's own where there is only a key."""
    api_key: str | None = None
    """Key sent with each request; None for a server without one."""
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 16
    """Requests at the same time."""
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 300.0
    """Seconds for one answer, from the first byte sent to the last one read."""
    max_model_len: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] | None = None
    """Maximum tokens of a chat and its answer together, where known."""
    offline: bool = False
    """Never use the network."""


@dataclass(slots=True, kw_only=True)
class RequestFormat:
    """Format of requests that one server accepts, learned from its error responses.

    Servers that call themselves compatible differ. OpenAI's reasoning models want
    `max_completion_tokens` where all others know `max_tokens`, and take no `temperature`; a server
    without structured output refuses `response_format` with 400 or 422, llama.cpp's Python server
    with 500. Each says so in a message that names the part.
    """

    limit: str = _SHORT
    """Name of the limit on tokens."""
    left_out: set[str] = field(default_factory=set)
    """Parts that the server rejected."""

    def body(self, model: str, chat: Sequence[Message], sampling: Sampling) -> dict[str, Any]:
        """Return the request for one chat."""
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

    def adapt(self, sent: dict[str, Any], status: int, message: str) -> bool:
        """Adapt to a rejected request; return whether another format remains to be tried."""
        message = message.lower()
        if status not in {400, 422, 500, 501}:
            return False
        if _SHORT in sent and _LONG in message:
            self.limit = _LONG
            return True
        if _LONG in sent and _LONG in message and _SHORT in message.replace(_LONG, ""):
            self.limit = _SHORT
            return True
        if "response_format" in sent and any(name in message for name in _SCHEMA_NAMES):
            self.left_out.add("response_format")
            return True
        # A server failure that happens to name a part does not mean that it rejects it.
        refused = {name for name in _OPTIONAL if name in sent and name in message and status < 500}
        self.left_out |= refused
        return bool(refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAI:
    """Model on an OpenAI-compatible server."""

    options: Options = field(repr=False)
    """The model, its server and key, and how requests are sent."""
    _format: RequestFormat = field(default_factory=RequestFormat, repr=False, compare=False)

    @property
    def identity(self) -> str:
        """Engine and model. A server may later use the same name for another model."""
        return f"openai:{self.options.model}"

    @property
    def origin(self) -> str:
        """The server's address."""
        return self.options.base_url

    @property
    def context_tokens(self) -> int | None:
        """Most tokens of a chat and its answer together, as the caller knows it."""
        return self.options.max_model_len

    @property
    def special_tokens(self) -> frozenset[str]:
        """None: only the server knows its model's tokens."""
        return frozenset()

    def count(self, messages: Sequence[Message]) -> int | None:
        """Return None: only the server knows its model's tokens."""
        del messages
        return None

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        """Ask the server for every chat.

        Args:
            chats: Each begins with what all have in common; asked in order, some at a time.
            sampling: Sampling; the schema is sent as `response_format`; a server that refuses it,
                or another optional part, is asked without it for as long as this engine lives.

        Returns:
            One answer per chat, in order; a chat that could not be answered has a reason.

        Raises:
            DependencyError: The `openai` package is not installed.
            EngineError: No chat was answered, and it was none of the chats' fault.
        """
        if not chats:
            return ()
        if self.options.offline:
            raise EngineError(f"{self.identity}: the server may not be asked under --offline")
        results = self._ask(chats, sampling)
        faults = [result for result in results if not isinstance(result, Answer)]
        if len(faults) == len(results) and all(fault.kind != "long" for fault in faults):
            raise EngineError(self._failure(faults))
        return tuple(
            result
            if isinstance(result, Answer)
            else Answer(text="", whole=False, reason=self._without_key(result.text))
            for result in results
        )

    def _ask(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer | Fault, ...]:
        try:
            from crscore.llm.engines._openai_client import Client  # noqa: PLC0415
        except ImportError as exc:
            raise DependencyError("openai", INSTALL) from exc
        client = Client(options=self.options, sampling=sampling, request_format=self._format)
        asking = client.ask_all(chats)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(asking)
        # This thread has an event loop, as in a notebook.
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(asyncio.run, asking).result()

    def _failure(self, faults: Sequence[Fault]) -> str:
        """Return in one line the reason why there is no answer at all."""
        kind = Counter(fault.kind for fault in faults).most_common(1)[0][0]
        fault = next(fault for fault in faults if fault.kind == kind)
        hint = f"; {_HINTS[kind]}" if kind in _HINTS else ""
        server = f"{self.options.model} at {self.options.base_url}"
        return f"{server}: {self._without_key(fault.text)}{hint}"

    def _without_key(self, text: str) -> str:
        key = self.options.api_key
        return text.replace(key, "***") if key else text


def create(options: Options) -> Engine:
    """Make the engine, without sending a request.

    Raises:
        ConfigError: An option has a wrong value, or no model or server is named.
    """
    key = options.api_key or None
    if not options.model:
        raise ConfigError("model", _ORIGIN, "name one that the server has: openai:MODEL")
    if not options.model.isprintable():
        expected = f"expected printable characters, got {options.model!r}"
        raise ConfigError("model", _ORIGIN, expected)
    if not options.base_url and key is None:
        expected = "set OPENAI_BASE_URL to a server's address, or OPENAI_API_KEY for OpenAI's own"
        raise ConfigError("base_url", _ORIGIN, expected)
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigError("api_key", _ORIGIN, "expected letters, digits and signs without spaces")
    address = _checked_address(options.base_url or OPENAI_URL)
    return OpenAI(options=msgspec.structs.replace(options, base_url=address, api_key=key))


def _checked_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not address.isprintable() or " " in address:
        expected = f"expected http://HOST:PORT/v1 or https://HOST/v1, got {address!r}"
        raise ConfigError("base_url", _ORIGIN, expected)
    if parts.username is not None or parts.query or parts.fragment:
        expected = "expected an address without a name, password, ? and #"
        raise ConfigError("base_url", _ORIGIN, expected)
    return address.rstrip("/")
