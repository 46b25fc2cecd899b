from __future__ import annotations

import itertools

import numpy as np
import pytest

from crscore.lab.study.code import correlate


def by_definition(scores: list[float], grades: list[float], problems: list[str]) -> float:
    """(C - D) / (C + D + T), pair by pair."""
    agreeing = counted = 0
    for one, two in itertools.combinations(range(len(scores)), 2):
        if problems[one] != problems[two] or grades[one] == grades[two]:
            continue
        counted += 1
        difference = scores[one] - scores[two]
        if abs(difference) >= 0.001:
            agreeing += 1 if (difference > 0) == (grades[one] > grades[two]) else -1
    return agreeing / counted


def test_kendall_equals_its_definition() -> None:
    rng = np.random.default_rng(1)
    scores, grades = rng.random(60).round(2), rng.integers(0, 3, 60).astype(float)
    problems = [f"p{number}" for number in rng.integers(0, 7, 60)]

    assert correlate.kendall(scores, grades, problems) == pytest.approx(
        by_definition(scores.tolist(), grades.tolist(), problems)
    )


def test_scores_less_than_a_thousandth_apart_are_ties() -> None:
    found = correlate.kendall(np.array([0.5, 0.5009]), np.array([0.0, 1.0]), ["a", "a"])

    assert found == 0


def test_no_pair_of_different_grades_gives_none() -> None:
    assert correlate.kendall(np.array([0.1, 0.9, 0.3]), np.ones(3), ["a", "a", "b"]) is None
