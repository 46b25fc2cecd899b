"""Rows of the store, one class a table, with the columns of `migrations/` in their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from crscore.github.records import RemarkKind

_KINDS: Final = (RemarkKind.LINE, RemarkKind.REVIEW, RemarkKind.CONVERSATION)


def comment_key(kind: RemarkKind, host_id: int) -> int:
    """Return the key of a comment: the host numbers each kind for itself.

    Example:
        >>> comment_key(RemarkKind.REVIEW, 10), kind_of(41), host_id_of(41)
        (41, <RemarkKind.REVIEW: 'review'>, 10)
    """
    return host_id * 4 + _KINDS.index(kind)


def kind_of(key: int) -> RemarkKind:
    """Return the kind of the comment with a key."""
    return _KINDS[key % 4]


def host_id_of(key: int) -> int:
    """Return the host's id of the comment with a key."""
    return key // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Row of a table."""

    TABLE: ClassVar[str] = ""
    KEY: ClassVar[tuple[str, ...]] = ()
    """Columns of the primary key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository(Row):
    """Repository that is audited."""

    TABLE: ClassVar[str] = "repositories"
    KEY: ClassVar[tuple[str, ...]] = ("id",)

    id: int
    name: str
    default_branch: str | None = None
    language: str | None = None
    state: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor(Row):
    """Position in one list of a repository."""

    TABLE: ClassVar[str] = "cursors"
    KEY: ClassVar[tuple[str, ...]] = ("repository", "list")

    repository: int
    list: str
    position: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull(Row):
    """Pull request."""

    TABLE: ClassVar[str] = "pulls"
    KEY: ClassVar[tuple[str, ...]] = ("repository", "number")

    repository: int
    number: int
    node: str
    title: str
    author: str | None = None
    state: str
    draft: int
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision(Row):
    """Push to a pull request, or its merge."""

    TABLE: ClassVar[str] = "revisions"
    KEY: ClassVar[tuple[str, ...]] = ("repository", "number", "at", "kind", "after")

    repository: int
    number: int
    at: str
    kind: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Row):
    """Check on the newest commit of a pull request."""

    TABLE: ClassVar[str] = "checks"
    KEY: ClassVar[tuple[str, ...]] = ("repository", "number", "head", "app", "name")

    repository: int
    number: int
    head: str
    app: str
    name: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread(Row):
    """Thread of comments on lines."""

    TABLE: ClassVar[str] = "threads"
    KEY: ClassVar[tuple[str, ...]] = ("id",)

    id: int
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment(Row):
    """Comment, latest version."""

    TABLE: ClassVar[str] = "comments"
    KEY: ClassVar[tuple[str, ...]] = ("key",)

    key: int
    repository: int
    number: int
    thread: int | None = None
    author: str | None = None
    author_id: int | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadObservation(Row):
    """State of a thread, from a night on."""

    TABLE: ClassVar[str] = "thread_observations"
    KEY: ClassVar[tuple[str, ...]] = ("thread", "night")

    thread: int
    night: str
    resolved: int
    resolved_by: str | None = None
    outdated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentObservation(Row):
    """State of a comment, from a night on."""

    TABLE: ClassVar[str] = "comment_observations"
    KEY: ClassVar[tuple[str, ...]] = ("comment", "night")

    comment: int
    night: str
    minimized: str | None = None
    up: int
    down: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Row):
    """Score of one reviewer's comments on one pull request."""

    TABLE: ClassVar[str] = "scores"
    KEY: ClassVar[tuple[str, ...]] = ("repository", "number", "reviewer", "signature", "content")

    repository: int
    number: int
    reviewer: str
    signature: int
    content: bytes
    night: str
    head: str
    is_bot: int
    comments: int
    sentences: int
    words: int
    standing: int | None = None
    about: float | None = None
    substance: float | None = None
    relevance: float | None = None
    conciseness: float | None = None
    comprehensiveness: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentScore(Row):
    """Score of one comment: one reviewer's posts in one thread."""

    TABLE: ClassVar[str] = "comment_scores"
    KEY: ClassVar[tuple[str, ...]] = ("comment", "signature", "content")

    comment: int
    signature: int
    content: bytes
    standing: int | None = None
    about: float | None = None
    substance: float | None = None
    relevance: float | None = None
    addressed: int
    sentences: int
    noise: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPoint(Row):
    """Point of a change that no reviewer addressed."""

    TABLE: ClassVar[str] = "open_points"
    KEY: ClassVar[tuple[str, ...]] = ("repository", "number", "signature", "content", "rank")

    repository: int
    number: int
    signature: int
    content: bytes
    rank: int
    text: str
    severity: str | None = None
    path: str | None = None
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Row):
    """Report of the last scoring of a pull request."""

    TABLE: ClassVar[str] = "pages"
    KEY: ClassVar[tuple[str, ...]] = ("repository", "number")

    repository: int
    number: int
    signature: int
    content: bytes
    page: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow(Row):
    """Whether a comment was acted on, by one signal."""

    TABLE: ClassVar[str] = "signals"
    KEY: ClassVar[tuple[str, ...]] = ("comment", "signal", "night", "rules")

    comment: int
    signal: int
    night: str
    rules: int
    value: int | None = None
    evidence: str | None = None
    base_yes: int | None = None
    base_all: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionRow(Row):
    """Judgement of one suggestion block of a comment."""

    TABLE: ClassVar[str] = "suggestions"
    KEY: ClassVar[tuple[str, ...]] = ("comment", "block", "night", "rules")

    comment: int
    block: int
    night: str
    rules: int
    applies: int | None = None
    parses: int | None = None
    effect: str | None = None
    reason: str | None = None
    edit: float | None = None
    chrf: float | None = None
    codebertscore: float | None = None
    sketch: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Row):
    """One run of `sync` or `score`."""

    TABLE: ClassVar[str] = "runs"
    KEY: ClassVar[tuple[str, ...]] = ("id",)

    id: int | None = None
    """None before it is stored."""
    kind: str
    night: str
    started: str
    finished: str | None = None
    signature: str | None = None
    partial: str | None = None
    pulls: int
    failed: int
    rest: int
    points: int
    seconds: float
