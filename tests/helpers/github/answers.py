"""Messages of HTTP: requests, answers, and GitHub's ways of saying no."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DOCUMENTS = "https://docs.github.com/rest"


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request that was read and understood as HTTP."""

    method: str
    path: str
    """Without the query, percent-decoded."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any = None
    """Decoded JSON; None without a body or with one that is not JSON."""
    raw: bytes = b""
    """The body as it came."""


@dataclass(kw_only=True)
class Answer:
    """An answer before limits and faults."""

    status: int = 200
    points: int = 1
    """What it takes from the hourly limit."""
    body: Any = None
    """To be written as JSON; bytes go out as they are; None is an empty body."""
    headers: dict[str, str] = field(default_factory=dict)
    items: list[Any] | None = None
    """A whole list, still to be cut into pages; then `body` is None."""
    shape: Callable[[Any], Any] | None = None
    """Makes the JSON of an item, of those on the page alone; None when they are JSON."""


def refusal(status: int, message: str, **more: Any) -> Answer:
    """An error in GitHub's words."""
    body = {"message": message, **more, "documentation_url": DOCUMENTS, "status": str(status)}
    return Answer(status=status, body=body)


def not_found() -> Answer:
    return refusal(404, "Not Found")


def bad_credentials() -> Answer:
    return refusal(401, "Bad credentials")


def read_only() -> Answer:
    return refusal(403, "Resource not accessible by integration")


def too_long() -> Answer:
    error = {
        "resource": "IssueComment",
        "code": "unprocessable",
        "field": "data",
        "message": "Body is too long (maximum is 65536 characters)",
    }
    return refusal(422, "Validation Failed", errors=[error])


def missing_field(resource: str, name: str) -> Answer:
    error = {"resource": resource, "code": "missing_field", "field": name}
    return refusal(422, "Validation Failed", errors=[error])


def primary_limit(status: int = 403) -> Answer:
    return refusal(
        status,
        "API rate limit exceeded for installation ID 4711. If you reach out to GitHub Support "
        "for help, please include the request ID 0C1E:2F3A and timestamp.",
    )


def secondary_limit(status: int = 403, retry_after: int | None = 60) -> Answer:
    answer = refusal(
        status,
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try "
        "again. If you reach out to GitHub Support for help, please include the request ID "
        "0C1E:2F3A.",
    )
    if retry_after is not None:
        answer.headers["Retry-After"] = str(retry_after)
    return answer


def server_error(status: int) -> Answer:
    """5xx as they come: JSON from the application, a page from the balancers before it."""
    if status == 500:
        return refusal(500, "Server Error")
    page = b"<html>\r\n<head><title>Unicorn!</title></head>\r\n<body>No server is available to"
    page += b" handle your request.</body>\r\n</html>\r\n"
    return Answer(status=status, body=page, headers={"Content-Type": "text/html"})


def query_failed(*, limited: bool = False) -> Answer:
    """GraphQL's failures, which come with status 200."""
    error = {
        "message": "Something went wrong while executing your query. This may be the result of a "
        "timeout, or it could be a GitHub bug."
    }
    if limited:
        error = {
            "type": "RATE_LIMITED",
            "message": "API rate limit exceeded for installation ID 4711.",
        }
    return Answer(body={"data": None, "errors": [error]})
