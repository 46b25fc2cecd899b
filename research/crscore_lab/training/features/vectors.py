"""Vectors of all texts of a training run."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from crscore.encoders.base import Encoder

Floats = npt.NDArray[np.float32]


class Vectors(dict[str, Floats]):
    """Vectors of texts, each shape (D,); a text is encoded once."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self._encoder = encoder

    def learn(self, texts: Iterable[str]) -> None:
        """Encode the texts that have no vector yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self]
        if new:
            self.update(zip(new, self._encoder.encode(new), strict=True))

    def of(self, texts: Sequence[str]) -> Floats:
        """Stack the vectors of cached texts, shape (len(texts), D).

        Raises:
            KeyError: A text is not in the cache.
        """
        width = len(next(iter(self.values())))
        rows = [self[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)
