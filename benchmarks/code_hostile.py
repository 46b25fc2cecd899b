"""Run hostile programs: how many pass tests wrongly, read secrets, or escape the sandbox.

python -m benchmarks.code_hostile [LANGUAGE...] [--results]
"""

import argparse
import os
from collections.abc import Callable

from tests.helpers.hostile_programs import LANGUAGES, Attack, attack, attack_as_user


def main() -> None:
    """Print the counts of each language, as an ordinary user and as root, and the totals."""
    parser = argparse.ArgumentParser()
    parser.add_argument("languages", nargs="*", default=LANGUAGES)
    parser.add_argument(
        "--results", action="store_true", help="also print the result of each program"
    )
    options = parser.parse_args()
    ways: dict[str, Callable[[str], Attack]] = {"user": attack_as_user}
    if os.geteuid() == 0:
        ways["user without namespaces"] = lambda name: attack_as_user(name, "--no-namespaces")
        ways["root"] = attack
    totals = dict.fromkeys(("runs", "false passes", "reads", "escapes"), 0)
    for language in options.languages:
        for user, run in ways.items():
            attacked = run(language)
            lists = (list(attacked.results), attacked.passed, attacked.reads, attacked.escapes)
            counts = dict(zip(totals, map(len, lists), strict=True))
            for name, count in counts.items():
                totals[name] += count
            print(f"{language} as {user}: {_join_counts(counts)}; solutions: {attacked.solutions}")
            for failure in (*attacked.passed, *attacked.reads, *attacked.escapes):
                print(f"  {failure}")
            if options.results:
                for name, result in attacked.results.items():
                    print(f"  {name}: {result[:100]!r}")
    print(f"all: {_join_counts(totals)}")


def _join_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


if __name__ == "__main__":
    main()
