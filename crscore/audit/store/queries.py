"""Queries for `sync`, `score` and the search for signals: what is still to do, and observations."""

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
    """Return all repositories, ordered by number."""
    return store.find(Repository, "id")


def find_by_name(store: Store, name: str) -> list[Repository]:
    """Return the repositories with this name in any case; those that can be read come first."""
    # After a rename, a new repository can have the name of an old one, and hosts ignore case.
    return store.select(
        Repository, "WHERE name = ? COLLATE NOCASE ORDER BY state <> 'ok', id", name
    )


def pull_pages(store: Store, host: str) -> Mapping[str, str]:
    """Return the address of a pull request's page, with `{number}`, by repository name.

    Args:
        store: The store.
        host: Address of GitHub's pages.
    """
    github = f"{host.rstrip('/')}/{{name}}/pull/{{number}}"
    # `replace`, not `format`: an address may contain other braces.
    return {
        row.name: (row.page or github).replace("{name}", row.name)
        for row in all_repositories(store)
    }


def get_position(store: Store, repository: int, name: str) -> str | None:
    """Return up to where a list of a repository was read; None if it was not read yet."""
    sql = "SELECT position FROM cursors WHERE repository = ? AND list = ?"
    return next((position for (position,) in store.query(sql, repository, name)), None)


def put_position(store: Store, repository: int, name: str, position: str) -> None:
    """Store up to where a list of a repository was read, in an open transaction."""
    sql = "REPLACE INTO cursors (repository, list, position) VALUES (?, ?, ?)"
    store.change(sql, repository, name, position)


def last_night(store: Store) -> str | None:
    """Return the date of the last run; None before the first run."""
    night: str | None = store.query("SELECT MAX(night) FROM runs")[0][0]
    return night


def add_run(
    store: Store, kind: str, *, night: str, started: str, signature: str | None = None
) -> AuditRun:
    """Store that a run begins, and return its row with its number."""
    run = AuditRun(
        kind=kind, night=night, started=started, signature=signature,
        pulls=0, failed=0, rest=0, points=0, requests=0, tokens_read=0, tokens_written=0,
    )  # fmt: skip
    with store.transaction():
        store.put([run])
        return replace(run, id=store.query("SELECT MAX(id) FROM runs")[0][0])


def put_listed(store: Store, row: Pull) -> None:
    """Store a listed pull request if it is new or changed, in an open transaction."""
    previous = store.find_one(Pull, repository=row.repository, number=row.number)
    if previous is not None:
        # The list does not contain these columns, so they keep the values from the details.
        own_columns = ("lines", "language", "observed", "final", "failure")
        row = replace(row, **{name: getattr(previous, name) for name in own_columns})
    # An unchanged pull request that is listed again does not become pending.
    if previous is None or replace(row, pending=previous.pending) != previous:
        store.put([row])


def mark_pending(store: Store, repository: int, numbers: Iterable[int]) -> None:
    """Mark pull requests as pending, in an open transaction."""
    for number in sorted(numbers):
        store.change(
            "UPDATE pulls SET pending = 1 WHERE repository = ? AND number = ?", repository, number
        )


def mark_last_reading(store: Store, closed_before: str) -> None:
    """Mark pull requests closed before this time as pending, for their last reading."""
    store.change("UPDATE pulls SET pending = 1 WHERE final = 0 AND closed < ?", closed_before)


def pending_pulls(store: Store, repositories: Sequence[int]) -> list[Pull]:
    """Return the pending pull requests, the least recently changed first."""
    return _select(store, repositories, "pending = 1")


def observed_pulls(
    store: Store, repositories: Sequence[int], night: str, updated_since: str
) -> list[Pull]:
    """Return the pull requests that are not pending and were not observed in this run.

    An open pull request that has not changed for a long time is not observed.
    """
    # Closed pull requests are observed even if they did not change, because people resolve threads
    # after the merge.
    condition = (
        "pending = 0 AND final = 0 AND observed < ? AND (closed IS NOT NULL OR updated >= ?)"
    )
    return _select(store, repositories, condition, night, updated_since)


def _select(store: Store, repositories: Sequence[int], condition: str, *values: Any) -> list[Pull]:
    marks = ", ".join("?" * len(repositories))
    clauses = f"WHERE {condition} AND repository IN ({marks}) ORDER BY updated, repository, number"
    return store.select(Pull, clauses, *values, *repositories)


def observed_commits(store: Store, repository: int) -> set[str]:
    """Return the commits that the pull requests still observed refer to; some may be empty."""
    sql = (
        # The commits of final pull requests are needed once more, in the run that reads them for
        # the last time; afterwards the clone has these commits.
        "WITH chosen AS (SELECT * FROM pulls WHERE repository = ? AND (final = 0 OR observed = "
        "(SELECT MAX(observed) FROM pulls WHERE repository = ?))) "
        "SELECT base FROM chosen UNION SELECT head FROM chosen "
        "UNION SELECT merge_commit FROM chosen "
        "UNION SELECT commit_id FROM comments JOIN chosen USING (repository, number)"
    )
    return {commit or "" for (commit,) in store.query(sql, repository, repository)}


