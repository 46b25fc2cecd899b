from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from crscore.statistics.intervals import clustered_wilson, percentiles, wilson


@given(st.integers(1, 2_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy(counts: tuple[int, int]) -> None:
    expected = scipy.stats.binomtest(*counts).proportion_ci(method="wilson")

    found = wilson(*counts)

    assert found is not None
    share, low, high = found
    assert low == pytest.approx(expected.low, abs=1e-12)
    assert high == pytest.approx(expected.high, abs=1e-12)
    assert 0 <= low <= share <= high <= 1


def test_trials_that_are_alike_inside_clusters_count_as_one_a_cluster() -> None:
    successes, trials = np.array([8.0, 0.0] * 10), np.full(20, 8.0)
    share, low, high = clustered_wilson(successes, trials)
    assert share == 0.5
    # The 160 trials are as informative as 19 independent ones: 20 clusters, less one for the mean.
    assert (low, high) == pytest.approx(wilson(9.5, 19)[1:], abs=1e-9)


def test_trials_that_differ_inside_clusters_are_as_wilson_says() -> None:
    successes, trials = np.full(20, 4.0), np.full(20, 8.0)
    assert clustered_wilson(successes, trials) == pytest.approx(wilson(80, 160))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_all_and_none_have_an_interval(share: float) -> None:
    interval = clustered_wilson(np.full(5, 2.0 * share), np.full(5, 2.0))
    assert interval == pytest.approx(wilson(10 * share, 10))


def test_no_trials_have_no_interval() -> None:
    assert wilson(0, 0) is None
    assert clustered_wilson(np.zeros(3), np.zeros(3)) is None


def test_percentiles_are_the_middle_95_percent() -> None:
    assert percentiles(np.arange(1001.0)) == pytest.approx((25.0, 975.0))
