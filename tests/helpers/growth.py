"""Growth of time with the size of an input: a ratio, which holds on any machine."""

import gc
import time
from collections.abc import Callable


def growth(prepare: Callable[[int], Callable[[], object]], size: int) -> float:
    """Return how many times longer four times the size takes: 4 if linear, 16 if quadratic.

    Args:
        prepare: Gets a size and returns the work to be measured.
        size: The smaller one; its work should take some milliseconds.
    """
    small, large = prepare(size), prepare(4 * size)
    rounds = [(_seconds(small), _seconds(large)) for _ in range(4)]
    # Below two milliseconds the clock's noise would be measured.
    return min(four for _, four in rounds) / max(min(quick for quick, _ in rounds), 0.002)


def _seconds(work: Callable[[], object]) -> float:
    gc.disable()  # a collection looks at all that the other tests keep
    try:
        started = time.process_time()
        work()
        return time.process_time() - started
    finally:
        gc.enable()
