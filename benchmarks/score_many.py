"""Measure CPU time and memory of `Scorer.score_many` on many pairs of a diff and a review.

    python benchmarks/score_many.py [--pairs N] [--revision int8]

The pairs are made from the shipped example by renaming its identifiers, so that every diff and
every review differs. Three numbers of pairs are measured, each in a new process, so that its peak
memory is known. The CPU time is also given relative to that of the networks.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crscore import Scorer
from crscore.encoders.minilm import MiniLM

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = ("timeout", "charge", "refund", "customerId", "cartTotal", "discount", "attempt", "order")


class Measured(NamedTuple):
    pairs: int
    seconds: float
    """CPU seconds of all threads."""
    encoding: float
    """CPU seconds in the encoder."""
    reading: float
    """CPU seconds in the network that reads reviews."""
    peak_mib: float
    """Peak memory in MiB."""


def pairs(count: int) -> list[tuple[str, str]]:
    diff = (EXAMPLES / "change.diff").read_text(encoding="utf-8")
    review = (EXAMPLES / "review.md").read_text(encoding="utf-8")
    pattern = re.compile(rf"\b({'|'.join(NAMES)})\b")

    def rename(text: str, number: int) -> str:
        return pattern.sub(lambda match: f"{match[0]}{number}", text)

    return [(rename(diff, number), rename(review, number)) for number in range(count)]


def measure_calls(method: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    """Wrap a method so that it adds its CPU time to `seconds`."""

    def run(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        result = method(*arguments, **options)
        seconds.append(time.process_time() - start)
        return result

    return run


def measure(count: int, revision: str | None) -> Measured:
    scorer = Scorer(analyzers="none", revision=revision)
    scorer.score_many(pairs(1))  # loads the models
    encoding: list[float] = []
    reading: list[float] = []
    MiniLM.encode = measure_calls(MiniLM.encode, encoding)
    MiniLM.tuned_means = measure_calls(MiniLM.tuned_means, reading)
    work = pairs(count + 1)[1:]
    start = time.process_time()
    scorer.score_many(work)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(count, seconds, sum(encoding), sum(reading), peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--revision", help="int8: the encoder in 8-bit integers")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    print("pairs  CPU seconds  relative to: the encoder  both networks  peak memory")
    for count in (options.pairs // 4, options.pairs // 2, options.pairs):
        with context.Pool(1) as pool:
            row = pool.apply(measure, (count, options.revision))
        print(
            f"{row.pairs:5d}  {row.seconds:11.1f}  {row.seconds / row.encoding:24.2f}"
            f"  {row.seconds / (row.encoding + row.reading):13.2f}  {row.peak_mib:7.0f} MiB"
        )


if __name__ == "__main__":
    main()
