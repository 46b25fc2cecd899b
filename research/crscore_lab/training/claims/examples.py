"""Conversion of rows to model inputs: the chat, its tokens, and the labels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from crscore.claims.llm import prompt
from crscore.claims.llm.prompt import Form, Prompt
from crscore.errors import ConfigError, GenerationError
from crscore.llm import chat_text
from crscore.llm.engines.base import Message, replace_surrogates
from crscore.llm.prompt_escaping import Fence
from crscore_lab.training.claims.rows import TrainingRow, single_chunk

IGNORED: Final = -100
"""Label that the loss ignores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFormat:
    """Prompt and the parts of it that are used, as the generator uses them."""

    prompt: Prompt
    form: Form = "json"
    """Form of the answer."""
    few_shots: bool = False
    """Whether the prompt's examples come first."""

    def chat(
        self, row: TrainingRow, *, seed: int, special: frozenset[str] = frozenset()
    ) -> tuple[Message, ...] | None:
        """Build the chat about a row's change.

        Args:
            row: The row.
            seed: Seed of the fence marker, which differs for each row: a constant marker would be
                learned.
            special: The model's own special tokens, which engines also pass to the generator.

        Returns:
            The chat; None when the generator would ask about the change in several parts, which the
            row's claims do not match.
        """
        chunk = single_chunk(row.change)
        if chunk is None:
            return None
        nonce = hashlib.sha256(f"{seed} {row.index} {row.change.sha256}".encode()).hexdigest()
        return prompt.make_chat(
            self.prompt,
            chunk,
            Fence(nonce=nonce[:16], special=special),
            self.form,
            examples=None if self.few_shots else 0,
        )

    def answer(self, row: TrainingRow) -> str:
        """Build the answer to learn.

        JSON has no blanks between its parts, because an engine that enforces a schema allows none.
        """
        return prompt.format_answer(row.claims, row.implications, self.form)

    def as_json(self) -> dict[str, Any]:
        """Return the prompt settings of the trained model, as values for JSON."""
        return {
            "name": self.prompt.name,
            "sha256": self.prompt.sha256,
            "form": self.form,
            "few_shots": self.few_shots,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """Row encoded for the model."""

    ids: tuple[int, ...]
    """Token ids of the whole chat: prompt, answer, end of turn."""
    prompt: int
    """Number of prompt tokens; the loss is on the others."""

    def columns(self) -> dict[str, list[int]]:
        """Return the columns that trl's trainer reads.

        Example:
            >>> Encoded(ids=(7, 8, 9), prompt=2).columns()
            {'input_ids': [7, 8, 9], 'labels': [-100, -100, 9]}
        """
        labels = [IGNORED] * self.prompt + list(self.ids[self.prompt :])
        return {"input_ids": list(self.ids), "labels": labels}


class ChatTemplate:
    """Chat template of a model, as the engines use it.

    Args:
        tokenizer: Tokenizer of the base model.
        ends: Tokens that end an answer besides the tokenizer's own, as the model's generation
            settings name them.

    Raises:
        GenerationError: The model defines no token that ends an answer.
    """

    def __init__(self, tokenizer: Any, ends: int | Sequence[int] | None = None) -> None:
        tokenizer_end: int | None = tokenizer.eos_token_id
        ends = [ends] if isinstance(ends, int) else ends or ()
        self._tokenizer = tokenizer
        self._ends = frozenset(token for token in (*ends, tokenizer_end) if token is not None)
        if not self._ends:
            raise GenerationError("the model names no token that ends an answer")
        # Any of them stops an engine; taking the smallest keeps runs reproducible.
        self._own = min(self._ends) if tokenizer_end is None else tokenizer_end

    def encode(self, messages: Sequence[Message], answer: str) -> Encoded:
        """Encode a chat that ends with the user's message, and the answer to learn.

        The prompt is the one that an engine passes to the model. The answer is encoded separately,
        since generation also starts at a token boundary, and ends with the token that stops an
        engine. Text that a template puts after that token is left out.

        Raises:
            GenerationError: The template rejects the chat.
        """
        prompt = chat_text.tokenize_chat(self._tokenizer, messages)
        answer = replace_surrogates(answer)
        ids = (*prompt, *self._ids(answer), self._end(messages, answer))
        return Encoded(ids=ids, prompt=len(prompt))

    def _end(self, messages: Sequence[Message], answer: str) -> int:
        """Find the token with which the template closes a turn, if generation stops there."""
        import jinja2  # noqa: PLC0415  (comes with transformers' templates)

        if not getattr(self._tokenizer, "chat_template", None):
            return self._own
        chat = [{"role": message.role, "content": message.text} for message in messages]
        chat.append({"role": "assistant", "content": answer})
        try:
            text = self._tokenizer.apply_chat_template(chat, tokenize=False)
        except (jinja2.TemplateError, ValueError):
            return self._own  # no chat with an answer, or only with the system merged
        # After the answer, the template writes the token that closes the turn.
        _, separator, suffix = text.rpartition(answer)
        ids = self._ids(suffix) if separator else []
        return ids[0] if ids and ids[0] in self._ends else self._own

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return ids


class Split(NamedTuple):
    """Rows of the two sides, by position."""

    train: tuple[int, ...]
    """Training rows, in order."""
    held_out: tuple[int, ...]
    """Evaluation rows; empty when the share is 0."""


def split_groups(groups: Sequence[str], *, share: float, seed: int) -> Split:
    """Split rows so that no group is on both sides.

    The side of a group depends on its name, the seed and the number of groups, not on the row
    order.

    Args:
        groups: The group of each row; rows of one change share a group.
        share: Share of the groups to hold out, in [0, 1).
        seed: Seed of the draw.

    Returns:
        The positions on each side. With a share above 0 and two groups or more, neither side
        is empty.

    Raises:
        ConfigError: The share is not in [0, 1).

    Source:
        Naik et al., NAACL 2025, appendix C.3: a tenth is held out. There rows are drawn one by
        one; a change that occurs twice in the data can then be on both sides.

    Example:
        >>> split_groups(["a", "b", "a", "c"], share=0.34, seed=1)
        Split(train=(0, 1, 2), held_out=(3,))
    """
    if not 0 <= share < 1:
        raise ConfigError("--val-split", "command line", f"a share in [0, 1), not {share:g}")
    shuffled = sorted(
        set(groups), key=lambda group: hashlib.sha256(f"{seed} {group}".encode()).digest()
    )
    count = round(share * len(shuffled))
    if share > 0 and len(shuffled) > 1:
        count = min(max(count, 1), len(shuffled) - 1)
    held_out = frozenset(shuffled[:count])
    return Split(
        train=tuple(index for index, group in enumerate(groups) if group not in held_out),
        held_out=tuple(index for index, group in enumerate(groups) if group in held_out),
    )
