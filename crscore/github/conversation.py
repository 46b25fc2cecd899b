"""Reads the comments of all three kinds on a pull request, with the states of their threads.

Texts and lines come from REST. GraphQL shows which threads are resolved, which comments are
minimised and which are crscore's own. If GraphQL lists a comment that REST did not list, the lists
changed while they were read. To save requests, the same query returns the newest commit and the
settings file at the base.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import msgspec

from crscore.github import graphql
from crscore.github.actions.event import TRUSTED
from crscore.github.client import Client
from crscore.hosts.records import HostMessage, MessageKind
from crscore.records import Side

# https://docs.github.com/en/graphql/reference/enums#pullrequestreviewstate
PENDING: Final = "PENDING"
"""State of a review that its author has not submitted yet."""
_SIDES: Final = {"LEFT": Side.OLD, "RIGHT": Side.NEW}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All comments on a pull request at one time."""

    messages: tuple[HostMessage, ...]
    """Comments sorted by creation time, without comments of pending reviews."""
    head: str
    """The pull request's newest commit at the end of reading."""
    settings: graphql.GitObject | None
    """The settings file, possibly truncated by GitHub; None if there is no such file."""
    unlisted: int
    """Number of comments that GraphQL lists but REST did not, because the lists changed between the
    requests."""


class User(msgspec.Struct, frozen=True):
    """Account as REST describes it."""

    login: str
    type: str = "User"


class Repository(msgspec.Struct, frozen=True):
    """Repository as REST describes it."""

    id: int
    full_name: str
    private: bool = False


class Branch(msgspec.Struct, frozen=True):
    """Branch of a pull request."""

    sha: str
    ref: str = ""
    repo: Repository | None = None


class PullItem(msgspec.Struct, frozen=True, kw_only=True):
    """Pull request as REST lists it."""

    number: int
    node_id: str
    state: str
    created_at: str
    updated_at: str
    base: Branch
    head: Branch
    title: str = ""
    html_url: str = ""
    user: User | None = None
    closed_at: str | None = None
    merged_at: str | None = None
    merge_commit_sha: str | None = None


class CommentItem(msgspec.Struct, frozen=True):
    """Review or comment in the conversation, as REST lists it; base class of comments on lines."""

    id: int
    body: str | None = None
    # None for a deleted account, contrary to the documented schema:
    # https://github.com/github/rest-api-description/issues/4266
    user: User | None = None
    html_url: str = ""
    created_at: str = ""
    updated_at: str = ""
    author_association: str = ""
    state: str = ""
    """State of a review; "" for comments."""
    submitted_at: str | None = None
    commit_id: str | None = None


class LineItem(CommentItem, frozen=True):
    """Comment on lines as REST lists it."""

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

    def lines(self, *, original: bool) -> tuple[int | None, int | None]:
        """Return the first and the last line of the comment.

        The first line is None if the comment is on a single line or on both sides of the diff. Both
        lines are None if the comment is on a file.

        Args:
            original: True for line numbers in the commit that the comment was written on, False for
                line numbers at the head.
        """
        # A comment on a file is on no line, even if GitHub sends a line number.
        if self.subject_type == "file":
            return None, None
        last = self.original_line if original else self.line
        first = self.original_start_line if original else self.start_line
        # `start_side` and `side` are LEFT for the old version, RIGHT for the new one. Lines of both
        # sides cannot be expressed as a range of one side, so only the last one is kept.
        spans_sides = self.start_side is not None and self.start_side != self.side
        return None if spans_sides or first is None or first > (last or 0) else first, last


def read_conversation(
    client: Client, repository: str, number: int, *, settings: str
) -> Conversation:
    """Read all comments.

    Args:
        client: GitHub client.
        repository: `owner/name`.
        number: Number of the pull request.
        settings: `COMMIT:PATH` of the settings file, which is read in the same query.

    Raises:
        HostError: A list of comments cannot be read to its end.
    """
    pulls, issues = (f"/repos/{repository}/{kind}/{number}" for kind in ("pulls", "issues"))
    # The states are read after the lists. So a comment that is written in between counts as
    # unlisted, and the caller can read the conversation again.
    lines = client.pages(f"{pulls}/comments", LineItem)
    reviews = client.pages(f"{pulls}/reviews", CommentItem)
    comments = client.pages(f"{issues}/comments", CommentItem)
    owner, _, name = repository.partition("/")
    variables = {"owner": owner, "name": name, "number": number, "settings": settings}
    response = client.graphql(graphql.PULL_QUERY, variables, graphql.PullResponse).repository
    pull = graphql.read_to_end(
        partial(client.graphql, kind=graphql.Nodes),
        response.pull_request,
        graphql.CONVERSATION,
        "headRefOid",
    )
    states, resolved = _read_states(client, pull)
    # The comments of a pending review are drafts; REST lists them for their author only.
    pending = {review.id for review in reviews if review.state == PENDING}
    messages = [
        *(read_line_comment(item) for item in lines if item.pull_request_review_id not in pending),
        *(_convert_review(review) for review in reviews if review.state != PENDING),
        *map(read_comment, comments),
    ]
    listed = {(message.kind, message.id) for message in messages}
    # GraphQL lists drafts too, so the drafts that REST lists must not count as unlisted.
    listed |= {(MessageKind.LINE, item.id) for item in lines}
    for index, message in enumerate(messages):
        state = states.get((message.kind, message.id))
        thread = message.thread
        messages[index] = replace(
            message,
            resolved=None if thread is None else resolved.get(message.id, resolved.get(thread)),
            minimized=state.minimized if state else None,
            is_own=state.viewer_did_author if state else None,
        )
    messages.sort(key=lambda message: (message.created, message.kind.value, message.id))
    return Conversation(
        messages=tuple(messages),
        head=pull.head_ref_oid,
        settings=response.object,
        unlisted=sum(key not in listed and state.state != PENDING for key, state in states.items()),
    )


