"""Waits between tries, and the budget that they share."""

import pytest

from crscore.errors import RateLimitedError, UnavailableError
from crscore.hosts.retry import FIRST_WAIT_S, MAX_WAIT_S, RetryBudget, TryAgainError
from tests.helpers.scripted import Clock

BROKEN = UnavailableError("GET /x", "GitHub answers 502")


def _budget(clock: Clock, **options) -> RetryBudget:
    return RetryBudget(sleep=clock.sleep, now=clock.now, chance=lambda: 1.0, **options)


def _failing(*failures: TryAgainError):
    waiting = list(failures)

    def attempt() -> str:
        if waiting:
            raise waiting.pop(0)
        return "done"

    return attempt


def _limit(wait_s: float, *, doubles: bool = False) -> TryAgainError:
    error = RateLimitedError("GET /x", "primary rate limit", wait_s)
    return TryAgainError(error, wait_s=wait_s, doubles=doubles, cause="primary rate limit")


def test_value_of_first_try_costs_nothing() -> None:
    clock = Clock()
    budget = _budget(clock)
    assert budget.retry(_failing(), print) == "done"
    assert (clock.slept, budget.left_s) == ([], 300.0)


def test_waits_double_up_to_a_most() -> None:
    clock = Clock()
    failures = [TryAgainError(BROKEN)] * 8
    assert _budget(clock, tries=9).retry(_failing(*failures), _quiet) == "done"
    assert clock.slept == [1, 2, 4, 8, 16, 30, 30, 30]
    assert max(clock.slept) == MAX_WAIT_S


def test_chance_takes_at_most_half_of_a_wait() -> None:
    clock = Clock()
    budget = RetryBudget(sleep=clock.sleep, now=clock.now, chance=lambda: 0.0)
    budget.retry(_failing(TryAgainError(BROKEN)), _quiet)
    assert clock.slept == [FIRST_WAIT_S / 2]


def test_two_runs_do_not_wait_alike() -> None:
    waits = []
    for _ in range(2):
        clock = Clock()
        budget = RetryBudget(sleep=clock.sleep, now=clock.now)
        budget.retry(_failing(*[TryAgainError(BROKEN)] * 3), _quiet)
        waits.append(clock.slept)
    assert waits[0] != waits[1]


def test_last_try_raises_what_went_wrong() -> None:
    clock = Clock()
    with pytest.raises(UnavailableError) as caught:
        _budget(clock, tries=3).retry(_failing(*[TryAgainError(BROKEN)] * 3), _quiet)
    assert caught.value is BROKEN
    assert len(clock.slept) == 2


def test_one_try_waits_for_nothing() -> None:
    clock = Clock()
    with pytest.raises(UnavailableError):
        _budget(clock, tries=1).retry(_failing(TryAgainError(BROKEN)), _quiet)
    assert clock.slept == []


def test_wait_that_the_host_asks_for_is_kept_to_the_second() -> None:
    clock = Clock()
    _budget(clock).retry(_failing(_limit(12.0), _limit(7.0)), _quiet)
    assert clock.slept == [12.0, 7.0]


def test_wait_that_the_host_left_open_doubles() -> None:
    clock = Clock()
    _budget(clock).retry(_failing(*[_limit(60.0, doubles=True)] * 2), _quiet)
    assert clock.slept == [60.0, 120.0]


def test_wait_beyond_the_budget_is_refused_at_once() -> None:
    clock = Clock()
    with pytest.raises(RateLimitedError) as caught:
        _budget(clock, budget_s=11.9).retry(_failing(_limit(12.0)), _quiet)
    assert clock.slept == []
    assert caught.value.retry_after == 12.0


def test_wait_of_exactly_the_budget_is_made() -> None:
    clock = Clock()
    budget = _budget(clock, budget_s=12.0)
    assert budget.retry(_failing(_limit(12.0)), _quiet) == "done"
    assert budget.left_s == 0.0


def test_budget_is_one_for_all_requests() -> None:
    clock = Clock()
    budget = _budget(clock, budget_s=20.0)
    budget.retry(_failing(_limit(12.0)), _quiet)
    with pytest.raises(RateLimitedError):
        budget.retry(_failing(_limit(12.0)), _quiet)
    assert budget.waited_s == 12.0


def test_time_that_a_failed_try_took_is_spent_too() -> None:
    clock = Clock()
    budget = _budget(clock, budget_s=31.0)

    def attempt() -> None:
        clock.time += 30
        raise TryAgainError(BROKEN)

    with pytest.raises(UnavailableError):
        budget.retry(attempt, _quiet)
    # 30 s of the first try and 1 s of waiting; the second one leaves nothing.
    assert clock.slept == [1.0]


def test_clock_that_is_set_back_gives_nothing_back() -> None:
    clock = Clock()
    budget = _budget(clock)

    def attempt() -> None:
        clock.time -= 1000
        raise TryAgainError(BROKEN)

    with pytest.raises(UnavailableError):
        budget.retry(attempt, _quiet)
    assert budget.left_s == 300.0 - (1 + 2 + 4 + 8)


def test_other_errors_pass_at_once() -> None:
    clock = Clock()

    def attempt() -> None:
        raise BROKEN

    with pytest.raises(UnavailableError):
        _budget(clock).retry(attempt, _quiet)
    assert clock.slept == []


def test_waits_are_said_before_they_are_made() -> None:
    clock = Clock()
    messages: list[str] = []
    failures = _failing(_limit(12.0), TryAgainError(BROKEN))
    _budget(clock).retry(failures, messages.append)
    assert messages == [
        "the host asks to wait 12 s (primary rate limit)",
        "trying again in 2 s (GitHub answers 502)",
    ]


def _quiet(line: str) -> None:
    pass
