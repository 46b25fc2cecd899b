"""Budget of a run: the CPU time that one change may take.

The time is asked for between units of work (a file, a comment, a batch of texts), and a single unit
that outlasts it is interrupted where the system can do that. What does not fit is set aside by the
caller, with a note.
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
"""CPU seconds after which a unit that goes on is interrupted again."""


class OutOfTimeError(BaseException):
    """A unit of work was interrupted; never leaves `Budget.run`.

    Not an `Exception`, so that no handler inside of the unit takes it for a fault of the input.
    """


class Budget:
    """CPU seconds of this process, all threads together, from its making on.

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
        """Seconds that are left, at least 0; None without a limit."""
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - (self._clock() - self._began))

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.left == 0.0

    @property
    def reason(self) -> str:
        """Why something was set aside, a clause."""
        return f"the time_limit of {self.seconds:g} s of CPU time was reached"

    def run(self, work: Callable[[], _Value]) -> _Value | None:
        """Run a unit of work, and interrupt it when the time is over.

        Only the main thread of a POSIX system can be interrupted; elsewhere the unit runs to its
        end. Work in C is interrupted when it comes back to Python.

        Args:
            work: The unit; it never returns None.

        Returns:
            What the unit returns; None if it was interrupted, as one is that begins with nothing
            left.
        """
        left = self.left
        is_main = threading.current_thread() is threading.main_thread()
        if left is None or not hasattr(signal, "setitimer") or not is_main:
            return work()
        inside = True

        def stop(_number: int, _frame: FrameType | None) -> None:
            if inside:
                # Once more, later: Python swallows what is raised in a `__del__`.
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
