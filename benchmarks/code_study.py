"""Compare code metrics with published scores and tables, and measure their agreement with grades.

    python benchmarks/code_study.py DATA_DIR [--resamples N]

DATA_DIR contains files `*.jsonl` or `*.jsonl.gz` of graded code and of tested programs, whose
fields are in `crscore_lab/code/graded.py`. For a file with the scores of "Out of the BLEU", the
script prints how many of these scores are reproduced to 3 decimals, Tables 2 to 4 of the paper, and
the time of the bootstrap of all models. For every file, it prints how metrics correlate with the
grades.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import out_of_the_bleu

from crscore.code import metrics
from crscore.statistics import bootstrap
from crscore_lab.code import correlation
from crscore_lab.code.graded import read_graded

if TYPE_CHECKING:
    from crscore_lab.code.graded import GradedCode

PUBLISHED = {"bleu": "bleu", "rouge_l": "rougel", "chrf": "chrf", "meteor": "meteor"}
"""Metric -> its name in the data."""


def print_parity(graded: GradedCode) -> None:
    """Print how many scores are equal to the published scores."""
    for name, published_name in PUBLISHED.items():
        metric = metrics.make(name, preset=out_of_the_bleu.PRESET)
        start = time.perf_counter()
        scores = metric.sentence_scores(metric.statistics(graded.samples))
        seconds = time.perf_counter() - start
        expected = np.array(
            [scores_by_metric[published_name] for scores_by_metric in graded.published]
        )
        equal = int((np.abs(scores - expected) < 5e-4).sum())
        print(f"{name:8} {equal:,} of {len(scores):,} equal, {seconds:.1f} s: {metric.identity}")


def bootstrap_time(graded: GradedCode, resamples: int) -> None:
    """Print how long the bootstrap of all models and metrics takes."""
    grid = out_of_the_bleu.make_grid(graded)
    columns, _ = out_of_the_bleu.make_columns(graded, grid)
    columns = [*columns, out_of_the_bleu.human_column(grid)]
    models = out_of_the_bleu.synthetic_models(grid.grades, grid.texts)
    start = time.perf_counter()
    counts = bootstrap.weight_matrix(grid.rows.shape[1], resamples=resamples, seed=42)
    for column in columns:
        out_of_the_bleu.outcomes(column, models, counts)
    print(
        f"bootstrap and all comparisons of {len(models)} models x {resamples:,} resamples x "
        f"{len(columns)} metrics: {time.perf_counter() - start:.2f} s (goal: 3 s)"
    )


def main() -> None:
    """Print the results of each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for path in sorted(options.data.glob("*.jsonl*")):
        graded = read_graded(path)
        print(f"\n## {path.name}\n")
        if all(
            scores_by_metric.keys() >= set(PUBLISHED.values())
            for scores_by_metric in graded.published
        ):
            print_parity(graded)
            aggregated = read_graded(path, grades="aggregated")
            bootstrap_time(aggregated, options.resamples)
            tables = out_of_the_bleu.make_tables(aggregated, resamples=options.resamples)
            out_of_the_bleu.print_tables(tables)
        start = time.perf_counter()
        result = correlation.correlate(graded, resamples=options.resamples)
        print(correlation.render_study(result), end="")
        print(f"{time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
