"""Repositories, the positions in their lists, and runs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from crscore.audit.store.database import Store
from crscore.audit.store.rows import Cursor, Repository, Run


def all_repositories(store: Store) -> list[Repository]:
    """Return all repositories, ordered by number."""
    return store.find(Repository, "id")


def find_by_name(store: Store, name: str) -> list[Repository]:
    """Return the repositories of this name, ignoring case; those that can be read come first."""
    # After a rename, an old repository can have the name that a new one took.
    return store.select(
        Repository, "WHERE name = ? COLLATE NOCASE ORDER BY state <> 'ok', id", name
    )


def pull_pages(store: Store, host: str) -> Mapping[str, str]:
    """Return the addresses of pull requests' pages, with `{number}`, by the repository's name.

    Args:
        store: The store.
        host: Address of GitHub, for the repositories that are there.
    """
    github = f"{host.rstrip('/')}/{{name}}/pull/{{number}}"
    # `replace`, not `format`: an address may contain other braces.
    return {
        row.name: (row.page or github).replace("{name}", row.name)
        for row in all_repositories(store)
    }


def get_position(store: Store, repository: int, name: str) -> str | None:
    """Return the position in a list; None for a list without one."""
    cursor = store.find_one(Cursor, repository=repository, list=name)
    return cursor.position if cursor else None


def put_position(store: Store, repository: int, name: str, position: str) -> None:
    """Move the position in a list, in an open transaction."""
    store.put([Cursor(repository=repository, list=name, position=position)])


def start_lists(store: Store, repository: int, names: Iterable[str], position: str) -> None:
    """Add the lists of a new repository, in an open transaction."""
    store.append(Cursor(repository=repository, list=name, position=position) for name in names)


def last_night(store: Store) -> str | None:
    """Return the night of the last run; None before the first."""
    night: str | None = store.query("SELECT MAX(night) FROM runs")[0][0]
    return night


def add_run(store: Store, run: Run) -> Run:
    """Store a new run and return it with its number."""
    with store.transaction():
        store.put([run])
        return replace(run, id=store.query("SELECT MAX(id) FROM runs")[0][0])
