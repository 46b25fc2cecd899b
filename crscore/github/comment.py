"""Writer of crscore's comment on GitHub."""

from types import NoneType
from typing import NamedTuple

import msgspec

from crscore.github.client import Client
from crscore.hosts import sticky
from crscore.hosts.sticky import Written


class _Comment(msgspec.Struct, frozen=True):
    id: int
    html_url: str
    body: str | None = None


class CommentWriter(NamedTuple):
    """`sticky.Writer` for one pull request.

    The repository's name must be the current one, because writes follow no redirect. GitHub allows
    65,536 characters in a comment.
    """

    client: Client
    repository: str
    number: int

    def create(self, body: str) -> Written:
        """Write a comment: see `sticky.Writer`."""
        return self._write("POST", f"{self.number}/comments", body)

    def edit(self, comment: int, body: str) -> Written:
        """Replace a comment's text: see `sticky.Writer`."""
        return self._write("PATCH", f"comments/{comment}", body)

    def delete(self, comment: int) -> None:
        """Delete a comment: see `sticky.Writer`."""
        path = f"/repos/{self.repository}/issues/comments/{comment}"
        self.client.write("DELETE", path, NoneType, operation=self._operation)

    def find(self, body: str) -> Written | None:
        """Return a comment with this text: see `sticky.Writer`."""
        path = f"/repos/{self.repository}/issues/{self.number}/comments"
        for note in self.client.pages(path, _Comment):
            if sticky.is_same(note.body or "", body):
                return Written(note.id, note.html_url)
        return None

    @property
    def _operation(self) -> str:
        return f"comment on {self.repository}#{self.number}"

    def _write(self, verb: str, address: str, body: str) -> Written:
        path = f"/repos/{self.repository}/issues/{address}"
        note = self.client.write(verb, path, _Comment, operation=self._operation, text=body)
        return Written(note.id, note.html_url)
