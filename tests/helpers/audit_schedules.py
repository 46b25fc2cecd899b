"""Nights against a GitHub that misbehaves, or that are killed, held against a night in peace."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from crscore.errors import CRScoreError
from crscore.github.client import Client
from crscore.hosts.http import WaitBudget
from tests.helpers import audit_nights, audit_worlds
from tests.helpers.github import faults
from tests.helpers.github.server import serve
from tests.helpers.schedules import Clock

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tests.helpers.github.server import Server

PAGE = 10
"""Items a page: few, so that there are many; enough that a shuffled page is not in order."""
LATE_S = 0.01
TIMEOUT_S = 2
ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Tally:
    """Counts of what became of the runs."""

    whole: int = 0
    """First runs that said to be whole."""
    partial: int = 0
    """First runs that told what is missing."""
    errors: int = 0
    """First runs that ended with an error, or were killed."""
    late: list[int] = field(default_factory=list)
    """Seeds of first runs that said to be whole and had left another store."""
    other: list[int] = field(default_factory=list)
    """Seeds after which a run in peace did not lead to the store of peace."""
    met: Counter[str] = field(default_factory=Counter)
    """Faults met, by kind."""


def misbehave(seeds: Iterable[int]) -> Tally:
    """Run once with faults for each seed, then once in peace on what is left."""
    tally, expected, now = Tally(), _in_peace(), _now()
    for seed in seeds:
        clock, draw = Clock(), Random(seed)
        with (
            serve(audit_worlds.copies(), page_limit=PAGE, clock=clock.now) as server,
            tempfile.TemporaryDirectory() as name,
        ):
            server.faults = faults.Schedule(
                seed,
                rate=draw.choice((0.1, 0.3, 0.6)),
                slow_s=LATE_S,
                wait_s=draw.randint(1, 90),
            )
            _first_run(server, Path(name), now, clock, seed, tally, expected)
            tally.met.update(entry.fault for entry in server.log if entry.fault)
            server.faults = faults.Script({})
            audit_nights.run_night(server, Path(name), now)
            if audit_nights.contents(Path(name)) != expected:
                tally.other.append(seed)
    return tally


def kill(seeds: Iterable[int]) -> Tally:
    """Kill a run at a random time for each seed, then run once in peace on what is left."""
    tally, expected, now = Tally(), _in_peace(), _now()
    with serve(audit_worlds.copies(), page_limit=PAGE) as server:
        with tempfile.TemporaryDirectory() as name:
            seconds = _killed_after(server, Path(name), now, None)
        for seed in seeds:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
                wait_s = Random(seed).uniform(0, seconds)
                _killed_after(server, Path(name), now, wait_s)
                tally.errors += 1
                audit_nights.run_night(server, Path(name), now)
                if audit_nights.contents(Path(name)) != expected:
                    tally.other.append(seed)
    return tally


def _now() -> datetime:
    return audit_worlds.after(audit_worlds.copies())


def _in_peace() -> dict[str, Any]:
    with (
        serve(audit_worlds.copies(), page_limit=PAGE) as server,
        tempfile.TemporaryDirectory() as name,
    ):
        summary = audit_nights.run_night(server, Path(name), _now())
        if summary.run.partial:
            raise AssertionError(summary.run.partial)
        return audit_nights.contents(Path(name))


def _first_run(
    server: Server,
    folder: Path,
    now: datetime,
    clock: Clock,
    seed: int,
    tally: Tally,
    expected: dict[str, Any],
) -> None:
    budget = WaitBudget(left_s=120.0, sleep=clock.sleep, now=clock.now)
    client = Client(token=server.token, api_url=server.url, budget=budget, timeout_s=TIMEOUT_S)
    try:
        summary = audit_nights.run_night(server, folder, now, client=client)
    except CRScoreError:
        tally.errors += 1
        return
    if summary.run.partial or summary.run.failed:
        tally.partial += 1
        return
    tally.whole += 1
    if audit_nights.contents(folder) != expected:
        tally.late.append(seed)


def _killed_after(server: Server, folder: Path, now: datetime, wait_s: float | None) -> float:
    """Run in a process, killed after so many seconds; return the seconds that it took.

    The time begins when everything is imported, which the process tells by a line.
    """
    names = [repository.full_name for repository in server.world.repositories]
    module = [sys.executable, "-m", "tests.helpers.audit_schedules"]
    command = [*module, str(folder), server.url, server.token or "", f"{now}"]
    with subprocess.Popen(
        [*command, *names],
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


def _main() -> None:
    from datetime import datetime  # noqa: PLC0415

    from crscore.audit.store.database import Store  # noqa: PLC0415
    from crscore.audit.sync.run import Request, sync  # noqa: PLC0415
    from crscore.github.feed import GitHubFeed  # noqa: PLC0415

    folder, url, token, now = Path(sys.argv[1]), *sys.argv[2:5]
    request = Request(repositories=tuple(sys.argv[5:]), git_url=f"{url}/{{name}}.git", token=token)
    client = Client(token=token, api_url=url)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    with Store(folder / audit_nights.STORE) as store:
        sync(
            store,
            GitHubFeed(client),
            folder / audit_nights.CLONES,
            request,
            now=datetime.fromisoformat(now),
        )


if __name__ == "__main__":
    _main()
