from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from crscore_lab.statistics import ranks, resampled

NAN = np.nan
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=25
)


@given(ROWS)
def test_correlations_of_a_draw_are_those_of_its_rows_written_out(rows) -> None:
    first, second, counts = np.array(rows, dtype=float).T
    drawn = np.repeat(np.arange(len(rows)), counts.astype(int))
    weights = counts[None, :]
    rho = resampled.spearman(resampled.rank(first, weights), resampled.rank(second, weights))
    expected = ranks.spearman(first[drawn], second[drawn])
    assert rho[0] == pytest.approx(NAN if expected is None else expected, nan_ok=True)
    if len(drawn):
        r = resampled.pearson(first, second, weights)[0]
        expected = ranks.pearson(first[drawn], second[drawn])
        assert r == pytest.approx(NAN if expected is None else expected, nan_ok=True)


def test_centred_ranks_are_scipys() -> None:
    values = np.array([3.0, 1.0, 3.0, 2.0])
    centred = resampled.rank(values, np.ones((1, 4))).centred[0]
    assert centred.tolist() == (scipy.stats.rankdata(values) - 2.5).tolist()


def test_mean_of_groups_leaves_out_the_absent_and_counts_the_constant_as_zero() -> None:
    first, second = np.array([0.5, 0.5, NAN]), np.array([0.3, NAN, NAN])
    yes, no = np.array([True, True, False]), np.array([True, False, False])
    assert resampled.mean_of_groups([first, second], [yes, no]).tolist() == pytest.approx(
        [0.4, 0.5, NAN], nan_ok=True
    )
    assert resampled.mean_of_groups([first, second], [yes, yes]).tolist() == pytest.approx(
        [0.4, 0.25, NAN], nan_ok=True
    )


def test_ratio_of_nothing_is_undefined() -> None:
    ratios = resampled.ratio(
        np.array([1.0, 0.0]), np.array([2.0, 0.0]), np.array([[1.0, 1.0], [0.0, 3.0]])
    )
    np.testing.assert_array_equal(ratios, [0.5, NAN])
