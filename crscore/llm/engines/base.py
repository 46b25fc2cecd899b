"""Interface of engines, which answer chats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a chat."""

    role: Role
    """Role of the speaker; a chat ends with the user."""
    text: str
    """Plain text, without any of the model's control tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Settings of how an answer is drawn. The default is greedy and repeatable."""

    max_tokens: int
    """Most tokens of one answer; one that needs more is cut off."""
    temperature: float = 0.0
    """0 takes the likeliest token each time."""
    top_p: float = 1.0
    """Share of the likeliest tokens to draw from, in (0, 1]."""
    seed: int = 0
    """Makes draws repeatable, as far as the engine keeps to it."""
    schema: Mapping[str, Any] | None = None
    """JSON Schema that the answer is to keep to; an engine that cannot do so ignores it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's answer to one chat."""

    text: str
    """Its text; "" when there is none."""
    whole: bool
    """False when it was cut off by the limit on tokens."""
    reason: str | None = None
    """Why there is no answer, one clause; None when there is one."""
    input_tokens: int | None = None
    """Tokens of the chat, as the engine counts them; None when it does not."""
    output_tokens: int | None = None
    """Tokens of the answer."""


def sendable(text: str) -> str:
    r"""Replace lone surrogates, which come from names or files that are not UTF-8.

    >>> sendable("a\udcffb")
    'a?b'
    """
    return text.encode(errors="replace").decode()


class Engine(Protocol):
    """Runs one language model.

    The module `llm/engines/<name>.py` has its `Options` and `create(options) -> Engine`.
    """

    @property
    def identity(self) -> str:
        """Engine, model, revision and adapter: same identity, chats and sampling, same answers."""
        ...

    @property
    def origin(self) -> str:
        """Address of the model's server, part of the key of cached answers; "" in this process.

        Two servers may call different models by one name. It is in no signature, as an address is
        private.
        """
        ...

    @property
    def context_tokens(self) -> int | None:
        """Most tokens of a chat and its answer together; None when that is not known."""
        ...

    @property
    def special_tokens(self) -> frozenset[str]:
        """Texts that are one token to the model wherever they stand; empty when not known.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not here and may not be fetched.
            GenerationError: It has no tokenizer that can be read.
        """
        ...

    def count(self, messages: Sequence[Message]) -> int | None:
        """Count a chat's tokens with the model's own template; None when that cannot be done."""
        ...

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        """Answer every chat, all of them in one batch.

        Args:
            chats: Each begins with what all have in common, so that it is computed once.
            sampling: How to draw.

        Returns:
            One answer a chat, in order; a chat that could not be answered has a reason.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not here and may not be fetched.
            GenerationError: Nothing can be answered for a reason that is not a chat's.
        """
        ...
