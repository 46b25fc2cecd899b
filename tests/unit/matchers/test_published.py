import numpy as np

from crscore.matchers import published
from crscore.matchers.base import Cells
from crscore.records import Diff, PseudoReference, ReferenceKind, Sentence


def degrees(values: list[float], threshold: float) -> list[float]:
    matcher = published.create(threshold=threshold)
    similarity = np.array([values], dtype=np.float32)
    cells = Cells(
        diff=Diff(files=(), sha256=""),
        references=(PseudoReference(text="a", kind=ReferenceKind.CLAIM, source="test"),),
        sentences=tuple(Sentence(text="b", comment=0) for _ in values),
        reference_vectors=np.ones((1, 1), dtype=np.float32),
        sentence_vectors=np.ones((len(values), 1), dtype=np.float32),
        similarity=similarity,
        about=np.full(len(values), 0.5, dtype=np.float32),
    )
    judged = matcher.match(cells)
    assert judged.flags == (None,) * len(values)
    return judged.degrees.tolist()[0]


def test_value_equal_to_the_threshold_is_no_match() -> None:
    assert degrees([0.5, 0.25, 0.75], 0.5) == [0.0, 0.0, 1.0]


def test_float32_rounded_below_the_threshold_is_no_match() -> None:
    # float32(0.7314) is 0.73140001...: above 0.7314, so it matches; 0.7 rounds down and does not.
    assert degrees([0.7314], 0.7314) == [1.0]
    assert degrees([0.7], 0.7) == [0.0]


def test_negative_threshold_works() -> None:
    assert degrees([-0.1, -0.3], -0.2) == [1.0, 0.0]
