"""Count what nights of synchronisation cost by GitHub's rules.

    python benchmarks/audit_sync.py [--pulls 1000]

Two nights of one repository: one on which all pull requests are new or changed, and one without
news, on which all of them are still observed. Requests and points are as the loopback GitHub counts
them, git over HTTP included.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers import audit_nights, audit_worlds
from tests.helpers.github import busy
from tests.helpers.github.server import serve

if TYPE_CHECKING:
    from datetime import datetime

    from tests.helpers.github.server import Server


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pulls", type=int, default=1_000, help="pull requests (1000)")
    asked = parser.parse_args()
    world = busy.busy(asked.pulls)
    now = audit_worlds.after(world, 1 / 24)
    with serve(world) as server, tempfile.TemporaryDirectory() as name:
        one = _night(server, Path(name), now, f"{asked.pulls:,} pull requests changed")
        other = _night(server, Path(name), now + timedelta(days=1), "nothing new")
    return 0 if one and other else 1


def _night(server: Server, folder: Path, now: datetime, what: str) -> bool:
    before, start = len(server.log), time.perf_counter()
    done = audit_nights.run_night(server, folder, now)
    print(f"{what}, {time.perf_counter() - start:.0f} s")
    whole = done.run.partial or "whole"
    print(f"  pull requests read {done.run.pulls:,}, failed {done.run.failed:,}, {whole}")
    print(f"  GraphQL points {done.run.points:,}, REST requests {done.run.rest:,}")
    print(f"  requests of all kinds {len(server.log) - before:,}")
    return done.run.partial is None


if __name__ == "__main__":
    sys.exit(main())
