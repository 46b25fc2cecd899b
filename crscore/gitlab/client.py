"""Client for GitLab's API: reads over `hosts.http`, writes with python-gitlab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from crscore.errors import DependencyError

try:
    import gitlab

    from crscore.hosts.http import HostClient
except ImportError as exc:
    raise DependencyError("python-gitlab", "pip install 'crscore[gitlab]'") from exc

from crscore.hosts.sticky import derive_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitlab.v4.objects import ProjectMergeRequestNoteManager

# Without this option, python-gitlab waits as long as the server demands, whatever the run's budget:
# https://python-gitlab.readthedocs.io/en/stable/api-usage-advanced.html#rate-limits
_EXTRA: Final[dict[str, Any]] = {"obey_rate_limit": False}
"""Options of python-gitlab for each write."""


class Client(HostClient):
    """Client for one GitLab server and one token.

    Args:
        token: Token to sign in with; None for anonymous requests.
        is_job: Whether the token is a job's (`CI_JOB_TOKEN`), not a user's, project's or group's.
        url: Address of the server, with its path if it has one.
        comment_key: Secret that marks crscore's comments. If it is None, the token is the secret,
            unless the token expires with the job.
        options: Other arguments of `HostClient`.

    Raises:
        BadTokenError: The token has invalid characters.
        HostError: `url` is not a valid address.
    """

    name = "GitLab"
    # python-gitlab's objects raise AttributeError for fields that a response lacks:
    # https://python-gitlab.readthedocs.io/en/stable/faq.html#attribute-error-list
    library_errors = (gitlab.GitlabError, AttributeError, TypeError)

    def __init__(
        self,
        *,
        token: str | None,
        url: str,
        is_job: bool = False,
        comment_key: str | None = None,
        **options: Any,
    ) -> None:
        self.url = url.rstrip("/")
        self.is_job = is_job
        self.is_signed_in = token is not None
        # A job's token expires with the job, so a later run could not find comments marked with it.
        lasting_token = None if is_job else token
        self.comment_key = derive_key(comment_key or lasting_token)
        # https://docs.gitlab.com/api/rest/authentication/
        headers = {"JOB-TOKEN" if is_job else "PRIVATE-TOKEN": token} if token is not None else {}
        super().__init__(f"{self.url}/api/v4", headers, token, **options)
        # python-gitlab gets no token, because `HostSession` signs the requests.
        self._gitlab = gitlab.Gitlab(self.url, session=self.session, keep_base_url=True)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def notes(self, repository: str, number: int) -> ProjectMergeRequestNoteManager:
        """Return python-gitlab's object for the notes of a merge request; no request is sent."""
        project = self._gitlab.projects.get(repository, lazy=True)
        return project.mergerequests.get(number, lazy=True).notes

    def create_comment(self, repository: str, number: int, body: str) -> tuple[int, str]:
        """Write a note: see `HostClient`."""
        notes, operation = self.notes(repository, number), f"note on {repository}!{number}"
        note: int = self.write(operation, lambda: notes.create({"body": body}, **_EXTRA).id)
        return note, f"{self.url}/{repository}/-/merge_requests/{number}#note_{note}"

    def edit_comment(self, repository: str, number: int, comment: int, body: str) -> str:
        """Replace a note's text: see `HostClient`."""
        notes, operation = self.notes(repository, number), f"note on {repository}!{number}"
        note = self.write(operation, lambda: notes.update(comment, {"body": body}, **_EXTRA)["id"])
        return f"{self.url}/{repository}/-/merge_requests/{number}#note_{note}"

    def delete_comment(self, repository: str, number: int, comment: int) -> None:
        """Delete a note: see `HostClient`."""
        notes, operation = self.notes(repository, number), f"note on {repository}!{number}"
        self.write(operation, lambda: notes.delete(comment, **_EXTRA))

    def read_refusal(self, exc: Exception) -> tuple[int, Mapping[str, str], bytes] | None:
        """Return the response that made python-gitlab raise an exception: see `HostClient`."""
        status = getattr(exc, "response_code", None)
        if status is None:
            return None
        return status, self.session.last_headers, getattr(exc, "response_body", None) or b""
