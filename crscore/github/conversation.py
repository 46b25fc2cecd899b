"""Comments on a pull request, of three kinds, with the state of their threads.

Texts and places come from REST. GraphQL provides which threads are resolved, which comments are
minimised and which are crscore's own, and counts the comments, so that a list that changed while it
was read is detected. The same query returns the newest commit and the settings file at the base,
which saves requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar

import msgspec

from crscore.errors import HostError
from crscore.github.client import Client
from crscore.github.records import Remark, RemarkKind
from crscore.records import Side

MAX_ANSWERS: Final = 100
"""Maximum GraphQL responses read of one list; no pull request has so many comments."""
_PENDING: Final = "PENDING"
_SIDES: Final = {"LEFT": Side.OLD, "RIGHT": Side.NEW}
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


_T = TypeVar("_T")


class _Graphql(msgspec.Struct, frozen=True, rename="camel"):
    """GraphQL object."""


class _Mark(_Graphql, frozen=True):
    """State of one comment, from GraphQL."""

    # The id has 64 bits, more than a JSON number can safely hold: it is sent as a string.
    full_database_id: str | int | None = None
    is_minimized: bool = False
    viewer_did_author: bool = False
    state: str = ""

    @property
    def id(self) -> int | None:
        """Id of the comment in REST; None when there is no readable one."""
        text = str(self.full_database_id or "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


class _PageInfo(_Graphql, frozen=True):
    has_next_page: bool = False
    end_cursor: str | None = None


class _Connection(_Graphql, Generic[_T], frozen=True):
    nodes: list[_T]
    page_info: _PageInfo = _PageInfo()


class _Thread(_Graphql, frozen=True):
    id: str
    is_resolved: bool
    comments: _Connection[_Mark]


class _Blob(_Graphql, frozen=True):
    text: str | None = None
    is_truncated: bool = False


class _Pull(_Graphql, frozen=True):
    head_ref_oid: str
    review_threads: _Connection[_Thread] | None = None
    comments: _Connection[_Mark] | None = None
    reviews: _Connection[_Mark] | None = None


class _Repository(_Graphql, frozen=True):
    pull_request: _Pull
    object: _Blob | None = None


class _StatesAnswer(_Graphql, frozen=True):
    repository: _Repository


class _ThreadNode(_Graphql, frozen=True):
    comments: _Connection[_Mark]


class _ThreadAnswer(_Graphql, frozen=True):
    node: _ThreadNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All comments at the time of reading."""

    remarks: tuple[Remark, ...]
    """Remarks by time, kind and id, without pending ones; minimised ones are marked."""
    head: str | None
    """The pull request's newest commit at the end of reading; None when unknown."""
    settings: str | None
    """Text of the settings file; None when there is none or it could not be read."""
    settings_known: bool
    """False when the content of the settings file is unknown."""
    knows_ours: bool
    """True when it is certain which comments in the conversation are crscore's own."""
    missing: tuple[str, ...]
    """Data that could not be read, one sentence each."""
    unlisted: int
    """Comments that GraphQL counts but the lists lack: they moved while they were read."""


class _User(msgspec.Struct, frozen=True):
    login: str
    type: str = "User"


class _Item(msgspec.Struct, frozen=True):
    id: int
    body: str | None = None
    user: _User | None = None
    html_url: str = ""
    created_at: str = ""


class _Line(_Item, frozen=True):
    path: str | None = None
    diff_hunk: str | None = None
    line: int | None = None
    original_line: int | None = None
    start_line: int | None = None
    original_start_line: int | None = None
    side: str | None = None
    start_side: str | None = None
    subject_type: str | None = None
    original_commit_id: str | None = None
    in_reply_to_id: int | None = None
    pull_request_review_id: int | None = None


class _Review(_Item, frozen=True):
    state: str = ""
    submitted_at: str | None = None


_I = TypeVar("_I", bound=_Item)


@dataclass(slots=True)
class _States:
    """States of all comments, from GraphQL."""

    head: str = ""
    """Newest commit, from the last answer."""
    settings: _Blob | None = None
    """The settings file; None when there is none."""
    resolved: dict[int, bool] = field(default_factory=dict)
    """Whether its thread is resolved, by a line comment's id."""
    marks: dict[tuple[RemarkKind, int], _Mark] = field(default_factory=dict)
    """Known state of each comment."""

    def add(self, kind: RemarkKind, marks: _Connection[_Mark] | None) -> None:
        for mark in marks.nodes if marks else ():
            if mark.id is not None:
                self.marks[kind, mark.id] = mark

    def add_thread(self, client: Client, thread: _Thread) -> None:
        """Add a thread, read to its end when it is longer than one answer."""
        comments = thread.comments
        for _ in range(MAX_ANSWERS):
            self.add(RemarkKind.LINE, comments)
            self.resolved |= {mark.id: thread.is_resolved for mark in comments.nodes if mark.id}
            if not comments.page_info.has_next_page:
                break
            variables = {"id": thread.id, "after": comments.page_info.end_cursor}
            comments = client.graphql(THREAD_QUERY, variables, _ThreadAnswer).node.comments


