"""Pull requests that an event refers to.

An event is a JSON file with untrusted parts. Only the fields named here are read; each is checked
against its type, and none is executed or shown.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec

from crscore.errors import InputError, LimitError
from crscore.github.actions.environment import Environment

COMMAND: Final = "/crscore"
"""First word of a comment that requests a run."""
MAX_EVENT_BYTES: Final = 30_000_000
"""Maximum size of an event in bytes. GitHub limits a webhook's payload to 25 MB."""
RECENT_DAYS: Final = 7
"""A scheduled run scores the open pull requests that changed within this number of days."""
MAX_RECENT: Final = 50
"""Maximum number of pull requests in a scheduled run, half a page of GitHub's list."""
TRUSTED: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""Associations of users with the repository that allow them to request a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByNumber:
    """One pull request, by its number."""

    number: int
    """Number of the pull request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfHead:
    """Open pull request of a branch, possibly in a fork; its number must be looked up.

    It is used only while its head is still `sha`, the scored commit.
    """

    owner: str
    """Login of the owner of the branch's repository."""
    branch: str
    """Name of the branch; untrusted."""
    sha: str
    """Scored commit, 40 hex digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """Open pull requests that changed within `RECENT_DAYS`, most recent change first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTarget:
    """Event that requests no run, which is not a failure."""

    reason: str
    """Reason, one trusted sentence."""


Target = ByNumber | OfHead | Recent | NoTarget
"""Pull requests of a run."""

_Number = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
_Sha = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}\Z")]
_Login = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]+(\[bot\])?\Z", max_length=100)]


class _Numbered(msgspec.Struct):
    number: _Number


class _OfPullRequest(msgspec.Struct):
    pull_request: _Numbered


class _Comment(msgspec.Struct):
    body: str | None
    author_association: str


class _Issue(msgspec.Struct):
    number: _Number
    pull_request: dict[str, object] | None = None


class _OfComment(msgspec.Struct):
    issue: _Issue
    comment: _Comment
    action: str = "created"


class _OfDispatch(msgspec.Struct):
    inputs: dict[str, object] | None = None


class _Owner(msgspec.Struct):
    login: _Login


class _Head(msgspec.Struct):
    owner: _Owner


class _Run(msgspec.Struct):
    event: str
    head_sha: _Sha
    head_branch: str | None
    head_repository: _Head | None


class _OfRun(msgspec.Struct):
    workflow_run: _Run


_T = TypeVar("_T")


def target(environment: Environment) -> Target:
    """Find out which pull requests to score.

    The input `pull-request` takes precedence over the event, but a comment must still be allowed to
    start a run.

    Args:
        environment: The step's environment.

    Returns:
        The pull requests to score, or why there are none.

    Raises:
        InputError: The event cannot be read, or does not match its name.
    """
    name, number = environment.event, environment.inputs.pull_request
    # Anybody may comment, so a comment is checked even if the number is given.
    if number is not None and name != "issue_comment":
        return ByNumber(number=number)
    if name == "schedule":
        return Recent()
    if name not in _READERS:
        return NoTarget(
            reason=f"the event {_printable(name)} is not about a pull request; "
            "give the input pull-request a number"
        )
    target = _READERS[name](_content(environment.event_path))
    return (
        ByNumber(number=number) if number is not None and isinstance(target, ByNumber) else target
    )


def _printable(name: str) -> str:
    return re.sub(r"[^a-z_]", "?", name)[:50]


def _content(path: Path | None) -> bytes:
    if path is None:
        raise InputError("GITHUB_EVENT_PATH is not set, so the event cannot be read")
    try:
        if path.stat().st_size > MAX_EVENT_BYTES:
            raise LimitError(
                "the largest event", MAX_EVENT_BYTES, path.stat().st_size, "GITHUB_EVENT_PATH"
            )
        return path.read_bytes()
    except OSError as exc:
        raise InputError(f"the event cannot be read: {exc.strerror}") from exc


def _decode(content: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        # The decoder's message names types and fields but quotes no part of the event.
        raise InputError(f"the event does not have GitHub's format: {exc}") from exc


def _of_pull_request(content: bytes) -> Target:
    return ByNumber(number=_decode(content, _OfPullRequest).pull_request.number)


def _of_comment(content: bytes) -> Target:
    event = _decode(content, _OfComment)
    # A byte order mark at the start is not part of the first word.
    first = (event.comment.body or "").lstrip("\ufeff").split("\n", 1)[0].split()
    if event.issue.pull_request is None:
        return NoTarget(reason="the comment is on an issue, not on a pull request")
    if event.action != "created":
        return NoTarget(reason="the comment is not a new one")
    if first[:1] != [COMMAND]:
        return NoTarget(reason=f"the comment does not start with {COMMAND}")
    if event.comment.author_association not in TRUSTED:
        return NoTarget(
            reason=f"{COMMAND} is for the repository's owners, members and collaborators"
        )
    return ByNumber(number=event.issue.number)


def _of_dispatch(content: bytes) -> Target:
    value = (_decode(content, _OfDispatch).inputs or {}).get("pull-request", "")
    text = str(value).strip().removeprefix("#") if isinstance(value, str | int) else ""
    # 2**31 has ten digits; `int` raises an error for thousands. Leading zeros do not count.
    text = text.lstrip("0")
    if text.isascii() and text.isdigit() and len(text) <= 10 and int(text) < 2**31:
        return ByNumber(number=int(text))
    return NoTarget(reason="no pull request was named; start the workflow with its number")


def _of_run(content: bytes) -> Target:
    run = _decode(content, _OfRun).workflow_run
    if not run.event.startswith("pull_request"):
        return NoTarget(reason="the workflow that ran before was not about a pull request")
    if run.head_repository is None or not run.head_branch:
        return NoTarget(reason="the branch of the workflow that ran before is gone")
    # GitHub leaves `pull_requests` of the run empty for forks, so branch and commit identify it.
    return OfHead(owner=run.head_repository.owner.login, branch=run.head_branch, sha=run.head_sha)


_READERS: Final[Mapping[str, Callable[[bytes], Target]]] = {
    "pull_request": _of_pull_request,
    "pull_request_target": _of_pull_request,
    "pull_request_review": _of_pull_request,
    "pull_request_review_comment": _of_pull_request,
    "issue_comment": _of_comment,
    "workflow_dispatch": _of_dispatch,
    "workflow_run": _of_run,
}
