"""Queries for the scoring of pull requests, besides those of their rows."""

from typing import Final, NamedTuple

from crscore.audit.store.database import Store
from crscore.audit.store.rows import Comment, CommentObservation, Score, ThreadObservation
from crscore.audit.store.signals import read_observations

FAILED: Final = "failed: "
"""Start of the reason of a pull request that could not be scored; it is tried again next night."""


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
    # Observations are read by night, so that the last one replaces the others.
    threads: dict[int | None, tuple[bool, bool | None]] = {
        row.thread: (bool(row.outdated), bool(row.resolved))
        for row in read_observations(store, ThreadObservation, repository, number)
    }
    minimized = {
        row.comment: row.minimized
        for row in read_observations(store, CommentObservation, repository, number)
    }
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
