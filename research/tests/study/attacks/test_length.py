from functools import partial

import numpy as np
import pytest
import scipy.stats

from crscore_lab.statistics import resampled
from crscore_lab.study.attacks import length
from crscore_lab.study.attacks.length import length_effect

RNG = np.random.default_rng(3)
N = 80
HUMAN = RNG.integers(1, 6, N).astype(float)
WORDS = HUMAN * 5 + RNG.normal(0, 8, N)
VALUES = HUMAN + RNG.normal(0, 1, N) + WORDS / 20


class Column:
    def __init__(self, name: str, values: np.ndarray) -> None:
        self.name = name
        self.values = np.repeat(values[:, None], 3, axis=1)


class Measured:
    """The part of `Measurements` that the effect of length needs."""

    changes = tuple(str(i // 4) for i in range(N))
    human = np.repeat(HUMAN[:, None], 3, axis=1)

    def __init__(self, **columns: np.ndarray) -> None:
        self.metrics = tuple(Column(name, values) for name, values in columns.items())
        self.primary = self.metrics[0]


def partial_spearman(*columns: np.ndarray) -> float | None:
    return resampled.compute_once(partial(length.partial_spearman, columns), N)


def residuals(values: np.ndarray) -> np.ndarray:
    """What is left of the ranks once a straight line through the human ranks is taken off."""
    ranks, human = scipy.stats.rankdata(values), scipy.stats.rankdata(HUMAN)
    line = scipy.stats.linregress(human, ranks)
    return ranks - line.slope * human - line.intercept


def test_partial_correlation_is_that_of_the_residuals() -> None:
    known = scipy.stats.pearsonr(residuals(VALUES), residuals(WORDS)).statistic
    assert partial_spearman(VALUES, WORDS, HUMAN) == pytest.approx(known)


def test_constant_list_has_none() -> None:
    assert partial_spearman(np.zeros(N), WORDS, HUMAN) is None
    assert partial_spearman(VALUES, WORDS, np.ones(N)) is None


def test_metric_that_is_the_human_order_has_none() -> None:
    assert partial_spearman(HUMAN * 2, WORDS, HUMAN) is None


def test_effect_is_of_the_primary_metric() -> None:
    measured = Measured(score=VALUES, words=WORDS, other=HUMAN + RNG.normal(0, 1, N))
    found = length_effect(measured, resamples=100, seed=0)
    assert found.partial == pytest.approx(partial_spearman(VALUES, WORDS, HUMAN))
    assert found.low < found.partial < found.high


def test_no_draws_give_no_interval() -> None:
    found = length_effect(Measured(score=VALUES, words=WORDS), resamples=0, seed=0)
    assert (found.low, found.high) == (None, None)


def test_headline_has_its_own_correlation_where_there_is_one() -> None:
    useful = HUMAN + RNG.normal(0, 1, N)
    named = {"score": VALUES, "words": WORDS, "usefulness (headline)": useful}
    found = length_effect(Measured(**named), resamples=0, seed=0)
    assert found.headline == pytest.approx(partial_spearman(useful, WORDS, HUMAN))
    assert length_effect(Measured(score=VALUES, words=WORDS), resamples=0, seed=0).headline is None
