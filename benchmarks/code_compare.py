"""Measure how often `crscore code compare` wrongly calls one of two equal systems better.

    python benchmarks/code_compare.py DATA_DIR [--trials N]

DATA_DIR contains `conala.jsonl.gz`. For each problem, the answers of two systems are chosen and
assigned to A and B at random, so that neither is better. Prints, by the number of problems, the
share of metrics that call A or B better, and the share of comparisons in which any metric does. The
former rule (A or B wins 0.95 of the resamples) is compared with the present one (an interval
without 0, after Holm's correction).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from crscore.code.comparison import compare_by
from crscore.code.metrics.measurement import Measurement, measure
from crscore.statistics import bootstrap, paired
from crscore_lab.code.graded import read_graded

METRICS = (
    "bleu", "chrf", "codebleu", "crystalbleu", "edit", "meteor", "rouge_l", "ruby",
)  # fmt: skip
SIZES = (10, 30, 100, 300)
ONE_SIDED = 0.95
"""Minimum share of wins that Evtikhiev et al. call significant; a two-sided level of 90 %."""


def main() -> None:
    """Print shares of false verdicts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--trials", type=int, default=500)
    options = parser.parse_args()
    graded = read_graded(options.data / "conala.jsonl.gz")
    measured = measure(graded.samples, METRICS)[0]
    problems = np.asarray(graded.problems)
    rows_by_problem = [np.flatnonzero(problems == name) for name in np.unique(problems)]
    rng = np.random.default_rng(0)
    for size in SIZES:
        wins, verdicts = [], []
        for trial in range(options.trials):
            problem_indices = rng.choice(len(rows_by_problem), size, replace=False)
            rows = np.array(
                [rng.permutation(rows_by_problem[index])[:2] for index in problem_indices]
            )
            weights = bootstrap.weight_matrix(size, resamples=1000, seed=trial)
            tests = [
                compare_by(
                    Measurement(
                        measurement.name, measurement.metric, measurement.statistics[rows.T.ravel()]
                    ),
                    weights,
                    size,
                )
                for measurement in measured
            ]
            wins.append([max(row.wins, row.losses) >= ONE_SIDED for row, _ in tests])
            corrected = paired.correct(test for _, test in tests)
            verdicts.append([comparison.direction != 0 for comparison in corrected])
        for name, rule in (("0.95 of the resamples", wins), ("present rule", verdicts)):
            share, any_metric = np.mean(rule), np.any(rule, axis=1).mean()
            print(f"{size:4} problems, {name:22} a metric {share:.3f}, any metric {any_metric:.3f}")


if __name__ == "__main__":
    main()
