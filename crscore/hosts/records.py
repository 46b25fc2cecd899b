"""Records of pull requests and messages.

They are independent of how they were read from a host.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from crscore.diff.checkout import Checkout
from crscore.records import Diff, Side


class MessageKind(StrEnum):
    """Kind of a message; hosts have three kinds of comments."""

    LINE = "line"
    """Comment on a line or a file of the diff, in a thread."""
    REVIEW = "review"
    """Text of a submitted review."""
    CONVERSATION = "conversation"
    """Comment in the conversation below the description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMessage:
    """Message by a person or a bot on a pull request, as currently stored by the host."""

    id: int
    """The host's id; unique among the messages of its kind."""
    kind: MessageKind
    """Where it was written: on lines, as a review, or in the conversation."""
    body: str
    """Markdown, the latest version."""
    login: str | None
    """Login of the author; None when the account is deleted."""
    # Many bots post from ordinary accounts, so this alone is not sufficient
    # (`pull_request.reviewers.identify`).
    is_bot: bool
    """True if the host marks the account as an app."""
    url: str = ""
    """Address of its page on the host."""
    created: str = ""
    """Time of creation, ISO 8601 in UTC."""
    updated: str = ""
    """Time of the last change; "" when unknown."""
    state: str = ""
    """State of a review: APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED; "" for others."""
    path: str | None = None
    """Path of its file; None for a review's text and in the conversation."""
    line: int | None = None
    """Line in `side`: of the head for a current message, of `commit` for an outdated one."""
    start_line: int | None = None
    """First line of a message on several lines."""
    side: Side | None = None
    """Side of the diff to which `line` belongs; None without a path."""
    outdated: bool = False
    """True when its line is no longer part of the diff."""
    commit: str | None = None
    """Commit that it was written on, 40 hex digits."""
    hunk: str | None = None
    """Hunk that the message was written on, from its header to the line, as stored by the host."""
    thread: int | None = None
    """Id of the first message of its thread, which can be this message; None outside threads."""
    resolved: bool | None = None
    """Whether its thread is resolved; None outside threads and when it could not be read."""
    minimized: str | None = None
    """Why it is hidden (spam, off topic, ...); "" when it is shown, None when that is unknown."""
    is_trusted: bool | None = None
    """Whether the repository chose its author: an app, an owner, a member or a collaborator; None
    when the host does not say.
    """
    is_own: bool | None = None
    """Whether the authenticated user wrote it; None when it could not be read."""


class Change(NamedTuple):
    """Change of a pull request, read from a checkout or from its host."""

    diff: Diff
    """Change, with full files where available."""
    missing: tuple[str, ...]
    """Missing data that could change a score, one sentence each."""
    notes: tuple[str, ...]
    """Notes for a reader, one sentence each."""


class OwnMessages(NamedTuple):
    """crscore's own comments on a pull request."""

    messages: tuple[HostMessage, ...] = ()
    """Comments, the oldest first: the one to edit, and others left by concurrent runs."""
    certain: bool = True
    """True if it is known that `messages` has all of crscore's own comments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """Pull request with its change and messages."""

    repository: str
    """`owner/name` of the base."""
    number: int
    """Number within the repository."""
    title: str
    """Untrusted text."""
    url: str
    """Address of its page on the host."""
    author: str | None
    """Login of the author; None when the account is deleted."""
    base: str
    """Tip of the base branch, 40 hex digits."""
    head: str
    """Newest commit, 40 hex digits."""
    diff: Diff
    """Change from the merge base to the head, with full files where available."""
    messages: tuple[HostMessage, ...]
    """Messages sorted by creation time, kind and id, without minimised and pending ones."""
    # A comment that led to a fix is outdated, but it was a good review of these lines.
    originals: Mapping[int, Diff]
    """Id of an outdated comment -> the hunk it was written on, as a change of its own."""
    missing: tuple[str, ...] = ()
    """Missing data that could change a score, one sentence each; empty when complete."""
    notes: tuple[str, ...] = ()
    """Notes for the user, one sentence each."""
    checkout: Checkout | None = None
    """Local repository with the change; None if there is none."""
    settings: str | None = None
    """Text of `pyproject.toml` at the base; None if there is none."""
    own_messages: OwnMessages = field(default_factory=OwnMessages)
    """crscore's own comments."""
