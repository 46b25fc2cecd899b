"""Cache for the vectors of each pull request's texts between runs.

Encoding takes most of the time, and most texts of a pull request with a new comment are old.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.cache import Store
from crscore.encoders.base import Encoder


class CachedVectors:
    """Encoder that caches the vectors of each pull request.

    Args:
        encoder: Encoder of new texts; the vector of a text must not depend on the other texts.
        store: Cache; None to cache nothing.
    """

    def __init__(self, encoder: Encoder, store: Store | None) -> None:
        self._encoder, self._store = encoder, store
        self._cached: dict[bytes, bytes] = {}
        self._used: dict[bytes, bytes] = {}

    @property
    def identity(self) -> str:
        """Identity of the encoder."""
        return self._encoder.identity

    @contextmanager
    def of_pull(self, name: str) -> Iterator[None]:
        """Use the cached vectors of one pull request; afterwards cache only the used ones."""
        key = f"vectors {_hash(f'{self.identity} {name}').hex()}"
        data = self._store.get(key) if self._store else None
        self._cached, self._used = {}, {}
        # A damaged entry is like none.
        with suppress(msgspec.DecodeError):
            if data is not None:
                self._cached = msgspec.msgpack.decode(data, type=dict[bytes, bytes])
        yield
        # Only used ones are stored, so that texts of deleted comments are forgotten.
        if self._store and self._used.keys() != self._cached.keys():
            self._store.put(key, msgspec.msgpack.encode(self._used))

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode new texts and look up cached ones; see `Encoder.encode`."""
        hashes = {text: _hash(text) for text in texts}
        keys = hashes.values()
        self._used |= {key: self._cached[key] for key in keys if key in self._cached}
        new = [text for text, key in hashes.items() if key not in self._used]
        vectors = self._encoder.encode(new)
        self._used |= {hashes[text]: row.tobytes() for text, row in zip(new, vectors, strict=True)}
        # `np.stack` rejects an empty list; the encoder's result has the right width.
        if not texts:
            return vectors
        rows = [np.frombuffer(self._used[hashes[text]], dtype=np.float32) for text in texts]
        return np.stack(rows)


def _hash(text: str) -> bytes:
    # 128 bits: collisions of texts are negligible.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
