"""Score a pull request while GitHub misbehaves, many times, and count what became of the numbers.

    python benchmarks/pull_request_faults.py [--schedules 500]

Each schedule draws which requests fail, how often and how: status codes, rate limits, cut
connections, half answers, late answers, empty and repeated and reordered pages, stale lists. Every
run posts the comment; a second run without faults follows on the same pull request.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers import schedules


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=500, help="how many (500)")
    asked = parser.parse_args().schedules
    start = time.perf_counter()
    tally = schedules.misbehave(range(asked))
    print(
        f"{asked} schedules, {tally.met.total():,} faults met, {time.perf_counter() - start:.0f} s"
    )
    print(f"  the same numbers as in peace, said to be whole   {tally.same:>5}")
    print(f"  partial, with what is missing                    {tally.partial:>5}")
    print(f"  an error of the host and no number               {tally.errors:>5}")
    print(
        f"  other numbers, said to be whole                  {len(tally.wrong):>5}  {tally.wrong}"
    )
    print(
        f"  not exactly one comment in the end               {len(tally.second):>5}  {tally.second}"
    )
    print(f"  waited for GitHub on the runs' clocks            {tally.waited_s:>5.0f} s")
    for kind, times in tally.met.most_common():
        print(f"    {kind:<12} {times:>6,}")
    return 1 if tally.wrong or tally.second else 0


if __name__ == "__main__":
    sys.exit(main())
