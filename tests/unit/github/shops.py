"""The shop's pull request, read over HTTP by a client that never really waits."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from crscore.diff.parse import DiffLimits
from crscore.github.client import Client
from crscore.github.host import GitHub
from crscore.hosts.http import WaitBudget
from tests.helpers.github import scenes
from tests.helpers.github.server import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.hosts.records import PullRequest
    from tests.helpers.github.server import Server
    from tests.helpers.github.state import Pull, World

NAME, NUMBER = "acme/shop", 7


@contextmanager
def shop(world: World | None = None, **rules: object) -> Iterator[tuple[Server, Client]]:
    """Serve the shop, and make a client for it."""
    with serve(world or scenes.shop(), **rules) as server:
        budget = WaitBudget(left_s=60, sleep=lambda _: None)
        host = Client(token=server.token, api_url=server.url, budget=budget, timeout_s=5)
        yield server, host
        host.close()


def pull_of(server: Server) -> Pull:
    return server.world.repositories[0].pulls[NUMBER]


def read(host: Client, **options: object) -> PullRequest:
    return GitHub(host).read_pull(NAME, NUMBER, **{"limits": DiffLimits(), **options})
