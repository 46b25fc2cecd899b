"""Writer of crscore's comment on GitHub, with PyGithub."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from crscore.errors import UncertainWriteError
from crscore.github.client import Client
from crscore.hosts import sticky
from crscore.hosts.records import HostMessage
from crscore.hosts.sticky import Posted

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment


class _Comment(msgspec.Struct, frozen=True):
    id: int
    html_url: str = ""
    body: str | None = None


def post(
    client: Client,
    repository: str,
    number: int,
    body: str,
    existing: Sequence[HostMessage],
    *,
    certain: bool,
) -> Posted:
    """Create or update crscore's comment: `sticky.post` with a writer for GitHub.

    Args:
        client: Client to write with.
        repository: `owner/name`, the current name: writes follow no redirect.
        number: The pull request.
        body: New text, with the marker; at most 65,536 characters.
        existing: Existing comments by crscore, oldest first.
        certain: True if `existing` is known to be complete; otherwise no comment is created.
    """
    return sticky.post(_Writer(client, repository, number), body, existing, certain=certain)


class _Writer(NamedTuple):
    client: Client
    repository: str
    number: int

    def create(self, body: str) -> str:
        return self._write(lambda: self._issue.create_comment(body))

    def edit(self, comment: int, body: str) -> str:
        note = self._issue.get_comment(comment)

        def edit() -> IssueComment:
            note.edit(body)
            return note

        return self._write(edit)

    def delete(self, comment: int) -> str:
        return self._write(self._issue.get_comment(comment).delete)

    def find(self, body: str) -> str | None:
        path = f"/repos/{self.repository}/issues/{self.number}/comments"
        comments = self.client.pages(path, _Comment)
        urls = (note.html_url for note in comments if sticky.is_same(note.body or "", body))
        return next(urls, None)

    @property
    def _issue(self) -> Issue:
        return self.client.issue(self.repository, self.number)

    def _write(self, action: Callable[[], IssueComment | None]) -> str:
        """Write the comment, and return its address; "" if it was deleted."""
        operation = f"comment on {self.repository}#{self.number}"

        def read_address() -> str:
            comment = action()
            if comment is not None and not comment.html_url:
                raise UncertainWriteError(operation, "GitHub's response contains no comment")
            return comment.html_url if comment is not None else ""

        return self.client.write(operation, read_address)
