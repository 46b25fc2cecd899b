"""How a row becomes the chat to learn: the same words in which the generator asks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crscore.claims.llm import chunks, prompt
from crscore.llm.prompt_escaping import Fence

if TYPE_CHECKING:
    from crscore.claims.llm.prompt import Form, Prompt
    from crscore.llm.engines.base import Message
    from crscore.training.claims.rows import TrainingRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A prompt, and which parts of it are used."""

    prompt: Prompt
    """The prompt file."""
    form: Form = "json"
    """How the answer is written."""
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
        parts = chunks.chunk_diff(row.change)
        if len(parts.chunks) != 1 or parts.notes:
            return None
        drawn = hashlib.sha256(f"{seed} {row.line} {row.change.sha256}".encode()).hexdigest()
        return prompt.make_chat(
            self.prompt,
            parts.chunks[0],
            Fence(nonce=drawn[:16], special=special),
            self.form,
            examples=None if self.few_shots else 0,
        )

    def answer(self, row: TrainingRow) -> str:
        """Write what the model is to learn to say.

        JSON has no blanks between its parts: an engine that keeps the model to a schema allows
        none, and a model that learned to write some would have to leave what it learned.
        """
        return prompt.format_answer(row.claims, row.implications, self.form)

    def as_json(self) -> dict[str, Any]:
        """Say how a model wants to be asked that was trained so."""
        return {
            "name": self.prompt.name,
            "sha256": self.prompt.sha256,
            "form": self.form,
            "few_shots": self.few_shots,
        }
