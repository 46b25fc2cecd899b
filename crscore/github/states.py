"""What GraphQL alone knows of a conversation: resolved threads, minimised comments, our own ones.

The same question brings the newest commit and the settings file at the base, so that neither
costs a request of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crscore.github.records import RemarkKind

if TYPE_CHECKING:
    from crscore.github.host import Host

PAGE: Final = 100
"""Items of one list in one answer; the most that GitHub gives."""
MAX_PAGES: Final = 100
"""Answers read at most; no pull request has so many comments."""

STATES_QUERY: Final = """\
query(
  $owner: String!, $name: String!, $number: Int!, $settings: String!, $first: Boolean!,
  $threads: Boolean!, $threadsAfter: String, $comments: Boolean!, $commentsAfter: String,
  $reviews: Boolean!, $reviewsAfter: String
) {
  repository(owner: $owner, name: $name) {
    object(expression: $settings) @include(if: $first) {
      ... on Blob { text isTruncated }
    }
    pullRequest(number: $number) {
      headRefOid
      reviewThreads(first: 100, after: $threadsAfter) @include(if: $threads) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id
          isResolved
          comments(first: 100) {
            pageInfo { hasNextPage endCursor }
            nodes { fullDatabaseId isMinimized viewerDidAuthor }
          }
        }
      }
      comments(first: 100, after: $commentsAfter) @include(if: $comments) {
        pageInfo { hasNextPage endCursor }
        nodes { fullDatabaseId isMinimized viewerDidAuthor }
      }
      reviews(first: 100, after: $reviewsAfter) @include(if: $reviews) {
        pageInfo { hasNextPage endCursor }
        nodes { fullDatabaseId isMinimized viewerDidAuthor state }
      }
    }
  }
}
"""
THREAD_QUERY: Final = """\
query($id: ID!, $after: String) {
  node(id: $id) {
    ... on PullRequestReviewThread {
      comments(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { fullDatabaseId isMinimized viewerDidAuthor }
      }
    }
  }
}
"""
_LISTS: Final = ("threads", "comments", "reviews")


class Mark(msgspec.Struct, frozen=True, rename="camel"):
    """What GraphQL says of one comment."""

    # The id has 64 bits, more than a JSON number need hold: it comes as a text.
    full_database_id: str | int | None = None
    is_minimized: bool = False
    viewer_did_author: bool = False
    state: str = ""

    @property
    def id(self) -> int | None:
        """The id that REST knows the comment by; None when there is none that can be read."""
        text = str(self.full_database_id or "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


@dataclass(slots=True)
class States:
    """What the answers said, put together."""

    head: str = ""
    """The newest commit, by the last answer."""
    settings: str | None = None
    """The settings file; None when there is none or it was cut off."""
    settings_cut: bool = False
    """True when GitHub gave only a part of the settings file."""
    resolved: dict[int, bool] = field(default_factory=dict)
    """For a line comment's id, whether its thread is resolved."""
    marks: dict[tuple[RemarkKind, int], Mark] = field(default_factory=dict)
    """For each comment, what is known of it."""
    longer: dict[str, tuple[bool, str | None]] = field(default_factory=dict)
    """Threads that go on: their id -> whether they are resolved, and from where to go on."""


class _PageInfo(msgspec.Struct, frozen=True, rename="camel"):
    has_next_page: bool = False
    end_cursor: str | None = None


class _Marks(msgspec.Struct, frozen=True, rename="camel"):
    nodes: list[Mark]
    page_info: _PageInfo = _PageInfo()


class _Thread(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    is_resolved: bool
    comments: _Marks


class _Threads(msgspec.Struct, frozen=True, rename="camel"):
    nodes: list[_Thread]
    page_info: _PageInfo = _PageInfo()


class _Blob(msgspec.Struct, frozen=True, rename="camel"):
    text: str | None = None
    is_truncated: bool = False


class _Pull(msgspec.Struct, frozen=True, rename="camel"):
    head_ref_oid: str
    review_threads: _Threads | None = None
    comments: _Marks | None = None
    reviews: _Marks | None = None


class _Repository(msgspec.Struct, frozen=True, rename="camel"):
    pull_request: _Pull
    object: _Blob | None = None


class _Answer(msgspec.Struct, frozen=True):
    repository: _Repository


class _Rest(msgspec.Struct, frozen=True):
    comments: _Marks


class _Node(msgspec.Struct, frozen=True):
    node: _Rest


def read_states(host: Host, repository: str, number: int, *, settings: str) -> States:
    """Ask until every list is read to its end; the three lists advance together.

    Args:
        host: Where to ask.
        repository: `owner/name`.
        number: The pull request.
        settings: The file to look up on the way, `COMMIT:PATH`.

    Returns:
        Everything; there is no half answer.

    Raises:
        HostError: An answer could not be had.
    """
    owner, _, name = repository.partition("/")
    cursors: dict[str, str | None] = dict.fromkeys(_LISTS)
    states = States()
    for page in range(MAX_PAGES):
        variables: dict[str, Any] = {
            "owner": owner,
            "name": name,
            "number": number,
            "settings": settings,
            "first": page == 0,
        }
        for one in _LISTS:
            variables |= {one: one in cursors, f"{one}After": cursors.get(one)}
        answer = host.graphql(STATES_QUERY, variables, _Answer).repository
        if page == 0 and answer.object is not None:
            states.settings_cut = answer.object.is_truncated
            states.settings = None if states.settings_cut else answer.object.text
        cursors = _take(states, answer.pull_request)
        if not cursors:
            break
    for name, (resolved, cursor) in states.longer.items():
        _read_on(host, states, name, resolved, cursor)
    return states


def _read_on(host: Host, states: States, name: str, resolved: bool, cursor: str | None) -> None:
    """Read a thread that is longer than one answer to its end."""
    for _ in range(MAX_PAGES):
        rest = host.graphql(THREAD_QUERY, {"id": name, "after": cursor}, _Node).node.comments
        _note(states, rest, resolved)
        if not rest.page_info.has_next_page:
            break
        cursor = rest.page_info.end_cursor


def _note(states: States, comments: _Marks, resolved: bool) -> None:
    for mark in comments.nodes:
        if mark.id is not None:
            states.resolved[mark.id] = resolved
            states.marks[RemarkKind.LINE, mark.id] = mark


def _take(states: States, pull: _Pull) -> dict[str, str | None]:
    """Add an answer to what is known; say from where each list goes on."""
    states.head = pull.head_ref_oid
    for thread in pull.review_threads.nodes if pull.review_threads else ():
        _note(states, thread.comments, thread.is_resolved)
        if thread.comments.page_info.has_next_page:
            states.longer[thread.id] = (thread.is_resolved, thread.comments.page_info.end_cursor)
    for kind, marks in (
        (RemarkKind.CONVERSATION, pull.comments),
        (RemarkKind.REVIEW, pull.reviews),
    ):
        for mark in marks.nodes if marks else ():
            if mark.id is not None:
                states.marks[kind, mark.id] = mark
    infos = {
        "threads": pull.review_threads and pull.review_threads.page_info,
        "comments": pull.comments and pull.comments.page_info,
        "reviews": pull.reviews and pull.reviews.page_info,
    }
    return {name: info.end_cursor for name, info in infos.items() if info and info.has_next_page}
