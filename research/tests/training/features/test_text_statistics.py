import numpy as np
import pytest

from crscore_lab.training.matcher import MIN_TEXTS, compute_statistics

CLAIMS = ["The limit is raised."] * 3 + ["A table is added."]
REMARKS = ["Why this limit?", "The limit is low.", "Rename the table."]


def vectors(count: int, seed: int, dim: int = 6) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def statistics(axes: int = 2, remarks=None):
    return compute_statistics(
        CLAIMS,
        vectors(4, 0),
        REMARKS if remarks is None else remarks[0],
        vectors(3, 1) if remarks is None else remarks[1],
        axes=axes,
    )


def test_stems_are_counted_once_per_text_without_rare_ones() -> None:
    result = statistics()
    # "limit" is in 3 claims and 2 remarks, "rais" in 3 texts, "tabl" in 2.
    assert MIN_TEXTS == 4
    assert result.frequency == {"limit": 5}
    assert result.documents == 7


def test_repeated_stem_of_a_text_counts_once() -> None:
    result = compute_statistics(
        ["limit limit"] * 3, vectors(3, 0), ["limit"], vectors(1, 1), axes=1
    )
    assert result.frequency == {"limit": 4}


def test_means_are_unit_vectors() -> None:
    result = statistics()
    mean = vectors(4, 0).mean(axis=0)
    np.testing.assert_allclose(result.claim, mean / np.linalg.norm(mean), atol=1e-5)
    assert np.linalg.norm(result.remark) == pytest.approx(1, abs=1e-4)
    assert result.centre.dtype == result.axes.dtype == result.claim.dtype == np.float32


def test_axes_are_those_of_the_singular_value_decomposition() -> None:
    rows = vectors(40, 2)
    result = statistics(axes=3, remarks=(["text"] * 40, rows))
    centred = rows - rows.mean(axis=0)
    _, _, main = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
    for ours, theirs in zip(result.axes, main[:3], strict=True):
        assert abs(float(ours @ theirs)) == pytest.approx(1, abs=1e-3)
        assert ours[np.abs(ours).argmax()] > 0


def test_axes_do_not_depend_on_the_order_of_the_texts() -> None:
    rows = vectors(40, 3)
    forward = statistics(remarks=(["a"] * 40, rows))
    backward = statistics(remarks=(["a"] * 40, rows[::-1]))
    np.testing.assert_allclose(forward.axes, backward.axes, atol=2e-5)


def test_values_are_rounded() -> None:
    result = statistics()
    for vector in (result.claim, result.remark, result.axes, result.centre):
        np.testing.assert_array_equal(vector, np.round(vector, 5))
