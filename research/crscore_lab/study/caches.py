"""Cache of the encoder's vectors for runs that score the same texts several times."""

from collections.abc import Sequence

from crscore.encoders.base import Encoder, Floats, Vectors


class VectorCache:
    """Encoder that encodes each text only once.

    A study scores the same reviews against several lists of claims.

    Args:
        encoder: Encoder of texts that are not in the cache.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._vectors = Vectors(encoder)

    @property
    def identity(self) -> str:
        """Identity of the encoder."""
        return self.encoder.identity

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts as `Encoder.encode` does; only new texts are encoded."""
        self._vectors.add(texts)
        return self._vectors.of(texts) if texts else self.encoder.encode([])