def thread_keys(store: Store, repository: int, number: int) -> Mapping[str, int]:
    """Return the keys of a pull request's threads by their identifier on the host."""
    sql = (
        "SELECT node, id FROM threads WHERE id IN "
        "(SELECT thread FROM comments WHERE repository = ? AND number = ?)"
    )
    return dict(store.query(sql, repository, number))


def add_thread(store: Store, first: int, node: str) -> int:
    """Store a thread by the key of its first comment, in an open transaction; return its key.

    A thread keeps its key if its first comment is deleted.
    """
    comment = store.find_one(Comment, key=first)
    key = comment.thread if comment is not None and comment.thread is not None else first
    store.change("REPLACE INTO threads (id, node) VALUES (?, ?)", key, node)
    return key


def put_observation(store: Store, row: ThreadObservation | CommentObservation) -> None:
    """Store an observation if it differs from the last run's, in an open transaction."""
    column = _subject(type(row))
    key = getattr(row, column)
    clauses = f"WHERE {column} = ? AND night < ? ORDER BY night DESC LIMIT 1"
    previous = store.select(type(row), clauses, key, row.night)
    if previous and replace(previous[0], night=row.night) == row:
        # An earlier run on the same date may have stored another state, which is outdated.
        store.delete(type(row), **{column: key, "night": row.night})
    else:
        store.put([row])


Observed = TypeVar("Observed", ThreadObservation, CommentObservation)


def _subject(kind: type[Row]) -> str:
    """Return the column of the observed thread or comment."""
    return "thread" if kind is ThreadObservation else "comment"


def pulls_to_observe(store: Store, cursor: str, rules: int) -> list[tuple[int, int]]:
    """Return repository and number of pull requests whose signals may differ from the stored ones.

    Args:
        store: The store.
        cursor: Name of the cursor with the date and the rules of a repository's last signals.
        rules: Version of the rules; signals of other versions are computed again.
    """
    # `>=`, because a second run on a date may have read new data after the first signals.
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
    """Return the observations of a pull request's threads or comments, sorted by night."""
    key = "thread" if kind is ThreadObservation else "key"
    of_pull = f"SELECT {key} FROM comments WHERE repository = ? AND number = ?"
    clauses = f"WHERE {_subject(kind)} IN ({of_pull}) ORDER BY night"
    return store.select(kind, clauses, repository, number)


FAILED: Final = "failed: "
"""Start of the reason if a pull request could not be scored; it is tried again in the next run."""


def reviewed_pulls(store: Store) -> list[tuple[int, int]]:
    """Return repository and number of the pull requests with a comment of a reviewer, in order."""
    sql = """
        SELECT repository, number FROM pulls WHERE observed IS NOT NULL AND EXISTS (
          SELECT 1 FROM comments WHERE comments.repository = pulls.repository
            AND comments.number = pulls.number AND is_review = 1)
        ORDER BY repository, number"""
    return [(repository, number) for repository, number in store.query(sql)]


def read_comments(
    store: Store, repository: int, number: int
) -> list[tuple[Comment, bool, bool | None]]:
    """Return the comments of a pull request that are not minimised, ordered by key.

    Each has the last observed state of its thread: whether it is outdated and, if known, resolved.
    """
    # Observations are sorted by night, so that the last one replaces the others.
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
        # If a comment is no longer minimised, its last observation has no reason.
        if minimized.get(row.key) is None
    ]


def pulls_to_follow(store: Store, days: int) -> list[Pull]:
    """Return merged pull requests not yet followed for `days`, sorted by repository and branch.

    Pull requests that could not be followed are tried again.
    """
    clauses = """
        WHERE state = 'merged' AND merged IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM followed f WHERE f.repository = pulls.repository
            AND f.number = pulls.number AND f.reason IS NULL
            AND f.night > date(pulls.merged, printf('+%d days', ?)))
        ORDER BY repository, base_ref, merged, number"""
    return store.select(Pull, clauses, days)


def comments_before_merge(store: Store, pull: Pull) -> list[Comment]:
    """Return the reviewers' comments from before the merge, sorted by reviewer."""
    clauses = """
        WHERE repository = ? AND number = ? AND is_review = 1 AND created <= ?
        ORDER BY reviewer, key"""
    return store.select(Comment, clauses, pull.repository, pull.number, pull.merged)


def to_message(store: Store, row: Comment) -> HostMessage:
    """Convert a comment to a message of its host, without its observations.

    Raises:
        StoreError: Its text is missing.
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
