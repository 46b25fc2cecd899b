"""Nights of `crscore audit sync` against the loopback GitHub, and what is in the store after."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crscore.audit.store.database import Store
from crscore.audit.sync.run import Request, Summary, sync
from crscore.github.client import Client
from crscore.github.feed import GitHubFeed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.helpers.github.server import Server

STORE, CLONES = "audit.sqlite3", "clones"


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """Open the store of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with Store(folder / STORE) as store:
        yield store


def run_night(
    server: Server,
    folder: Path,
    now: datetime,
    *,
    client: Client | None = None,
    **asked: Any,
) -> Summary:
    """Synchronise once; without other names, all repositories of the server.

    Args:
        server: The GitHub.
        folder: Where the store and the clones lie.
        now: Present time.
        client: Client to use; None for a new one.
        asked: Budgets, and fields of the request that differ.
    """
    names = tuple(repository.full_name for repository in server.world.repositories)
    max_requests = asked.pop("max_requests", None)
    options = {"repositories": names, "git_url": f"{server.url}/{{name}}.git"} | asked
    request = Request(token=server.token, **options)
    used = client or Client(token=server.token, api_url=server.url, max_requests=max_requests)
    try:
        with opened(folder) as store:
            return sync(
                store,
                GitHubFeed(used),
                folder / CLONES,
                request,
                now=now,
            )
    finally:
        used.close()


def contents(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of a store but those of its runs, by table, in order."""
    with opened(folder) as store:
        sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'runs'"
        tables = [name for (name,) in store.query(sql)]
        return {table: sorted(store.query(f"SELECT * FROM {table}"), key=repr) for table in tables}


def days(text: str) -> datetime:
    """Return midnight in UTC of a date."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
