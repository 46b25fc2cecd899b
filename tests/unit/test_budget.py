from __future__ import annotations

import contextlib
import signal
import threading
import time

import pytest

from crscore.budget import Budget, OutOfTimeError
from tests.helpers.growth import slowness


class Clock:
    """Clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_left_counts_down_to_zero_and_no_further() -> None:
    clock = Clock()
    budget = Budget(5, clock=clock)
    assert (budget.left, budget.is_spent) == (5, False)
    clock.now += 4
    assert budget.left == 1
    clock.now += 4
    assert (budget.left, budget.is_spent) == (0, True)
    assert budget.reason == "the time_limit of 5 s of CPU time was reached"


def forever() -> int:
    while True:
        sum(range(1000))


def test_without_a_limit_nothing_is_ever_spent() -> None:
    budget = Budget()
    assert (budget.left, budget.is_spent) == (None, False)
    assert budget.run(lambda: 7) == 7


@pytest.mark.growth
def test_unit_that_outlasts_the_budget_is_interrupted_and_the_rest_goes_on() -> None:
    budget = Budget(0.05)
    began = time.process_time()
    assert budget.run(forever) is None
    assert time.process_time() - began < 2 * slowness()
    assert budget.left is not None
    assert budget.left < 0.02  # the timer's clock and the budget's differ by a tick


def test_unit_that_begins_with_nothing_left_is_interrupted_at_once() -> None:
    clock = Clock()
    budget = Budget(1, clock=clock)
    clock.now += 2
    assert budget.run(forever) is None


def test_interrupt_is_not_taken_for_a_fault_of_the_input() -> None:
    def work() -> int:
        while True:
            with contextlib.suppress(Exception):
                sum(range(100))

    assert Budget(0.01).run(work) is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupt_that_is_swallowed_comes_again() -> None:
    class Swallows:
        def __del__(self) -> None:
            until = time.process_time() + 0.1
            while time.process_time() < until:
                pass

    def work() -> int:
        Swallows()
        return forever()

    assert Budget(0.02).run(work) is None


def test_work_in_c_that_cannot_be_interrupted_leaves_no_timer() -> None:
    for _ in range(20):  # the signal comes in the work, and is seen as it ends
        found = Budget(0.01).run(lambda: len(list(map(hash, range(2_000_000)))))
        assert found in (None, 2_000_000)
        assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_unit_that_fits_leaves_no_timer_and_the_callers_handler() -> None:
    before = signal.getsignal(signal.SIGPROF)
    assert Budget(10).run(lambda: sum(range(1000))) == 499_500
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) is before


def test_fault_of_a_unit_is_the_callers() -> None:
    with pytest.raises(ZeroDivisionError):
        Budget(10).run(lambda: 1 // 0)
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_unit_in_another_thread_runs_to_its_end() -> None:
    found: list[int | None] = []
    thread = threading.Thread(
        target=lambda: found.append(Budget(0.001).run(lambda: len(range(10**6))))
    )
    thread.start()
    thread.join()
    assert found == [10**6]
    assert not issubclass(OutOfTimeError, Exception)
