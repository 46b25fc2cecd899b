"""crscore's comment on a pull request: created once, then edited in place, with PyGithub.

It is identified by a hidden marker at its start and by its author: a marker in another user's
comment is ignored. A write without a response may have succeeded, so the comment is looked up
before anything is written again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from crscore.errors import HostError, NotFoundError, PermissionDeniedError, UncertainWriteError
from crscore.github.client import Client
from crscore.github.records import Remark

if TYPE_CHECKING:
    from github.IssueComment import IssueComment

MARKER: Final = "<!-- crscore:sticky"
"""Start of crscore's comment."""


class Outcome(StrEnum):
    """Outcome of posting the comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    """The token lacks write permission."""
    FAILED = "failed"


class Posted(NamedTuple):
    """Comment after a run."""

    outcome: Outcome
    """Outcome of the write."""
    url: str
    """Address of the comment; "" when there is none."""
    reason: str
    """Why it was not written; "" when it was."""


class _Comment(msgspec.Struct, frozen=True):
    html_url: str = ""
    body: str | None = None


def is_sticky(remark: Remark) -> bool:
    """Return whether a remark is crscore's comment: it has the marker and the same author."""
    # `None` is unknown: a comment that may be somebody else's is never edited.
    return remark.is_own is True and remark.body.lstrip().startswith(MARKER)


def post(
    client: Client,
    repository: str,
    number: int,
    body: str,
    existing: Sequence[Remark],
    *,
    certain: bool,
) -> Posted:
    """Create or update crscore's comment.

    Args:
        client: Client to write with.
        repository: `owner/name`, the current name: writes follow no redirect.
        number: The pull request.
        body: New text, with the marker; at most 65,536 characters.
        existing: Existing comments by crscore, oldest first. The first is edited; others, which
            concurrent runs can leave, are deleted.
        certain: True when `existing` is known to be complete; otherwise none is created.

    Returns:
        The outcome. A refusal is an outcome, not an error: the summary still has the numbers.
    """
    writer = _Writer(client, repository, number)
    try:
        if existing:
            return writer.edit(body, existing)
        if not certain:
            reason = "it is unknown whether there is one, as not all comments could be read"
            return Posted(Outcome.FAILED, "", reason)
        return writer.create(body)
    except (PermissionDeniedError, NotFoundError) as exc:
        # GitHub also answers 404 when a token may not know that a resource exists.
        return Posted(Outcome.REFUSED, "", exc.reason)
    except HostError as exc:
        return Posted(Outcome.FAILED, "", exc.reason)


class _Writer(NamedTuple):
    """Writer of comments on one pull request."""

    client: Client
    repository: str
    number: int

    def create(self, body: str) -> Posted:
        issue = self.client.issue(self.repository, self.number)
        reason = ""
        # Looked up after each try, and tried at most twice, as lists can lag behind writes.
        for _ in range(2):
            try:
                url = self._write(lambda: issue.create_comment(body))
            except UncertainWriteError as exc:
                comment, reason = self._find(body), exc.reason
                if comment is None:
                    continue
                url = comment.html_url
            return Posted(Outcome.CREATED, url, "")
        return Posted(Outcome.FAILED, "", reason)

    def edit(self, body: str, existing: Sequence[Remark]) -> Posted:
        issue = self.client.issue(self.repository, self.number)
        first, *duplicates = existing
        posted = Posted(Outcome.UNCHANGED, first.url, "")
        if not _is_same(first.body, body):
            comment = issue.get_comment(first.id)

            def edit_first() -> IssueComment:
                comment.edit(body)
                return comment

            posted = Posted(Outcome.UPDATED, self._write_twice(edit_first), "")
        for duplicate in duplicates:
            # A concurrent run may have deleted it.
            with contextlib.suppress(NotFoundError):
                self._write_twice(issue.get_comment(duplicate.id).delete)
        return posted

    def _write(self, action: Callable[[], IssueComment | None]) -> str:
        """Write, and return the address of the comment; "" for a deleted one."""
        operation = f"comment on {self.repository}#{self.number}"

        def read_address() -> str:
            comment = action()
            if comment is not None and not comment.html_url:
                raise UncertainWriteError(operation, "GitHub's response has no comment in it")
            return comment.html_url if comment is not None else ""

        return self.client.write(operation, read_address)

    def _write_twice(self, action: Callable[[], IssueComment | None]) -> str:
        """Perform an idempotent write, and repeat it once when the outcome is unknown."""
        # A second edit or delete has the same result; a second comment would be a duplicate.
        try:
            return self._write(action)
        except UncertainWriteError:
            return self._write(action)

    def _find(self, body: str) -> _Comment | None:
        """Look up a comment that may have been written.

        Raises:
            HostError: The list could not be read completely, so the outcome is unknown.
        """
        path = f"/repos/{self.repository}/issues/{self.number}/comments"
        pages = self.client.pages(path, _Comment)
        comment = next(
            (comment for comment in pages.items if _is_same(comment.body or "", body)), None
        )
        if comment is None and pages.missing:
            reason = "the comment may have been written, and cannot be found"
            raise UncertainWriteError(path, reason)
        return comment


def _is_same(left: str, right: str) -> bool:
    """Compare two bodies, ignoring line ends and trailing blanks, which GitHub may change."""
    return _normalize(left) == _normalize(right)


def _normalize(body: str) -> str:
    return "\n".join(line.rstrip() for line in body.replace("\r\n", "\n").strip().split("\n"))
