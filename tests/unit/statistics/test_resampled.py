from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.statistics import bootstrap, ranks, resampled

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


def test_means_leave_out_rows_without_a_value() -> None:
    values = np.array([[1.0, NAN], [3.0, 5.0]])
    weights = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 0.0]])

    np.testing.assert_array_equal(
        resampled.means(values, weights), [[2.0, 5.0], [1.5, 5.0], [1.0, NAN]]
    )


def test_strata_weigh_as_their_rows() -> None:
    # Stratum 0: 8 - 2 = 6 with three values; stratum 1: 5 - 4 = 1 with two; stratum 2 has only
    # the first and does not count: (6 * 3 + 1 * 2) / 5 = 4.
    first = np.array([8.0, NAN, NAN, 5.0, NAN, 90.0])
    second = np.array([NAN, 1.0, 3.0, NAN, 4.0, NAN])
    strata = np.array([0, 0, 0, 1, 1, 2])

    difference = resampled.stratified_difference(first, second, strata, np.ones((1, 6)))

    assert difference.tolist() == [4.0]


def test_strata_without_both_have_no_difference() -> None:
    difference = resampled.stratified_difference(
        np.array([1.0, NAN]), np.array([NAN, 2.0]), np.array([0, 1]), np.ones((1, 2))
    )

    assert np.isnan(difference).all()


def test_resampled_score_equals_sacrebleu_on_the_drawn_lines() -> None:
    pairs = [(f"f ( x{n} , {n} )", f"f ( x{n} , y )") for n in range(6)]
    metric = metrics.make("bleu", tokens="whitespace")
    rows = metric.statistics([Sample(candidate=a, references=(b,)) for a, b in pairs])
    weights = bootstrap.weight_matrix(6, resamples=3, seed=1)
    drawn = resampled.corpus_scores(rows[None], metric.corpus_scores, weights)[0]

    for score, times in zip(drawn, weights.astype(int), strict=True):
        lines = [pair for pair, n in zip(pairs, times, strict=True) for _ in range(n)]
        expected = BLEU(tokenize="none").corpus_score(
            [a for a, _ in lines], [[b for _, b in lines]]
        )
        assert score == pytest.approx(expected.score / 100)
