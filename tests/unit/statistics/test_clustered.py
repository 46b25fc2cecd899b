from __future__ import annotations

import numpy as np
import pytest

from crscore.statistics.clusters import clustered_wilson, wilson


def test_things_that_are_alike_inside_pulls_count_as_one_a_pull() -> None:
    yes, count = np.array([8.0, 0.0] * 10), np.full(20, 8.0)
    share, low, high = clustered_wilson(yes, count)
    assert share == 0.5
    # 160 comments, but as sure as 19 independent ones: 20 pulls, less one for the mean.
    assert (low, high) == pytest.approx(wilson(9.5, 19)[1:], abs=1e-9)


def test_things_that_differ_inside_pulls_are_as_wilson_says() -> None:
    yes, count = np.full(20, 4.0), np.full(20, 8.0)
    assert clustered_wilson(yes, count) == pytest.approx(wilson(80, 160))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_all_and_none_have_an_interval(share: float) -> None:
    found = clustered_wilson(np.full(5, 2.0 * share), np.full(5, 2.0))
    assert found == pytest.approx(wilson(10 * share, 10))


def test_nothing_has_none() -> None:
    assert clustered_wilson(np.zeros(3), np.zeros(3)) is None
