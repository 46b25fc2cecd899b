"""How long a run puts up with a host that is busy, slow or broken.

All waits of a run come out of one budget of seconds, and so does the time that failed tries took:
what the host asks for is done when the budget allows it, and refused at once when it does not.
"""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenacity import RetryCallState

    from crscore.errors import HostError

T = TypeVar("T")

FIRST_PAUSE_S = 1.0
"""Wait after the first failure that came without a word about waiting; doubles each time."""
LONGEST_PAUSE_S = 30.0
"""Most of such a wait."""


class TryAgainError(Exception):
    """A try failed in a way that another one may not.

    Args:
        error: What to raise when there is no other try.
        wait_s: Seconds that the host asks to wait; None when it does not say.
        doubles: True when the wait doubles with each try, because the host left it to us.
        why: The reason to wait, as people read it.
    """

    def __init__(
        self, error: HostError, *, wait_s: float | None = None, doubles: bool = False, why: str = ""
    ) -> None:
        super().__init__(error)
        self.error = error
        self.wait_s = wait_s
        self.doubles = doubles
        self.why = why or error.reason


class Patience:
    """The budget of one run, shared by all that it asks for. For one thread.

    Args:
        budget_s: Seconds that waits and failed tries may take together.
        sleep: Waits so many seconds.
        now: Seconds since 1970, the clock in which a host says when its limits end.
        tries: Most tries of one request, the first one included; at least 1.
        chance: Draws from [0, 1); spreads the waits of runs that failed together.
    """

    def __init__(
        self,
        *,
        budget_s: float = 300.0,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        tries: int = 5,
        chance: Callable[[], float] | None = None,
    ) -> None:
        self.now = now
        self.tries = tries
        self.left_s = budget_s
        self.waited_s = 0.0
        self._sleep = sleep
        self._chance = chance if chance is not None else Random().random

    def pause(self, seconds: float) -> None:
        """Wait out of courtesy, which costs nothing of the budget."""
        if seconds > 0:
            self.waited_s += seconds
            self._sleep(seconds)

    def keep_trying(self, attempt: Callable[[], T], say: Callable[[str], None]) -> T:
        """Call `attempt` until it gives a value, within the tries and the budget.

        Args:
            attempt: Raises `TryAgainError` when it is worth another try.
            say: Takes one line before each wait.

        Returns:
            What `attempt` returned.

        Raises:
            HostError: The last try's, when there is no other one.
        """
        from tenacity import Retrying, retry_if_exception_type  # noqa: PLC0415

        retrying = Retrying(
            retry=retry_if_exception_type(TryAgainError),
            wait=self._wait,
            stop=self._is_enough,
            before_sleep=lambda state: self._before(state, say),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            value: T = retrying(self._timed, attempt)
            return value
        except TryAgainError as again:
            raise again.error from again.__cause__

    def _timed(self, attempt: Callable[[], T]) -> T:
        start = self.now()
        try:
            return attempt()
        except TryAgainError:
            # A clock that is set back gives nothing back.
            self.left_s -= max(self.now() - start, 0.0)
            raise

    def _wait(self, state: RetryCallState) -> float:
        again = _failure(state)
        doubled = 2.0 ** (state.attempt_number - 1)
        if again.wait_s is None:
            # Half of it is by chance, so that runs that failed together do not come back together.
            pause = min(FIRST_PAUSE_S * doubled, LONGEST_PAUSE_S)
            return pause * (0.5 + 0.5 * self._chance())
        return again.wait_s * doubled if again.doubles else again.wait_s

    def _is_enough(self, state: RetryCallState) -> bool:
        return state.attempt_number >= self.tries or state.upcoming_sleep > self.left_s

    def _before(self, state: RetryCallState, say: Callable[[str], None]) -> None:
        seconds = state.upcoming_sleep
        self.left_s -= seconds
        self.waited_s += seconds
        again = _failure(state)
        who = "GitHub asks to wait" if again.wait_s is not None else "trying again in"
        say(f"{who} {seconds:.0f} s ({again.why})")


def _failure(state: RetryCallState) -> TryAgainError:
    failure = state.outcome.exception() if state.outcome is not None else None
    if not isinstance(failure, TryAgainError):
        raise TypeError(failure)
    return failure
