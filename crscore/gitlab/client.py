"""Client for GitLab's API."""

from typing import Any, NamedTuple

from crscore.hosts.http import HostClient
from crscore.hosts.sticky import derive_key


class Token(NamedTuple):
    """Token to sign in with."""

    text: str
    is_job: bool = False
    """True for a job's token (`CI_JOB_TOKEN`), False for a user's, project's or group's."""

    def __repr__(self) -> str:
        return f"Token(***, is_job={self.is_job})"


class Client(HostClient):
    """Client for one GitLab server and one token.

    Args:
        token: Token to sign in with; None for anonymous requests.
        url: Address of the server, with its path if it has one.
        comment_key: Secret that marks crscore's comments; None to use a token that lasts.
        options: Arguments of `HostClient`.

    Raises:
        BadTokenError: The token has invalid characters.
        HostError: `url` is not a valid address.
    """

    name = "GitLab"

    def __init__(
        self, *, token: Token | None, url: str, comment_key: str | None = None, **options: Any
    ) -> None:
        self.url = url.rstrip("/")
        self.is_job = token is not None and token.is_job
        self.is_signed_in = token is not None
        # A job's token ends with the job, so a later run could not find what it marked.
        lasting_token = None if token is None or self.is_job else token.text
        self.comment_key = derive_key(comment_key or lasting_token)
        # https://docs.gitlab.com/api/rest/authentication/
        header = "JOB-TOKEN" if self.is_job else "PRIVATE-TOKEN"
        super().__init__(
            f"{self.url}/api/v4",
            {header: token.text} if token is not None else {},
            token.text if token is not None else None,
            **options,
        )

    def __repr__(self) -> str:
        return f"Client({self.url!r})"
