"""Measure how long the report of an audit takes, on a generated store.

    python -m benchmarks.audit_pages --comments 200000

Prints one line: seconds for the overview, for the slowest page and for the whole folder, the number
of files, and the peak memory of the process in MiB.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import tempfile
import time
from pathlib import Path

from crscore.audit.progress import NoProgress
from crscore.audit.report.site import write_site
from crscore.audit.store.database import Store
from crscore.audit.summary import Options, make_overview
from crscore.audit.tables import Period
from tests.helpers import audit_rows

KIB_PER_MIB = 1024


class Clock(NoProgress):
    """Notes when each page is written."""

    def __init__(self, times: list[float]) -> None:
        self.times = times

    def advance(self) -> None:
        """Note the time."""
        self.times.append(time.perf_counter())


def main() -> None:
    """Fill a store, write the report and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--comments", type=int, default=200_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "store.db")) as store:
        audit_rows.fill(store, comments=given.comments)
        times = [time.perf_counter()]
        period = Period(since=audit_rows.night(0), until=audit_rows.night(audit_rows.NIGHTS - 1))
        found = make_overview(store, Options(period=period))
        times.append(time.perf_counter())
        files = write_site(
            store,
            found,
            Path(folder, "site"),
            progress=Clock(times),
        )
        pages = [after - before for before, after in itertools.pairwise(times)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_MIB
    print(
        f"overview {times[1] - times[0]:.1f} s, slowest page {max(pages[1:]):.1f} s, "
        f"folder {sum(pages):.1f} s, {len(files)} files, {memory:.0f} MiB"
    )


if __name__ == "__main__":
    main()
