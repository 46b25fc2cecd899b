"""Settings of a fine-tuning run."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Precision = Literal["auto", "float32", "bfloat16"]

ALL_LINEAR: Final = "all-linear"
"""Setting that adapts every linear layer but the last one."""
LORA_RATE: Final = 2e-4
"""Peak learning rate of an adapter."""
FULL_RATE: Final = 2e-5
"""Peak learning rate where all weights are trained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lora:
    """Shape of an adapter. The paper names none; these are common values."""

    rank: int = 16
    """Width; vLLM accepts 8, 16, 32, 64, ... and by default no more than 16."""
    alpha: int = 32
    """Scale: the adapter is multiplied by alpha / rank."""
    dropout: float = 0.05
    """Dropout probability of its inputs, in [0, 1)."""
    targets: tuple[str, ...] = (ALL_LINEAR,)
    """Names of the layers to adapt, such as `q_proj`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings that determine the weights, besides the rows and the base model.

    Source:
        Naik et al., NAACL 2025, appendix C.3, for epochs, batch, length, split, evaluation and
        seed. It gives no learning rate, schedule or adapter.
    """

    epochs: float = 5.0
    """Passes over the rows."""
    batch: int = 2
    """Rows per forward pass."""
    accumulate: int = 1
    """Forward passes per step of the optimizer."""
    max_length: int = 1500
    """Maximum tokens of a row, prompt and answer; longer rows are left out."""
    val_split: float = 0.1
    """Share of the changes held out, in [0, 1)."""
    eval_steps: int = 100
    """Steps between two evaluations; each leaves a checkpoint."""
    seed: int = 42
    """Seed of the split, the order, the adapter's initial weights and dropout."""
    rate: float | None = None
    """Peak learning rate; None for the default of the mode."""
    warmup: float = 0.03
    """Share of the steps in which the rate rises; it then follows a cosine decay."""
    decay: float = 0.0
    """Weight decay."""
    full: bool = False
    """Whether to train all weights instead of an adapter."""
    lora: Lora = field(default_factory=Lora)
    """Shape of the adapter; ignored when `full`."""
    precision: Precision = "auto"
    """Type of the frozen weights and the arithmetic; `auto` is bfloat16 where a GPU supports it."""
    checkpointing: bool = False
    """Whether to recompute activations instead of keeping them: less memory, a third more time."""
    both_sections: bool = False
    """Whether to leave out rows without implications."""

    @property
    def learning_rate(self) -> float:
        """Peak rate in use."""
        usual = FULL_RATE if self.full else LORA_RATE
        return usual if self.rate is None else self.rate

    def as_json(self) -> dict[str, Any]:
        """Return the settings as values for JSON, with the learning rate that is used."""
        values = dataclasses.asdict(self) | {"rate": self.learning_rate}
        if self.full:
            # It has no effect here, so it must not change the run's identity.
            del values["lora"]
        return dict(json.loads(json.dumps(values)))


def hash_run(parts: dict[str, Any]) -> str:
    """Return a hash that identifies a run, independent of the order of its parts.

    Example:
        >>> hash_run({"a": 1, "b": [2]}) == hash_run({"b": [2], "a": 1})
        True
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
