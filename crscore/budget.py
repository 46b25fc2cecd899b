"""Budget of a run: the CPU time that one change may take.

The clock is read between units of work (a file, a comment, a batch of texts). A single unit that
exceeds the budget is interrupted where the system supports it. The caller sets aside the units that
exceed the budget, with a note.
"""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, TypeVar

_Value = TypeVar("_Value")
_REPEAT_INTERRUPT_S: Final = 0.5
"""CPU seconds after which a unit that is still running is interrupted again."""


class OutOfTimeError(BaseException):
    """A unit of work was interrupted; never leaves `Budget.run`.

    Not an `Exception`, so that no handler within the unit mistakes it for an error in the input.
    """


class Budget:
    """CPU seconds that this process may use from now on, all threads together.

    Args:
        seconds: The limit; None for no limit.
        clock: Function that returns CPU seconds.
    """

    def __init__(
        self, seconds: float | None = None, *, clock: Callable[[], float] = time.process_time
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._start = clock()

    @property
    def left(self) -> float | None:
        """Remaining seconds, at least 0; None without a limit."""
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - (self._clock() - self._start))

    @property
    def is_spent(self) -> bool:
        """Whether no time remains."""
        return self.left == 0.0

    @property
    def reason(self) -> str:
        """Why units were set aside, as a clause."""
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
        is_running = True

        def stop(_signal_number: int, _frame: FrameType | None) -> None:
            if is_running:
                # Re-arm the timer: Python swallows exceptions raised in a `__del__`.
                signal.setitimer(signal.ITIMER_PROF, _REPEAT_INTERRUPT_S)
                raise OutOfTimeError

        previous_handler = signal.signal(signal.SIGPROF, stop)
        try:
            try:
                # At least a millisecond: 0 would disable the timer.
                signal.setitimer(signal.ITIMER_PROF, max(left, 0.001))
                return work()
            finally:
                is_running = False
        except OutOfTimeError:
            # Again: the signal may have arrived before the assignment above.
            is_running = False
            return None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, previous_handler)
