import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import DependencyError
from crscore.statistics import correlation

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=40)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(pairs, dtype=np.float64)
    return table[:, 0], table[:, 1]


@given(PAIRS)
def test_ranks_equal_scipys(pairs: list[tuple[int, int]]) -> None:
    first, _ = columns(pairs)
    assert correlation.ranks(first).tolist() == scipy.stats.rankdata(first).tolist()


@given(PAIRS)
def test_spearman_equals_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = columns(pairs)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert correlation.spearman(first, second) is None
    else:
        expected = scipy.stats.spearmanr(first, second).statistic
        assert correlation.spearman(first, second) == pytest.approx(expected)


@given(PAIRS)
def test_kendall_equals_the_count_of_pairs(pairs: list[tuple[int, int]]) -> None:
    first, second = columns(pairs)
    a = np.sign(first[:, None] - first[None, :])
    b = np.sign(second[:, None] - second[None, :])
    scale = np.sqrt(float((a * a).sum()) * float((b * b).sum()))
    if scale == 0:
        assert correlation.kendall(first, second) is None
    else:
        assert correlation.kendall(first, second) == pytest.approx(float((a * b).sum()) / scale)


def test_single_value_has_no_correlation() -> None:
    one = np.array([1.0])
    assert correlation.spearman(one, one) is None
    assert correlation.kendall(one, one) is None


def interval(clusters: list[str], values: np.ndarray, **kwargs: int) -> correlation.Interval:
    return correlation.cluster_bootstrap(
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
    found = correlation.cluster_bootstrap(
        lambda _: None, ["a", "b"], resamples=10, rng=np.random.default_rng(0)
    )
    assert found == correlation.Interval(None, None)


def test_kendall_without_scipy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(DependencyError, match=r"crscore\[validate\]"):
        correlation.kendall(np.array([1.0, 2.0]), np.array([1.0, 2.0]))


def judged(value: float | None, drawn: list[float], **kwargs) -> correlation.Verdict:
    options = {"resamples": len(drawn), "clusters": 10, "correlation": False} | kwargs
    return correlation.verdict(value, np.array(drawn), **options)


def test_verdict_is_percentiles_and_students_t() -> None:
    drawn = np.random.default_rng(6).normal(0.3, 0.1, 500)
    found = judged(0.3, drawn.tolist())
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]))
    assert found.error == pytest.approx(drawn.std())
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(0.3 / drawn.std(), 9))


def test_p_of_a_correlation_is_on_fishers_scale() -> None:
    drawn = np.tanh(np.random.default_rng(7).normal(1.2, 0.2, 500))
    z = np.arctanh(0.8) / np.arctanh(drawn).std()
    found = judged(0.8, drawn.tolist(), correlation=True)
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(z, 9))
    assert found.error == pytest.approx(drawn.std())


def test_p_does_not_mind_the_sign() -> None:
    drawn = np.random.default_rng(8).normal(0.2, 0.1, 100)
    assert judged(0.2, drawn.tolist()).p == judged(-0.2, (-drawn).tolist()).p


@pytest.mark.parametrize(("value", "p"), [(0.0, 1.0), (0.5, None)])
def test_value_that_no_draw_changes_has_no_p_unless_it_is_zero(value, p) -> None:
    found = judged(value, [value] * 10)
    assert found == correlation.Verdict(value, value, p, 0.0)


@pytest.mark.parametrize(
    ("value", "drawn", "options"),
    [
        (None, [0.1] * 10, {}),
        (0.1, [0.1] * 10, {"clusters": 1}),
        (0.1, [0.1] * 4, {"resamples": 10}),
        (0.1, [], {"resamples": 0}),
    ],
)
def test_too_little_to_judge_by_is_no_verdict(value, drawn, options) -> None:
    assert judged(value, drawn, **options) == correlation.Verdict(None, None, None, None)


def test_perfect_correlation_has_a_p() -> None:
    assert 0 <= judged(1.0, [1.0, 1.0, 0.9, 0.95] * 5, correlation=True).p < 0.05


def test_single_cluster_has_no_interval() -> None:
    values = np.array([1.0, 2.0, 3.0])
    assert interval(["a", "a", "a"], values) == correlation.Interval(None, None)


def test_clusters_needed_is_the_textbook_size() -> None:
    # z(0.975) + z(0.8) = 1.95996 + 0.84162 = 2.80159; (2.80159 * 0.02 / 0.01)**2 = 31.4 of 205.
    assert correlation.clusters_needed(0.01, 0.02, clusters=205) == 6437
    assert correlation.clusters_needed(-0.01, 0.02, clusters=205) == 6437


def test_no_difference_is_shown_by_no_number_of_clusters() -> None:
    assert correlation.clusters_needed(0.0, 0.02, clusters=205) is None


def test_size_found_by_clusters_needed_has_the_power() -> None:
    # Means of n normal values with deviation 1, the true mean 0.3: 88 values for 80 %.
    n = correlation.clusters_needed(0.3, 1 / np.sqrt(10), clusters=10)
    rng = np.random.default_rng(9)
    seen = np.abs(rng.normal(0.3, 1 / np.sqrt(n), 20_000) * np.sqrt(n)) > 1.95996
    assert n == 88
    assert seen.mean() == pytest.approx(0.8, abs=0.01)
