"""Queries of `sync` and `score`: what remains to be read or scored, and states of comments.

The *night* of a run is the date (UTC) on which the run began. An *observation* is the state of a
thread or a comment as a run saw it; a run stores an observation only if the state has changed.
A function that works "in an open transaction" must be called within `Store.transaction`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from crscore.audit.store.database import Store
from crscore.audit.store.rows import (
    AuditRun,
    Comment,
    CommentObservation,
    Pull,
    Repository,
    Row,
    ThreadObservation,
    host_id_of,
    kind_of,
)
from crscore.hosts.records import HostMessage
from crscore.records import Side


def all_repositories(store: Store) -> list[Repository]:
    """Return all repositories, sorted by id."""
    return store.find(Repository, "id")


def find_by_name(store: Store, name: str) -> list[Repository]:
    """Return the repositories with this name, ignoring case; those that can be read are first.

    There may be several, because a new repository can get the former name of a renamed one.
    """
    return store.select(
        Repository, "WHERE name = ? COLLATE NOCASE ORDER BY state <> 'ok', id", name
    )


def pull_pages(store: Store, host: str) -> Mapping[str, str]:
    """Return addresses of the pages of pull requests, keyed by the name of the repository.

    An address contains `{number}` in place of the number of the pull request.

    Args:
        store: The store.
        host: Address of GitHub's pages.
    """
    github = f"{host.rstrip('/')}/{{name}}/pull/{{number}}"
    # `format` cannot be used, because an address may contain other braces.
    return {
        row.name: (row.page or github).replace("{name}", row.name)
        for row in all_repositories(store)
    }


def get_position(store: Store, repository: int, name: str) -> str | None:
    """Return the time up to which a list of a repository was read; None if it was never read."""
    sql = "SELECT position FROM cursors WHERE repository = ? AND list = ?"
    return next((position for (position,) in store.query(sql, repository, name)), None)


def put_position(store: Store, repository: int, name: str, position: str) -> None:
    """Store the time up to which a list of a repository was read."""
    sql = "REPLACE INTO cursors (repository, list, position) VALUES (?, ?, ?)"
    store.change(sql, repository, name, position)


def last_run_date(store: Store) -> str | None:
    """Return the date of the last run; None before the first run."""
    night: str | None = store.query("SELECT MAX(night) FROM runs")[0][0]
    return night


def add_run(
    store: Store, kind: str, *, night: str, started: str, signature: str | None = None
) -> AuditRun:
    """Store that a run begins, and return the stored row."""
    run = AuditRun(
        kind=kind, night=night, started=started, signature=signature,
        pulls=0, failed=0, rest=0, points=0, requests=0, tokens_read=0, tokens_written=0,
    )  # fmt: skip
    with store.transaction():
        store.put([run])
        return replace(run, id=store.query("SELECT MAX(id) FROM runs")[0][0])


def put_pull(store: Store, row: Pull) -> None:
    """Store a pull request from the host's list if it is new or changed, in an open transaction."""
    previous = store.find_one(Pull, repository=row.repository, number=row.number)
    if previous is not None:
        # The list does not have these columns, so they keep the values from the details.
        own_columns = ("lines", "language", "observed", "final", "failure")
        row = replace(row, **{name: getattr(previous, name) for name in own_columns})
    # If a pull request is listed again but has not changed, it does not become pending.
    if previous is None or replace(row, pending=previous.pending) != previous:
        store.put([row])


def mark_pending(store: Store, repository: int, numbers: Iterable[int]) -> None:
    """Mark pull requests as pending, in an open transaction."""
    for number in sorted(numbers):
        store.change(
            "UPDATE pulls SET pending = 1 WHERE repository = ? AND number = ?", repository, number
        )


def mark_closed_pending(store: Store, closed_before: str) -> None:
    """Mark pull requests that were closed before this time as pending, to be read once more."""
    store.change("UPDATE pulls SET pending = 1 WHERE final = 0 AND closed < ?", closed_before)


def pending_pulls(store: Store, repositories: Sequence[int]) -> list[Pull]:
    """Return the pending pull requests; the one that was updated first comes first."""
    return _select(store, repositories, "pending = 1")


def observed_pulls(
    store: Store, repositories: Sequence[int], night: str, updated_since: str
) -> list[Pull]:
    """Return the pull requests whose threads this run still has to read.

    These are not pending, not final and were not yet observed in this run. Open pull requests that
    have not been updated since `updated_since` are left out.
    """
    # Closed pull requests are included even if they were not updated, because people resolve
    # threads after the merge.
    condition = (
        "pending = 0 AND final = 0 AND observed < ? AND (closed IS NOT NULL OR updated >= ?)"
    )
    return _select(store, repositories, condition, night, updated_since)


def _select(store: Store, repositories: Sequence[int], condition: str, *values: Any) -> list[Pull]:
    marks = ", ".join("?" * len(repositories))
    clauses = f"WHERE {condition} AND repository IN ({marks}) ORDER BY updated, repository, number"
    return store.select(Pull, clauses, *values, *repositories)


def observed_commits(store: Store, repository: int) -> set[str]:
    """Return the commits to which pull requests of a repository refer; a name may be empty.

    Final pull requests are left out, except in the run that reads them for the last time.
    """
    sql = (
        # After that run, the clone has the commits of the final pull requests.
        "WITH chosen AS (SELECT * FROM pulls WHERE repository = ? AND (final = 0 OR observed = "
        "(SELECT MAX(observed) FROM pulls WHERE repository = ?))) "
        "SELECT base FROM chosen UNION SELECT head FROM chosen "
        "UNION SELECT merge_commit FROM chosen "
        "UNION SELECT commit_id FROM comments JOIN chosen USING (repository, number)"
    )
    return {commit or "" for (commit,) in store.query(sql, repository, repository)}


