from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, mannwhitneyu

from crscore.statistics import clusters


@given(st.integers(1, 2_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy(counts: tuple[int, int]) -> None:
    yes, count = counts
    expected = binomtest(yes, count).proportion_ci(method="wilson")

    found = clusters.wilson(yes, count)

    assert found is not None
    assert found.low == pytest.approx(expected.low, abs=1e-12)
    assert found.high == pytest.approx(expected.high, abs=1e-12)
    assert 0 <= found.low <= found.share <= found.high <= 1


def test_wilson_of_nothing_is_unknown() -> None:
    assert clusters.wilson(0, 0) is None


def test_holm_multiplies_by_the_remaining_tests() -> None:
    # Sorted 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1 is 0.02, 0.03, 0.06, 0.04, and the last
    # takes the 0.06 before it.
    assert clusters.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_keeps_the_order_and_lowers_nothing(p_values: list[float]) -> None:
    corrected = clusters.holm(p_values)

    assert all(p <= one <= 1 for p, one in zip(p_values, corrected, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.array(corrected)[order]) >= 0)


def test_means_of_draws_leave_out_what_is_unknown() -> None:
    values = np.array([[1.0, math.nan], [3.0, 5.0]])
    weights = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 0.0]])

    found = clusters.mean_draws(values, weights)

    np.testing.assert_array_equal(found, [[2.0, 5.0], [1.5, 5.0], [1.0, math.nan]])


def test_draws_take_each_pull_once_on_average() -> None:
    weights = np.concatenate(list(clusters.draws(40, resamples=500, seed=1)))

    assert weights.shape == (500, 40)
    assert np.all(weights.sum(axis=1) == 40)


def test_interval_of_one_pull_is_unknown() -> None:
    assert clusters.interval(np.full(100, 3.0), pulls=1) is None
    assert clusters.interval(np.full(100, 3.0), pulls=2) == (3.0, 3.0)


def test_interval_covers_the_true_mean() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for seed in range(200):
        values = rng.normal(50, 20, (60, 1))
        weights = np.concatenate(list(clusters.draws(60, resamples=400, seed=seed)))
        low, high = clusters.interval(clusters.mean_draws(values, weights)[:, 0], pulls=60)
        covered += low <= 50 <= high

    # 190 expected; the percentile interval of 60 values covers a little less.
    assert 178 <= covered <= 198


def test_ranks_of_equals_are_equal_ranges() -> None:
    rng = np.random.default_rng(2)
    drawn = rng.normal([60, 50, 50, 20], 1, (2_000, 4))

    assert clusters.rank_ranges(drawn) == ((1, 1), (2, 3), (2, 3), (4, 4))


def test_rank_of_an_undefined_mean_is_the_last() -> None:
    drawn = np.array([[math.nan, 1.0]] * 10)

    assert clusters.rank_ranges(drawn) == ((2, 2), (1, 1))


def test_strata_weigh_as_their_pulls() -> None:
    # Stratum 0: 8 - 2 = 6 with three values; stratum 1: 5 - 4 = 1 with two; stratum 2 has only
    # the first and does not count: (6 * 3 + 1 * 2) / 5 = 4.
    nan = math.nan
    first = np.array([8.0, nan, nan, 5.0, nan, 90.0])
    second = np.array([nan, 1.0, 3.0, nan, 4.0, nan])
    strata = np.array([0, 0, 0, 1, 1, 2])

    found = clusters.stratified_draws(first, second, strata, np.ones((1, 6)))

    assert found.tolist() == [4.0]


def test_strata_without_both_have_no_difference() -> None:
    nan = math.nan
    found = clusters.stratified_draws(
        np.array([1.0, nan]), np.array([nan, 2.0]), np.array([0, 1]), np.ones((1, 2))
    )

    assert np.isnan(found).all()


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
)
def test_rank_sum_is_that_of_scipy(first: list[int], second: list[int]) -> None:
    counts = [np.bincount(one, minlength=10).astype(float) for one in (first, second)]
    if len(set(first + second)) == 1:
        assert clusters.rank_sum_p(*counts) == 1.0
        return
    expected = mannwhitneyu(first, second, method="asymptotic").pvalue

    assert clusters.rank_sum_p(*counts) == pytest.approx(expected, abs=1e-9)
