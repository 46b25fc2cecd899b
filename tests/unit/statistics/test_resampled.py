from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.statistics import bootstrap, resampled

NAN = np.nan


def test_means_leave_out_rows_without_a_value() -> None:
    values = np.array([[1.0, NAN], [3.0, 5.0]])
    weights = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 0.0]])

    np.testing.assert_array_equal(
        resampled.means(values, weights), [[2.0, 5.0], [1.5, 5.0], [1.0, NAN]]
    )


def test_strata_are_weighted_by_their_rows() -> None:
    # The difference is 8 - 2 = 6 in stratum 0, with three values, and 5 - 4 = 1 in stratum 1, with
    # two values. Stratum 2 has only the first side and does not count: (6 * 3 + 1 * 2) / 5 = 4.
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
