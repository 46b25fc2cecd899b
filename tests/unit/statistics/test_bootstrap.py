import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from crscore.statistics import bootstrap, correlation

CLUSTERS = ["a", "a", "b", "c", "c", "c", "d"]
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=25
)


def weights(resamples: int = 40, seed: int = 0) -> np.ndarray:
    return np.concatenate(list(bootstrap.blocks(CLUSTERS, resamples=resamples, seed=seed)))


def test_draw_takes_whole_clusters_and_as_many_as_there_are() -> None:
    drawn = weights()
    assert drawn.shape == (40, 7)
    assert (drawn[:, 0] == drawn[:, 1]).all()
    assert (drawn[:, 3] == drawn[:, 5]).all()
    assert (drawn[:, [0, 2, 3, 6]].sum(axis=1) == 4).all()


def test_size_of_a_block_changes_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = weights()
    monkeypatch.setattr(bootstrap, "MAX_CELLS", 21)
    assert next(iter(bootstrap.blocks(CLUSTERS, resamples=40, seed=0))).shape == (3, 7)
    assert (weights() == whole).all()


def test_draws_are_those_of_the_plain_bootstrap() -> None:
    rng = np.random.default_rng(4)
    members = [[0, 1], [2], [3, 4, 5], [6]]
    expected = np.zeros((10, 7))
    for draw in range(10):
        for cluster in rng.integers(0, 4, 4):
            expected[draw, members[cluster]] += 1
    assert (weights(10, seed=4) == expected).all()


@given(ROWS)
def test_spearman_of_a_draw_is_that_of_its_rows_written_out(rows) -> None:
    first, second, counts = np.array(rows, dtype=float).T
    drawn = np.repeat(np.arange(len(rows)), counts.astype(int))
    found = bootstrap.spearman(
        bootstrap.ranked(first, counts[None, :]), bootstrap.ranked(second, counts[None, :])
    )
    written_out = correlation.spearman(first[drawn], second[drawn])
    assert found.defined.tolist() == [written_out is not None]
    assert found.values[0] == pytest.approx(written_out or 0.0)


def test_centred_ranks_are_scipys() -> None:
    values = np.array([3.0, 1.0, 3.0, 2.0])
    found = bootstrap.ranked(values, np.ones((1, 4))).centred[0]
    assert found.tolist() == (scipy.stats.rankdata(values) - 2.5).tolist()


def test_mean_of_groups_leaves_out_the_absent_and_counts_the_constant_as_zero() -> None:
    first = bootstrap.Draws(np.array([0.5, 0.5, 0.0]), np.array([True, True, False]))
    second = bootstrap.Draws(np.array([0.3, 0.0, 0.0]), np.array([True, False, False]))
    yes, no = np.array([True, True, False]), np.array([True, False, False])
    found = bootstrap.mean_of_groups([first, second], [yes, no])
    assert found.values.tolist() == pytest.approx([0.4, 0.5, 0.0])
    assert found.defined.tolist() == [True, True, False]
    constant = bootstrap.mean_of_groups([first, second], [yes, yes])
    assert constant.values.tolist() == pytest.approx([0.4, 0.25, 0.0])


def test_ratio_of_nothing_is_undefined() -> None:
    found = bootstrap.ratio(
        np.array([1.0, 0.0]), np.array([2.0, 0.0]), np.array([[1.0, 1.0], [0.0, 3.0]])
    )
    assert found.values.tolist() == [0.5, 0.0]
    assert found.defined.tolist() == [True, False]
    assert found.kept().tolist() == [0.5]


def test_no_block_joins_to_no_draw() -> None:
    assert bootstrap.join([]).kept().shape == (0,)
