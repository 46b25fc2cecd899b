"""Measure how CodeScore-R agrees with tests, and how renaming, rewriting and mutations change it.

    python benchmarks/code_scorer.py DATA_DIR --model NAME [--completions N]

DATA_DIR contains `humaneval-python.jsonl.gz` and `humaneval-java.jsonl.gz`. The model is an encoder
in the format of Hugging Face, as `crscore train code` writes it. Candidates and references are
complete functions, with the prompt. The first tables are about some completions of each task,
chosen at random with a fixed seed. The last table is about one completion of each task, as in the
publication; it also has the mean absolute errors (MAE) of the constant scores 0 and 1.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from benchmarks.graded_programs import read_graded
from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.syntax.sketch import sketch
from crscore_lab.code.correlation import kendall
from crscore_lab.training.code.variants import list_equivalents, list_mutants
from tests.helpers.renamed_code import rename

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from crscore.code.execution.programs import Completion, Problem
    from crscore.code.metrics.metric import Metric

    Doubles = npt.NDArray[np.float64]

SEED = 0


class Judged(NamedTuple):
    """Candidate with the result of its tests."""

    task: str
    candidate: str
    reference: str
    passed: bool


def join_prompt(problem: Problem, body: str) -> str:
    """Return the function that consists of a prompt and a body."""
    if problem.language == "python":
        return f"{problem.prompt}{'    ' if body[:1].strip() else ''}{body.rstrip()}\n"
    return problem.prompt + body + ("" if body == problem.solution else "\n}\n}")


def draw_completions(
    problems: dict[str, Problem], statuses: dict[Completion, str], count: int
) -> list[Judged]:
    """Choose up to `count` completions of each task at random."""
    draw = random.Random(SEED)
    judged: list[Judged] = []
    for name, problem in problems.items():
        of_task = [completion for completion in statuses if completion.problem == name]
        for one in draw.sample(of_task, min(count, len(of_task))):
            reference = join_prompt(problem, problem.solution or "")
            code, passed = join_prompt(problem, one.code), statuses[one] == "OK"
            judged.append(Judged(name, code, reference, passed))
    return judged


def score(judged: Sequence[Judged], language: str, metric: Metric) -> Doubles:
    """Score candidates with CodeScore-R."""
    samples = [
        Sample(candidate=row.candidate, references=(row.reference,), language=language)
        for row in judged
    ]
    return metric.sentence_scores(metric.statistics(samples))


def edit_similarity(judged: Sequence[Judged], *_: object) -> Doubles:
    """Score candidates by the edit similarity of their characters to the reference."""
    return np.array(
        [Levenshtein.normalized_similarity(row.candidate, row.reference) for row in judged]
    )


def area(good: Doubles, bad: Doubles) -> float:
    """Return the share of pairs in which the good score is higher; a tie counts one half."""
    gaps = good[:, None] - bad[None, :]
    return float(((gaps > 0) + 0.5 * (gaps == 0)).mean())


def print_agreement(judged: Sequence[Judged], language: str, metric: Metric) -> None:
    """Print how well scores agree with tests."""
    truth = np.array([row.passed for row in judged])
    print(f"{language}: {len(judged)} candidates, {truth.mean():.3f} pass")
    for name, function in (("codescore_r", score), ("edit similarity", edit_similarity)):
        scores = function(judged, language, metric)
        answers = scores > 0.5
        hits = (answers & truth).sum()
        precision, recall = hits / max(answers.sum(), 1), hits / max(truth.sum(), 1)
        tau = kendall(scores, truth.astype(float), [row.task for row in judged])
        errors = np.abs(scores - truth).mean()
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        print(
            f"  {name:16} tau {tau or 0:.3f}  AUC {area(scores[truth], scores[~truth]):.3f}  "
            f"MAE {errors:.3f}  binary: accuracy {(answers == truth).mean():.3f} "
            f"precision {precision:.3f} recall {recall:.3f} F1 {f1:.3f}"
        )
    share = truth.mean()
    print(f"  constant         MAE and 1 - accuracy of 0: {share:.3f}, of 1: {1 - share:.3f}")


def print_forms(judged: Sequence[Judged], language: str, metric: Metric) -> None:
    """Print how often mutants of a reference score below equivalent forms of it."""
    draw = random.Random(SEED)
    equivalent_rows: list[Judged] = []
    mutant_rows: list[Judged] = []
    for row in {row.task: row for row in judged}.values():
        equal, changed = (
            list_equivalents(row.reference, language),
            list_mutants(row.reference, language),
        )
        if equal and changed:
            for rows, variants, count in ((equivalent_rows, equal, 4), (mutant_rows, changed, 8)):
                for variant in draw.sample(variants, min(count, len(variants))):
                    rows.append(row._replace(candidate=variant.code))
    good, bad = score(equivalent_rows, language, metric), score(mutant_rows, language, metric)
    areas = [
        area(
            good[[a.task == task for a in equivalent_rows]],
            bad[[b.task == task for b in mutant_rows]],
        )
        for task in {row.task for row in equivalent_rows}
    ]
    print(
        f"  {len(equivalent_rows)} equivalent forms {good.mean():.3f} "
        f"(above 0.5: {(good > 0.5).mean():.3f}), "
        f"{len(mutant_rows)} mutants {bad.mean():.3f} (at most 0.5: {(bad <= 0.5).mean():.3f}), "
        f"AUC {area(good, bad):.3f}, within a task {np.mean(areas):.3f}"
    )


def print_perturbed(judged: Sequence[Judged], language: str, metric: Metric) -> None:
    """Print mean scores and errors of perturbed code, with one candidate of each task."""
    draw = random.Random(SEED)
    first = list({row.task: row for row in reversed(judged)}.values())

    def rewrite(change: Callable[[str], str]) -> list[Judged]:
        return [row._replace(candidate=change(row.candidate)) for row in first]

    def equivalent(code: str) -> str:
        forms_of_code = list_equivalents(code, language)
        return draw.choice(forms_of_code).code if forms_of_code else code

    def mutant(row: Judged) -> Judged:
        mutants_of_code = list_mutants(row.candidate, language) if row.passed else []
        return (
            row._replace(candidate=draw.choice(mutants_of_code).code, passed=False)
            if mutants_of_code
            else row
        )

    def sketch_both(row: Judged) -> Judged:
        codes = (sketch(row.candidate, language), sketch(row.reference, language))
        return row._replace(candidate=codes[0], reference=codes[1])

    rows = {
        "original": first,
        "renamed": rewrite(lambda code: rename(code, language, seed=SEED)),
        "O2S": rewrite(lambda code: sketch(code, language)),
        "S2S": [sketch_both(row) for row in first],
        "syntax": rewrite(equivalent),
        "semantic 100 %": [mutant(row) for row in first],
    }
    for name, perturbed_rows in rows.items():
        truth = np.array([row.passed for row in perturbed_rows])
        scores = score(perturbed_rows, language, metric)
        edits = edit_similarity(perturbed_rows, language)
        errors = np.abs(scores - truth).mean()
        answers = np.abs((scores > 0.5) - truth.astype(float)).mean()
        print(
            f"  {name:15} mean {scores.mean():.3f}  MAE {errors:.3f}  binary {answers:.3f}  "
            f"edit similarity {np.abs(edits - truth).mean():.3f}  "
            f"constant 0 {truth.mean():.3f}, 1 {1 - truth.mean():.3f}"
        )


def main() -> None:
    """Print the tables of both languages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--completions", type=int, default=10)
    options = parser.parse_args()
    metric = metrics.make("codescore_r", model=options.model)
    for language in ("python", "java"):
        problems, statuses = read_graded(options.data / f"humaneval-{language}.jsonl.gz")
        judged = draw_completions(problems, statuses, options.completions)
        print_agreement(judged, language, metric)
        print_forms(judged, language, metric)
        print_perturbed(judged, language, metric)


if __name__ == "__main__":
    main()
