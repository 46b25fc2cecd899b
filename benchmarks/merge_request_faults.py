"""Score a merge request while GitLab misbehaves, many times, and count what became of the numbers.

    python benchmarks/merge_request_faults.py [--schedules 300]

The schedules are those of `pull_request_faults.py`, with GitLab's own rate limits and versions.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers.gitlab import schedules


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=300, help="how many (300)")
    asked = parser.parse_args().schedules
    start = time.perf_counter()
    tally = schedules.misbehave(range(asked))
    print(
        f"{asked} schedules, {tally.met.total():,} faults met, {time.perf_counter() - start:.0f} s"
    )
    print(f"  the same numbers and remarks as in peace      {tally.same:>5}")
    print(f"  partial, with what is missing                 {tally.partial:>5}")
    print(f"  an error of the host and no number            {tally.errors:>5}")
    print(f"  other numbers or lost remarks, said whole     {len(tally.wrong):>5}  {tally.wrong}")
    print(f"  not exactly one note in the end               {len(tally.second):>5}  {tally.second}")
    for kind, times in tally.met.most_common():
        print(f"    {kind:<12} {times:>6,}")
    return 1 if tally.wrong or tally.second else 0


if __name__ == "__main__":
    sys.exit(main())
