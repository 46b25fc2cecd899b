"""Interface of encoders."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Encoder of texts as unit vectors.

    A plugin module `crscore/encoders/<name>.py` has `create`, which returns an encoder. The
    module may have `missing() -> str | None`, which describes a missing dependency and how to
    install it, for `crscore doctor`. Creating an encoder is cheap; the model is loaded at the first
    `encode`.
    """

    @property
    def identity(self) -> str:
        """Name, model and revision for the signature: the same identity means the same vectors."""
        ...

    def encode(self, texts: Sequence[str]) -> Floats:
        """Encode texts.

        Args:
            texts: Any number of texts, of any length; longer texts are cut at the model's limit.

        Returns:
            Float32 array of shape (N, D): row i is the vector of text i. It has length 1, or is
            the zero vector if the text has no token. N may be 0.

        Raises:
            ModelNotFoundError: The model's files are not available.
            EncodingError: The model rejects a text.
        """
        ...


class Vectors(dict[str, Floats]):
    """Texts and their vectors, each of shape (D,). No text is encoded twice.

    Args:
        encoder: The encoder.
        texts: Texts to encode.
    """

    def __init__(self, encoder: Encoder, texts: Iterable[str] = ()) -> None:
        super().__init__()
        self._encoder = encoder
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        """Encode the texts that have no vector yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self]
        if new:
            self.update(zip(new, self._encoder.encode(new), strict=True))

    def of(self, texts: Sequence[str]) -> Floats:
        """Stack the vectors of encoded texts, shape (len(texts), D); D is 0 if none was encoded.

        Raises:
            KeyError: A text was not encoded.
        """
        # Even for no texts, the result has the encoder's width, so that its products are defined.
        width = len(next(iter(self.values()), ()))
        rows = [self[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)
