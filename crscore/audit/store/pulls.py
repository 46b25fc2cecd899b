"""Pull requests: those to be read, and the commits observed of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from crscore.audit.store.database import Store
from crscore.audit.store.rows import Pull

_OWN_COLUMNS = ("lines", "language", "observed", "final", "failure")
"""Columns that the list of pull requests does not have."""


def put_listed(store: Store, row: Pull) -> None:
    """Write a pull request as it is listed when it is new or changed, in an open transaction."""
    previous = store.find_one(Pull, repository=row.repository, number=row.number)
    if previous is not None:
        # The list knows nothing of them: they stay as the details left them.
        row = replace(row, **{name: getattr(previous, name) for name in _OWN_COLUMNS})
    # A pull request that is listed again unchanged does not become pending.
    if previous is None or replace(row, pending=previous.pending) != previous:
        store.put([row])


def mark_pending(store: Store, repository: int, numbers: Iterable[int]) -> None:
    """Mark pull requests as to be read, in an open transaction."""
    for number in sorted(numbers):
        store.change(
            "UPDATE pulls SET pending = 1 WHERE repository = ? AND number = ?", repository, number
        )


def mark_last_reading(store: Store, closed_before: str) -> None:
    """Mark pull requests that were closed before this time as to be read for the last time."""
    with store.transaction():
        store.change("UPDATE pulls SET pending = 1 WHERE final = 0 AND closed < ?", closed_before)


def pending_pulls(store: Store, repositories: Sequence[int]) -> list[Pull]:
    """Return the pull requests to be read, the least recently changed first."""
    return _select(store, repositories, "pending = 1")


def observed_pulls(
    store: Store, repositories: Sequence[int], night: str, updated_since: str
) -> list[Pull]:
    """Return the pull requests whose threads were not observed tonight and are not to be read.

    An open one that has not changed for long is not observed.
    """
    # Closed ones are observed even when they did not change: people resolve threads after the
    # merge.
    condition = (
        "pending = 0 AND final = 0 AND observed < ? AND (closed IS NOT NULL OR updated >= ?)"
    )
    return _select(store, repositories, condition, night, updated_since)


def _select(store: Store, repositories: Sequence[int], condition: str, *values: Any) -> list[Pull]:
    marks = ", ".join("?" * len(repositories))
    clauses = f"WHERE {condition} AND repository IN ({marks}) ORDER BY updated, repository, number"
    return store.select(Pull, clauses, *values, *repositories)


def unlisted_numbers(store: Store, repository: int) -> list[int]:
    """Return the numbers of pull requests that have comments and are missing."""
    sql = (
        "SELECT DISTINCT number FROM comments WHERE repository = ? AND number NOT IN "
        "(SELECT number FROM pulls WHERE repository = ?)"
    )
    return [number for (number,) in store.query(sql, repository, repository)]


def observed_commits(store: Store, repository: int) -> set[str]:
    """Return the commits that the pull requests still observed refer to; some may be empty."""
    sql = (
        # Final ones are needed once more, on the night of their last reading: afterwards the clone
        # has their commits.
        "WITH chosen AS (SELECT * FROM pulls WHERE repository = ? AND (final = 0 OR observed = "
        "(SELECT MAX(observed) FROM pulls WHERE repository = ?))) "
        "SELECT base FROM chosen UNION SELECT head FROM chosen "
        "UNION SELECT merge_commit FROM chosen "
        "UNION SELECT commit_id FROM comments JOIN chosen USING (repository, number) "
        "UNION SELECT before FROM revisions JOIN chosen USING (repository, number) "
        "UNION SELECT after FROM revisions JOIN chosen USING (repository, number)"
    )
    return {commit or "" for (commit,) in store.query(sql, repository, repository)}
