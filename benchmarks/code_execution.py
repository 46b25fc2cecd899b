"""Run programs with their tests: pass@k, agreement with published results, and time.

    python benchmarks/code_execution.py PROBLEMS [--sample N] [--workers N]

PROBLEMS is JSON Lines with completions and the status that the authors of the data found for each.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import random
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.graded_programs import read_graded
from crscore.code.execution.estimator import pass_at_k
from crscore.code.execution.programs import solutions
from crscore.code.execution.runner import count_passed, run_programs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.code.execution.programs import Completion
    from crscore.code.execution.runner import Outcome


def show_pass_at_k(
    path: Path, outcomes: Sequence[Outcome], statuses: dict[Completion, str]
) -> None:
    """Print pass@k by the authors' statuses and by the results here.

    The file leaves out most duplicates of programs, but has the number of all samples of each
    problem and of those that passed. To estimate how many of all samples pass here, this number is
    multiplied by the share of the programs with the status OK that pass here.
    """
    rows = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    totals = {str(row["task"]): (row["samples"], row["passed"]) for row in rows}
    counts_here = count_passed(outcomes)
    ok = collections.Counter(
        outcome.completion.problem for outcome in outcomes if statuses[outcome.completion] == "OK"
    )
    statuses = [(counts_here[name][0], ok[name]) for name in counts_here]
    scaled = [
        (totals[name][0], round(totals[name][1] * passed / ok[name]) if ok[name] else passed)
        for name, (_, passed) in counts_here.items()
    ]
    for title, counts in (
        ("all samples, authors' counts", list(totals.values())),
        ("all samples, estimated from the results here", scaled),
        ("programs of the file, authors' statuses", statuses),
        ("programs of the file, here", list(counts_here.values())),
    ):
        values = [
            pass_at_k([pair for pair in counts if pair[0] >= k], [k])[f"pass@{k}"]
            for k in (1, 10, 100)
        ]
        print(f"  pass@1, 10, 100: {', '.join(f'{value:.4f}' for value in values)} ({title})")


def main() -> None:
    """Run the programs and print the counts."""
    options = argparse.ArgumentParser()
    options.add_argument("problems", type=Path)
    options.add_argument("--sample", type=int, help="number of completions, chosen at random")
    options.add_argument("--workers", type=int)
    options.add_argument("--timeout", type=float, default=3.0)
    arguments = options.parse_args()
    problems, statuses = read_graded(arguments.problems)
    completions = list(statuses)
    run = {"allowed": True, "workers": arguments.workers, "timeout": arguments.timeout}
    solved = run_programs(problems, solutions(problems), **run)
    print(f"solutions: {sum(outcome.passed for outcome in solved)} of {len(solved)} pass")
    for outcome in solved:
        if not outcome.passed:
            print(f"  {outcome.completion.problem}: {outcome.result[:100]}")
    sample = completions
    if arguments.sample:
        sample = random.Random(0).sample(completions, arguments.sample)
    clock, usage = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    outcomes = run_programs(problems, sample, **run)
    seconds, now = time.perf_counter() - clock, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - usage.ru_utime - usage.ru_stime
    distinct = len({(outcome.problem, outcome.code) for outcome in sample})
    print(
        f"{len(sample):,} programs, {distinct:,} distinct: {seconds:.0f} s, "
        f"{1000 * cpu / distinct:.0f} ms of CPU time each"
    )
    if not arguments.sample:
        show_pass_at_k(arguments.problems, outcomes, statuses)
    table = collections.Counter(
        (statuses[outcome.completion], outcome.result.partition(":")[0]) for outcome in outcomes
    )
    for (status, result), number in sorted(table.items()):
        print(f"  {status}, here {result}: {number:,}")
    for outcome in outcomes:
        status = statuses[outcome.completion]
        if (status == "OK") != outcome.passed:
            place = f"{outcome.completion.problem}/{outcome.completion.index}"
            print(f"  differs: {place}: {status}, here {outcome.result[:120]}")


if __name__ == "__main__":
    main()
