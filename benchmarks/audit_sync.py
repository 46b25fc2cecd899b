"""Count the requests of `crscore audit sync`, and their points by GitHub's rules.

    python benchmarks/audit_sync.py [--pulls 1000]

Two runs synchronize one repository: in the first, all pull requests are new; in the second, nothing
has changed, but all pull requests are still observed. A local stand-in for GitHub counts requests
and points, including git over HTTP.
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
    arguments = parser.parse_args()
    world = busy.busy(arguments.pulls)
    now = audit_worlds.after(world, 1 / 24)
    with serve(world) as server, tempfile.TemporaryDirectory() as name:
        changed = _sync(server, Path(name), now, f"{arguments.pulls:,} pull requests changed")
        unchanged = _sync(server, Path(name), now + timedelta(days=1), "nothing changed")
    return 0 if changed and unchanged else 1


def _sync(server: Server, folder: Path, now: datetime, title: str) -> bool:
    before, start = len(server.log), time.perf_counter()
    summary = audit_nights.run_night(server, folder, now)
    print(f"{title}, {time.perf_counter() - start:.0f} s")
    outcome = summary.run.partial or "complete"
    print(f"  pull requests read {summary.run.pulls:,}, failed {summary.run.failed:,}, {outcome}")
    print(f"  GraphQL points {summary.run.points:,}, REST requests {summary.run.rest:,}")
    print(f"  requests of all kinds {len(server.log) - before:,}")
    return summary.run.partial is None


if __name__ == "__main__":
    sys.exit(main())
