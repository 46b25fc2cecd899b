"""Interface of engines, which answer chats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from crscore.text import clean, shorten

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a chat."""

    role: Role
    """Role of the author; a chat ends with a message of the user."""
    text: str
    """Plain text, without the model's control tokens and without lone surrogates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling settings of an answer. The defaults are greedy and repeatable."""

    max_tokens: int
    """Maximum tokens of one answer; a longer one is truncated."""
    # Greedy decoding still depends on the batch: https://docs.vllm.ai/en/latest/usage/faq.html
    temperature: float = 0.0
    """0 always selects the most likely token."""
    top_p: float = 1.0
    """Probability mass of the most likely tokens to draw from, in (0, 1]."""
    seed: int = 0
    """Seed of the draws, as far as the engine supports it."""
    schema: Mapping[str, Any] | None = None
    """JSON Schema of the answer; ignored by engines without support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's answer to one chat."""

    text: str
    """Text without lone surrogates; empty when there is no answer."""
    whole: bool
    """False when the token limit truncated the answer."""
    reason: str | None = None
    """Reason for a missing answer, as a clause; None when there is an answer."""
    input_tokens: int | None = None
    """Tokens of the chat, as counted by the engine; None when unknown."""
    output_tokens: int | None = None
    """Tokens of the answer; None when unknown."""


def shorten_line(text: str, limit: int = 300) -> str:
    r"""Clean a text, join its lines with single spaces and cut it.

    Example:
        >>> shorten_line("a\u200bb\r\n c\x1b")
        'ab c'
    """
    return shorten(" ".join(clean(text).split()), limit)


class Engine(Protocol):
    """Engine that runs one language model.

    The module `llm/<name>.py` defines its `Options` and `create(options) -> Engine`.
    """

    @property
    def identity(self) -> str:
        """Engine, model, revision and adapter, which determine the answers."""
        ...

    @property
    def origin(self) -> str:
        """Address of the model's server, part of the key of cached answers; "" in this process.

        Two servers may use one name for different models. It is not in the signature, because an
        address is private.
        """
        ...

    @property
    def context_tokens(self) -> int | None:
        """Maximum tokens of a chat and its answer together; None when unknown."""
        ...

    @property
    def special_tokens(self) -> frozenset[str]:
        """Texts that are always one token for the model; empty when unknown.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not available and may not be downloaded.
            GenerationError: Its tokenizer is missing or cannot be read.
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
            One answer per chat, in order; a chat that could not be answered has a reason.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not available and may not be downloaded.
            GenerationError: No chat can be answered, for a reason independent of the chats.
        """
        ...
