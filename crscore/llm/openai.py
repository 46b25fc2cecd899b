"""Asks a model on an OpenAI-compatible server: `vllm serve`, llama.cpp, Ollama, a cloud service.

Tool: the package `openai` (extra `crscore[openai]`, tested: 3.52, 3.54), endpoint
`/chat/completions`. Each chat is one request, and many requests run at a time. The address and the
key are options, which the configuration fills from the environment. No message and no `repr` shows
the key. Redirects are not followed, because they would send the chat, and on the same host also the
key, to an address that is not configured. Design: docs/design/022-engines.md.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from crscore.errors import ConfigError, EngineError, requires
from crscore.llm.base import Answer, Engine, Message, Sampling, shorten_line
from crscore.text import mask_secret, replace_surrogates

if TYPE_CHECKING:
    import openai

INSTALL_COMMAND: Final = "pip install 'crscore[openai]'"
OPENAI_URL: Final = "https://api.openai.com/v1"
"""Address of the server if only a key is set."""
MAX_RETRIES: Final = 3
"""Maximum retries of a request if the server fails, is busy or cannot be reached."""
# An answer may take minutes, but a running server accepts a connection at once.
CONNECT_TIMEOUT_S: Final = 10.0
# Without this limit, 1,000 chats to a server that hangs would wait 1,000 times the time-out.
MAX_FAILURES_IN_A_ROW: Final = 3
"""Number of failed chats in a row after which no more chats are sent."""
# OpenAI's reasoning models require another name for `max_tokens` and reject a temperature
# (https://platform.openai.com/docs/api-reference/chat/create); some servers reject other fields.
_REJECTIONS: Final = {
    "max_tokens": "max_completion_tokens",
    "response_format": "response_format|json_schema|json_object|structured output|guided",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
}
"""Field of a request -> pattern of the server's message, in lower case, that rejects the field."""
_ORIGIN: Final = "engine openai"
# The client requires a key, and local servers ignore it.
_PLACEHOLDER_KEY: Final = "none"
# Servers use different statuses and wordings for this error: OpenAI `context_length_exceeded`,
# vLLM "maximum context length", llama.cpp "exceeds the available context size", at first with
# status 500: https://github.com/ggml-org/llama.cpp/pull/15780
_TOO_LONG_PHRASES: Final = (
    "context length", "context_length", "context size", "maximum context", "n_ctx"
)  # fmt: skip


class Failure(NamedTuple):
    """Reason why a chat has no answer."""

    text: str
    """Message for the user, as a clause."""
    remedy: str = ""
    """Advice for the user, as a clause; empty if there is none."""
    is_final: bool = False
    """Whether every other chat would fail, too, so that no more chats are sent."""
    is_of_chat: bool = False
    """Whether the chat is the cause, rather than the server."""


_WRONG_KEY: Final = Failure(
    "the server rejects the key", "set OPENAI_API_KEY to a key of this server", is_final=True
)
_REFUSALS: Final = {
    401: _WRONG_KEY,
    403: _WRONG_KEY,
    404: Failure(
        "the server has no such model, or the address is wrong",
        "use a model of this server, and set OPENAI_BASE_URL to its address, with the /v1",
        is_final=True,
    ),
    429: Failure("too many requests", "lower concurrency, or try later"),
}
_NO_ANSWER_IN_TIME: Final = Failure("no answer in time", "raise timeout_s, or lower concurrency")
_EMPTY_ANSWER_REASONS: Final = {
    "content_filter": "the server's content filter stopped the answer",
    "length": "the token limit was reached before the answer began",
}


class OpenAIOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the model and its server."""

    model: str = ""
    """Name of the model on the server."""
    base_url: str = ""
    """Address of the server, usually ending in `/v1`; "" for OpenAI's own."""
    api_key: str | None = None
    """Key sent with each request; None for a server that requires no key."""
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 16
    """Maximum number of requests at a time."""
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 300.0
    """Seconds for one answer, from the first byte sent to the last one read."""
    max_model_len: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] | None = None
    """Maximum tokens of a chat and its answer together; None if unknown."""
    offline: bool = False
    """Never use the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAI:
    """Model on an OpenAI-compatible server."""

    options: OpenAIOptions = field(repr=False)
    """The model, its server and key, and how requests are sent."""
    _renamed: dict[str, str | None] = field(default_factory=dict, repr=False, compare=False)
    """Field of a request that the server rejects -> its other name, or None to omit the field."""

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
        """Empty, because only the server knows the tokens of its model."""
        return frozenset()

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        """Send every chat to the server.

        Args:
            chats: Chats that start with their common prefix; they are sent in order, several at a
                time.
            sampling: Sampling settings. The schema is sent as `response_format`. An optional field
                that the server rejects is left out of all later requests of this engine.

        Returns:
            One answer for each chat, in order. If a chat could not be answered, the answer has a
            reason instead of a text.

        Raises:
            DependencyError: The `openai` package is not installed.
            EngineError: No chat was answered, for a reason independent of the chats.
        """
        if not chats:
            return ()
        if self.options.offline:
            raise EngineError(f"{self.identity}: a server cannot be used with --offline")
        answering = self._ask_all(chats, sampling)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            results = asyncio.run(answering)
        else:
            # In a notebook this thread already runs an event loop, so another thread runs ours.
            with ThreadPoolExecutor(max_workers=1) as thread:
                results = thread.submit(asyncio.run, answering).result()
        failures = [result for result in results if isinstance(result, Failure)]
        if len(failures) == len(results) and not any(failure.is_of_chat for failure in failures):
            # The error reports only the most frequent reason, in one line.
            failure = Counter(failures).most_common(1)[0][0]
            remedy = f"; {failure.remedy}" if failure.remedy else ""
            server = f"{self.options.model} at {self.options.base_url}"
            raise EngineError(f"{server}: {self._without_key(failure.text)}{remedy}")
        return tuple(
            Answer(text="", whole=False, reason=self._without_key(result.text))
            if isinstance(result, Failure)
            else result
            for result in results
        )

    def _without_key(self, text: str) -> str:
        key = self.options.api_key
        return mask_secret(text.encode(), key.encode()).decode() if key else text

    async def _ask_all(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> list[Answer | Failure]:
        with requires("openai", INSTALL_COMMAND):
            import openai  # noqa: PLC0415  (an extra)
        seconds = self.options.timeout_s
        free = asyncio.Semaphore(self.options.concurrency)
        failures: list[Failure] = []
        try:
            # A redirect must not take the key to another server.
            http_client = openai.DefaultAsyncHttpxClient(follow_redirects=False)
        # The certificates or the package for SOCKS are missing, or a proxy has an unknown scheme.
        except (OSError, ValueError, ImportError) as exc:
            reason = "the certificates (SSL_CERT_FILE) or the proxy (HTTPS_PROXY, ALL_PROXY)"
            message = f"{reason} of the environment cannot be used: {shorten_line(str(exc))}"
            raise EngineError(message) from exc
        async with openai.AsyncOpenAI(
            base_url=self.options.base_url,
            api_key=self.options.api_key or _PLACEHOLDER_KEY,
            max_retries=MAX_RETRIES,
            # The wait for a free connection needs no limit, because `concurrency` limits requests.
            timeout=openai.Timeout(seconds, connect=min(CONNECT_TIMEOUT_S, seconds), pool=None),
            http_client=http_client,
        ) as client:

            async def ask(chat: Sequence[Message]) -> Answer | Failure:
                async with free:
                    if failures and (
                        failures[-1].is_final or len(failures) >= MAX_FAILURES_IN_A_ROW
                    ):
                        return failures[-1]
                    result = await self._ask(client, chat, sampling)
                    if isinstance(result, Answer):
                        failures.clear()
                    # Without a remedy, the error may concern only this chat.
                    elif result.remedy:
                        failures.append(result)
                    return result

            return await asyncio.gather(*map(ask, chats))

    async def _ask(
        self, client: openai.AsyncOpenAI, chat: Sequence[Message], sampling: Sampling
    ) -> Answer | Failure:
        """Send a chat, and send it again without each field that the server rejects."""
        from openai import APIStatusError, OpenAIError  # noqa: PLC0415

        fields: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.text} for message in chat],
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            # The seed does not guarantee equal answers, which depend on the server's hardware:
            # https://platform.openai.com/docs/api-reference/chat/create
            "seed": sampling.seed,
        }
        if sampling.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": dict(sampling.schema)}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        try:
            async with asyncio.timeout(self.options.timeout_s):
                for _ in range(1 + len(_REJECTIONS)):
                    renamed = {self._renamed.get(name, name): fields[name] for name in fields}
                    body = {name: value for name, value in renamed.items() if name is not None}
                    try:
                        # `extra_body` is sent unchecked, because the client's checks of the same
                        # fields against its types would take more time than the request.
                        completion = await client.chat.completions.create(
                            model=self.options.model, messages=[], extra_body=body
                        )
                        return read_completion(completion)
                    except APIStatusError as exc:
                        rejected = exc
                        if not self._adapt(body, exc):
                            break
                return _failure_of_status(rejected)
        except TimeoutError:
            return _NO_ANSWER_IN_TIME
        except OpenAIError as exc:
            return _failure_of_connection(exc)
        except (ValueError, RecursionError):  # JSON may be nested too deeply for Python's parser
            return Failure("the reply is not JSON")

    def _adapt(self, sent: dict[str, Any], error: openai.APIStatusError) -> bool:
        """Rename or omit a field that the server rejects; return whether it rejects one.

        llama.cpp's Python server rejects a schema with status 500.
        """
        message = error.response.text.lower()
        for name, pattern in _REJECTIONS.items():
            # With another status, an error that mentions the field does not reject it.
            codes = {400, 422, 500} if name == "response_format" else {400, 422}
            is_named = name in sent and re.search(pattern, message)
            if is_named and error.status_code in codes:
                self._renamed[name] = pattern if name == "max_tokens" else None
                return True
        return False


def create(options: OpenAIOptions) -> Engine:
    """Return the engine, without sending a request.

    Raises:
        ConfigError: An option has a wrong value, or no model or server is named.
    """
    key, address = options.api_key or None, options.base_url or OPENAI_URL
    if not options.model or not options.model.isprintable():
        expected = "expected a model of the server, in printable characters: openai:MODEL"
        raise ConfigError("model", _ORIGIN, expected)
    if not options.base_url and key is None:
        expected = "set OPENAI_BASE_URL to a server's address, or OPENAI_API_KEY for OpenAI's own"
        raise ConfigError("base_url", _ORIGIN, expected)
    # The key is sent in a header, which must be ASCII (RFC 9110, section 5.5).
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigError("api_key", _ORIGIN, "expected printable ASCII characters without spaces")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not address.isprintable() or " " in address:
        expected = f"expected http://HOST:PORT/v1 or https://HOST/v1, got {address!r}"
        raise ConfigError("base_url", _ORIGIN, expected)
    # Messages show the address, and these parts of it may be secret.
    if parts.username is not None or parts.query or parts.fragment:
        expected = "expected an address without a user name, password, ? and #"
        raise ConfigError("base_url", _ORIGIN, expected)
    return OpenAI(
        options=msgspec.structs.replace(options, base_url=address.rstrip("/"), api_key=key)
    )


# The values of OpenAI, Mistral and Gemini.
_CUT: Final = frozenset({"length", "model_length", "max_tokens"})
"""Values of `finish_reason` for an answer that breaks off."""


def read_completion(completion: Any) -> Answer | Failure:
    """Return the answer in a completion's first choice.

    Args:
        completion: A `ChatCompletion`, which the client does not check, or another value if the
            server sent something else.

    Returns:
        The answer, with a reason if its text is empty. A failure if the server reports an error or
        sent no choices.
    """
    choices = getattr(completion, "choices", None)
    choice: Any = choices[0] if isinstance(choices, list) and choices else None
    message: Any = getattr(choice, "message", None)
    # Some gateways report an error with status 200, even together with a part of an answer.
    if error := getattr(choice, "error", None) or getattr(completion, "error", None):
        return Failure(f"the server reports an error: {_message(error)}")
    if not hasattr(message, "content"):
        reply = completion.to_dict(warnings=False) if hasattr(completion, "to_dict") else completion
        return Failure(f"the reply has no choices: {shorten_line(str(reply))}")
    # JSON can hold half a surrogate pair, which cannot be cached.
    text = replace_surrogates(_content_text(message.content))
    finish = str(choice.finish_reason)
    reason = None
    if not text.strip():
        text, refusal = "", getattr(message, "refusal", None)
        reason = (
            f"the model refused: {shorten_line(str(refusal))}"
            if refusal
            else _EMPTY_ANSWER_REASONS.get(finish, "the model's answer is empty")
        )
    usage = getattr(completion, "usage", None)
    counts = (getattr(usage, f"{name}_tokens", None) for name in ("prompt", "completion"))
    # Some servers send the counts as strings, which are ignored.
    read, written = (count if isinstance(count, int) else None for count in counts)
    return Answer(
        text=text,
        whole=reason is None and finish.lower() not in _CUT,
        reason=reason,
        input_tokens=read,
        output_tokens=written,
    )


def _content_text(content: object) -> str:
    """Return a message's text; Mistral's reasoning models send a list of parts."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(str(part.get("text")) for part in parts)
    return content if isinstance(content, str) else ""


