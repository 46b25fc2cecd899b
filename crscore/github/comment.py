"""The one comment of ours on a pull request: created once, then edited in place, with PyGithub.

It is known by a hidden marker at its start and by who wrote it: a marker in somebody else's
comment is no reason to touch it. A write that got no answer may have been done, so it is looked
up before anything is written again.
"""

from __future__ import annotations

import contextlib
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from crscore.errors import HostError, NotFoundError, PermissionDeniedError, UncertainWriteError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from github.IssueComment import IssueComment

    from crscore.github.client import Client
    from crscore.github.records import Remark

MARKER: Final = "<!-- crscore:sticky"
"""How our comment starts."""


class Outcome(StrEnum):
    """What became of the comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    """The token may not write."""
    FAILED = "failed"


class Posted(NamedTuple):
    """The comment after a run."""

    outcome: Outcome
    """What became of it."""
    url: str
    """Where it is; "" when there is none."""
    reason: str
    """Why it was not written; "" when it was."""


class _Comment(msgspec.Struct, frozen=True):
    html_url: str = ""
    body: str | None = None


def is_sticky(remark: Remark) -> bool:
    """Return whether a remark is our comment: it has the marker, and we wrote it."""
    return remark.mine is True and remark.body.lstrip().startswith(MARKER)


def post(
    client: Client,
    repository: str,
    number: int,
    body: str,
    ours: Sequence[Remark],
    *,
    certain: bool,
) -> Posted:
    """Make our comment say this.

    Args:
        client: Client to write with.
        repository: `owner/name`, by its present name: writes follow no redirect.
        number: The pull request.
        body: What it is to say, with the marker; at most 65,536 characters.
        ours: Our comments there are, oldest first. The first is edited; others, which two runs
            at the same moment can leave, are deleted.
        certain: True when `ours` is known to be all; without that none is created.

    Returns:
        What became of it. A refusal is an outcome, not an error: the numbers are in the summary
        all the same.
    """
    writer = _Writer(client, repository, number)
    try:
        if ours:
            return writer.edit(body, ours)
        if not certain:
            reason = "it is unknown whether there is one, as not all comments could be read"
            return Posted(Outcome.FAILED, "", reason)
        return writer.create(body)
    except (PermissionDeniedError, NotFoundError) as exc:
        # GitHub says 404, too, where a token may not know that something is there.
        return Posted(Outcome.REFUSED, "", exc.reason)
    except HostError as exc:
        return Posted(Outcome.FAILED, "", exc.reason)


class _Writer(NamedTuple):
    """Writes comments on one pull request."""

    client: Client
    repository: str
    number: int

    def create(self, body: str) -> Posted:
        issue = self.client.issue(self.repository, self.number)
        reason = ""
        # Looked for after each try, and tried no more than twice, as lists can lag behind writes.
        for _ in range(2):
            try:
                url = self._write(lambda: issue.create_comment(body))
            except UncertainWriteError as exc:
                found, reason = self._find(body), exc.reason
                if found is None:
                    continue
                url = found.html_url
            return Posted(Outcome.CREATED, url, "")
        return Posted(Outcome.FAILED, "", reason)

    def edit(self, body: str, ours: Sequence[Remark]) -> Posted:
        issue = self.client.issue(self.repository, self.number)
        first, *others = ours
        posted = Posted(Outcome.UNCHANGED, first.url, "")
        if not _is_same(first.body, body):
            comment = issue.get_comment(first.id)

            def renew() -> IssueComment:
                comment.edit(body)
                return comment

            posted = Posted(Outcome.UPDATED, self._write_twice(renew), "")
        for other in others:
            # Gone is gone, whoever did it.
            with contextlib.suppress(NotFoundError):
                self._write_twice(issue.get_comment(other.id).delete)
        return posted

    def _write(self, action: Callable[[], IssueComment | None]) -> str:
        """Write, and return the address of the comment; empty for one that was deleted."""
        what = f"comment on {self.repository}#{self.number}"

        def read_address() -> str:
            comment = action()
            if comment is not None and not comment.html_url:
                raise UncertainWriteError(what, "GitHub's response has no comment in it")
            return comment.html_url if comment is not None else ""

        return self.client.write(what, read_address)

    def _write_twice(self, action: Callable[[], IssueComment | None]) -> str:
        """Write what is the same when it is done twice, and do so where the outcome is unknown."""
        try:
            return self._write(action)
        except UncertainWriteError:
            return self._write(action)

    def _find(self, body: str) -> _Comment | None:
        """Look for the comment that may have been written.

        Raises:
            HostError: The list could not be read whole, so nobody can say.
        """
        path = f"/repos/{self.repository}/issues/{self.number}/comments"
        pages = self.client.pages(path, _Comment)
        found = next((one for one in pages.items if _is_same(one.body or "", body)), None)
        if found is None and pages.missing:
            reason = "the comment may have been written, and cannot be found"
            raise UncertainWriteError(path, reason)
        return found


def _is_same(left: str, right: str) -> bool:
    """Compare two bodies as GitHub keeps them: line ends and blanks at line ends may change."""
    return _normalize(left) == _normalize(right)


def _normalize(body: str) -> str:
    return "\n".join(line.rstrip() for line in body.replace("\r\n", "\n").strip().split("\n"))
