"""Measure the agreement of CodeBERTScore, on the embedded encoder, with people and with tests.

    python benchmarks/code_bertscore.py DATA_DIR [--limit 30]

Prints Kendall's tau within a problem on CoNaLa (mean grade of a snippet) and on HumanEval in Python
and Java (passed or not, completions 1 to 99), and that of trivial baselines, for all problems and
for the problems with even and with odd numbers. `--limit` takes only the first completions of each
task. The defaults were chosen with results on both halves, so neither half is a test of them.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore_lab.code.correlation import kendall

BASELINES: dict[str, Any] = {
    "constant": lambda _: 0.5,
    "shorter is better": lambda sample: 1 / (1 + len(sample.candidate)),
    "longer is better": lambda sample: 1 - 1 / (1 + len(sample.candidate) / 100),
    "as long as the reference": lambda sample: max(
        min(len(sample.candidate), len(reference)) / max(len(sample.candidate), len(reference), 1)
        for reference in sample.references
    ),
}
SHIPPED = {
    "edit": ("edit", {}),
    "chrF": ("chrf", {}),
    "codebertscore f1": ("codebertscore", {}),
    "codebertscore f3": ("codebertscore", {"value": "f3"}),
}


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def conala(path: Path) -> tuple[list[Sample], np.ndarray]:
    """Read snippets, and the mean of each snippet's grades."""
    samples, grades = [], []
    for row in read(path):
        for model, code in row["outputs"].items():
            samples.append(
                Sample(
                    candidate=code,
                    references=tuple(row["references"]),
                    context=row["intent"],
                    language="python",
                    id=row["id"].partition(":")[2],
                )
            )
            grades.append(np.mean(list(row["grades"][model].values())))
    return samples, np.array(grades)


def humaneval(path: Path, limit: int | None) -> tuple[list[Sample], np.ndarray]:
    """Read completions, and 1 for each that passed its tests, 0 otherwise."""
    samples, passed = [], []
    for row in read(path):
        completions = [completion for completion in row["completions"] if 1 <= completion[0] <= 99]
        for _, code, status in completions[:limit]:
            samples.append(
                Sample(
                    candidate=code,
                    references=(row["reference"],),
                    context=row["prompt"],
                    language=row["language"],
                    id=str(row["task"]),
                )
            )
            passed.append(status == "OK")
    return samples, np.array(passed, dtype=np.float64)


def show(name: str, scores: np.ndarray, grades: np.ndarray, samples: list[Sample]) -> None:
    problems = np.array([sample.id for sample in samples])
    odd = np.array([int(sample.id or 0) % 2 == 1 for sample in samples])
    taus = [
        kendall(scores[rows], grades[rows], problems[rows].tolist())
        for rows in (np.ones(len(odd), bool), ~odd, odd)
    ]
    print(f"  {name:<28}" + "".join(f"{tau or 0.0:8.3f}" for tau in taus), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    sets = {
        "CoNaLa": lambda: conala(given.data / "conala.jsonl.gz"),
        "HumanEval, Python": lambda: humaneval(
            given.data / "humaneval-python.jsonl.gz", given.limit
        ),
        "HumanEval, Java": lambda: humaneval(given.data / "humaneval-java.jsonl.gz", given.limit),
    }
    for name, load in sets.items():
        samples, grades = load()
        print(f"{name}: {len(samples):,} candidates" + "     all    even     odd".rjust(26))
        for label, baseline in BASELINES.items():
            show(label, np.array([baseline(sample) for sample in samples]), grades, samples)
        for label, (metric, options) in SHIPPED.items():
            scorer = metrics.make(metric, **options)
            show(label, scorer.sentence_scores(scorer.statistics(samples)), grades, samples)


if __name__ == "__main__":
    main()
