"""Whether transformations keep what programs do, and mutations change it, by running tests.

    python benchmarks/code_transforms.py DATA_DIR [--language NAME] [--tasks N] [--mutants N]
        [--completions N]

DATA_DIR holds `humaneval-<language>.jsonl.gz`. Of every task the reference and a seeded draw of the
completions that pass are rewritten, and those whose original passes here are counted. Every
equivalent form is run, and a seeded draw of the mutants of each program. A mutant that the tests
let pass is equivalent, or the tests are weak; forms that do not compile count as failed and are
told apart. Programs run in the sandbox.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crscore.code.execution.programs import Completion, read_problems
from crscore.code.execution.runner import run_programs
from crscore.code.transforms import mutants, transforms

if TYPE_CHECKING:
    from crscore.code.execution.programs import Problem
    from crscore.code.transforms import Variant

SEED = 0


def whole(problem: Problem, body: str) -> str:
    """Put a body behind its prompt; completions lack the indentation of their first line."""
    if problem.language == "python":
        margin = "    " if body[:1].strip() else ""
        return f"{problem.prompt}{margin}{body.rstrip()}\n"
    if body != problem.solution:
        return problem.prompt + body
    return problem.prompt + body.rstrip().removesuffix("}").rstrip().removesuffix("}")


def rewritten(
    program: str, language: str, count: int, draw: random.Random
) -> list[tuple[str, Variant]]:
    """Return all equivalent forms, and some mutants, each with its group."""
    made = [("equivalent", one) for one in transforms(program, language)]
    found = mutants(program, language)
    return made + [("mutant", one) for one in draw.sample(found, min(count, len(found)))]


def main() -> None:
    """Print counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--language", default="python")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--mutants", type=int, default=6)
    parser.add_argument("--completions", type=int, default=2)
    given = parser.parse_args()
    draw = random.Random(SEED)
    problems, completions = read_problems(given.data / f"humaneval-{given.language}.jsonl.gz")
    problems = dict(list(problems.items())[: given.tasks])
    programs: list[Completion] = []
    for name, problem in problems.items():
        passing = [one.code for one in completions if (one.problem, one.status) == (name, "OK")]
        bodies = draw.sample(passing, min(given.completions, len(passing)))
        bodies += [problem.solution] if problem.solution else []
        programs += (
            Completion(problem=name, code=whole(problem, body), index=number)
            for number, body in enumerate(bodies)
        )
    bare = {name: replace(problem, prompt="") for name, problem in problems.items()}
    ran = run_programs(bare, programs, allowed=True)
    good = [outcome.completion for outcome in ran if outcome.passed]
    print(f"{given.language}: {len(problems)} tasks, {len(good)} of {len(programs)} programs pass")
    jobs = [
        (group, variant.rule, replace(one, code=variant.code))
        for one in good
        for group, variant in rewritten(one.code, given.language, given.mutants, draw)
    ]
    outcomes = run_programs(bare, [one for _, _, one in jobs], allowed=True)
    total: Counter[tuple[str, str]] = Counter()
    passed: Counter[tuple[str, str]] = Counter()
    for (group, rule, _), outcome in zip(jobs, outcomes, strict=True):
        named = rule if group == "equivalent" else rule.split()[0]
        for key in (named, "all"):
            total[group, key] += 1
            passed[group, key] += outcome.passed
        if group == "equivalent" and not outcome.passed:
            print(f"BROKEN {rule}, task {outcome.completion.problem}: {outcome.result[:200]}")
            print(outcome.completion.code)
    for (group, key), count in sorted(total.items()):
        kept = passed[group, key]
        print(f"{group:10}  {key:36}  {count:5} run  {kept:5} pass  {count - kept:5} fail")


if __name__ == "__main__":
    main()
