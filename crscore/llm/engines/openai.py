"""Any OpenAI-compatible server: `vllm serve`, llama.cpp, Ollama, a cloud.

Tool: the package `openai` (extra `crscore[openai]`, tested: 3.52, 3.54), endpoint
`/chat/completions`. No process, no exit code; the replies are JSON. Each chat is one request, and
many run at a time. The address and the key are options, which the configuration fills from the
environment; the key appears in no message and no `repr`. Design: docs/design/022-engines.md.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from crscore.errors import ConfigError, DependencyError, EngineError
from crscore.llm.engines._openai_request import OpenAIOptions, RequestFormat
from crscore.llm.engines.base import Answer, Engine, Message, Sampling

if TYPE_CHECKING:
    from crscore.llm.engines._openai_client import Fault

INSTALL_COMMAND: Final = "pip install 'crscore[openai]'"
OPENAI_URL: Final = "https://api.openai.com/v1"
"""Default server when there is a key but no address."""
_ORIGIN: Final = "engine openai"
_HINTS: Final = {
    "key": "set OPENAI_API_KEY to a key of this server",
    "model": "use a model of this server, and set OPENAI_BASE_URL to its address, with the /v1",
    "unreached": "start it, or set OPENAI_BASE_URL to a running one",
    "time": "raise timeout_s, or lower concurrency",
    "redirect": "set OPENAI_BASE_URL to its final address",
    "busy": "lower concurrency, or try later",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAI:
    """Model on an OpenAI-compatible server."""

    options: OpenAIOptions = field(repr=False)
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
        """Maximum tokens of a chat and its answer together, from the options."""
        return self.options.max_model_len

    @property
    def special_tokens(self) -> frozenset[str]:
        """Empty: only the server knows its model's tokens."""
        return frozenset()

    def count(self, messages: Sequence[Message]) -> int | None:
        """Return None: only the server knows its model's tokens."""
        del messages
        return None

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        """Send every chat to the server.

        Args:
            chats: Chats that start with their common prefix; sent in order, several at a time.
            sampling: Sampling settings. The schema is sent as `response_format`. An optional part
                that the server rejects is left out of all later requests of this engine.

        Returns:
            One answer per chat, in order; a chat that could not be answered has a reason.

        Raises:
            DependencyError: The `openai` package is not installed.
            EngineError: No chat was answered, for a reason independent of the chats.
        """
        if not chats:
            return ()
        if self.options.offline:
            raise EngineError(f"{self.identity}: a server cannot be used with --offline")
        results = self._ask(chats, sampling)
        faults = [result for result in results if not isinstance(result, Answer)]
        if len(faults) == len(results) and all(fault.kind != "long" for fault in faults):
            raise EngineError(self._describe_failure(faults))
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
            raise DependencyError("openai", INSTALL_COMMAND) from exc
        client = Client(options=self.options, sampling=sampling, request_format=self._format)
        answering = client.ask_all(chats)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(answering)
        # In a notebook this thread already runs an event loop, so another thread runs ours.
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(asyncio.run, answering).result()

    def _describe_failure(self, faults: Sequence[Fault]) -> str:
        """Describe the most frequent reason why no chat was answered, in one line."""
        kind = Counter(fault.kind for fault in faults).most_common(1)[0][0]
        fault = next(fault for fault in faults if fault.kind == kind)
        hint = f"; {_HINTS[kind]}" if kind in _HINTS else ""
        server = f"{self.options.model} at {self.options.base_url}"
        return f"{server}: {self._without_key(fault.text)}{hint}"

    def _without_key(self, text: str) -> str:
        key = self.options.api_key
        return text.replace(key, "***") if key else text


def create(options: OpenAIOptions) -> Engine:
    """Make the engine, without sending a request.

    Raises:
        ConfigError: An option has a wrong value, or no model or server is named.
    """
    key = options.api_key or None
    if not options.model:
        raise ConfigError("model", _ORIGIN, "expected a model of the server: openai:MODEL")
    if not options.model.isprintable():
        expected = f"expected printable characters, got {options.model!r}"
        raise ConfigError("model", _ORIGIN, expected)
    if not options.base_url and key is None:
        expected = "set OPENAI_BASE_URL to a server's address, or OPENAI_API_KEY for OpenAI's own"
        raise ConfigError("base_url", _ORIGIN, expected)
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigError("api_key", _ORIGIN, "expected printable ASCII characters without spaces")
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
        expected = "expected an address without a user name, password, ? and #"
        raise ConfigError("base_url", _ORIGIN, expected)
    return address.rstrip("/")
