"""Agreement of the combined metric with people and with tests, on problems it did not learn from.

    python benchmarks/code_combined.py DATA_DIR [--every 5] [--output WEIGHTS.json]

Sets: CoNaLa (mean grade of a snippet), HumanEval in Python and Java (passed or not, every fifth of
the completions 1 to 99 by default). Problems with even numbers are learned from and those with odd
numbers judged, and the reverse; all figures are means of the two.

tau       Kendall's tau within a problem
program   mutants (one operator replaced) of passing programs that score below their original,
          both against the reference
reference the same for mutants of the reference, against the reference
renamed   largest change of a score by consistent renaming of a passing program, and the share of
          changes of at most 0.02

`alone` is the metric learned from the other sets only, judged on all problems of one set.
`--output` writes weights learned from everything.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from code_bertscore import conala, humaneval

from crscore.code.metrics.codebertscore.embedded import EmbeddedSource
from crscore.code.metrics.combined.pieces import in_place
from crscore.code.metrics.combined.plugin import Combined
from crscore.code.metrics.combined.weights import Weights, to_text
from crscore.code.samples import Sample
from crscore.code.transforms.mutations import mutants
from crscore.encoders.minilm import MiniLM
from crscore.lab.study.code.correlate import kendall
from crscore.lab.training.code.combined import Graded, read_graded, train
from crscore.suggestions.sketch import rename

SOURCE = EmbeddedSource(MiniLM())
TOP_GRADE = 4
PROGRAMS = 2
"""Passing programs of a task that are mutated."""
MUTANTS = 2
"""Mutants of a program."""


@dataclass(frozen=True)
class Pairs:
    """Originals and what was made of them."""

    first: Graded
    second: Graded

    def chosen(self, odd: bool) -> Pairs:
        return Pairs(half(self.first, odd), half(self.second, odd))


@dataclass(frozen=True)
class Set:
    """Graded candidates and the pairs of one set."""

    graded: Graded
    pairs: dict[str, Pairs]


def half(graded: Graded, odd: bool) -> Graded:
    return graded.chosen(np.array([int(one) % 2 == odd for one in graded.problems], dtype=np.bool_))


def with_code(sample: Sample, code: str) -> Sample:
    return Sample(
        candidate=code,
        references=sample.references,
        context=sample.context,
        language=sample.language,
        id=sample.id,
    )


def body(reference: str, language: str | None) -> str:
    """Take off the brackets that close what the prompt opens."""
    for _ in range(2 if language == "java" else 0):
        reference = reference.rstrip().removesuffix("}")
    return reference


def made_of(samples: list[Sample], passed: np.ndarray) -> dict[str, list[tuple[Sample, str]]]:
    """Return samples and code made of them, by kind."""
    draw = random.Random(0)
    made: dict[str, list[tuple[Sample, str]]] = {"program": [], "reference": [], "renamed": []}
    for problem in dict.fromkeys(sample.id for sample in samples):
        rows = [at for at, sample in enumerate(samples) if sample.id == problem]
        right = [samples[at] for at in rows if passed[at]]
        for sample in draw.sample(right, min(PROGRAMS, len(right))):
            made["program"] += mutated(sample, draw)
            code = in_place(sample.candidate, sample.language, sample.context)
            renamed = rename(code, sample.language, seed=1, context=sample.context)
            made["renamed"].append((sample, renamed))
        first = samples[rows[0]]
        made["reference"] += mutated(
            with_code(first, body(first.references[0], first.language)), draw
        )
    return made


def mutated(sample: Sample, draw: random.Random) -> list[tuple[Sample, str]]:
    found = mutants(sample.candidate, sample.language)
    chosen = draw.sample(found, min(MUTANTS, len(found)))
    return [(sample, mutant.code) for mutant in chosen]


def read_set(samples: list[Sample], grades: np.ndarray, *, top: float = 1.0) -> Set:
    graded = read_graded(samples, grades, SOURCE, top=top)
    if top != 1.0:
        return Set(graded, {})
    pairs = {}
    for kind, found in made_of(samples, grades).items():
        sides = (
            [sample for sample, _ in found],
            [with_code(sample, code) for sample, code in found],
        )
        pairs[kind] = Pairs(*(read_graded(side, np.ones(len(side)), SOURCE) for side in sides))
    return Set(graded, pairs)


def score(weights: Weights, graded: Graded) -> np.ndarray:
    metric = Combined(source=SOURCE, weights=weights)
    return np.array([metric.score(one) for one in graded.compared])


def judge(weights: Weights, graded: Graded, pairs: dict[str, Pairs]) -> list[float]:
    values = [kendall(score(weights, graded), graded.grades, list(graded.problems)) or 0.0]
    for kind, one in pairs.items():
        before, after = score(weights, one.first), score(weights, one.second)
        if kind == "renamed":
            moved = np.abs(before - after)
            values += [float(moved.max()), float((moved <= 0.02).mean())]
        else:
            values.append(float((before > after).mean()))
    return values


def show(label: str, values: np.ndarray) -> None:
    print(f"  {label:<22}" + "".join(f"{value:10.3f}" for value in values), flush=True)


def read_all(data: Path, every: int) -> dict[str, Set]:
    samples, grades = conala(data / "conala.jsonl.gz")
    sets = {"CoNaLa": read_set(samples, grades, top=TOP_GRADE)}
    for language in ("python", "java"):
        samples, grades = humaneval(data / f"humaneval-{language}.jsonl.gz", None)
        rows = range(0, len(samples), every)
        sets[f"HumanEval, {language}"] = read_set([samples[at] for at in rows], grades[::every])
        print(f"read HumanEval, {language}", flush=True)
    return sets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    sets = read_all(given.data, given.every)
    columns = ("tau", "program", "reference", "renamed", "<= 0.02")
    print(" " * 24 + "".join(f"{name:>10}" for name in columns))
    folds: dict[str, list[list[float]]] = {name: [] for name in sets}
    for odd in (False, True):
        weights = train([half(one.graded, not odd) for one in sets.values()])
        for name, one in sets.items():
            pairs = {kind: found.chosen(odd) for kind, found in one.pairs.items()}
            folds[name].append(judge(weights, half(one.graded, odd), pairs))
    for name, values in folds.items():
        show(name, np.mean(values, axis=0))
    for name, one in sets.items():
        weights = train([other.graded for label, other in sets.items() if label != name])
        show(f"{name}, alone", np.array(judge(weights, one.graded, one.pairs)))
    if given.output:
        weights = train([one.graded for one in sets.values()])
        given.output.write_text(to_text(weights), encoding="utf-8")


if __name__ == "__main__":
    main()
