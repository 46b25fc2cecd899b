"""Synchronize an audit while its host fails, or while its runs are killed; compare the stores.

    python benchmarks/audit_faults.py [--schedules 300] [--kills 100] [--gitlab]

Each schedule chooses at random which requests fail, how often and how: status codes, rate limits,
broken connections, truncated answers, late answers, and empty, repeated or reordered pages. A kill
is `kill -9` at a random time of a run of sync or score. After each schedule or kill, a run without
faults follows. Its store is compared, row by row, with the store of a run that never met a fault;
only the table of the runs is left out.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers import audit_schedules, audits
from tests.helpers.gitlab import nights as gitlab


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=300, help="number of schedules (300)")
    parser.add_argument("--kills", type=int, default=100, help="number of runs to kill (100)")
    parser.add_argument(
        "--gitlab", action="store_true", help="use GitLab, and kill no run of score"
    )
    arguments = parser.parse_args()
    host = gitlab if arguments.gitlab else audit_schedules
    start = time.perf_counter()
    tally = host.misbehave(range(arguments.schedules))
    print(f"{arguments.schedules} schedules, {tally.met.total():,} faults met, {_seconds(start)}")
    print(f"  complete, and reported as complete               {tally.whole:>5}")
    print(f"  partial, and reported with what is missing       {tally.partial:>5}")
    print(f"  ended with an error                              {tally.errors:>5}")
    print(f"  reported as complete, but completed by the next  {len(tally.late):>5}  {tally.late}")
    print(
        f"  store still differs after the next run           {len(tally.other):>5}  {tally.other}"
    )
    start = time.perf_counter()
    killed = host.kill(range(arguments.kills))
    print(f"{arguments.kills} runs of sync killed, {_seconds(start)}")
    print(
        f"  store still differs after the next run           {len(killed.other):>5}  {killed.other}"
    )
    if arguments.gitlab:
        return 1 if tally.other or killed.other else 0
    start = time.perf_counter()
    dice = random.Random(0)
    waits = [round(dice.uniform(0.3, 2.5), 3) for _ in range(arguments.kills)]
    with tempfile.TemporaryDirectory() as folder:
        other = audits.kill_scoring(Path(folder), waits, workers=1)
    print(f"{arguments.kills} runs of score killed, {_seconds(start)}")
    print(f"  store still differs after the next run           {len(other):>5}  {other}")
    return 1 if tally.other or killed.other or other else 0


def _seconds(start: float) -> str:
    return f"{time.perf_counter() - start:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
