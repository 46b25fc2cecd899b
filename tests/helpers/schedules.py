"""Runs of one pull request against a GitHub that misbehaves, each held against a run in peace."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec

from crscore.errors import HostError
from crscore.github import client
from crscore.github.client import Client
from crscore.github.host import GitHub
from crscore.hosts import sticky
from crscore.hosts.http import WaitBudget
from crscore.pull_request import run
from tests.helpers.github import faults, scenes
from tests.helpers.github.server import serve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crscore.pull_request.overview import Overview
    from tests.helpers.github.server import Server
    from tests.helpers.github.state import World

REQUEST = run.Request(
    repository="acme/shop",
    number=7,
    flags={"encoder": "hashing", "analyzers": "none", "cache": False},
)
TIMEOUT_S = 1
"""How long the client waits for an answer."""
LATE_S, TOO_LATE_S = 0.01, 1.2
"""How late a slow answer is; in one run of `EVERY` it is so late that the client has left."""
EVERY = 25
PAGE = 3
"""Items a page, so that a small pull request has many pages."""
_NUMBERS = ("together", "reviewers", "open", "other_reviewers")


@dataclass(slots=True)
class Tally:
    """Counts of what became of the runs."""

    same: int = 0
    """Runs that gave what a run in peace gives."""
    partial: int = 0
    """Runs that gave other numbers or the same, and said what is missing."""
    errors: int = 0
    """Runs that ended with an error of the host and no number at all."""
    wrong: list[int] = field(default_factory=list)
    """Seeds of runs that gave other numbers and did not say so."""
    second: list[int] = field(default_factory=list)
    """Seeds after which there was more than one comment of ours."""
    met: Counter[str] = field(default_factory=Counter)
    """Faults met, by kind."""
    waited_s: float = 0.0
    """Seconds that the runs would have waited."""


def numbers(found: Overview) -> dict[str, Any]:
    """Everything of a run that is a number or decides one."""
    document = msgspec.to_builtins(found)
    return {name: document[name] for name in (*_NUMBERS, "signature", "head")}


@cache
def in_peace() -> dict[str, Any]:
    """Run once without faults; the result is the same each time."""
    clock = Clock()
    with serve(scenes.shop(), page_limit=PAGE, clock=clock.now) as server:
        return numbers(run.read_and_score(GitHub(_host(server, clock, seed=0)), REQUEST).overview)


# PyGithub's pause between writes is real time, which no clock of ours skips.
@patch.object(client, "SECONDS_BETWEEN_WRITES", None)
def misbehave(seeds: Iterable[int]) -> Tally:
    """Run once for each seed, the comment included; then once more in peace on what is left.

    The second run is what a team sees after the trouble: it, too, must leave one comment.
    """
    tally, expected = Tally(), in_peace()
    for seed in seeds:
        world, clock = scenes.shop(), Clock()
        with serve(world, page_limit=PAGE, clock=clock.now) as server:
            draw = Random(seed)
            server.faults = faults.Schedule(
                seed,
                rate=draw.choice((0.1, 0.3, 0.6)),
                slow_s=LATE_S if seed % EVERY else TOO_LATE_S,
                wait_s=draw.randint(1, 90),
            )
            _one(server, clock, seed, tally, expected)
            tally.met.update(entry.fault for entry in server.log if entry.fault)
            server.faults = faults.Script({})
            after = Tally()
            _one(server, clock, seed, after, expected)
            if (after.same, len(ours(world))) != (1, 1):
                tally.second.append(seed)
    return tally


def ours(world: World) -> list[str]:
    """Our comments on the pull request."""
    pull = world.repositories[0].pulls[REQUEST.number]
    return [note.body for note in pull.notes if note.body.startswith(sticky.MARKER)]


def _one(server: Server, clock: Clock, seed: int, tally: Tally, expected: dict[str, Any]) -> None:
    host = _host(server, clock, seed)
    try:
        measured = run.read_and_score(GitHub(host), REQUEST)
        run.post(GitHub(host), measured)
    except HostError:
        tally.errors += 1
    else:
        if measured.overview.partial:
            tally.partial += 1
        elif numbers(measured.overview) == expected:
            tally.same += 1
        else:
            tally.wrong.append(seed)
    finally:
        tally.waited_s += host.budget.waited_s
        host.close()
    if len(ours(server.world)) > 1:
        tally.second.append(seed)


def _host(server: Server, clock: Clock, seed: int) -> Client:
    budget = WaitBudget(left_s=120.0, sleep=clock.sleep, now=clock.now)
    return Client(token=server.token, api_url=server.url, budget=budget, timeout_s=TIMEOUT_S)


class Clock:
    """Goes on by what was waited for, so that nobody really waits; server and client share it."""

    def __init__(self) -> None:
        self.waited = 0.0

    def now(self) -> float:
        return time.time() + self.waited

    def sleep(self, seconds: float) -> None:
        self.waited += seconds