def _read_states(
    client: Client, pull: graphql.Node
) -> tuple[dict[tuple[MessageKind, int], graphql.CommentState], dict[int, bool]]:
    """Return the state of each comment, and whether the thread of each line comment is resolved.

    Raises:
        HostError: A response is missing; partial responses are not used.
    """
    resolved: dict[int, bool] = {}
    states: dict[tuple[MessageKind, int], graphql.CommentState] = {}
    states |= {(MessageKind.CONVERSATION, state.id): state for state in pull.comments.nodes}
    states |= {
        (MessageKind.REVIEW, state.id): state
        for state in (pull.reviews.nodes if pull.reviews else ())
    }
    for thread in pull.threads.nodes:
        complete = graphql.read_to_end(
            partial(client.graphql, kind=graphql.Nodes),
            thread,
            graphql.THREAD_COMMENTS,
            kind="PullRequestReviewThread",
        )
        for state in complete.comments.nodes:
            states[MessageKind.LINE, state.id] = state
            resolved[state.id] = thread.is_resolved
    return states, resolved


def read_reviews(
    client: Client, repository: str, number: int, head: str
) -> tuple[HostMessage, ...]:
    """Read the submitted reviews, each with the commit that it reviewed.

    Raises:
        HostError: The reviews could not be read in full.
    """
    path = f"/repos/{repository}/pulls/{number}"
    reviews = client.pages(f"{path}/reviews", CommentItem)
    # GitHub also lists each reply in a thread as a review without text. Only the comments of such a
    # review show that it is a reply. Reviews of older commits are not checked, because whether a
    # reviewer has reviewed the head does not depend on them.
    replies = {
        review.id
        for review in reviews
        if review.commit_id == head and review.state == "COMMENTED" and not review.body
    }
    if replies:
        lines = client.pages(f"{path}/comments", LineItem)
        replies -= {line.pull_request_review_id for line in lines if line.in_reply_to_id is None}
    return tuple(
        _convert_review(review)
        for review in reviews
        if review.state != PENDING and review.id not in replies
    )


def read_comment(item: CommentItem, kind: MessageKind = MessageKind.CONVERSATION) -> HostMessage:
    """Convert a comment to a message that has the fields common to all kinds of comments."""
    is_bot = item.user is not None and item.user.type == "Bot"
    # An app has no association with the repository, but someone with rights there installed it:
    # https://docs.github.com/en/graphql/reference/enums#commentauthorassociation
    is_trusted = is_bot or item.author_association in TRUSTED
    return HostMessage(
        id=item.id,
        kind=kind,
        body=item.body or "",
        login=item.user.login if item.user else None,
        is_bot=is_bot,
        url=item.html_url,
        created=item.created_at,
        updated=item.updated_at,
        is_trusted=is_trusted or (False if item.author_association else None),
    )


def _convert_review(review: CommentItem) -> HostMessage:
    message = read_comment(review, MessageKind.REVIEW)
    return replace(
        message, state=review.state, created=review.submitted_at or "", commit=review.commit_id
    )


def read_line_comment(item: LineItem, *, original: bool = False) -> HostMessage:
    """Convert a comment on lines to a message.

    Args:
        item: The comment.
        original: True for line numbers in the commit that the comment was written on, even if the
            comment is not outdated.
    """
    # GitHub sets the `line` of an outdated comment to null and keeps `original_line`:
    # https://docs.github.com/en/rest/pulls/comments
    outdated = item.line is None and item.subject_type != "file"
    first, last = item.lines(original=original or outdated)
    return replace(
        read_comment(item, MessageKind.LINE),
        path=item.path,
        line=last,
        start_line=first,
        side=_SIDES.get((item.side or "").upper(), Side.NEW),
        outdated=outdated,
        commit=item.original_commit_id,
        hunk=item.diff_hunk or None,
        thread=item.in_reply_to_id or item.id,
    )
