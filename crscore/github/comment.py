"""Writer of crscore's comment on GitHub, with PyGithub."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from crscore.errors import UncertainWriteError
from crscore.github.client import Client
from crscore.hosts.sticky import Written

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment

T = TypeVar("T")


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
        return self._write(lambda issue: self._locate(issue.create_comment(body)))

    def edit(self, comment: int, body: str) -> Written:
        """Replace a comment's text: see `sticky.Writer`."""

        def edit(issue: Issue) -> Written:
            note = issue.get_comment(comment)
            note.edit(body)
            return self._locate(note)

        return self._write(edit)

    def delete(self, comment: int) -> None:
        """Delete a comment: see `sticky.Writer`."""
        self._write(lambda issue: issue.get_comment(comment).delete())

    @property
    def _operation(self) -> str:
        return f"comment on {self.repository}#{self.number}"

    def _locate(self, comment: IssueComment) -> Written:
        if not (comment.id and comment.html_url):
            # PyGithub returns an object without values for a response that is no comment.
            reason = "GitHub's response contains no comment"
            raise UncertainWriteError(self._operation, reason)
        return Written(comment.id, comment.html_url)

    def _write(self, action: Callable[[Issue], T]) -> T:
        issue = self.client.issue(self.repository, self.number)
        return self.client.write(self._operation, lambda: action(issue))
