from __future__ import annotations

from itertools import combinations

import pytest

from crscore.code.execution.estimator import estimate_pass_at_k, pass_at_k


@pytest.mark.parametrize(("samples", "passed"), [(1, 0), (1, 1), (5, 0), (5, 2), (7, 3), (7, 7)])
def test_estimate_is_the_share_of_draws_with_a_passing_program(samples, passed):
    for k in range(1, samples + 1):
        draws = list(combinations(range(samples), k))
        hits = sum(min(draw) < passed for draw in draws)
        assert estimate_pass_at_k(samples, passed, k) == pytest.approx(hits / len(draws))


def test_k_above_the_samples_of_a_problem_is_left_out():
    assert pass_at_k([(2, 1), (20, 20)], [1, 2, 10]) == {"pass@1": 0.75, "pass@2": 1.0}


def test_problem_without_samples_counts_as_failed():
    assert pass_at_k([(2, 2), (0, 0), (1, 1), (0, 0)], [1, 2]) == {"pass@1": 0.5}


def test_no_problem_has_no_estimate():
    assert pass_at_k([], [1]) == {}
