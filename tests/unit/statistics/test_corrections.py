from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.statistics.corrections import holm, holm_defined


def test_holm_multiplies_by_the_remaining_tests() -> None:
    # Sorted 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1 is 0.02, 0.03, 0.06, 0.04, and the last
    # takes the 0.06 before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_keeps_the_order_and_lowers_nothing(p_values: list[float]) -> None:
    corrected = holm(p_values)

    assert all(p <= higher <= 1 for p, higher in zip(p_values, corrected, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.array(corrected)[order]) >= 0)


def test_undefined_p_value_stays_and_is_no_test() -> None:
    assert holm_defined([0.01, None, 0.04, 0.03]) == [0.03, None, 0.06, 0.06]
