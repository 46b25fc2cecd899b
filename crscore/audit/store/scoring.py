"""Queries for the scoring of pull requests, besides those of their rows."""

from typing import Final, NamedTuple

from crscore.audit.store.database import Store
from crscore.audit.store.rows import Comment, Score

FAILED: Final = "failed: "
"""Start of the reason of a pull request that could not be scored; it is tried again next night."""
_OF_PULL = "WHERE repository = ? AND number = ?"


class ObservedComment(NamedTuple):
    """Comment with the last observation of its thread."""

    row: Comment
    is_outdated: bool
    is_resolved: bool | None


def reviewed_pulls(store: Store) -> list[tuple[int, int]]:
    """Return repository and number of the pull requests with a comment of a reviewer, in order."""
    sql = """
        SELECT repository, number FROM pulls WHERE observed IS NOT NULL AND EXISTS (
          SELECT 1 FROM comments WHERE comments.repository = pulls.repository
            AND comments.number = pulls.number AND is_review = 1)
        ORDER BY repository, number"""
    return [(repository, number) for repository, number in store.query(sql)]


def read_comments(store: Store, repository: int, number: int) -> list[ObservedComment]:
    """Return the comments of a pull request that are not minimised, ordered by key."""
    of_comments = f"FROM comments {_OF_PULL}"
    # Observations are read by night, so that the last one replaces the others.
    threads = {
        thread: (bool(outdated), bool(resolved))
        for thread, outdated, resolved in store.query(
            "SELECT thread, outdated, resolved FROM thread_observations "
            f"WHERE thread IN (SELECT thread {of_comments}) ORDER BY night",
            repository,
            number,
        )
    }
    minimized = dict(
        store.query(
            "SELECT comment, minimized FROM comment_observations "
            f"WHERE comment IN (SELECT key {of_comments}) ORDER BY night",
            repository,
            number,
        )
    )
    return [
        ObservedComment(row, *threads.get(row.thread, (False, None)))
        for row in store.find(Comment, "key", repository=repository, number=number)
        # A comment that was shown again has an observation without a reason.
        if minimized.get(row.key) is None
    ]


def scores_of_content(
    store: Store, repository: int, number: int, signature: int, content: bytes
) -> list[Score]:
    """Return the scores of all reviewers together for one content of a pull request."""
    return store.find(
        Score,
        repository=repository,
        number=number,
        reviewer="",
        signature=signature,
        content=content,
    )
