"""Runs of one merge request against a GitLab that misbehaves, each held against a run in peace."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

from crscore.errors import HostError
from crscore.gitlab.client import Client
from crscore.gitlab.host import GitLab
from crscore.hosts import sticky
from crscore.hosts.http import WaitBudget
from crscore.pull_request import run
from tests.helpers.github import faults, scenes
from tests.helpers.gitlab.server import TOKEN, Schedule, Server, serve
from tests.helpers.schedules import (
    EVERY,
    LATE_S,
    PAGE,
    REQUEST,
    TIMEOUT_S,
    TOO_LATE_S,
    Clock,
    Tally,
    numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def in_peace() -> tuple[dict[str, Any], int]:
    """Run once without faults: the numbers, and how many messages there are."""
    clock = Clock()
    with serve(scenes.shop(), page_limit=PAGE, clock=clock.now) as server:
        measured = run.read_and_score(host_of(server, clock, seed=0), REQUEST)
        return numbers(measured.overview), len(measured.pull.messages)


def misbehave(seeds: Iterable[int]) -> Tally:
    """Run once for each seed, the note included; then once more in peace on what is left."""
    tally = Tally()
    for seed in seeds:
        clock = Clock()
        with serve(scenes.shop(), page_limit=PAGE, clock=clock.now) as server:
            draw = Random(seed)
            server.faults = Schedule(
                seed,
                rate=draw.choice((0.1, 0.3, 0.6)),
                slow_s=LATE_S if seed % EVERY else TOO_LATE_S,
                wait_s=draw.randint(1, 90),
            )
            _run_once(server, clock, seed, tally)
            tally.met.update(entry.fault for entry in server.log if entry.fault)
            server.faults = faults.Script({})
            after = Tally()
            _run_once(server, clock, seed, after)
            if (after.same, len(ours(server))) != (1, 1):
                tally.second.append(seed)
    return tally


def ours(server: Server) -> list[str]:
    """Our notes on the merge request."""
    return [note.body for note in server.pull.notes if note.body.startswith(sticky.MARKER)]


def host_of(server: Server, clock: Clock, seed: int) -> GitLab:
    budget = WaitBudget(left_s=120.0, sleep=clock.sleep, now=clock.now)
    client = Client(token=TOKEN, url=server.url, budget=budget, timeout_s=TIMEOUT_S)
    return GitLab(client)


def _run_once(server: Server, clock: Clock, seed: int, tally: Tally) -> None:
    expected, messages = in_peace()
    host = host_of(server, clock, seed)
    try:
        measured = run.read_and_score(host, REQUEST)
        run.post(host, measured)
    except HostError:
        tally.errors += 1
    else:
        same = numbers(measured.overview) == expected and len(measured.pull.messages) == messages
        if measured.overview.partial:
            tally.partial += 1
        elif same:
            tally.same += 1
        else:
            tally.wrong.append(seed)
    finally:
        tally.waited_s += host.client.budget.waited_s
        host.client.close()
    if len(ours(server)) > 1:
        tally.second.append(seed)