def _failure_of_connection(error: openai.OpenAIError) -> Failure:
    """Describe the error of a request that the server did not answer."""
    from openai import APITimeoutError  # noqa: PLC0415

    cause = error.__cause__
    text = shorten_line(str(cause or error))
    if type(cause).__name__ in {"ConnectError", "ConnectTimeout", "ProxyError"}:
        variables = "OPENAI_BASE_URL, the proxy (HTTPS_PROXY, NO_PROXY) and SSL_CERT_FILE"
        return Failure(f"the server is not reachable ({text})", f"start it, or check {variables}")
    if isinstance(error, APITimeoutError):
        return _NO_ANSWER_IN_TIME
    return Failure(f"the connection broke ({text})")


def _failure_of_status(error: openai.APIStatusError) -> Failure:
    """Describe the error that the server reports by a status."""
    status, message = error.status_code, _message(error.body)
    quoted = f"(HTTP {status}{f': {message}' if message else ''})"
    text = error.response.text.lower()
    if status in {400, 413, 422, 500} and any(phrase in text for phrase in _TOO_LONG_PHRASES):
        return Failure(f"the chat does not fit the model's context {quoted}", is_of_chat=True)
    if status == 429 and error.code == "insufficient_quota":
        failure = Failure("the account's quota is used up", "pay, or wait", is_final=True)
    elif status < 400:
        remedy = "set OPENAI_BASE_URL to the target of the redirect"
        failure = Failure("the server's redirect is not followed", remedy, is_final=True)
    elif status >= 500 or status in {408, 409}:
        failure = Failure("the server failed")
    else:
        failure = _REFUSALS.get(status, Failure("the server rejects the request"))
    return failure._replace(text=f"{failure.text} {quoted}")


def _message(body: object) -> str:
    """Return the message in an error's body, or all of the body if it is not in OpenAI's format."""
    return shorten_line(str((isinstance(body, dict) and body.get("message")) or body or ""))
