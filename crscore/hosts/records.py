"""Records of pull requests and messages.

They are independent of how they were read from a host.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from crscore.diff.checkout import Checkout
from crscore.records import Diff, Side


class MessageKind(StrEnum):
    """Kind of a message, one of the host's three kinds of comments."""

    LINE = "line"
    """Comment on a line or a file of the diff, in a thread."""
    REVIEW = "review"
    """Text of a submitted review."""
    CONVERSATION = "conversation"
    """Comment in the conversation below the description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMessage:
    """One message by a person or a bot on a pull request, as currently stored by the host."""

    id: int
    """The host's id; unique among the messages of its kind."""
    kind: MessageKind
    """Kind of the message."""
    body: str
    """Markdown, the latest version."""
    login: str | None
    """Login of the author; None when the account is deleted."""
    is_bot: bool
    """True when the host marks the account as an app's."""
    url: str = ""
    """Its page on the host."""
    created: str = ""
    """Time of creation, ISO 8601 in UTC."""
    state: str = ""
    """State of a review: APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED; "" for others."""
    path: str | None = None
    """File it is on; None for a review's text and the conversation."""
    line: int | None = None
    """Line in `side`: of the head for a current message, of `commit` for an outdated one."""
    start_line: int | None = None
    """First line of a message on several lines."""
    side: Side | None = None
    """Side in which `line` is counted; None without a path."""
    outdated: bool = False
    """True when its line is no longer part of the diff."""
    commit: str | None = None
    """Commit it was written on, 40 hex digits."""
    hunk: str | None = None
    """Hunk it was written on, from its header to the line, as stored by the host."""
    thread: int | None = None
    """Id of its thread's first message; its own id for that message; None outside threads."""
    resolved: bool | None = None
    """Whether its thread is resolved; None outside threads and when it could not be read."""
    minimized: bool | None = None
    """Whether it was hidden (spam, off topic, ...); None when it could not be read."""
    is_own: bool | None = None
    """Whether the authenticated user wrote it; None when it could not be read."""


class Change(NamedTuple):
    """Change of a pull request, from a checkout or from its host."""

    diff: Diff
    """Change with whole files where available."""
    missing: tuple[str, ...]
    """Missing data that would change a number, one sentence each."""
    notes: tuple[str, ...]
    """Notes for a reader, one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """Pull request with its change and all messages on it."""

    repository: str
    """`owner/name` of the base."""
    number: int
    """Number of the pull request."""
    title: str
    """Untrusted text."""
    url: str
    """Its page on the host."""
    author: str | None
    """Login of the author; None when the account is deleted."""
    base: str
    """Tip of the base branch, 40 hex digits."""
    head: str
    """Newest commit, 40 hex digits."""
    diff: Diff
    """Change from the merge base to the head, with whole files where available."""
    messages: tuple[HostMessage, ...]
    """Messages by creation time, then kind and id; without minimised and pending ones."""
    originals: Mapping[int, Diff]
    """By an outdated line message's id: the hunk it was written on, as a separate change."""
    missing: tuple[str, ...] = ()
    """Missing data that would change a number, one sentence each; empty when complete."""
    notes: tuple[str, ...] = ()
    """Notes for the user, one sentence each."""
    checkout: Checkout | None = None
    """Repository on this machine that has the change; None where there is none."""
    settings: str | None = None
    """Text of `pyproject.toml` at the base; None when there is none."""
    sticky: tuple[HostMessage, ...] = ()
    """crscore's own comments on it, the oldest first: the one to edit, and others left by a race.
    """
    knows_sticky: bool = True
    """True when `sticky` is known to be complete."""

    @property
    def partial(self) -> bool:
        """True when data that would change a number is missing."""
        return bool(self.missing)
