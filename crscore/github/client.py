"""Client for GitHub's API: reads REST and GraphQL over `hosts.http`, writes with PyGithub."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from crscore.errors import DependencyError, HostError, UnavailableError, UncertainWriteError

try:
    import github

    from crscore.hosts.http import (
        MAX_MESSAGE,
        REFUSALS,
        HostClient,
        TransientError,
        has_limit_words,
        join_reason,
    )
except ImportError as exc:
    raise DependencyError("PyGithub", "pip install 'crscore[github]'") from exc

from crscore.hosts.sticky import derive_key
from crscore.reports.escape import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import requests
    from github.Issue import Issue
    from github.IssueComment import IssueComment

T = TypeVar("T")

# https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
SECONDS_BETWEEN_WRITES = 1.0
"""Seconds between two writes, as GitHub requests."""
# GraphQL sends errors with status 200, so only their type tells them apart. GitHub does not
# document the types; those listed here have been observed.
_BUSY_TYPES: Final = frozenset({"INTERNAL", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT"})
# Phrases in errors without a type. They mean that GitHub was busy, or stopped the query after ten
# seconds:
# https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
_BUSY_WORDS: Final = ("something went wrong", "timeout", "timedout", "try again", "loading")
_STATUSES: Final = {
    "FORBIDDEN": 403,
    "INSUFFICIENT_SCOPES": 403,
    "UNAUTHORIZED": 403,
    "NOT_FOUND": 404,
}
"""Type of a GraphQL error -> status that REST sends for the same error."""
# At DEBUG level, PyGithub logs whole responses, which may repeat the token; it masks only the
# request's headers: https://github.com/PyGithub/PyGithub/blob/main/github/Requester.py
logging.getLogger("github.Requester").setLevel(logging.WARNING)


class _Graphql(msgspec.Struct):
    data: msgspec.Raw = msgspec.Raw(b"null")
    errors: list[dict[str, Any]] | None = None


class Client(HostClient):
    """Client for one GitHub server and one token.

    Args:
        token: Token to sign in with; None for anonymous requests.
        api_url: Address of GitHub's API.
        comment_key: Secret that marks crscore's comments. If it is None, the token is the secret,
            unless the token is a GitHub App's, which lasts at most a day.
        options: Other arguments of `HostClient`.

    Raises:
        BadTokenError: The token has invalid characters.
        HostError: `api_url` is not a valid address.
    """

    name = "GitHub"
    # PyGithub raises the first for an error response, and the others for a response that it cannot
    # parse.
    library_errors = (
        github.GithubException,
        github.BadAttributeException,
        AssertionError,
        AttributeError,
        RuntimeError,
    )

    def __init__(
        self,
        *,
        token: str | None,
        api_url: str = "https://api.github.com",
        comment_key: str | None = None,
        **options: Any,
    ) -> None:
        self.api_url = api_url.rstrip("/")
        token = token.strip() if token is not None else None
        # Without a version, a later default could change the fields that are read here:
        # https://docs.github.com/en/rest/about-the-rest-api/api-versions
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        headers |= {"Authorization": f"token {token}"} if token is not None else {}
        # Tokens of GitHub Apps, such as a workflow's, begin with `ghs_` and last at most a day:
        # https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
        lasting_token = None if token is None or token.startswith("ghs_") else token
        self.comment_key = derive_key(comment_key or lasting_token)
        super().__init__(self.api_url, headers, token, **options)
        self._github = github.Github(
            auth=github.Auth.Token(token) if token is not None else None,
            base_url=self.api_url,
            timeout=options.get("timeout_s", 30),
            user_agent=str(self.session.headers["User-Agent"]),
            retry=None,  # PyGithub's own retries would ignore the budget
            seconds_between_requests=None,
            seconds_between_writes=SECONDS_BETWEEN_WRITES,
            lazy=True,
        )

    def __repr__(self) -> str:
        return f"Client({self.api_url!r})"

    def close(self) -> None:
        """Close the connections."""
        super().close()
        self._github.close()

    def graphql(self, query: str, variables: Mapping[str, Any], kind: type[T]) -> T:
        """Send a read-only GraphQL query, which may be repeated like a GET.

        Args:
            query: Query without mutations.
            variables: Variables of the query.
            kind: Type to which the field `data` of the response is converted.

        Raises:
            HostError: There is no response, or it has errors or another structure.
        """
        operation, url = "GraphQL", self._github.requester.graphql_url
        body = {"query": query, "variables": dict(variables)}

        def attempt() -> T:
            response = self.send("POST", url, operation, json=body)
            answer = self.decode(response.content, _Graphql, operation)
            if answer.errors:
                raise self._graphql_error(answer.errors, response)
            return self.decode(bytes(answer.data), kind, operation)

        return self.retry(attempt)

    def issue(self, repository: str, number: int) -> Issue:
        """Return PyGithub's object of an issue or pull request; no request is sent."""
        return self._github.get_repo(repository).get_issue(number)

    # The caller limits the text: GitHub refuses a comment of more than 65,536 characters.
    def create_comment(self, repository: str, number: int, body: str) -> tuple[int, str]:
        """Write a comment: see `HostClient`."""
        issue, operation = self.issue(repository, number), f"comment on {repository}#{number}"
        return self.write(operation, lambda: _identify(issue.create_comment(body), operation))

    def edit_comment(self, repository: str, number: int, comment: int, body: str) -> str:
        """Replace a comment's text: see `HostClient`."""
        issue, operation = self.issue(repository, number), f"comment on {repository}#{number}"

        def edit() -> str:
            note = issue.get_comment(comment)
            note.edit(body)
            return _identify(note, operation)[1]

        return self.write(operation, edit)

    def delete_comment(self, repository: str, number: int, comment: int) -> None:
        """Delete a comment: see `HostClient`."""
        issue = self.issue(repository, number)
        self.write(f"comment on {repository}#{number}", lambda: issue.get_comment(comment).delete())

    def read_refusal(self, exc: Exception) -> tuple[int, Mapping[str, str], bytes] | None:
        """Return the response that made PyGithub raise an exception: see `HostClient`."""
        if not isinstance(exc, github.GithubException):
            return None
        return exc.status, exc.headers or {}, msgspec.json.encode(exc.data)

    def _graphql_error(
        self, errors: Sequence[Mapping[str, Any]], response: requests.Response
    ) -> HostError | TransientError:
        """Return the error for a response with `errors`; partial data is not used."""
        operation = "GraphQL"
        types = {str(error.get("type") or "").upper() for error in errors}
        messages = (str(error.get("message") or "") for error in errors)
        message = one_line("; ".join(messages), MAX_MESSAGE)
        if any(kind.startswith("RATE_LIMIT") for kind in types) or has_limit_words(message):
            return self.limit_error(response.headers, message, operation)
        for kind in types & _STATUSES.keys():
            error, reason = REFUSALS[_STATUSES[kind]]
            return error(operation, join_reason(reason, message))
        is_busy = any(word in message.lower() for word in _BUSY_WORDS)
        if types & _BUSY_TYPES or (types == {""} and is_busy):
            reason = join_reason("GitHub could not finish the query", message)
            return TransientError(UnavailableError(operation, reason))
        return HostError(operation, join_reason("GitHub refused the query", message))


def _identify(comment: IssueComment, operation: str) -> tuple[int, str]:
    if not (comment.id and comment.html_url):
        # PyGithub returns an object without values for a response that is not a comment.
        raise UncertainWriteError(operation, "GitHub's response contains no comment")
    return comment.id, comment.html_url
