"""Records of pull requests and messages, the same for all hosts."""

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
    """Where the message was written: on lines, as a review, or in the conversation."""
    body: str
    """Latest version of the text, in Markdown."""
    login: str | None
    """Login of the author; None if the account is deleted."""
    # Many bots post from ordinary accounts; `pull_request.reviewers.identify` finds these.
    is_bot: bool
    """True if the host marks the account as an app."""
    url: str = ""
    """Address of the message on the host."""
    created: str = ""
    """Time of creation, ISO 8601 in UTC."""
    updated: str = ""
    """Time of the last change, ISO 8601 in UTC; "" if unknown."""
    state: str = ""
    """APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED for a review; "" for other kinds."""
    path: str | None = None
    """Path of the file; None for a review's text and in the conversation."""
    line: int | None = None
    """Line number of the message, or of its last line: at the head or, for an outdated message, in
    `commit`. None for a message on no line."""
    start_line: int | None = None
    """First line of a message on several lines; else None."""
    side: Side | None = None
    """Side of the diff to which `line` belongs; None without a path."""
    outdated: bool = False
    """True if the line is no longer part of the diff."""
    commit: str | None = None
    """Commit that the message was written on, 40 hex digits; None if unknown."""
    hunk: str | None = None
    """Hunk that the message was written on, from its header to the line, as stored by the host."""
    thread: int | None = None
    """Id of the first message of the thread, which can be this message; None outside threads."""
    resolved: bool | None = None
    """Whether the thread is resolved; None outside threads and if unknown."""
    minimized: str | None = None
    """Why the message is hidden (spam, off topic, ...); "" if it is shown, None if unknown."""
    is_trusted: bool | None = None
    """Whether the author is an app of the repository, or its owner, member or collaborator; None if
    unknown."""
    is_own: bool | None = None
    """Whether the signed-in account wrote the message; None if unknown."""


class Change(NamedTuple):
    """Change of a pull request, read from a checkout or from its host."""

    diff: Diff
    """Diff of the change, with full files where available."""
    missing: tuple[str, ...]
    """Missing data that could change a score, one sentence each."""
    notes: tuple[str, ...]
    """Notes for the report, one sentence each."""


class OwnMessages(NamedTuple):
    """crscore's own comments on a pull request."""

    messages: tuple[HostMessage, ...] = ()
    """Comments, oldest first. The first is edited; concurrent runs can leave others."""
    is_complete: bool = True
    """True if `messages` certainly has all of crscore's own comments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """Pull request with its change and messages."""

    repository: str
    """Full name of the base repository, such as `owner/name`."""
    number: int
    """Number within the repository."""
    title: str
    """Title, which is untrusted text."""
    url: str
    """Address of the pull request's page on the host."""
    author: str | None
    """Login of the author; None if the account is deleted."""
    base: str
    """Tip of the base branch, 40 hex digits."""
    head: str
    """Newest commit, 40 hex digits."""
    diff: Diff
    """Change from the merge base to the head, with full files where available."""
    messages: tuple[HostMessage, ...]
    """Messages sorted by creation time, kind and id, without minimised and pending ones."""
    # A comment that led to a fix becomes outdated, but it was a good review of its hunk.
    originals: Mapping[int, Diff]
    """Id of an outdated comment -> the hunk that it was written on, as a separate change."""
    missing: tuple[str, ...] = ()
    """Missing data that could change a score, one sentence each; empty if complete."""
    notes: tuple[str, ...] = ()
    """Notes for the report, one sentence each."""
    checkout: Checkout | None = None
    """Local repository with the change; None if there is none."""
    settings: str | None = None
    """Text of `pyproject.toml` on the base branch; None if there is no such file."""
    own_messages: OwnMessages = field(default_factory=OwnMessages)
    """crscore's own comments."""
