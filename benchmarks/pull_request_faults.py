"""Score a pull request while its host fails, many times, and count how often the result is wrong.

    python benchmarks/pull_request_faults.py [--gitlab] [--schedules 500]

Each schedule chooses at random which requests fail, how often and how: status codes, rate limits,
broken connections, truncated answers, late answers, empty, repeated or reordered pages, and
outdated lists. Each run posts the comment; a second run without faults follows on the same pull
request.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers import schedules as of_github
from tests.helpers.gitlab import schedules as of_gitlab


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=500, help="number of schedules (500)")
    parser.add_argument("--gitlab", action="store_true", help="use a merge request on GitLab")
    options = parser.parse_args()
    start = time.perf_counter()
    host = of_gitlab if options.gitlab else of_github
    tally = host.misbehave(range(options.schedules))
    seconds = time.perf_counter() - start
    print(f"{options.schedules} schedules, {tally.met.total():,} faults met, {seconds:.0f} s")
    print(f"  complete, with the numbers of a run without faults {tally.same:>5}")
    print(f"  partial, and reported with what is missing         {tally.partial:>5}")
    print(f"  ended with an error of the host                    {tally.errors:>5}")
    print(
        f"  reported as complete, with wrong numbers           {len(tally.wrong):>5}  {tally.wrong}"
    )
    print(f"  not exactly one comment in the end {len(tally.second):>21}  {tally.second}")
    for kind, times in tally.met.most_common():
        print(f"    {kind:<12} {times:>6,}")
    return 1 if tally.wrong or tally.second else 0


if __name__ == "__main__":
    sys.exit(main())
