"""Finds the pull requests that an event refers to.

An event is a JSON file with untrusted parts. Only the fields named in this module are read. Each is
checked against its type, and none is executed or shown.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from crscore.errors import InputError
from crscore.github.actions.environment import Environment

COMMAND: Final = "/crscore"
"""First word of a comment that requests a run."""
RECENT_DAYS: Final = 7
"""A scheduled run scores the open pull requests that changed within this number of days."""
MAX_RECENT: Final = 50
"""Maximum number of pull requests in a scheduled run, half a page of GitHub's list."""
# https://docs.github.com/en/graphql/reference/enums#commentauthorassociation
TRUSTED: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""Associations with the repository that allow a user to request a run."""


class Target(NamedTuple):
    """Pull requests to score; exactly one field is set."""

    number: int | None = None
    """Number of the pull request, if there is only one."""
    head: tuple[str, str, str] | None = None
    """Owner of a repository (possibly a fork), a branch of this repository (untrusted), and the
    branch's newest commit, 40 hex digits. The caller must find the open pull request with this
    head."""
    is_recent: bool = False
    """True for all open pull requests that changed within `RECENT_DAYS`."""
    reason: str = ""
    """Why there is nothing to score, as a clause without untrusted text. This is not a failure."""


_Number = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
_Sha = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}\Z")]
_Login = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]+(\[bot\])?\Z", max_length=100)]


def find_target(environment: Environment) -> Target:
    """Decide which pull requests to score.

    The input `pull-request` takes precedence over the event. But even with this input, a comment
    starts a run only if it contains the command and its author may request a run.

    Args:
        environment: The step's environment.

    Returns:
        The pull requests to score, or why there are none.

    Raises:
        InputError: The event cannot be read, or does not match its name.
    """
    name, number = environment.event, environment.inputs.pull_request
    # Anyone can comment, so a comment is checked even if the number is given.
    if number is not None and name != "issue_comment":
        return Target(number)
    if name == "schedule":
        return Target(is_recent=True)
    if name not in _READERS:
        printable_name = re.sub(r"[^a-z_]", "?", name)[:50]
        return Target(
            reason=f"the event {printable_name} is not about a pull request; "
            "give the input pull-request a number"
        )
    target = _READERS[name](_read_event(environment.event_path))
    return Target(number) if number is not None and target.number is not None else target


def _read_event(path: Path | None) -> Any:
    if path is None:
        raise InputError("GITHUB_EVENT_PATH is not set, so the event cannot be read")
    try:
        event = msgspec.json.decode(path.read_bytes())
    except OSError as exc:
        raise InputError(f"the event cannot be read: {exc.strerror}") from exc
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise InputError(f"the event is not JSON: {exc}") from exc
    if not isinstance(event, dict):
        raise InputError("the event does not have GitHub's format: it is not an object")
    return event


def _read_field(event: Any, path: str, kind: Any) -> Any:
    """Return a field of an event, checked against its type."""
    value = event
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as exc:
        # msgspec's message contains the names of types, but no part of the untrusted event.
        raise InputError(f"the event does not have GitHub's format: {exc} - at `{path}`") from exc


def _read_pull_request(event: Any) -> Target:
    return Target(_read_field(event, "pull_request.number", _Number))


def _read_comment(event: Any) -> Target:
    number = _read_field(event, "issue.number", _Number)
    body = _read_field(event, "comment.body", str | None) or ""
    association = _read_field(event, "comment.author_association", str)
    # Only the first word counts, so that a comment that quotes or explains the command does not
    # request a run. A byte order mark at the start is not part of the first word.
    first = body.lstrip("\ufeff").split("\n", 1)[0].split()
    # The event `issue_comment` is also sent for issues, and for edited and deleted comments:
    # https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
    if _read_field(event, "issue.pull_request", dict | None) is None:
        return Target(reason="the comment is on an issue, not on a pull request")
    if event.get("action", "created") != "created":
        return Target(reason="the comment is not a new one")
    if first[:1] != [COMMAND]:
        return Target(reason=f"the comment does not start with {COMMAND}")
    if association not in TRUSTED:
        return Target(reason=f"{COMMAND} is for the repository's owners, members and collaborators")
    return Target(number)


def _read_dispatch(event: Any) -> Target:
    inputs = _read_field(event, "inputs", dict | None) or {}
    match = re.fullmatch(r"\s*#?0*([1-9][0-9]{0,8})\s*", str(inputs.get("pull-request", "")))
    if match:
        return Target(int(match[1]))
    return Target(reason="the input pull-request must be a number; start the workflow again")


def _read_run(event: Any) -> Target:
    if not _read_field(event, "workflow_run.event", str).startswith("pull_request"):
        return Target(reason="the workflow that ran before was not about a pull request")
    branch = _read_field(event, "workflow_run.head_branch", str | None)
    repository = _read_field(event, "workflow_run.head_repository", dict | None)
    sha = _read_field(event, "workflow_run.head_sha", _Sha)
    if repository is None or not branch:
        return Target(reason="the branch of the workflow that ran before is gone")
    # For a fork, GitHub leaves the run's list `pull_requests` empty, so the branch and the commit
    # identify the pull request: https://github.com/actions/runner/issues/3444
    return Target(head=(_read_field(repository, "owner.login", _Login), branch, sha))


_READERS: Final[Mapping[str, Callable[[Any], Target]]] = {
    "pull_request": _read_pull_request,
    "pull_request_target": _read_pull_request,
    "pull_request_review": _read_pull_request,
    "pull_request_review_comment": _read_pull_request,
    "issue_comment": _read_comment,
    "workflow_dispatch": _read_dispatch,
    "workflow_run": _read_run,
}
