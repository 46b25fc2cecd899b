"""From a chat and its answer to token numbers, and which of them are learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crscore.errors import GenerationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.engines.base import Message

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
    """A tokenizer's own chat template.

    Args:
        tokenizer: Of the base model.
        ends: Tokens that end an answer besides the tokenizer's own, as the model's generation
            settings name them.
    """

    def __init__(self, tokenizer: Any, ends: Sequence[int] = ()) -> None:
        own = tokenizer.eos_token_id
        self._tokenizer = tokenizer
        self._ends = frozenset(ends) | (frozenset() if own is None else {own})
        if not self._ends:
            raise GenerationError("the model names no token that ends an answer")

    def encode(self, messages: Sequence[Message], answer: str) -> Encoded:
        """Encode a chat that ends with the user, and the answer to learn.

        The prompt is what the model is given when it is asked. The answer is encoded on its
        own, since a model that is asked begins it at a token's border too, and ends with the
        token that makes an engine stop. What a template puts behind that token is left out.

        Raises:
            GenerationError: The template does not take the chat.
        """
        given = self._render(messages)
        prompt = self._ids(given)
        said = self._ids(answer)
        end = self._end(messages, given, answer)
        return Encoded(ids=(*prompt, *said, end), prompt=len(prompt))

    def _end(self, messages: Sequence[Message], given: str, answer: str) -> int:
        """Find the token with which the template closes a turn, if generation stops there."""
        whole = self._render(messages, answer)
        if whole.startswith(given + answer):
            behind = self._ids(whole[len(given) + len(answer) :])
            if behind and behind[0] in self._ends:
                return behind[0]
        own: int | None = self._tokenizer.eos_token_id
        return min(self._ends) if own is None else own

    def _render(self, messages: Sequence[Message], answer: str | None = None) -> str:
        import jinja2  # noqa: PLC0415  (comes with transformers' templates)

        chat = [{"role": message.role, "content": message.text} for message in messages]
        if answer is not None:
            chat.append({"role": "assistant", "content": answer})
        try:
            text: str = self._tokenizer.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=answer is None
            )
        except jinja2.TemplateError as exc:
            raise GenerationError(f"the model's chat template refuses the prompt: {exc}") from exc
        return text

    def _ids(self, text: str) -> list[int]:
        # The template has written the special tokens at the start already.
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
