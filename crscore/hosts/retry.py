"""Retries within one time budget.

All waits of a run and the time of failed tries count against the budget. A wait that the host
requests is made when the budget allows it; otherwise the request fails at once.
"""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from crscore.errors import HostError

T = TypeVar("T")

FIRST_WAIT_S = 1.0
"""Wait in seconds after the first failure when the host requests none; doubles each time."""
MAX_WAIT_S = 30.0
"""Longest of these waits, in seconds."""


class TryAgainError(Exception):
    """Raised when a try failed but another one may succeed.

    Args:
        error: Error to raise when there is no other try.
        wait_s: Seconds that the host requests to wait; None when it requests none.
        doubles: True when the wait doubles with each try, because the host requested none.
        cause: Reason to wait, for people; the error's when empty.
    """

    def __init__(
        self,
        error: HostError,
        *,
        wait_s: float | None = None,
        doubles: bool = False,
        cause: str = "",
    ) -> None:
        super().__init__(error)
        self.error = error
        self.wait_s = wait_s
        self.doubles = doubles
        self.cause = cause or error.reason


class RetryBudget:
    """Time and tries shared by the requests of one run. Not thread-safe.

    Args:
        budget_s: Seconds that waits and failed tries may take together.
        sleep: Waits so many seconds.
        now: Seconds since 1970, the clock that hosts use for their limits.
        tries: Maximum tries of one request, including the first; at least 1.
        chance: Draws from [0, 1); spreads the waits of runs that failed together.
    """

    def __init__(
        self,
        *,
        budget_s: float = 300.0,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        tries: int = 5,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.now = now
        self.left_s = budget_s
        self.waited_s = 0.0
        self._sleep = sleep
        self._tries = tries
        self._chance = chance

    def retry(self, attempt: Callable[[], T], report: Callable[[str], None]) -> T:
        """Call `attempt` until it returns, within the tries and the budget.

        Args:
            attempt: Raises `TryAgainError` when another try may succeed.
            report: Called with one line before each wait.

        Returns:
            What `attempt` returned.

        Raises:
            HostError: The error of the last try.
        """
        number = 0
        while True:
            number += 1
            start = self.now()
            try:
                return attempt()
            except TryAgainError as again:
                # A clock that is set back refunds nothing.
                self.left_s -= max(self.now() - start, 0.0)
                wait_s = self._wait_after(again, number)
                if number >= self._tries or wait_s > self.left_s:
                    raise again.error from again.__cause__
                prefix = "trying again in" if again.wait_s is None else "the host asks to wait"
                report(f"{prefix} {wait_s:.0f} s ({again.cause})")
            self.left_s -= wait_s
            self.waited_s += wait_s
            self._sleep(wait_s)

    def _wait_after(self, again: TryAgainError, number: int) -> float:
        doubled = 2.0 ** (number - 1)
        if again.wait_s is None:
            # Half of it is random, so that runs that failed together do not retry together.
            return min(FIRST_WAIT_S * doubled, MAX_WAIT_S) * (0.5 + 0.5 * self._chance())
        return again.wait_s * doubled if again.doubles else again.wait_s
