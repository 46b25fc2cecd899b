from __future__ import annotations

import numpy as np
import pytest
import scipy

from crscore.statistics import bootstrap
from crscore.statistics.intervals import Interval
from crscore.statistics.resampled import means

CLUSTERS = ["a", "a", "b", "c", "c", "c", "d"]


def weights(resamples: int = 40, seed: int = 0) -> np.ndarray:
    return bootstrap.weight_matrix(CLUSTERS, resamples=resamples, seed=seed)


def test_draw_takes_entire_clusters_as_many_as_there_are() -> None:
    drawn = weights()
    assert drawn.shape == (40, 7)
    assert (drawn[:, 0] == drawn[:, 1]).all()
    assert (drawn[:, 3] == drawn[:, 5]).all()
    assert (drawn[:, [0, 2, 3, 6]].sum(axis=1) == 4).all()


def test_size_of_a_block_changes_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = weights()
    monkeypatch.setattr(bootstrap, "MAX_CELLS", 21)
    first = next(iter(bootstrap.draw_weights(CLUSTERS, resamples=40, seed=0)))
    assert first.shape == (3, 7)
    assert (weights() == whole).all()


def test_draws_are_those_of_the_plain_bootstrap() -> None:
    rng = np.random.default_rng(4)
    members = [[0, 1], [2], [3, 4, 5], [6]]
    expected = np.zeros((10, 7))
    for draw in range(10):
        for cluster in rng.integers(0, 4, 4):
            expected[draw, members[cluster]] += 1
    assert (weights(10, seed=4) == expected).all()


def test_rows_without_names_are_clusters_of_their_own() -> None:
    numbered = bootstrap.weight_matrix(["0", "1", "2"], resamples=20, seed=1)
    assert (bootstrap.weight_matrix(3, resamples=20, seed=1) == numbered).all()


def test_without_draws_there_are_no_values() -> None:
    assert bootstrap.resample(np.sum, CLUSTERS, resamples=0, seed=0).shape == (0,)


def interval(clusters: list[str], values: np.ndarray) -> Interval:
    drawn = means(values[:, None], bootstrap.weight_matrix(clusters, resamples=2000, seed=0))
    return bootstrap.percentile_interval(drawn[:, 0], clusters=len(set(clusters)))


def test_interval_of_a_mean_is_near_the_normal_one() -> None:
    values = np.random.default_rng(1).normal(size=400)
    low, high = interval([str(i) for i in range(400)], values)
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.02)
    assert high == pytest.approx(values.mean() + half, abs=0.02)


