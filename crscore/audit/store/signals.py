"""What the search for signals reads, besides rows: pull requests whose signals may have changed."""

from crscore.audit.store.database import Store
from crscore.audit.store.rows import CommentObservation, ThreadObservation


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


def last_thread_observation(store: Store, thread: int | None) -> ThreadObservation | None:
    """Return the last observation of a thread; None outside threads."""
    clauses = "WHERE thread = ? ORDER BY night DESC LIMIT 1"
    return next(iter(store.select(ThreadObservation, clauses, thread)), None)


def last_comment_observation(store: Store, comment: int) -> CommentObservation | None:
    """Return the last observation of a comment; None when it was not observed."""
    clauses = "WHERE comment = ? ORDER BY night DESC LIMIT 1"
    return next(iter(store.select(CommentObservation, clauses, comment)), None)
