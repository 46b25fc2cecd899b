"""An encoder that remembers what it encoded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from crscore.encoders.base import Encoder


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """An encoder that remembers: a run scores the same reviews against several lists of claims."""

    encoder: Encoder
    """What encodes a text met for the first time."""
    vectors: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    """What it made of the texts so far."""

    @property
    def identity(self) -> str:
        """The encoder's own."""
        return self.encoder.identity

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode the texts not met before; as `Encoder.encode` says."""
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if new:
            self.vectors.update(zip(new, self.encoder.encode(new), strict=True))
        if not texts:
            return self.encoder.encode([])
        return np.stack([self.vectors[text] for text in texts])
