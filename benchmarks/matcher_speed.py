"""Measure how much slower a score is with the calibrated matcher than with the published one.

    python benchmarks/matcher_speed.py [--pairs N] [--runs N] [--data STUDY]

Without --data, the pairs are those of `score_many.py`: the shipped example with other identifiers
in each pair, so that all texts differ. With --data, they are reviews of a study, scored with
structural claims. The added share is the additional time in the calibrated matcher, divided by the
total time with the published matcher. Total times are not compared, because they differ more by
noise than by the matcher.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import score_many

from crscore import Scorer
from crscore.records import Comment
from crscore.text import stem, stems_and_names, words
from crscore_lab.study.data import study

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.matchers.base import Cells, Judgement, Matcher
    from crscore.scorer import DiffLike, ReviewLike

    Pairs = list[tuple[DiffLike, ReviewLike]]

MATCHERS = ("published", "calibrated")
GOAL = 0.20


def from_study(path: Path, count: int) -> Iterator[tuple[DiffLike, ReviewLike]]:
    """Yield the first review of each change, then the second of each, and so on, up to `count`."""
    changes = [(change.read_diff(), change.reviews) for change in study.read_study(path).changes]
    made = 0
    for number in range(max(len(reviews) for _, reviews in changes)):
        for diff, reviews in changes:
            if number < len(reviews) and made < count:
                made += 1
                yield diff, Comment(body=reviews[number].text)


class Timed:
    """Matcher that measures its run time."""

    def __init__(self, inner: Matcher) -> None:
        self.inner, self.identity = inner, inner.identity
        self.seconds = 0.0

    def match(self, cells: Cells) -> Judgement:
        start = time.perf_counter()
        judged = self.inner.match(cells)
        self.seconds += time.perf_counter() - start
        return judged


class Measured(NamedTuple):
    whole: float
    """Seconds for everything: claims, encoding, matching, scores."""
    matching: float
    """Seconds in the matcher."""


def measure(name: str, pairs: Pairs, *, runs: int) -> Measured:
    """Return the shortest times of several runs; longer times are due to other work."""
    matcher = Timed(Scorer(matcher=name, analyzers="none").parts.matcher)
    scorer = Scorer(matcher=matcher, analyzers="none")
    scorer.score_many(pairs[:1])  # loads the model and the weights
    measurements = []
    for _ in range(runs):
        # Without this, only the first run would split each text into words.
        for cached in (words, stem, stems_and_names):
            cached.cache_clear()
        matcher.seconds = 0.0
        start = time.perf_counter()
        scorer.score_many(pairs)
        measurements.append(Measured(time.perf_counter() - start, matcher.seconds))
    return Measured(
        min(measured.whole for measured in measurements),
        min(measured.matching for measured in measurements),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path)
    chosen = parser.parse_args()
    pairs: Pairs = (
        list(from_study(chosen.data, chosen.pairs))
        if chosen.data
        else list(score_many.pairs(chosen.pairs))
    )
    published, calibrated = (measure(name, pairs, runs=chosen.runs) for name in MATCHERS)
    print(f"{len(pairs)} pairs   total run   in the matcher")
    for name, taken in zip(MATCHERS, (published, calibrated), strict=True):
        print(f"{name:>10}  {taken.whole:8.2f} s  {taken.matching:8.2f} s")
    added = (calibrated.matching - published.matching) / published.whole
    print(f"the calibrated matcher adds {added:.1%} (goal: at most {GOAL:.0%})")


if __name__ == "__main__":
    main()
