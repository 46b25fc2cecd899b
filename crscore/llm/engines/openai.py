"""Any OpenAI-compatible server: `vllm serve`, llama.cpp, Ollama, a cloud.

Tool: the package `openai` (extra `crscore[openai]`, tried: 3.52, 3.54), endpoint
`/chat/completions`. No process, no exit code; the replies are JSON. Each chat is one request, many
at a time. The address and the key are options, filled from the environment by the configuration;
the key is in no message and no `repr`. Design: docs/design/022-engines.md.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from crscore.errors import GenerationError
from crscore.llm.engines._openai_reply import Fault
from crscore.llm.engines._openai_run import Run
from crscore.llm.engines._openai_shape import Shape
from crscore.llm.engines._openai_wire import Wire
from crscore.llm.engines._options import Options
from crscore.llm.engines.base import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.llm.engines.base import Engine, Message, Sampling

OPENAI_URL = "https://api.openai.com/v1"
"""Asked when there is a key and no address."""
AT_ONCE = 16
"""Requests under way at a time, unless told otherwise."""
TIMEOUT_S = 300.0
"""Seconds for one answer, from the first byte sent to the last one read."""
OPTIONS: Final = frozenset(
    {"model", "base_url", "api_key", "concurrency", "timeout_s", "max_model_len", "offline"}
)
"""Options that this engine takes."""
_HINTS = {
    "key": "set OPENAI_API_KEY to a key of this server",
    "model": "name a model of this server, and give its address with the /v1 in OPENAI_BASE_URL",
    "unreached": "start it, or set OPENAI_BASE_URL to one that runs",
    "time": "raise timeout_s, or lower concurrency",
    "redirect": "give its final address in OPENAI_BASE_URL",
    "busy": "lower concurrency, or try later",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAI:
    """One model of one server."""

    model: str
    """Its name, as the server knows it."""
    base_url: str
    """The server's address, which mostly ends in `/v1`."""
    api_key: str | None = field(default=None, repr=False)
    """Sent with each request; None for a server that wants none."""
    concurrency: int = AT_ONCE
    """Requests under way at a time."""
    timeout_s: float = TIMEOUT_S
    """Seconds for one answer."""
    context_tokens: int | None = None
    """Most tokens of a chat and its answer together, as the caller knows it."""
    offline: bool = False
    """Ask nobody."""
    served: set[str] = field(default_factory=set, compare=False)
    """Models that answered, as the server named them; grows with each call."""
    _shape: Shape = field(default_factory=Shape, repr=False, compare=False)

    @property
    def identity(self) -> str:
        """Engine and model. What the name stands for is the server's matter: it may change."""
        return f"openai:{self.model}"

    @property
    def origin(self) -> str:
        """The server's address."""
        return self.base_url

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
            sampling: How to draw. The schema goes as `response_format`; a server that refuses it,
                or another optional part, is asked without it for as long as this engine lives.

        Returns:
            One answer a chat, in order; a chat that could not be answered has a reason.

        Raises:
            DependencyError: The `openai` package is not installed.
            GenerationError: No chat was answered, and it was none of the chats' fault.
        """
        if not chats:
            return ()
        if self.offline:
            raise GenerationError(f"{self.identity}: the server may not be asked under --offline")
        results = _in_a_loop(self, chats, sampling)
        faults = [result for result in results if isinstance(result, Fault)]
        if len(faults) == len(results) and not any(fault.own for fault in faults):
            raise GenerationError(self._told(faults))
        return tuple(self._answer(result) for result in results)

    async def ask(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer | Fault, ...]:
        """Ask in the running event loop; see `complete`."""
        async with Wire(self.base_url, self.api_key, self.timeout_s) as wire:
            run = Run(wire, self._shape, self.model, sampling)
            try:
                return await run.all(chats, self.concurrency)
            finally:
                self.served.update(self._clean(name) for name in run.served)

    def _answer(self, result: Answer | Fault) -> Answer:
        if isinstance(result, Fault):
            return Answer(text="", whole=False, reason=self._clean(result.text))
        return result

    def _told(self, faults: Sequence[Fault]) -> str:
        """Say in one line why there is no answer at all."""
        kind = Counter(fault.kind for fault in faults).most_common(1)[0][0]
        fault = next(fault for fault in faults if fault.kind == kind)
        hint = f"; {_HINTS[kind]}" if kind in _HINTS else ""
        return f"{self.model} at {self.base_url}: {self._clean(fault.text)}{hint}"

    def _clean(self, text: str) -> str:
        """Strike the key out of a server's words."""
        return text.replace(self.api_key, "***") if self.api_key else text


def create(options: Mapping[str, str]) -> Engine:
    """Make the engine; nothing is asked yet.

    Args:
        options: `model`, `base_url`, `api_key`, `concurrency` (1 to 1,000), `timeout_s`,
            `max_model_len` (tokens) and `offline`.

    Raises:
        ConfigError: An option is unknown or has a wrong value, or no model or server is named.
    """
    given = Options("openai", options, OPTIONS)
    model, key, address = given.text("model"), given.text("api_key"), given.text("base_url")
    if model is None:
        raise given.wrong("model", "name one that the server has: openai:MODEL")
    if not model.isprintable():
        raise given.wrong("model", f"expected printable characters, got {model!r}")
    if address is None and key is None:
        expected = "set OPENAI_BASE_URL to a server's address, or OPENAI_API_KEY for OpenAI's own"
        raise given.wrong("base_url", expected)
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise given.wrong("api_key", "expected letters, digits and signs without spaces")
    return OpenAI(
        model=model,
        base_url=_address(given, address or OPENAI_URL),
        api_key=key,
        concurrency=given.count("concurrency", most=1000) or AT_ONCE,
        timeout_s=given.seconds("timeout_s", TIMEOUT_S),
        context_tokens=given.count("max_model_len"),
        offline=given.flag("offline"),
    )


def _address(given: Options, address: str) -> str:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not address.isprintable() or " " in address:
        raise given.wrong(
            "base_url", f"expected http://HOST:PORT/v1 or https://HOST/v1, got {address!r}"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise given.wrong("base_url", "expected an address without a name, password, ? and #")
    return address.rstrip("/")


def _in_a_loop(
    engine: OpenAI, chats: Sequence[Sequence[Message]], sampling: Sampling
) -> tuple[Answer | Fault, ...]:
    """Run an event loop; in a thread of its own where this one has a loop, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(engine.ask(chats, sampling))
    with ThreadPoolExecutor(max_workers=1) as apart:
        return apart.submit(lambda: asyncio.run(engine.ask(chats, sampling))).result()
