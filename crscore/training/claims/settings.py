"""Settings of a fine-tuning run."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Precision = Literal["auto", "float32", "bfloat16"]

ALL_LINEAR: Final = "all-linear"
"""Adapt every linear layer but the last one."""
LORA_RATE: Final = 2e-4
"""Peak learning rate of an adapter."""
FULL_RATE: Final = 2e-5
"""Peak learning rate where all weights move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lora:
    """Shape of an adapter. The paper names none; these are common values."""

    rank: int = 16
    """Width; vLLM takes 8, 16, 32, 64, ... and no more than 16 unless told."""
    alpha: int = 32
    """Weight: the adapter counts alpha / rank times."""
    dropout: float = 0.05
    """Share of its inputs that are left out while learning, in [0, 1)."""
    targets: tuple[str, ...] = (ALL_LINEAR,)
    """Names of the layers to adapt, as `q_proj`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that decides which weights come out, besides the rows and the base model.

    Source:
        Naik et al., NAACL 2025, appendix C.3, for epochs, batch, length, split, evaluation and
        seed. It names no learning rate, schedule or adapter.
    """

    epochs: float = 5.0
    """Times that each row is seen."""
    batch: int = 2
    """Rows of one forward pass."""
    accumulate: int = 1
    """Forward passes of one step of the optimizer."""
    max_length: int = 1500
    """Most tokens of a row, prompt and answer; a longer one is left out."""
    val_split: float = 0.1
    """Share of the changes held out, in [0, 1)."""
    eval_steps: int = 100
    """Steps between two evaluations; each leaves a checkpoint."""
    seed: int = 42
    """Of the split, the order, the adapter's first weights and dropout."""
    rate: float | None = None
    """Peak learning rate; None for the usual one of the mode."""
    warmup: float = 0.03
    """Share of the steps in which the rate rises; then it falls along a cosine."""
    decay: float = 0.0
    """Weight decay."""
    full: bool = False
    """Move all weights, not an adapter's."""
    lora: Lora = field(default_factory=Lora)
    """The adapter; means nothing when `full`."""
    precision: Precision = "auto"
    """Type of the frozen weights and of the arithmetic; bfloat16 where a GPU can do it."""
    checkpointing: bool = False
    """Compute activations again instead of keeping them: less memory, a third more time."""
    both_sections: bool = False
    """Leave out rows without implications."""

    @property
    def learning_rate(self) -> float:
        """The peak rate that is used."""
        usual = FULL_RATE if self.full else LORA_RATE
        return usual if self.rate is None else self.rate

    def as_json(self) -> dict[str, Any]:
        """Return the settings as values for JSON, with the learning rate that is used."""
        plain = dataclasses.asdict(self) | {"rate": self.learning_rate}
        if self.full:
            del plain["lora"]
        return dict(json.loads(json.dumps(plain)))


def hash_run(parts: dict[str, Any]) -> str:
    """Return the name of a run: same parts, same name, whatever their order.

    Example:
        >>> hash_run({"a": 1, "b": [2]}) == hash_run({"b": [2], "a": 1})
        True
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
