"""Measure time, memory and size of an audit of many comments.

    python benchmarks/audit_scale.py [--comments 200000]

A store is filled with synthetic rows: ten bots and two people, 30 days, and one pull request for
every 20 comments. Prints the seconds of loading the rows and `compare_all`, and of `make_overview`;
the peak memory of the process; and the size of the store without the texts, in bytes per comment.
The times include imports at the first use.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crscore.audit.compare import compare_all
from crscore.audit.store.database import Store
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period, load_reviews
from tests.helpers import audit_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

PERIOD = Period(since=audit_rows.night(0), until=audit_rows.night(audit_rows.NIGHTS - 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--comments", type=int, default=200_000)
    wanted = parser.parse_args().comments
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "audit.db")
        with Store(path) as store, timed("fill the store"):
            audit_rows.fill(store, comments=wanted)
        with Store(path) as store:
            measure(store, path)


def measure(store: Store, path: Path) -> None:
    with timed("compare all pairs of bots"):
        verdicts = compare_all(load_reviews(store, PERIOD))
    with timed("make the overview"):
        overview = make_overview(store, PERIOD)
    comments = store.query("SELECT COUNT(*) FROM comments")[0][0]
    texts = store.query("SELECT TOTAL(LENGTH(text)) FROM texts")[0][0]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{comments:,} comments, {overview.pulls:,} pull requests, {len(verdicts)} verdicts")
    print(f"peak memory               {memory:7.0f} MiB")
    print(f"bytes per comment         {(path.stat().st_size - texts) / comments:7.0f}")


@contextmanager
def timed(what: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    print(f"{what:25} {time.perf_counter() - started:7.2f} s")


if __name__ == "__main__":
    main()
