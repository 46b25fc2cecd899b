from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.code.metrics.codebertscore import encode_windows, windows


@given(length=st.integers(1, 500), limit=st.integers(4, 64))
def test_windows_contribute_every_token_once_and_fit(length: int, limit: int) -> None:
    cut = list(windows(length, limit))

    covered = [at for _, _, first, end in cut for at in range(first, end)]
    assert covered == list(range(length))
    assert all(stop - start <= limit for start, stop, _, _ in cut)
    assert all(start <= first < end <= stop for start, stop, first, end in cut)


@given(length=st.integers(21, 200))
def test_tokens_are_taken_with_a_quarter_of_a_window_around_them(length: int) -> None:
    for start, stop, first, end in windows(length, 20):
        assert first == 0 or first - start >= 5
        assert end == length or stop - end >= 5


def test_vectors_come_from_the_window_that_contributes_them() -> None:
    def encode(rows: list[list[int]]) -> list[np.ndarray]:
        # A vector's angle tells the first token of its window.
        return [
            np.array([[np.cos(row[0] / 10), np.sin(row[0] / 10)]] * len(row), np.float32) * 7
            for row in rows
        ]

    vectors = encode_windows([range(10), range(3)], 4, encode)

    starts = np.round(np.arctan2(vectors[0][:, 1], vectors[0][:, 0]) * 10)
    # By hand: windows begin at 0, 2, 4 and 6 and give 3, 2, 2 and 3 tokens.
    assert starts.tolist() == [0, 0, 0, 2, 2, 4, 4, 6, 6, 6]
    assert np.linalg.norm(vectors[1], axis=1) == pytest.approx([1, 1, 1])