def test_clustered_rows_widen_the_interval() -> None:
    # 20 clusters of 20 equal rows are as informative as 20 rows, so the interval is sqrt(20) times
    # as wide.
    values = np.repeat(np.random.default_rng(2).normal(size=20), 20)
    apart = interval([str(i) for i in range(400)], values)
    together = interval([str(i // 20) for i in range(400)], values)
    ratio = (together[1] - together[0]) / (apart[1] - apart[0])
    assert ratio == pytest.approx(np.sqrt(20), rel=0.15)


def test_interval_covers_the_true_mean() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for seed in range(200):
        values = rng.normal(50, 20, (60, 1))
        drawn = means(values, bootstrap.weight_matrix(60, resamples=400, seed=seed))
        low, high = bootstrap.percentile_interval(drawn[:, 0], clusters=60)
        covered += low <= 50 <= high

    # 190 are expected, but the percentile interval of 60 values covers a little less than 95 %.
    assert 178 <= covered <= 198


def test_statistic_that_is_mostly_undefined_has_no_interval() -> None:
    drawn = np.array([np.nan] * 6 + [1.0] * 4)
    assert bootstrap.percentile_interval(drawn, clusters=2) == (None, None)


def test_single_cluster_has_no_interval() -> None:
    assert interval(["a", "a", "a"], np.array([1.0, 2.0, 3.0])) == (None, None)


def judged(value: float | None, drawn: list[float], **kwargs) -> tuple:
    options = {"clusters": 10, "is_correlation": False} | kwargs
    return bootstrap.bootstrap_test(value, np.array(drawn), **options)


def test_bootstrap_test_is_percentiles_and_students_t() -> None:
    drawn = np.random.default_rng(6).normal(0.3, 0.1, 500)
    interval, p, error = judged(0.3, [*drawn, np.nan])
    assert interval == pytest.approx(np.quantile(drawn, [0.025, 0.975]))
    assert error == pytest.approx(drawn.std())
    assert p == pytest.approx(2 * scipy.stats.t.sf(0.3 / drawn.std(), 9))


def test_p_of_a_correlation_is_on_fishers_scale() -> None:
    drawn = np.tanh(np.random.default_rng(7).normal(1.2, 0.2, 500))
    z = np.arctanh(0.8) / np.arctanh(drawn).std()
    _, p, error = judged(0.8, drawn.tolist(), is_correlation=True)
    assert p == pytest.approx(2 * scipy.stats.t.sf(z, 9))
    assert error == pytest.approx(drawn.std())


def test_p_does_not_depend_on_the_sign() -> None:
    drawn = np.random.default_rng(8).normal(0.2, 0.1, 100)
    assert judged(0.2, drawn.tolist())[1] == judged(-0.2, (-drawn).tolist())[1]


@pytest.mark.parametrize(("value", "p"), [(0.0, 1.0), (0.5, None)])
def test_value_that_no_draw_changes_has_no_p_unless_it_is_zero(value, p) -> None:
    assert judged(value, [value] * 10) == ((value, value), p, 0.0)


@pytest.mark.parametrize(
    ("value", "drawn", "options"),
    [
        (None, [0.1] * 10, {}),
        (0.1, [0.1] * 10, {"clusters": 1}),
        (0.1, [0.1] * 4 + [np.nan] * 6, {}),
        (0.1, [], {}),
    ],
)
def test_too_few_draws_test_nothing(value, drawn, options) -> None:
    assert judged(value, drawn, **options) == ((None, None), None, None)


def test_perfect_correlation_has_a_p() -> None:
    assert 0 <= judged(1.0, [1.0, 1.0, 0.9, 0.95] * 5, is_correlation=True)[1] < 0.05


def test_clusters_needed_is_the_textbook_size() -> None:
    # z(0.975) + z(0.8) = 1.95996 + 0.84162 = 2.80159; (2.80159 * 0.02 / 0.01)**2 = 31.4 of 205.
    assert bootstrap.clusters_needed(0.01, 0.02, clusters=205) == 6437
    assert bootstrap.clusters_needed(-0.01, 0.02, clusters=205) == 6437


def test_difference_of_zero_has_no_number_of_clusters() -> None:
    assert bootstrap.clusters_needed(0.0, 0.02, clusters=205) is None


def test_size_found_by_clusters_needed_has_the_power() -> None:
    # For normal values with a standard deviation of 1 and a mean of 0.3, 88 values have 80 % power.
    n = bootstrap.clusters_needed(0.3, 1 / np.sqrt(10), clusters=10)
    rng = np.random.default_rng(9)
    is_significant = np.abs(rng.normal(0.3, 1 / np.sqrt(n), 20_000) * np.sqrt(n)) > 1.95996
    assert n == 88
    assert is_significant.mean() == pytest.approx(0.8, abs=0.01)


def test_ranks_of_equals_are_equal_ranges() -> None:
    drawn = np.random.default_rng(2).normal([60, 50, 50, 20], 1, (2_000, 4))

    assert bootstrap.rank_ranges(drawn) == ((1, 1), (2, 3), (2, 3), (4, 4))


def test_rank_of_an_undefined_mean_is_the_last() -> None:
    assert bootstrap.rank_ranges(np.array([[np.nan, 1.0]] * 10)) == ((2, 2), (1, 1))


def test_expanded_interval_is_that_of_students_t() -> None:
    draws = np.random.default_rng(0).normal(0, 1, 400_000)
    low, high = bootstrap.percentile_interval(draws, clusters=10, expanded=True)
    # 2.262, Student's t of 9 degrees of freedom, times the root of 10/9.
    assert (low, high) == pytest.approx((-2.385, 2.385), abs=0.03)
    assert bootstrap.percentile_interval(draws, clusters=1, expanded=True) == (None, None)
