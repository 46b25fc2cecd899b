"""Comments, their authors, and the observations of comments and threads."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from crscore.audit.store.database import Store
from crscore.audit.store.rows import Comment, CommentObservation, Thread, ThreadObservation

Account = tuple[bool, int]
"""Whether the account is the author of reviews, and its id at the host.

GraphQL, which provides the reviews, has other logins of some apps than REST, which provides the
comments.
"""


def put_comments(store: Store, rows: Iterable[Comment]) -> set[int]:
    """Write the rows that are new or changed, not yet classified, in an open transaction.

    Returns:
        Numbers of their pull requests.
    """
    numbers = set()
    for row in rows:
        previous = store.find_one(Comment, key=row.key)
        # The classification is kept out of the comparison: a row fresh from the host has none, and
        # a comment that only lost it has not changed.
        if previous is None or previous != replace(
            row,
            reviewer=previous.reviewer,
            is_bot=previous.is_bot,
            is_review=previous.is_review,
            skip=previous.skip,
        ):
            store.put([row])
            numbers.add(row.number)
    return numbers


def thread_by_comment(store: Store, repository: int, number: int) -> Mapping[int, int | None]:
    """Return the thread's key by comment key for a pull request; None outside threads."""
    sql = "SELECT key, thread FROM comments WHERE repository = ? AND number = ?"
    return dict(store.query(sql, repository, number))


def thread_keys(store: Store, repository: int, number: int) -> Mapping[str, int]:
    """Return the keys of a pull request's threads by their id in GraphQL."""
    sql = (
        "SELECT node, id FROM threads WHERE id IN "
        "(SELECT thread FROM comments WHERE repository = ? AND number = ?)"
    )
    return dict(store.query(sql, repository, number))


def add_thread(store: Store, first: int, node: str) -> int:
    """Store a thread by the key of its first comment, in an open transaction; return its key.

    Threads keep their first key when the first comment is deleted.
    """
    comment = store.find_one(Comment, key=first)
    key = comment.thread if comment is not None and comment.thread is not None else first
    store.append([Thread(id=key, node=node)])
    return key


def put_observation(store: Store, row: ThreadObservation | CommentObservation) -> None:
    """Append an observation when it differs from the last night's, in an open transaction."""
    column = row.KEY[0]
    key = getattr(row, column)
    clauses = f"WHERE {column} = ? AND night < ? ORDER BY night DESC LIMIT 1"
    previous = store.select(type(row), clauses, key, row.night)
    if previous and replace(previous[0], night=row.night) == row:
        # An earlier run of this night may have seen another state, which is outdated.
        store.delete(type(row), **{column: key, "night": row.night})
    else:
        store.put([row])


def logins_by_account(store: Store) -> dict[Account, str]:
    """Return the logins of the known accounts."""
    # The remainder is the kind of a comment (`rows.comment_key`); 1 is a review.
    sql = "SELECT DISTINCT key % 4 = 1, author_id, author FROM comments WHERE author_id IS NOT NULL"
    return {(bool(is_review), number): login for is_review, number, login in store.query(sql)}


def rename_author(
    store: Store, account: int, former: str, login: str
) -> list[tuple[int, int, str | None]]:
    """Give an account a new login, in an open transaction.

    Returns:
        Repository, number and author of the pull requests that it commented on.
    """
    sql = (
        "SELECT DISTINCT repository, number, pulls.author FROM comments "
        "JOIN pulls USING (repository, number) WHERE author_id = ? AND comments.author = ?"
    )
    pulls = store.query(sql, account, former)
    store.change(
        "UPDATE comments SET author = ? WHERE author_id = ? AND author = ?", login, account, former
    )
    # By login, as the list of pull requests is stored without numbers of accounts.
    store.change("UPDATE pulls SET author = ? WHERE author = ?", login, former)
    store.change(
        "UPDATE thread_observations SET resolved_by = ? WHERE resolved_by = ?", login, former
    )
    return [
        (repository, number, login if author == former else author)
        for repository, number, author in pulls
    ]


def rename_reviewer(store: Store, repository: int, number: int, former: str, name: str) -> None:
    """Give a reviewer's scores of a pull request a new name, in an open transaction."""
    store.change(
        # REPLACE: the new name can already have a row for the same content.
        "UPDATE OR REPLACE scores SET reviewer = ? "
        "WHERE repository = ? AND number = ? AND reviewer = ?",
        name, repository, number, former,
    )  # fmt: skip
