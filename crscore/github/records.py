"""Pull requests and remarks, as values: part of the records, in a room of its own.

Nothing here knows how a host was asked for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.records import Diff, Side


class RemarkKind(StrEnum):
    """Which of the host's three kinds of comments a remark is."""

    LINE = "line"
    """On a line or a file of the diff, in a thread."""
    REVIEW = "review"
    """The text of a submitted review."""
    CONVERSATION = "conversation"
    """In the conversation below the description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One message that a person or a bot left on a pull request, as the host has it now."""

    id: int
    """The host's id; unique among the remarks of its kind."""
    kind: RemarkKind
    """Where it stands."""
    body: str
    """Markdown, the latest version."""
    login: str | None
    """Who wrote it; None when the account is deleted."""
    is_bot: bool
    """True when the host says that the account is an app's."""
    url: str = ""
    """The page it is shown on."""
    created: str = ""
    """When it was written, ISO 8601 in UTC."""
    state: str = ""
    """Of a review: APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED; "" for the others."""
    path: str | None = None
    """File it is on; None for a review's text and the conversation."""
    line: int | None = None
    """Line in `side`: of the head for a current remark, of `commit` for an outdated one."""
    start_line: int | None = None
    """First line of a remark on several lines."""
    side: Side | None = None
    """Side that `line` counts in; None without a path."""
    outdated: bool = False
    """True when the line it was written on is no longer part of the diff."""
    commit: str | None = None
    """The commit it was written on, 40 hex digits."""
    hunk: str | None = None
    """The hunk it was written on, from its header down to the line, as the host keeps it."""
    thread: int | None = None
    """Id of its thread's first remark; its own for that one; None outside of threads."""
    resolved: bool | None = None
    """Whether its thread is resolved; None outside of threads and when it could not be read."""
    minimized: bool | None = None
    """Whether it was hidden (spam, off topic, ...); None when it could not be read."""
    mine: bool | None = None
    """Whether the identity that asks wrote it; None when it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull request with its change and all that was said of it."""

    repository: str
    """`owner/name` of the base."""
    number: int
    """Its number."""
    title: str
    """Untrusted text."""
    url: str
    """The page it is shown on."""
    author: str | None
    """Login of who opened it; None when the account is deleted."""
    base: str
    """Tip of the base branch, 40 hex digits."""
    head: str
    """The newest commit, 40 hex digits."""
    diff: Diff
    """The change from the merge base to the head, with whole files where they could be had."""
    remarks: tuple[Remark, ...]
    """By time written, then kind and id; minimised and pending ones left out."""
    originals: Mapping[int, Diff]
    """For an outdated line remark's id: the hunk it was written on, as a change of its own."""
    missing: tuple[str, ...] = ()
    """Data that could not be read and would change a number, a sentence each; empty when whole."""
    notes: tuple[str, ...] = ()
    """Remarks for a reader, one sentence each."""
    settings: str | None = None
    """Text of `pyproject.toml` at the base; None when there is none."""
    sticky: tuple[Remark, ...] = ()
    """Our own comments on it, the oldest first: the one to edit and, after a race, others."""
    knows_sticky: bool = True
    """True when `sticky` is certain to hold all of them."""

    @property
    def partial(self) -> bool:
        """True when something that would change a number could not be had."""
        return bool(self.missing)
