"""What the search for signals reads, besides rows: pull requests whose signals may have changed."""

from typing import TypeVar

from crscore.audit.store.database import Store
from crscore.audit.store.rows import CommentObservation, ThreadObservation

Observed = TypeVar("Observed", ThreadObservation, CommentObservation)


def pulls_to_observe(store: Store, cursor: str, rules: int) -> list[tuple[int, int]]:
    """Return repository and number of pull requests whose signals may differ from the stored ones.

    Args:
        store: The store.
        cursor: List whose position is the night of a repository's last signals, and their rules.
        rules: Version of the rules; those of another version are found again.
    """
    # `>=`: a second run of a night may have read what the first one's signals did not have.
    sql = """
        SELECT p.repository, p.number FROM pulls p
        LEFT JOIN cursors c ON c.repository = p.repository AND c.list = ?
        WHERE p.final = 0 OR c.position IS NULL OR c.position NOT LIKE ?
          OR p.observed >= substr(c.position, 1, 10)
        ORDER BY p.repository, p.number"""
    return [(repository, number) for repository, number in store.query(sql, cursor, f"% {rules}")]


def read_observations(
    store: Store, kind: type[Observed], repository: int, number: int
) -> list[Observed]:
    """Return what was observed of the threads, or comments, of a pull request, by night."""
    name, key = ("thread", "thread") if kind is ThreadObservation else ("comment", "key")
    of_pull = f"SELECT {key} FROM comments WHERE repository = ? AND number = ?"
    return store.select(kind, f"WHERE {name} IN ({of_pull}) ORDER BY night", repository, number)
