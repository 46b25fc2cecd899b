"""`Scorer.score_many` on many (diff, review) pairs: speed, memory, share of encoding, growth.

    python benchmarks/score_many.py [--pairs N]

The pairs are made from the shipped example by renaming its identifiers, so that every diff
and every review differs. Each size runs in a process of its own: peak memory is that run's.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crscore import Scorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = ("timeout", "charge", "refund", "customerId", "cartTotal", "discount", "attempt", "order")


class Timed:
    """An encoder that keeps the time it spends."""

    def __init__(self, inner) -> None:
        self.inner, self.identity, self.seconds, self.texts = inner, inner.identity, 0.0, 0

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        start = time.perf_counter()
        vectors = self.inner.encode(texts)
        self.seconds += time.perf_counter() - start
        self.texts += len(texts)
        return vectors


class Measured(NamedTuple):
    pairs: int
    seconds: float
    encoding: float
    texts: int
    peak_mib: float


def pairs(count: int) -> list[tuple[str, str]]:
    diff = (EXAMPLES / "change.diff").read_text(encoding="utf-8")
    review = (EXAMPLES / "review.md").read_text(encoding="utf-8")
    pattern = re.compile(rf"\b({'|'.join(NAMES)})\b")

    def renamed(text: str, number: int) -> str:
        return pattern.sub(lambda match: f"{match[0]}{number}", text)

    return [(renamed(diff, number), renamed(review, number)) for number in range(count)]


def measure(count: int) -> Measured:
    scorer = Scorer(analyzers="none")
    encoder = Timed(scorer.parts.encoder)
    encoder.encode(["load the model"])
    encoder.seconds, encoder.texts = 0.0, 0
    scorer = Scorer(encoder=encoder, analyzers="none")
    work = pairs(count)
    start = time.perf_counter()
    scorer.score_many(work)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(count, seconds, encoder.seconds, encoder.texts, peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    most = parser.parse_args().pairs
    context = multiprocessing.get_context("spawn")
    print("pairs  texts encoded  seconds  pairs/s  encoding  peak memory")
    for count in (most // 4, most // 2, most):
        with context.Pool(1) as pool:
            row = pool.apply(measure, (count,))
        print(
            f"{row.pairs:5d}  {row.texts:13d}  {row.seconds:7.1f}  {row.pairs / row.seconds:7.1f}"
            f"  {row.encoding / row.seconds:7.0%}  {row.peak_mib:7.0f} MiB"
        )


if __name__ == "__main__":
    main()
