"""Nights of `crscore audit sync` against the simulated GitLab, in peace, with faults, killed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from crscore.audit.sync.run import Request, Summary, sync
from crscore.errors import CRScoreError
from crscore.gitlab.client import Client
from crscore.gitlab.feed import GitLabFeed
from crscore.hosts.http import WaitBudget
from tests.helpers import audit_worlds
from tests.helpers.audit_nights import CLONES, contents, opened
from tests.helpers.audit_schedules import LATE_S, PAGE, ROOT, TIMEOUT_S, Tally
from tests.helpers.github import faults
from tests.helpers.gitlab.server import TOKEN, Schedule, Server, serve
from tests.helpers.schedules import Clock

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = ("acme/shop",)
PULLS = 4


def run_night(
    url: str, folder: Path, now: datetime, *, client: Client | None = None, **asked: Any
) -> Summary:
    """Synchronise once.

    Args:
        url: Address of the GitLab.
        folder: Where the store and the clones lie.
        now: Present time.
        client: Client to use; None for a new one.
        asked: Fields of the request that differ.
    """
    options = {"repositories": NAMES, "git_url": f"{url}/{{name}}.git"} | asked
    used = client or Client(token=TOKEN, url=url)
    try:
        with opened(folder) as store:
            feed = GitLabFeed(used)
            return sync(store, feed, folder / CLONES, Request(token=TOKEN, **options), now=now)
    finally:
        used.close()


def misbehave(seeds: Iterable[int]) -> Tally:
    """Run once with faults for each seed, then once in peace on what is left."""
    tally = Tally()
    with serve(audit_worlds.copies(PULLS), clock=time.time, page_limit=PAGE) as server:
        expected = _in_peace(server)
        for seed in seeds:
            clock, draw = Clock(), Random(seed)
            server.clock = clock.now
            server.log.clear()
            server.faults = Schedule(
                seed,
                rate=draw.choice((0.05, 0.2, 0.5)),
                slow_s=LATE_S,
                wait_s=draw.randint(1, 90),
            )
            with tempfile.TemporaryDirectory() as name:
                _first_run(server, Path(name), clock, seed, tally, expected)
                tally.met.update(entry.fault for entry in server.log if entry.fault)
                server.faults = faults.Script({})
                run_night(server.url, Path(name), _now(server))
                if contents(Path(name)) != expected:
                    tally.other.append(seed)
    return tally


def kill(seeds: Iterable[int]) -> Tally:
    """Kill a run at a random time for each seed, then run once in peace on what is left."""
    tally = Tally()
    with serve(audit_worlds.copies(PULLS), clock=time.time, page_limit=PAGE) as server:
        expected, now = _in_peace(server), _now(server)
        with tempfile.TemporaryDirectory() as name:
            seconds = _killed_after(server, Path(name), now, None)
        for seed in seeds:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
                _killed_after(server, Path(name), now, Random(seed).uniform(0, seconds))
                tally.errors += 1
                run_night(server.url, Path(name), now)
                if contents(Path(name)) != expected:
                    tally.other.append(seed)
    return tally


def _now(server: Server) -> datetime:
    return audit_worlds.after(server.world)


def _in_peace(server: Server) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        summary = run_night(server.url, Path(name), _now(server))
        if summary.run.partial:
            raise AssertionError(summary.run.partial)
        return contents(Path(name))


def _first_run(
    server: Server, folder: Path, clock: Clock, seed: int, tally: Tally, expected: dict[str, Any]
) -> None:
    budget = WaitBudget(left_s=120.0, sleep=clock.sleep, now=clock.now)
    client = Client(token=TOKEN, url=server.url, budget=budget, timeout_s=TIMEOUT_S)
    try:
        summary = run_night(server.url, folder, _now(server), client=client)
    except CRScoreError:
        tally.errors += 1
        return
    if summary.run.partial or summary.run.failed:
        tally.partial += 1
        return
    tally.whole += 1
    if contents(folder) != expected:
        tally.late.append(seed)


def _killed_after(server: Server, folder: Path, now: datetime, wait_s: float | None) -> float:
    """Run in a process, killed after so many seconds; return the seconds that it took."""
    command = [sys.executable, "-m", "tests.helpers.gitlab.nights", server.url, str(folder)]
    with subprocess.Popen(
        [*command, f"{now}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/local/bin:/usr/bin:/bin"},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        start = time.monotonic()
        if wait_s is not None:
            time.sleep(wait_s)
            process.kill()
        process.wait()
        return time.monotonic() - start


if __name__ == "__main__":
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    run_night(sys.argv[1], Path(sys.argv[2]), datetime.fromisoformat(sys.argv[3]))
