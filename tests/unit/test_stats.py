import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from crscore import stats
from crscore.errors import DependencyError

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=40)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(pairs, dtype=np.float64)
    return table[:, 0], table[:, 1]


@given(PAIRS)
def test_ranks_equal_scipys(pairs: list[tuple[int, int]]) -> None:
    first, _ = columns(pairs)
    assert stats.ranks(first).tolist() == scipy.stats.rankdata(first).tolist()


@given(PAIRS)
def test_spearman_equals_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = columns(pairs)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert stats.spearman(first, second) is None
    else:
        expected = scipy.stats.spearmanr(first, second).statistic
        assert stats.spearman(first, second) == pytest.approx(expected)


@given(PAIRS)
def test_kendall_equals_the_count_of_pairs(pairs: list[tuple[int, int]]) -> None:
    first, second = columns(pairs)
    a = np.sign(first[:, None] - first[None, :])
    b = np.sign(second[:, None] - second[None, :])
    scale = np.sqrt(float((a * a).sum()) * float((b * b).sum()))
    if scale == 0:
        assert stats.kendall(first, second) is None
    else:
        assert stats.kendall(first, second) == pytest.approx(float((a * b).sum()) / scale)


def test_single_value_has_no_correlation() -> None:
    one = np.array([1.0])
    assert stats.spearman(one, one) is None
    assert stats.kendall(one, one) is None


def interval(clusters: list[str], values: np.ndarray, **kwargs: int) -> stats.Interval:
    return stats.cluster_bootstrap(
        lambda rows: float(values[rows].mean()),
        clusters,
        resamples=kwargs.get("resamples", 2000),
        rng=np.random.default_rng(0),
    )


def test_interval_of_a_mean_is_near_the_normal_one() -> None:
    values = np.random.default_rng(1).normal(size=400)
    low, high = interval([str(i) for i in range(400)], values)
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.02)
    assert high == pytest.approx(values.mean() + half, abs=0.02)


def test_clustered_rows_widen_the_interval() -> None:
    # 20 clusters of 20 equal rows hold as much as 20 rows: the interval is sqrt(20) times wider.
    values = np.repeat(np.random.default_rng(2).normal(size=20), 20)
    apart = interval([str(i) for i in range(400)], values)
    together = interval([str(i // 20) for i in range(400)], values)
    ratio = (together.high - together.low) / (apart.high - apart.low)
    assert ratio == pytest.approx(np.sqrt(20), rel=0.15)


def test_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(3).normal(size=50)
    clusters = [str(i) for i in range(50)]
    assert interval(clusters, values) == interval(clusters, values)


def test_statistic_that_is_mostly_undefined_has_no_interval() -> None:
    found = stats.cluster_bootstrap(
        lambda _: None, ["a", "b"], resamples=10, rng=np.random.default_rng(0)
    )
    assert found == stats.Interval(None, None)


def test_kendall_without_scipy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(DependencyError, match=r"crscore\[validate\]"):
        stats.kendall(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
