"""From a chat and its answer to token numbers, and which of them are learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crscore.errors import GenerationError
from crscore.llm import chat_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.llm.engines.base import Message

IGNORED: Final = -100
"""The label that the loss leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """One row as the model sees it."""

    ids: tuple[int, ...]
    """The whole chat: prompt, answer, end of turn."""
    prompt: int
    """How many of them are the prompt's; the loss is on the rest."""

    @property
    def labels(self) -> tuple[int, ...]:
        """What is to be predicted at each place, `IGNORED` where nothing is learned."""
        return (IGNORED,) * self.prompt + self.ids[self.prompt :]


class Template:
    """How a model reads chats: its own template, as the engines use it.

    Args:
        tokenizer: Of the base model.
        ends: Tokens that end an answer besides the tokenizer's own, as the model's generation
            settings name them.

    Raises:
        GenerationError: The model names no token that ends an answer.
    """

    def __init__(self, tokenizer: Any, ends: Sequence[int] = ()) -> None:
        own: int | None = tokenizer.eos_token_id
        self._tokenizer = tokenizer
        self._ends = frozenset(ends) | (frozenset() if own is None else {own})
        if not self._ends:
            raise GenerationError("the model names no token that ends an answer")
        self._own = min(self._ends) if own is None else own

    def encode(self, messages: Sequence[Message], answer: str) -> Encoded:
        """Encode a chat that ends with the user, and the answer to learn.

        The prompt is what an engine gives the model. The answer is encoded on its own, since a
        model that is asked begins it at a token's border too, and ends with the token that
        makes an engine stop. What a template puts behind that token is left out.

        Raises:
            GenerationError: The template does not take the chat.
        """
        prompt = chat_text.ids(self._tokenizer, messages)
        said = self._ids(answer)
        return Encoded(ids=(*prompt, *said, self._end(messages, answer)), prompt=len(prompt))

    def _end(self, messages: Sequence[Message], answer: str) -> int:
        """Find the token with which the template closes a turn, if generation stops there."""
        import jinja2  # noqa: PLC0415  (comes with transformers' templates)

        if not getattr(self._tokenizer, "chat_template", None):
            return self._own
        chat = [{"role": message.role, "content": message.text} for message in messages]
        chat.append({"role": "assistant", "content": answer})
        try:
            whole = self._tokenizer.apply_chat_template(chat, tokenize=False)
        except (jinja2.TemplateError, ValueError):
            return self._own  # it takes no chat with an answer, or only with the system merged
        _, found, behind = whole.rpartition(answer)
        ids = self._ids(behind) if found else []
        return ids[0] if ids and ids[0] in self._ends else self._own

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return ids


def padded(rows: Sequence[Encoded], *, pad: int) -> Mapping[str, list[list[int]]]:
    """Bring rows to one length.

    The paper pads to the longest row there may be. A padded place has no loss and is not
    looked at, so padding to the longest row of the batch gives the same loss for less work.

    Args:
        rows: Those of one batch.
        pad: The token to fill up with.

    Returns:
        `input_ids`, `attention_mask` and `labels`, filled up on the right.

    Example:
        >>> short, long = Encoded(ids=(5, 6), prompt=1), Encoded(ids=(7, 8, 9), prompt=2)
        >>> padded([short, long], pad=0)["labels"]
        [[-100, 6, -100], [-100, -100, 9]]
    """
    longest = max(len(row.ids) for row in rows)
    made: dict[str, list[list[int]]] = {"input_ids": [], "attention_mask": [], "labels": []}
    for row in rows:
        empty = longest - len(row.ids)
        made["input_ids"].append([*row.ids, *[pad] * empty])
        made["attention_mask"].append([1] * len(row.ids) + [0] * empty)
        made["labels"].append([*row.labels, *[IGNORED] * empty])
    return made
