"""Interface of engines, each of which runs a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from crscore.text import clean, shorten

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a chat."""

    role: Role
    """Role of the author. The last message of a chat is the user's."""
    text: str
    """Plain text, without the model's control tokens and without lone surrogates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling settings of an answer. By default, sampling is greedy."""

    max_tokens: int
    """Maximum tokens of one answer; a longer one is truncated."""
    # Even greedy answers depend on the batch: https://docs.vllm.ai/en/latest/usage/faq.html
    temperature: float = 0.0
    """0 always selects the most likely token."""
    top_p: float = 1.0
    """Each token is chosen from the most likely ones with this total probability, in (0, 1]."""
    seed: int = 0
    """Seed of the random choice of tokens, if the engine supports a seed."""
    schema: Mapping[str, Any] | None = None
    """JSON Schema of the answer; an engine that does not support schemas ignores it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's answer to one chat."""

    text: str
    """Text without lone surrogates; empty if there is no answer."""
    whole: bool
    """False if the token limit truncated the answer, or if there is no answer."""
    reason: str | None = None
    """Reason for a missing answer, as a clause; None if there is an answer."""
    input_tokens: int | None = None
    """Tokens of the chat, as counted by the engine; None if unknown."""
    output_tokens: int | None = None
    """Tokens of the answer; None if unknown."""


def shorten_line(text: str, limit: int = 300) -> str:
    r"""Clean a text, join its lines with single spaces and shorten it to `limit` characters.

    Example:
        >>> shorten_line("a\u200bb\r\n c\x1b")
        'ab c'
    """
    return shorten(" ".join(clean(text).split()), limit)


class Engine(Protocol):
    """Engine that runs one language model.

    A plugin module `crscore/llm/<name>.py` has `create(options) -> Engine`; the type of `options`
    lists the engine's options.
    """

    @property
    def identity(self) -> str:
        """Names of the engine, model, revision and adapter, which determine the answers."""
        ...

    @property
    def origin(self) -> str:
        """Address of the model's server; "" if the model runs in this process.

        The key of a cached answer includes the address, because two servers may use the same name
        for different models. The signature does not, because the address is private.
        """
        ...

    @property
    def context_tokens(self) -> int | None:
        """Maximum tokens of a chat and its answer together; None if unknown."""
        ...

    @property
    def special_tokens(self) -> frozenset[str]:
        """Texts that are always one token for the model; empty if unknown.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not available and may not be downloaded.
            GenerationError: The model's tokenizer is missing or cannot be read.
        """
        ...

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        """Answer every chat, all of them in one batch.

        Args:
            chats: Chats that start with their common prefix, so that it is computed once.
            sampling: Sampling settings.

        Returns:
            One answer for each chat, in order. If a chat could not be answered, the answer has a
            reason instead of a text.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not available and may not be downloaded.
            GenerationError: No chat can be answered, for a reason independent of the chats.
        """
        ...
