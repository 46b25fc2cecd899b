"""Budget of a run: the CPU time that one change may take.

The clock is read between units of work (a file, a comment, a batch of texts). A single unit that
exceeds the budget is interrupted where the system supports it. The caller sets aside what does not
fit, with a note.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, TypeVar

_Value = TypeVar("_Value")
_AGAIN_S: Final = 0.5
"""CPU seconds after which a unit that is still running is interrupted again."""


class OutOfTimeError(BaseException):
    """A unit of work was interrupted; never leaves `Budget.run`.

    Not an `Exception`, so that no handler inside of the unit takes it for a fault of the input.
    """


class Budget:
    """CPU seconds that this process may use from now on, all threads together.

    Args:
        seconds: The limit; None for none.
        clock: Clock of CPU seconds.
    """

    def __init__(
        self, seconds: float | None = None, *, clock: Callable[[], float] = time.process_time
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._began = clock()

    @property
    def left(self) -> float | None:
        """Remaining seconds, at least 0; None without a limit."""
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - (self._clock() - self._began))

    @property
    def is_spent(self) -> bool:
        """Whether no time remains."""
        return self.left == 0.0

    @property
    def reason(self) -> str:
        """Why something was set aside, a clause."""
        return f"the time_limit of {self.seconds:g} s of CPU time was reached"

    def run(self, work: Callable[[], _Value]) -> _Value | None:
        """Run a unit of work, and interrupt it when the budget is spent.

        Only the main thread of a POSIX system can be interrupted; elsewhere the unit runs to its
        end. Work in C is interrupted when it returns to Python.

        Args:
            work: The unit; it never returns None.

        Returns:
            The unit's result; None if it was interrupted or the budget was already spent.
        """
        left = self.left
        is_main = threading.current_thread() is threading.main_thread()
        if left is None or not hasattr(signal, "setitimer") or not is_main:
            return work()
        inside = True

        def stop(_number: int, _frame: FrameType | None) -> None:
            if inside:
                # Re-arm the timer: Python swallows exceptions raised in a `__del__`.
                signal.setitimer(signal.ITIMER_PROF, _AGAIN_S)
                raise OutOfTimeError

        before = signal.signal(signal.SIGPROF, stop)
        try:
            try:
                signal.setitimer(signal.ITIMER_PROF, max(left, 0.001))
                return work()
            finally:
                inside = False
        except OutOfTimeError:
            inside = False
            return None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
