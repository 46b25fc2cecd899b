"""Hostile programs: how many pass tests that they do not solve, and how many leave the sandbox.

python -m benchmarks.code_hostile [LANGUAGE...] [--results]
"""

import argparse
import tempfile
from pathlib import Path

from tests.helpers.hostile_programs import LANGUAGES, attack


def main() -> None:
    """Print the counts of each language."""
    options = argparse.ArgumentParser()
    options.add_argument("languages", nargs="*", default=LANGUAGES)
    options.add_argument("--results", action="store_true", help="also the result of each program")
    given = options.parse_args()
    for language in given.languages:
        with tempfile.TemporaryDirectory(prefix="outside-") as outside:
            found = attack(language, Path(outside))
        print(
            f"{language}: {len(found.results)} programs, {len(found.passed)} pass, "
            f"{len(found.escapes)} escapes; the solution: {found.solution}"
        )
        for one in (*found.passed, *found.escapes):
            print(f"  {one}")
        if given.results:
            for name, result in found.results.items():
                print(f"  {name}: {result[:100]!r}")


if __name__ == "__main__":
    main()
