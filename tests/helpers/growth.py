"""Growth of time with the size of an input: a ratio, which holds on any machine."""

import time
from collections.abc import Callable


def growth(prepare: Callable[[int], Callable[[], object]], size: int) -> float:
    """Return how many times longer twice the size takes.

    Args:
        prepare: Gets a size and returns the work to be measured.
        size: The smaller one; its work should take some milliseconds.
    """
    small, large = prepare(size), prepare(2 * size)
    rounds = [(_seconds(small), _seconds(large)) for _ in range(4)]
    return min(two for _, two in rounds) / min(one for one, _ in rounds)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
