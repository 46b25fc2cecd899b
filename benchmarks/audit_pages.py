"""Measure how long `crscore audit report` takes on a generated store.

    python -m benchmarks.audit_pages --comments 20000

Prints one line: the number of pull requests; the seconds for the overview, for the slowest page and
for everything; the CPU time of everything, which other work on the machine hardly changes; the
number of files and their size in MB; and the peak memory of the process in MiB.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import tempfile
import time
from pathlib import Path

from crscore.audit.report.site import write_site
from crscore.audit.store.database import Store
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from tests.helpers import audit_rows

KIB_PER_MIB = 1024


def main() -> None:
    """Fill a store, write the report and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--comments", type=int, default=200_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "store.db")) as store:
        audit_rows.fill(store, comments=arguments.comments)
        start, cpu = time.perf_counter(), time.process_time()
        period = Period(since=audit_rows.night(0), until=audit_rows.night(audit_rows.NIGHTS - 1))
        overview = make_overview(store, period)
        overview_s = time.perf_counter() - start
        files = write_site(overview, Path(folder, "site"))
        total_s, cpu_s = time.perf_counter() - start, time.process_time() - cpu
        size = sum(file.stat().st_size for file in files)
        written = sorted(file.stat().st_mtime_ns for file in files)
        slowest_s = max(after - before for before, after in itertools.pairwise(written)) / 1e9
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_MIB
    print(
        f"{overview.pulls:,} pull requests: overview {overview_s:.1f} s, slowest page "
        f"{slowest_s:.1f} s, everything {total_s:.1f} s, CPU time {cpu_s:.1f} s, "
        f"{len(files)} files, {size / 1e6:.1f} MB, {memory:.0f} MiB"
    )


if __name__ == "__main__":
    main()
