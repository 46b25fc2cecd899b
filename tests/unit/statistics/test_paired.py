"""Paired comparisons."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from crscore.statistics import bootstrap, paired
from crscore.statistics.paired import PairedComparison, holm

CLEAR = PairedComparison(difference=1.0, low=0.1, high=2.0, p=0.001, error=0.5, units=30)


@pytest.mark.parametrize(
    ("changes", "direction"),
    [
        ({}, 1),
        ({"difference": -1.0, "low": -2.0, "high": -0.1}, -1),
        ({"low": 0.0}, 0),  # the interval has 0
        ({"p": 0.05}, 0),
        ({"p": None}, 0),
        ({"low": None, "high": None}, 0),
    ],
)
def test_direction_needs_a_small_p_and_an_interval_without_zero(changes, direction) -> None:
    assert CLEAR._replace(**changes).direction == direction


def test_p_of_a_mean_is_near_that_of_the_paired_t_test() -> None:
    differences = np.random.default_rng(1).normal(0.3, 1.0, 60)
    draws = bootstrap.resample(
        lambda weights: weights @ differences / 60, 60, resamples=4_000, seed=0
    )
    result = paired.compare(float(differences.mean()), draws, units=60)
    assert result.p == pytest.approx(scipy.stats.ttest_1samp(differences, 0).pvalue, rel=0.1)
    assert result.error == pytest.approx(differences.std() / np.sqrt(60), rel=0.05)


def test_constant_difference_of_a_mean_has_the_sign_tests_p() -> None:
    result = paired.compare(0.2, np.full(100, 0.2), units=8, is_mean=True)
    assert result.p == pytest.approx(scipy.stats.binomtest(8, 8).pvalue)
    # If the statistic is not a mean, the p-value is unknown.
    assert paired.compare(0.2, np.full(100, 0.2), units=8).p is None


def test_no_difference_has_p_of_one() -> None:
    assert paired.compare(0.0, np.zeros(100), units=8, is_mean=True).p == 1.0


def test_undefined_side_has_no_test() -> None:
    result = paired.compare(None, np.full(100, np.nan), units=8)
    assert result == PairedComparison(None, None, None, None, None, 8)
    assert result.units_needed() is None


def test_correction_leaves_out_what_has_no_p() -> None:
    rows = [CLEAR._replace(p=p) for p in (0.01, None, 0.04, 0.03)]
    assert [row.p for row in paired.correct(rows)] == [0.03, None, 0.06, 0.06]


def test_units_needed_fall_with_the_difference() -> None:
    assert CLEAR.units_needed() == bootstrap.clusters_needed(1.0, 0.5, clusters=30)
    needed, smaller = CLEAR.units_needed(), CLEAR.units_needed(0.5)
    assert needed is not None
    assert smaller is not None
    assert smaller > needed


def test_holm_multiplies_by_the_remaining_tests() -> None:
    # The sorted values 0.005, 0.01, 0.03, 0.04, multiplied by 4, 3, 2, 1, are 0.02, 0.03, 0.06,
    # 0.04; the last one is raised to 0.06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_keeps_the_order_and_lowers_nothing(p_values: list[float]) -> None:
    corrected = holm(p_values)

    assert all(p <= higher <= 1 for p, higher in zip(p_values, corrected, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.array(corrected)[order]) >= 0)
