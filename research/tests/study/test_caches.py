import numpy as np

from crscore_lab.study.caches import VectorCache


class Counting:
    identity = "counting"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts) -> np.ndarray:
        self.asked.append(list(texts))
        return np.array([[len(text), 0.0] for text in texts], dtype=np.float32).reshape(-1, 2)


def test_cache_encodes_each_text_once() -> None:
    inner = Counting()
    memory = VectorCache(inner)
    assert memory.encode(["a", "bb", "a"])[:, 0].tolist() == [1, 2, 1]
    assert memory.encode(["bb", "ccc"])[:, 0].tolist() == [2, 3]
    assert inner.asked == [["a", "bb"], ["ccc"]]
    assert memory.identity == "counting"


def test_vectors_of_no_texts_have_the_width_of_the_encoder() -> None:
    assert VectorCache(Counting()).encode([]).shape == (0, 2)