def read_conversation(
    client: Client,
    repository: str,
    number: int,
    *,
    settings: str,
    expected: Mapping[RemarkKind, int],
) -> Conversation:
    """Read all comments.

    Args:
        client: GitHub client.
        repository: `owner/name`.
        number: The pull request.
        settings: Settings file to read in the same query, `COMMIT:PATH`.
        expected: Number of comments of a kind, if known.

    Returns:
        The conversation; `missing` lists what could not be read.
    """
    pulls, issues = (f"/repos/{repository}/{kind}/{number}" for kind in ("pulls", "issues"))
    missing: list[str] = []

    def read_list(path: str, kind: type[_I], count: int | None = None) -> list[_I]:
        pages = client.pages(path, kind, expected=count)
        missing.extend(f"Comments of {path} are missing: {one}." for one in pages.missing)
        # Each item once: a list that shifts between two pages repeats some.
        return list({item.id: item for item in pages.items}.values())

    lines = read_list(f"{pulls}/comments", _Line, expected.get(RemarkKind.LINE))
    reviews = read_list(f"{pulls}/reviews", _Review)
    comments = read_list(f"{issues}/comments", _Item, expected.get(RemarkKind.CONVERSATION))
    listed_all = not missing
    states: _States | None = None
    try:
        states = _read_states(client, repository, number, settings)
    except HostError as exc:
        missing.append(
            "Which comments are minimised and which threads are resolved could not be read "
            f"({exc.reason})."
        )
    pending = {review.id for review in reviews if review.state == _PENDING}
    remarks = [
        *(_from_line(one) for one in lines if one.pull_request_review_id not in pending),
        *(_from_review(one) for one in reviews if one.state != _PENDING),
        *(_from_item(one, RemarkKind.CONVERSATION) for one in comments),
    ]
    unlisted = 0
    if states is not None:
        remarks = [_with_state(one, states) for one in remarks]
        listed = {(one.kind, one.id) for one in remarks}
        # Comments of a pending review are visible to their author only.
        listed |= {(RemarkKind.LINE, one.id) for one in lines}
        unlisted = sum(
            key not in listed and mark.state != _PENDING for key, mark in states.marks.items()
        )
    blob = states.settings if states else None
    return Conversation(
        remarks=tuple(sorted(remarks, key=lambda one: (one.created, one.kind.value, one.id))),
        head=states.head if states else None,
        settings=blob.text if blob and not blob.is_truncated else None,
        settings_known=states is not None and not (blob and blob.is_truncated),
        knows_ours=states is not None and listed_all,
        missing=tuple(missing),
        unlisted=unlisted if listed_all else 0,
    )


def _read_states(client: Client, repository: str, number: int, settings: str) -> _States:
    """Query GraphQL until every list is read to its end; the three lists advance together.

    Raises:
        HostError: An answer is missing; partial answers are not used.
    """
    owner, _, name = repository.partition("/")
    asked: dict[str, Any] = {"owner": owner, "name": name, "number": number, "settings": settings}
    cursors: dict[str, str | None] = dict.fromkeys(("threads", "comments", "reviews"))
    states = _States()
    for page in range(MAX_ANSWERS):
        variables = asked | {"first": page == 0}
        for one in ("threads", "comments", "reviews"):
            variables |= {one: one in cursors, f"{one}After": cursors.get(one)}
        found = client.graphql(STATES_QUERY, variables, _StatesAnswer).repository
        pull = found.pull_request
        states.head = pull.head_ref_oid
        states.settings = states.settings if page else found.object
        for thread in pull.review_threads.nodes if pull.review_threads else ():
            states.add_thread(client, thread)
        states.add(RemarkKind.CONVERSATION, pull.comments)
        states.add(RemarkKind.REVIEW, pull.reviews)
        connections = {
            "threads": pull.review_threads, "comments": pull.comments, "reviews": pull.reviews
        }  # fmt: skip
        cursors = {
            name: one.page_info.end_cursor
            for name, one in connections.items()
            if one and one.page_info.has_next_page
        }
        if not cursors:
            break
    return states


def _from_item(item: _Item, kind: RemarkKind) -> Remark:
    return Remark(
        id=item.id,
        kind=kind,
        body=item.body or "",
        login=item.user.login if item.user else None,
        is_bot=item.user is not None and item.user.type == "Bot",
        url=item.html_url,
        created=item.created_at,
    )


def _from_review(review: _Review) -> Remark:
    plain = _from_item(review, RemarkKind.REVIEW)
    return replace(plain, state=review.state, created=review.submitted_at or "")


def _from_line(item: _Line) -> Remark:
    plain = _from_item(item, RemarkKind.LINE)
    side = _SIDES.get((item.side or "").upper(), Side.NEW)
    on_file = item.subject_type == "file"
    outdated = item.line is None and not on_file
    line = item.original_line if outdated else item.line
    start = item.original_start_line if outdated else item.start_line
    # A range across both sides cannot be expressed on one of them.
    crosses = item.start_side is not None and item.start_side != item.side
    return replace(
        plain,
        path=item.path,
        line=None if on_file else line,
        start_line=None if on_file or crosses or start is None or start > (line or 0) else start,
        side=side,
        outdated=outdated,
        commit=item.original_commit_id,
        hunk=item.diff_hunk or None,
        thread=item.in_reply_to_id or item.id,
    )


def _with_state(remark: Remark, states: _States) -> Remark:
    mark = states.marks.get((remark.kind, remark.id))
    resolved = None
    if remark.thread is not None:
        resolved = states.resolved.get(remark.id, states.resolved.get(remark.thread))
    return replace(
        remark,
        resolved=resolved,
        minimized=mark.is_minimized if mark else None,
        mine=mark.viewer_did_author if mark else None,
    )
