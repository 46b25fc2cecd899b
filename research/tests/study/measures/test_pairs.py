from itertools import combinations

import numpy as np
import pytest

from crscore_lab.study.measures.pairs import SameDiff, compare_pairs, tally
from tests.helpers import measured as helper
from tests.helpers.slow_bootstrap import interval_of_rows

# Change a: 5 > 3 > 1 for people; the metric ties the first two. Change b: people tie two.
HUMAN = [5, 3, 1, 2, 2, 4]
VALUES = [0.5, 0.5, 0.1, 0.9, 0.1, 0.5]
CHANGES = ["a", "a", "a", "b", "b", "b"]
SYSTEMS = ["x", "y", "w", "x", "z", "y"]


def found(values: object = VALUES) -> list[SameDiff]:
    rows = [
        helper.row(change, system, (float(human),) * 3)
        for change, system, human in zip(CHANGES, SYSTEMS, HUMAN, strict=True)
    ]
    measured = helper.measured(rows, helper.metric(values))
    return list(compare_pairs(measured))


def test_accuracy_is_the_hand_count() -> None:
    # a: (5,3) tie 1/2, (5,1) right, (3,1) right; b: (2,2) left out, (2,4) with 0.9 against 0.5
    # wrong, (2,4) with 0.1 against 0.5 right. 3.5 of 5.
    row = next(row for row in found() if row.dimension == "relevance")
    assert (row.n, row.accuracy) == (5, pytest.approx(0.7))


def test_pairs_across_changes_are_none() -> None:
    assert tally(np.arange(3.0), np.arange(3.0), ["a", "b", "c"]).changes == ()


def test_metric_turned_around_is_wrong_where_it_was_right() -> None:
    turned = found(values=[-v for v in VALUES])
    for mine, theirs in zip(found(), turned, strict=True):
        assert mine.accuracy + theirs.accuracy == pytest.approx(1)


def test_pair_of_equal_ratings_is_not_counted() -> None:
    found = tally(np.array([1.0, 2.0]), np.array([3.0, 3.0]), ["a", "a"])
    assert (found.changes, found.right.tolist(), found.counted.tolist()) == (("a",), [0.0], [0.0])


def test_study_without_a_pair_has_no_accuracy() -> None:
    measured = helper.measured([helper.row("a", "x")], helper.metric([0.5]))
    row = compare_pairs(measured)[0]
    assert (row.n, row.accuracy) == (0, None)


def test_interval_is_that_of_the_plain_bootstrap() -> None:
    rng = np.random.default_rng(3)
    changes = [str(i // 5) for i in range(60)]
    human = rng.integers(1, 6, 60).astype(float)
    values = human + rng.normal(0, 2, 60)
    fast = tally(values, human, changes)
    low, high = np.quantile(fast.sample(resamples=100, seed=0), [0.025, 0.975])
    pairs = [pair for pair in combinations(range(60), 2) if changes[pair[0]] == changes[pair[1]]]
    order, metric = (
        np.array([np.sign(column[i] - column[j]) for i, j in pairs]) for column in (human, values)
    )
    right, counted = (1 + order * metric) / 2 * np.abs(order), np.abs(order)
    slow = interval_of_rows(
        lambda drawn: right[drawn].sum() / counted[drawn].sum(),
        [changes[i] for i, _ in pairs],
        resamples=100,
        seed=0,
    )
    assert (low, high) == pytest.approx(slow)
    assert low < fast.accuracy < high
