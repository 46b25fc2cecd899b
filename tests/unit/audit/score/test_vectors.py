from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from crscore.audit.score.vectors import CachedVectors
from crscore.cache import Store
from crscore.encoders.hashing import Hashing
from crscore.encoders.minilm import MiniLM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

TEXTS = ["Close the file.", "Why?", "Close the file.", "Return early."]


class Counting(Hashing):
    """Encoder that knows what it was asked."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        encoded.append(list(texts))
        return super().encode(texts)


encoded: list[list[str]] = []


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    encoded.clear()


def test_vectors_are_those_of_the_encoder(tmp_path: Path) -> None:
    remembered = CachedVectors(Counting(), Store(tmp_path))
    for _ in range(2):
        with remembered.of_pull("a/b#1"):
            assert (remembered.encode(TEXTS) == Hashing().encode(TEXTS)).all()
            assert remembered.encode([]).shape == (0, 256)


def test_known_texts_are_not_encoded_again(tmp_path: Path) -> None:
    for texts in (TEXTS, [*TEXTS, "New."]):
        remembered = CachedVectors(Counting(), Store(tmp_path))
        with remembered.of_pull("a/b#1"):
            remembered.encode(texts)
    assert encoded == [["Close the file.", "Why?", "Return early."], ["New."]]


def test_texts_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    remembered = CachedVectors(Counting(), Store(tmp_path))
    for texts in (TEXTS, ["Why?"], TEXTS[:1]):
        with remembered.of_pull("a/b#1"):
            remembered.encode(texts)
    assert encoded[-1] == ["Close the file."]


def test_without_a_store_or_with_a_damaged_entry_all_is_encoded(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for cache in (None, store):
        with CachedVectors(Counting(), cache).of_pull("a/b#1"):
            pass
        remembered = CachedVectors(Counting(), cache)
        with remembered.of_pull("a/b#1"):
            remembered.encode(TEXTS)
    (key,) = store._connection.execute("SELECT key FROM entries").fetchone()  # type: ignore[union-attr]
    store.put(key, b"damaged")
    with remembered.of_pull("a/b#1"):
        assert (remembered.encode(TEXTS) == Hashing().encode(TEXTS)).all()
    assert len(encoded) == 3


def test_vector_of_the_model_is_the_same_alone_and_among_others() -> None:
    model = MiniLM(threads=1)
    texts = [f"{'The loop never ends. ' * (1 + at % 9)}It is case {at}." for at in range(60)]
    alone = np.concatenate([model.encode([text]) for text in texts])
    assert (model.encode(texts) == alone).all()
