import numpy as np
import pytest

from crscore.errors import EncodingError
from crscore.scoring.cells import cosine


def test_cosine_of_known_angles_is_exact() -> None:
    references = np.array([[1, 0], [0.6, 0.8]], dtype=np.float32)
    sentences = np.array([[0, 1], [1, 0], [-1, 0]], dtype=np.float32)
    expected = [[0, 1, -1], [0.8, 0.6, -0.6]]
    assert cosine(references, sentences) == pytest.approx(np.array(expected))


def test_rounding_above_one_is_clipped() -> None:
    almost = np.array([[1.0000001, 0]], dtype=np.float32)
    assert cosine(almost, almost).max() == 1.0


def test_result_cannot_be_written() -> None:
    matrix = cosine(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32))
    with pytest.raises(ValueError, match="read-only"):
        matrix[0, 0] = 5


def test_empty_side_keeps_its_shape() -> None:
    empty = np.zeros((0, 2), dtype=np.float32)
    assert cosine(empty, np.eye(2, dtype=np.float32)).shape == (0, 2)


def test_different_widths_raise() -> None:
    with pytest.raises(EncodingError, match="cannot be compared"):
        cosine(np.eye(2, dtype=np.float32), np.eye(3, dtype=np.float32))


def test_nan_raises() -> None:
    broken = np.array([[np.nan, 0]], dtype=np.float32)
    with pytest.raises(EncodingError, match="NaN"):
        cosine(broken, np.eye(2, dtype=np.float32))
