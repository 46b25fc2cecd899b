"""From rows to what a model sees: the chat, its tokens, and which of them are learned."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from crscore.claims.llm import prompt
from crscore.errors import ConfigError, GenerationError
from crscore.llm import chat_text
from crscore.llm.prompt_escaping import Fence
from crscore.training.claims.rows import single_chunk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.claims.llm.prompt import Form, Prompt
    from crscore.llm.engines.base import Message
    from crscore.training.claims.rows import TrainingRow

IGNORED: Final = -100
"""The label that the loss leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A prompt, and which parts of it are used: the same words in which the generator asks."""

    prompt: Prompt
    """The prompt file."""
    form: Form = "json"
    """Form of the answer."""
    few_shots: bool = False
    """Show the prompt's examples first."""

    def chat(
        self, row: TrainingRow, *, seed: int, special: frozenset[str] = frozenset()
    ) -> tuple[Message, ...] | None:
        """Ask about a row's change.

        Args:
            row: The row.
            seed: Draws the fence's mark, another one for each row: a mark that is always the
                same would be learned.
            special: The model's own special tokens, which engines tell the generator, too.

        Returns:
            The chat; None when the generator would ask about the change in several parts, none
            of which the row's claims are about.
        """
        chunk = single_chunk(row.change)
        if chunk is None:
            return None
        drawn = hashlib.sha256(f"{seed} {row.line} {row.change.sha256}".encode()).hexdigest()
        return prompt.make_chat(
            self.prompt,
            chunk,
            Fence(nonce=drawn[:16], special=special),
            self.form,
            examples=None if self.few_shots else 0,
        )

    def answer(self, row: TrainingRow) -> str:
        """Write the answer that the model is to learn.

        JSON has no blanks between its parts: an engine that keeps the model to a schema allows
        none, and a model that learned to write some would have to leave what it learned.
        """
        return prompt.format_answer(row.claims, row.implications, self.form)

    def as_json(self) -> dict[str, Any]:
        """Return how a model that was trained so wants to be asked, as values for JSON."""
        return {
            "name": self.prompt.name,
            "sha256": self.prompt.sha256,
            "form": self.form,
            "few_shots": self.few_shots,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """One row as the model sees it."""

    ids: tuple[int, ...]
    """The whole chat: prompt, answer, end of turn."""
    prompt: int
    """Number of them that are the prompt's; the loss is on the rest."""

    @property
    def labels(self) -> tuple[int, ...]:
        """Token to predict at each place, `IGNORED` where nothing is learned."""
        return (IGNORED,) * self.prompt + self.ids[self.prompt :]


class Template:
    """Chat template of a model, as the engines use it.

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
        asked = chat_text.ids(self._tokenizer, messages)
        answer_ids = self._ids(answer)
        return Encoded(ids=(*asked, *answer_ids, self._end(messages, answer)), prompt=len(asked))

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


def pad_rows(rows: Sequence[Encoded], *, pad: int) -> Mapping[str, list[list[int]]]:
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
        >>> pad_rows([short, long], pad=0)["labels"]
        [[-100, 6, -100], [-100, -100, 9]]
    """
    longest = max(len(row.ids) for row in rows)
    gaps = [longest - len(row.ids) for row in rows]
    pairs = list(zip(rows, gaps, strict=True))
    return {
        "input_ids": [[*row.ids, *[pad] * gap] for row, gap in pairs],
        "attention_mask": [[1] * len(row.ids) + [0] * gap for row, gap in pairs],
        "labels": [[*row.labels, *[IGNORED] * gap] for row, gap in pairs],
    }


class Split(NamedTuple):
    """Two sides, by position."""

    train: tuple[int, ...]
    """Rows to learn from, in their order."""
    held_out: tuple[int, ...]
    """Rows to measure on; none when the share is 0."""


def split_groups(groups: Sequence[str], *, share: float, seed: int) -> Split:
    """Split rows so that no group is on both sides.

    A group's side depends on its name, the seed and how many there are, not on the order of
    the rows.

    Args:
        groups: The group of each row; rows of one change have the same.
        share: How much of the groups to hold out, in [0, 1).
        seed: Draws the groups.

    Returns:
        The positions on each side. With a share above 0 and two groups or more, neither side
        is empty.

    Raises:
        ConfigError: The share is not in [0, 1).

    Source:
        Naik et al., NAACL 2025, appendix C.3: a tenth is held out. There rows are drawn one by
        one; a change that stands in the data twice can then be on both sides.

    Example:
        >>> split_groups(["a", "b", "a", "c"], share=0.34, seed=1)
        Split(train=(0, 1, 2), held_out=(3,))
    """
    if not 0 <= share < 1:
        raise ConfigError("--val-split", "command line", f"a share in [0, 1), not {share:g}")
    order = sorted(set(groups), key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    count = round(share * len(order))
    if share > 0 and len(order) > 1:
        count = min(max(count, 1), len(order) - 1)
    chosen = frozenset(order[:count])
    return Split(
        train=tuple(at for at, name in enumerate(groups) if name not in chosen),
        held_out=tuple(at for at, name in enumerate(groups) if name in chosen),
    )
