"""Cache of vectors for runs that score the same changes many times."""

from collections.abc import Sequence

from crscore.encoders.base import Encoder, Floats, Vectors


class VectorCache:
    """Encoder with a cache, for reviews scored against several lists of claims.

    Args:
        encoder: Encoder of new texts.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._vectors = Vectors(encoder)

    @property
    def identity(self) -> str:
        """Identity of the encoder."""
        return self.encoder.identity

    def encode(self, texts: Sequence[str]) -> Floats:
        """Encode new texts and look up known ones; see `Encoder.encode`."""
        self._vectors.learn(texts)
        return self._vectors.of(texts) if texts else self.encoder.encode([])
