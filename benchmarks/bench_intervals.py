"""Measure how often the 95 % intervals of `crscore bench` contain the true value.

    python benchmarks/bench_intervals.py [--sets 1000] [--changes 30 50 200]

Golden sets are simulated: a change has one to five problems, and a difficulty that both bots share;
each bot finds each problem with some probability, and reports further findings. The true value of a
measure is its value over 200,000 changes. Prints the share of sets whose interval contains it.
"""

import argparse

import numpy as np
import numpy.typing as npt

from crscore.bench.estimates import MEASURES, Row, compute
from crscore.bench.records import Change, GoldenSet

Doubles = npt.NDArray[np.float64]

BOTS = ("first", "second")
SKILLS = (0.2, -0.4)
"""Log-odds of each bot of finding a problem of a change of mean difficulty."""
FURTHER = (3.0, 1.5)
"""Mean number of further findings of each bot for a change."""
POPULATION = 200_000
"""Number of changes that determine the true values."""


def simulate(rng: np.random.Generator, changes: int) -> Doubles:
    """Return the simulated `Row.counts` of each bot and change, shape (2, N, 6)."""
    problems = rng.integers(1, 6, changes)
    weights = rng.integers(1, 5, (changes, 5)) * (np.arange(5) < problems[:, None])
    difficulty = rng.normal(0, 1, changes)
    counts = []
    for skill, further in zip(SKILLS, FURTHER, strict=True):
        chance = 1 / (1 + np.exp(difficulty - skill))
        hits = (rng.random((changes, 5)) < chance[:, None]) & (weights > 0)
        said = hits.sum(1) + rng.poisson(further * np.exp(rng.normal(0, 0.5, changes)))
        weighted = (hits * weights).sum(1)
        counts.append([hits.sum(1), hits.sum(1), said, problems, weighted, weights.sum(1)])
    return np.array(counts, dtype=np.float64).transpose(0, 2, 1)


def estimate(
    counts: Doubles, resamples: int
) -> dict[str, tuple[float, float | None, float | None]]:
    """Return the value of each measure, and the ends of its interval."""
    names = [f"{number:06}" for number in range(counts.shape[1])]
    golden = GoldenSet(
        name="drawn", version="", changes=tuple(Change(id=name, problems=()) for name in names)
    )
    rows = {
        (name, bot): Row(decisions=[], pairs=[], counts=tuple(counts[b, n]))
        for n, name in enumerate(names)
        for b, bot in enumerate(BOTS)
    }
    scores, comparisons = compute(golden, BOTS, rows, 1.0, resamples=resamples, seed=0)
    numbers = {
        f"{measure} of the {row.bot}": getattr(row, measure)
        for row in scores
        for measure in MEASURES
    }
    numbers["difference in F1"] = comparisons[0].difference
    return {name: (row.value or 0.0, row.low, row.high) for name, row in sorted(numbers.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--changes", type=int, nargs="+", default=[30, 50, 200])
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    truth = {name: row[0] for name, row in estimate(simulate(rng, POPULATION), 0).items()}
    print("changes  " + "  ".join(truth))
    for changes in options.changes:
        covered = dict.fromkeys(truth, 0)
        for _ in range(options.sets):
            for name, (_, low, high) in estimate(simulate(rng, changes), 2000).items():
                covered[name] += low is not None and high is not None and low <= truth[name] <= high
        shares = [f"{count / options.sets:{len(name)}.3f}" for name, count in covered.items()]
        print(f"{changes:7}  " + "  ".join(shares), flush=True)


if __name__ == "__main__":
    main()
