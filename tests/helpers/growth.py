"""Growth of time with the size of an input: a ratio, which holds on any machine."""

import gc
import math
import time
from collections.abc import Callable

_MOST_ROUNDS = 16  # a pause of the machine may outlast some
_CLEARLY_LINEAR = 8


def growth(prepare: Callable[[int], Callable[[], object]], size: int) -> float:
    """Return how many times longer four times the size takes: 4 if linear, 16 if quadratic.

    Args:
        prepare: Gets a size and returns the work to be measured.
        size: The smaller one; its work should take some milliseconds.
    """
    small, large = prepare(size), prepare(4 * size)
    best, ratio = (math.inf, math.inf), math.inf
    for count in range(_MOST_ROUNDS):
        best = min(best[0], cpu_seconds(small)), min(best[1], cpu_seconds(large))
        # Below two milliseconds the clock's noise would be measured.
        ratio = best[1] / max(best[0], 0.002)
        if count >= 3 and ratio < _CLEARLY_LINEAR:
            break
    return ratio


def slowness() -> float:
    """Return how many times longer than on an idle machine a piece of work may take now; >= 3.

    For limits in seconds, whose misses would take many times longer. Three, as a crowded host slows
    what needs much memory more than the loop that is measured here.
    """
    return max(3.0, sorted(cpu_seconds(lambda: sum(range(1_000_000))) for _ in range(5))[2] / 0.02)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of a piece of work, with no garbage collected meanwhile."""
    gc.disable()  # a collection looks at all that the other tests keep
    try:
        started = time.process_time()
        work()
        return time.process_time() - started
    finally:
        gc.enable()
