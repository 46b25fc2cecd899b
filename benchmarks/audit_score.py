"""Measure the speed of `crscore audit score`, and plan the scoring of a million pull requests.

    python benchmarks/audit_score.py [--pulls N] [--no-ray]

The store has generated pull requests of two files and four comments; their clone is a real
repository, and the encoder is the default one. One and two worker processes are measured, and Ray
with two cores. The rates and the CPU time of all processes leave out the start of the workers.
CPU time is printed because other work on the machine changes the rates.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crscore.audit.engines import WORKER_DIED_REASON, run_in_processes, run_on_ray
from crscore.audit.score.nightly import find_unscored
from crscore.audit.score.pull_rows import make_failure, score_task
from crscore.settings import Config
from tests.helpers.audits import NIGHT, Audit, add

if TYPE_CHECKING:
    from crscore.audit.engines import Engine

MILLION = 1_000_000
COMMENTS = 4


class Measured(NamedTuple):
    start: float
    """Seconds until the first result."""
    rate: float
    """Pull requests per second after the first result."""
    cpu: float
    """CPU seconds per pull request, without the start; 0 for Ray, whose processes are not children
    of this process, so that their time is not known."""


def settings_of(folder: Path, *, cache: bool) -> Config:
    return Config(analyzers="none", claims="structural", cache=cache, cache_dir=str(folder))


def read_cpu_time() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in used)


def measure(engine: Engine, audit: Audit, settings: Config, *, workers: int) -> Measured:
    tasks = audit.tasks(settings)
    before = read_cpu_time()
    work = partial(score_task, settings=settings)
    died = partial(make_failure, signature="", reason=WORKER_DIED_REASON)
    list(engine(tasks[:workers], work, died))
    start = read_cpu_time() - before
    began, before, first = time.perf_counter(), read_cpu_time(), 0.0
    for number, scored in enumerate(engine(tasks[workers:], work, died)):
        assert scored.failure is None, scored.failure
        if number == 0:
            first = time.perf_counter()
    seconds = time.perf_counter() - first
    rest = len(tasks) - workers
    return Measured(first - began, (rest - 1) / seconds, (read_cpu_time() - before - start) / rest)


def show(name: str, found: Measured) -> None:
    cost = f"CPU time {found.cpu * 1000:5.0f} ms each" if found.cpu else "CPU time not known"
    rate = f"{found.rate:6.2f} pull requests/s"
    print(f"{name:<34} {rate}   start {found.start:4.1f} s   {cost}", flush=True)


def measure_rescoring(audit: Audit, settings: Config, *, workers: int) -> Measured:
    """Score the store, add a comment to each pull request, and measure the scoring after this."""
    audit.score(settings, workers=workers)
    with audit.open() as store, store.transaction():
        for (number,) in store.query("SELECT number FROM pulls"):
            body = f"Please log attempt {number} before the next one starts."
            add(store, 1_000_000 + number, number, "bo", body, path="shop/m0.py", line=9)
    return measure(partial(run_in_processes, workers=workers), audit, settings, workers=workers)


def copy_audit(audit: Audit, folder: Path) -> Audit:
    result = copy(audit)
    result.folder = folder
    folder.mkdir()
    shutil.copy(audit.folder / "audit.db", folder)
    return result


def plan(audit: Audit, cost: float, pulls: int) -> None:
    began = time.process_time()
    with audit.open() as store:
        find_unscored(store, "", NIGHT)
    milliseconds = (time.process_time() - began) / pulls * 1000
    print(f"\nTo find a pull request that is not scored takes {milliseconds:.2f} ms of CPU time.")
    before = (audit.folder / "audit.db").stat().st_size
    audit.score(settings_of(audit.folder, cache=False), workers=2)
    with audit.open() as store:
        store.query("PRAGMA wal_checkpoint(TRUNCATE)")
    grown = ((audit.folder / "audit.db").stat().st_size - before) / pulls
    print(f"The store grows by {grown / 1024:.1f} KiB per pull request of {COMMENTS} comments.")
    print(f"A million pull requests take {cost * MILLION / 3600:,.0f} core hours:")
    for cores in (2, 16, 64, 256):
        print(f"  {cores:4} cores {cost * MILLION / 3600 / cores:8.1f} h")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"  store {grown * MILLION / 2**30:.0f} GiB, memory {peak:.0f} MiB per worker")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pulls", type=int, default=100)
    parser.add_argument("--ray", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        audit = Audit(folder, pulls=arguments.pulls, files=2)
        plain = settings_of(folder, cache=False)
        result = {}
        for workers in (1, 2):
            result[workers] = measure(
                partial(run_in_processes, workers=workers), audit, plain, workers=workers
            )
            show(f"{workers} worker process{'es'[: 2 * workers - 2]}", result[workers])
        print(
            f"2 workers are {result[2].rate / result[1].rate:.2f} times as fast as 1, for "
            f"{result[2].cpu / result[1].cpu:.2f} times the CPU time"
        )
        if arguments.ray:
            on_ray = measure(partial(run_on_ray, workers=2), audit, plain, workers=2)
            on_ray = on_ray._replace(cpu=0)
            show("Ray, 2 cores", on_ray)
            print(f"Ray has {on_ray.rate / result[2].rate:.2f} times the rate of 2 processes")
        for cache in (False, True):
            settings = settings_of(folder, cache=cache)
            fresh = copy_audit(audit, folder / f"again-{cache}")
            again = measure_rescoring(fresh, settings, workers=2)
            show(f"one comment more, {'with' if cache else 'without'} cache", again)
        plan(copy_audit(audit, folder / "plan"), result[1].cpu, arguments.pulls)


if __name__ == "__main__":
    main()
