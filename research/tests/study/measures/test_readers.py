"""Baselines that readers are compared with."""

import numpy as np
import pytest

from crscore_lab.statistics import resampled
from crscore_lab.study.measures.readers import predict_held_out, weigh_words


def test_texts_with_the_same_words_have_the_same_vector() -> None:
    same, again, other, blank = weigh_words(["Is `x` set?", "is X set", "Rename it.", "?"])
    assert same @ again == pytest.approx(1)
    assert same @ other == pytest.approx(0)
    assert not blank.any()


def test_baseline_predicts_other_groups() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(200, 5))
    targets = (matrix[:, 0] > 0).astype(float)
    groups = np.repeat([f"g{at}" for at in range(40)], 5)
    predicted = predict_held_out(matrix, targets, groups, seed=0)
    assert resampled.auc(predicted, targets == 1, np.ones((1, 200)))[0] > 0.95


def test_baseline_is_not_trained_on_the_group_that_it_predicts() -> None:
    # Every group has a column of its own, and rows of one target.
    groups = np.repeat([f"g{at}" for at in range(20)], 4)
    matrix = np.repeat(np.eye(20), 4, axis=0)
    targets = np.repeat(np.arange(20) % 2, 4).astype(float)
    predicted = predict_held_out(matrix, targets, groups, seed=0)
    for target in (0, 1):
        assert np.ptp(predicted[targets == target]) < 0.05


def test_uninformative_baseline_has_an_auc_near_one_half() -> None:
    rng = np.random.default_rng(1)
    aucs = []
    for seed in range(60):
        targets = rng.permutation(np.arange(40) % 2).astype(float)
        groups = np.array([f"g{at}" for at in range(40)])
        predicted = predict_held_out(rng.normal(size=(40, 3)), targets, groups, seed=seed)
        aucs.append(resampled.auc(predicted, targets == 1, np.ones((1, 40)))[0])
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.04)


def test_prediction_is_0_without_enough_groups_or_a_target() -> None:
    matrix, targets = np.eye(6), np.array([0.0, 1, 0, 1, 0, 1])
    assert not predict_held_out(matrix, targets, np.array([*"aabbcc"]), seed=0).any()
    targets[2] = np.nan
    assert predict_held_out(matrix, targets, np.array([*"abcdef"]), seed=0)[2] == 0
