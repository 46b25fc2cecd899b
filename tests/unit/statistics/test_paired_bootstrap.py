from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.statistics import paired_bootstrap
from crscore.statistics.paired_bootstrap import Wins


def test_counts_are_draws_with_replacement() -> None:
    counts = paired_bootstrap.draw_counts(7, resamples=50, seed=3)

    assert counts.shape == (50, 7)
    assert (counts.sum(axis=1) == 7).all()
    assert counts.tolist() == paired_bootstrap.draw_counts(7, resamples=50, seed=3).tolist()


def test_resampled_score_equals_sacrebleu_on_the_drawn_lines() -> None:
    pairs = [(f"f ( x{n} , {n} )", f"f ( x{n} , y )") for n in range(6)]
    metric = metrics.make("bleu", tokens="whitespace")
    rows = metric.statistics([Sample(candidate=a, references=(b,)) for a, b in pairs])
    counts = paired_bootstrap.draw_counts(6, resamples=3, seed=1)
    drawn = paired_bootstrap.resample(rows[None], metric.corpus_scores, counts)[0]

    for score, times in zip(drawn, counts.astype(int), strict=True):
        lines = [pair for pair, n in zip(pairs, times, strict=True) for _ in range(n)]
        expected = BLEU(tokenize="none").corpus_score(
            [a for a, _ in lines], [[b for _, b in lines]]
        )
        assert score == pytest.approx(expected.score / 100)


@pytest.mark.parametrize(
    ("wins", "needed", "better"),
    [
        (Wins(0.95, 0.05), 0.95, 1),  # not significant iff 0.05 < share < 0.95
        (Wins(0.949, 0.051), 0.95, 0),
        (Wins(0.05, 0.95), 0.95, -1),
        (Wins(0.96, 0.04), 0.975, 0),
        (Wins(0.0, 0.0), 0.95, 0),
    ],
)
def test_significance_follows_the_share_of_wins(wins: Wins, needed: float, better: int) -> None:
    assert wins.better(needed) == better


def test_equal_scores_are_no_wins() -> None:
    found = paired_bootstrap.wins(np.array([1.0, 2.0, 3.0, 0.0]), np.array([1.0, 1.0, 4.0, 0.0]))

    assert found == (0.25, 0.25)


def test_interval_is_the_middle_95_percent() -> None:
    assert paired_bootstrap.interval(np.arange(1001.0)) == (25.0, 975.0)
