"""Classes of rows of the store, each with the columns of a table in `schema.sql`, in their order.

A table that only one function reads and only one function writes has no class. The *night* of a run
is the date (UTC) on which the run began.
"""

# With this import, annotations such as `int | None` stay strings.
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Final, TypeVar, dataclass_transform

from crscore.hosts.records import MessageKind

# The order must not change, because the keys of stored comments depend on it.
_KINDS: Final = (MessageKind.LINE, MessageKind.REVIEW, MessageKind.CONVERSATION)


def comment_key(kind: MessageKind, host_id: int) -> int:
    """Return the key of a comment, made from its kind and id, because ids are unique per kind only.

    Example:
        >>> comment_key(MessageKind.REVIEW, 10), kind_of(41), host_id_of(41)
        (41, <MessageKind.REVIEW: 'review'>, 10)
    """
    return host_id * 4 + _KINDS.index(kind)


def kind_of(key: int) -> MessageKind:
    """Return the kind of a comment, given its key."""
    return _KINDS[key % 4]


def host_id_of(key: int) -> int:
    """Return the host's id of a comment, given its key."""
    return key // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Row of a table."""

    TABLE: ClassVar[str]


_R = TypeVar("_R", bound=Row)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def _table(name: str) -> Callable[[type[_R]], type[_R]]:
    """Return a decorator that turns a class into the dataclass for the rows of a table."""

    def decorate(kind: type[_R]) -> type[_R]:
        row = dataclass(frozen=True, slots=True, kw_only=True)(kind)
        row.TABLE = name
        return row

    return decorate


# `schema.sql` explains the columns. Columns of type `bytes`, except `content` and `words`, are the
# hash of a text in the table `texts`.
@_table("repositories")
class Repository(Row):
    """Audited repository."""

    id: int
    name: str
    state: str
    reason: str | None = None
    page: str | None = None


@_table("pulls")
class Pull(Row):
    """Pull request."""

    repository: int
    number: int
    node: str
    title: str
    author: str | None = None
    state: str
    created: str
    updated: str
    closed: str | None = None
    merged: str | None = None
    base_ref: str
    base: str
    head: str
    merge_commit: str | None = None
    lines: int | None = None
    language: str | None = None
    pending: int
    observed: str | None = None
    final: int
    failure: str | None = None


@_table("checks")
class Check(Row):
    """Check or status on the head of a pull request."""

    repository: int
    number: int
    head: str
    app: str
    name: str
    outcome: str


@_table("comments")
class Comment(Row):
    """Latest version of a comment."""

    key: int
    repository: int
    number: int
    thread: int | None = None
    author: str | None = None
    is_app: int
    reviewer: str
    is_bot: int
    is_review: int
    skip: str | None = None
    body: bytes
    hunk: bytes | None = None
    created: str
    updated: str
    state: str
    commit_id: str | None = None
    path: str | None = None
    line: int | None = None
    start_line: int | None = None
    side: str | None = None


@_table("thread_observations")
class ThreadObservation(Row):
    """State of a thread from a date on, until the date of the next row of the same thread."""

    thread: int
    night: str
    resolved: int
    resolved_by: str | None = None
    outdated: int


@_table("comment_observations")
class CommentObservation(Row):
    """State of a comment from a date on, until the date of the next row of the same comment."""

    comment: int
    night: str
    body: bytes | None = None
    minimized: str | None = None


@_table("scores")
class Score(Row):
    """Score of one reviewer's comments on one pull request."""

    repository: int
    number: int
    reviewer: str
    signature: int
    content: bytes
    night: str
    is_bot: int
    comments: int
    words: int
    standing: int | None = None
    relevance: float | None = None
    reason: str | None = None


@_table("comment_scores")
class CommentScore(Row):
    """Score of one comment; all posts of a reviewer in one thread count as one comment."""

    comment: int
    signature: int
    content: bytes
    standing: int | None = None
    noise: str | None = None
    stance: str | None = None
    level: str | None = None
    verdict: str | None = None
    point: int | None = None
    text: str
    words: bytes


@_table("last_scored")
class LastScored(Row):
    """Hash of the content of a pull request when it was last scored."""

    repository: int
    number: int
    signature: int
    content: bytes


class Signal(IntEnum):
    """Signal that a comment was acted on; the store has its number.

    A comment without a row for `ACTED_ON` is not on a line. The thread of a comment without a row
    for `RESOLVED` is not resolved.
    """

    # The other numbers were those of former signals, which no report reads any more.
    ACTED_ON = 1
    """Lines near the commented ones changed later."""
    RESOLVED = 3
    """A person resolved the thread."""


@_table("signals")
class SignalRow(Row):
    """Value of one signal for one comment."""

    comment: int
    signal: int
    night: str
    rules: int
    value: int | None = None
    base_yes: int | None = None
    base_all: int | None = None


@_table("followed")
class Followed(Row):
    """Commit up to which the lines of a merged pull request were followed on the base branch."""

    repository: int
    number: int
    night: str
    tip: str | None = None
    reason: str | None = None


@_table("later_changes")
class LaterChange(Row):
    """Later commit that changes lines of a merged pull request."""

    repository: int
    number: int
    commit_id: str
    at: str
    fixes: int
    message: bytes
    path: str
    line: int
    near: str


@_table("runs")
class AuditRun(Row):
    """One run of `sync` or `score`."""

    id: int | None = None
    """Number of the run; None until the run is stored."""
    kind: str
    night: str
    started: str
    finished: str | None = None
    signature: str | None = None
    partial: str | None = None
    pulls: int
    failed: int
    rest: int
    """Number of REST requests."""
    points: int
    """Number of GraphQL points."""
    requests: int
    """Number of requests to a language model."""
    tokens_read: int
    tokens_written: int
