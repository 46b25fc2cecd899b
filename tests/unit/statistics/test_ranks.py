import sys

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import DependencyError
from crscore.statistics import ranks


def test_without_scipy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(DependencyError, match="pip install scipy"):
        ranks.require_scipy()


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
)
def test_rank_sum_is_that_of_scipy(first: list[int], second: list[int]) -> None:
    counts = [np.bincount(sample, minlength=10).astype(float) for sample in (first, second)]
    if len(set(first + second)) == 1:
        assert ranks.rank_sum_p(*counts) == 1.0
        return
    expected = scipy.stats.mannwhitneyu(first, second, method="asymptotic").pvalue

    assert ranks.rank_sum_p(*counts) == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 30), st.integers(0, 30), st.floats(0.01, 0.99))
def test_share_p_includes_half_of_the_probability_of_this_count(
    first: int, second: int, chance: float
) -> None:
    count, trials = min(first, second), max(first, second)
    at_least, more = scipy.stats.binom.sf([count - 1, count], trials, chance)
    assert ranks.share_p(count, trials, chance) == pytest.approx((at_least + more) / 2, abs=1e-9)
