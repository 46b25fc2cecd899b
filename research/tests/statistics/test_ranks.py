import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from crscore_lab.statistics import ranks

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=40)


@given(PAIRS)
def test_spearman_equals_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=np.float64).T
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert ranks.spearman(first, second) is None
    else:
        expected = scipy.stats.spearmanr(first, second).statistic
        assert ranks.spearman(first, second) == pytest.approx(expected)


@given(PAIRS)
def test_kendall_equals_the_count_of_pairs(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=np.float64).T
    a = np.sign(first[:, None] - first[None, :])
    b = np.sign(second[:, None] - second[None, :])
    scale = np.sqrt(float((a * a).sum()) * float((b * b).sum()))
    if scale == 0:
        assert ranks.kendall(first, second) is None
    else:
        assert ranks.kendall(first, second) == pytest.approx(float((a * b).sum()) / scale)


def test_single_value_has_no_correlation() -> None:
    value = np.array([1.0])
    assert ranks.spearman(value, value) is None
    assert ranks.kendall(value, value) is None