def thread_keys(store: Store, repository: int, number: int) -> Mapping[str, int]:
    """Return the key of each thread of a pull request, keyed by its id on the host."""
    sql = (
        "SELECT node, id FROM threads WHERE id IN "
        "(SELECT thread FROM comments WHERE repository = ? AND number = ?)"
    )
    return dict(store.query(sql, repository, number))


def add_thread(store: Store, first: int, node: str) -> int:
    """Store a thread, in an open transaction, and return its key.

    The key is that of the first comment. The thread keeps its key if this comment is deleted.

    Args:
        store: The store.
        first: Key of the comment that is now the first in the thread.
        node: Id of the thread on the host.
    """
    comment = store.find_one(Comment, key=first)
    key = comment.thread if comment is not None and comment.thread is not None else first
    store.change("REPLACE INTO threads (id, node) VALUES (?, ?)", key, node)
    return key


def put_observation(store: Store, row: ThreadObservation | CommentObservation) -> None:
    """Store an observation if it differs from the last earlier one, in an open transaction."""
    column = _subject(type(row))
    key = getattr(row, column)
    clauses = f"WHERE {column} = ? AND night < ? ORDER BY night DESC LIMIT 1"
    previous = store.select(type(row), clauses, key, row.night)
    if previous and replace(previous[0], night=row.night) == row:
        # An earlier run on the same date may have stored another state, which is now outdated.
        store.delete(type(row), **{column: key, "night": row.night})
    else:
        store.put([row])


Observed = TypeVar("Observed", ThreadObservation, CommentObservation)


def _subject(kind: type[Row]) -> str:
    """Return the name of the column with the observed thread or comment."""
    return "thread" if kind is ThreadObservation else "comment"


def pulls_to_observe(store: Store, cursor: str, rules: int) -> list[tuple[int, int]]:
    """Return the pull requests whose signals may differ from the stored signals.

    Args:
        store: The store.
        cursor: Name of the position with the date and the rules of a repository's last signals.
        rules: Version of the rules; signals of other versions are found again.

    Returns:
        Repository and number of each pull request, sorted.
    """
    # `>=` includes data that a second run on the same date read after the last signals.
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
    """Return the observations of a pull request's threads or comments, the oldest first."""
    key = "thread" if kind is ThreadObservation else "key"
    of_pull = f"SELECT {key} FROM comments WHERE repository = ? AND number = ?"
    clauses = f"WHERE {_subject(kind)} IN ({of_pull}) ORDER BY night"
    return store.select(kind, clauses, repository, number)


FAILED: Final = "failed: "
"""Start of the stored reason if a pull request could not be scored; a later run tries it again."""


def reviewed_pulls(store: Store) -> list[tuple[int, int]]:
    """Return repository and number of the pull requests with a reviewer's comment, sorted."""
    sql = """
        SELECT repository, number FROM pulls WHERE observed IS NOT NULL AND EXISTS (
          SELECT 1 FROM comments WHERE comments.repository = pulls.repository
            AND comments.number = pulls.number AND is_review = 1)
        ORDER BY repository, number"""
    return [(repository, number) for repository, number in store.query(sql)]


def read_comments(
    store: Store, repository: int, number: int
) -> list[tuple[Comment, bool, bool | None]]:
    """Return the comments of a pull request that are not minimised, sorted by key.

    Returns:
        For each comment: its row, whether its thread is outdated, and whether its thread is
        resolved (None if unknown). The states are those of the last observation.
    """
    # Observations are sorted by date, so the last one replaces the others.
    threads: dict[int | None, tuple[bool, bool | None]] = {
        row.thread: (bool(row.outdated), bool(row.resolved))
        for row in read_observations(store, ThreadObservation, repository, number)
    }
    minimized = {
        row.comment: row.minimized
        for row in read_observations(store, CommentObservation, repository, number)
    }
    return [
        (row, *threads.get(row.thread, (False, None)))
        for row in store.find(Comment, "key", repository=repository, number=number)
        # The last observation of a comment that is not minimised (any more) has no reason.
        if minimized.get(row.key) is None
    ]


def pulls_to_follow(store: Store, days: int) -> list[Pull]:
    """Return the merged pull requests to follow, sorted by repository, branch and merge.

    These are followed until `days` days after the merge. Pull requests that could not be followed
    are included again.
    """
    clauses = """
        WHERE state = 'merged' AND merged IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM followed f WHERE f.repository = pulls.repository
            AND f.number = pulls.number AND f.reason IS NULL
            AND f.night > date(pulls.merged, printf('+%d days', ?)))
        ORDER BY repository, base_ref, merged, number"""
    return store.select(Pull, clauses, days)


def comments_before_merge(store: Store, pull: Pull) -> list[Comment]:
    """Return the comments that reviewers made before the merge, sorted by reviewer."""
    clauses = """
        WHERE repository = ? AND number = ? AND is_review = 1 AND created <= ?
        ORDER BY reviewer, key"""
    return store.select(Comment, clauses, pull.repository, pull.number, pull.merged)


def to_message(store: Store, row: Comment) -> HostMessage:
    """Convert a comment to the record of its host, without the states of thread and comment.

    Raises:
        StoreError: A text of the comment is missing or damaged.
    """
    return HostMessage(
        id=host_id_of(row.key),
        kind=kind_of(row.key),
        body=store.text(row.body),
        login=row.author,
        is_bot=bool(row.is_app),
        created=row.created,
        state=row.state,
        path=row.path,
        line=row.line,
        start_line=row.start_line,
        side=Side(row.side) if row.side else None,
        commit=row.commit_id,
        hunk=store.text(row.hunk) if row.hunk else None,
        thread=host_id_of(row.thread) if row.thread is not None else None,
    )
