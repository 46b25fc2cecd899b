"""The one comment of ours on a pull request: made once, then edited in place.

It is known by a hidden marker at its start and by who wrote it: a marker in somebody else's
comment is no reason to touch it. A write that got no answer may have been done, so it is looked
up before anything is written again.
"""

from __future__ import annotations

import contextlib
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import msgspec

from crscore.errors import HostError, NotFoundError, PermissionDeniedError, UncertainWriteError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crscore.github.host import Host
    from crscore.github.records import Remark

MARKER: Final = "<!-- crscore:sticky"
"""How our comment starts."""
_T = TypeVar("_T")


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
    id: int = 0
    html_url: str = ""
    body: str | None = None


def is_sticky(remark: Remark) -> bool:
    """Say whether a remark is our comment: it has the marker, and we wrote it."""
    return remark.mine is True and remark.body.lstrip().startswith(MARKER)


def post(
    host: Host,
    repository: str,
    number: int,
    body: str,
    ours: Sequence[Remark],
    *,
    certain: bool,
) -> Posted:
    """Make our comment say this.

    Args:
        host: Where to write.
        repository: `owner/name`.
        number: The pull request.
        body: What it is to say, with the marker; at most 65,536 characters.
        ours: Our comments there are, oldest first. The first is edited; others, which two runs
            at the same moment can leave, are deleted.
        certain: True when `ours` is known to be all; without that none is made.

    Returns:
        What became of it. A host that refuses is an outcome, not an error: the numbers are in
        the summary all the same.
    """
    try:
        if ours:
            return _edit(host, repository, body, ours)
        if not certain:
            reason = "it is unknown whether there is one, as not all comments could be read"
            return Posted(Outcome.FAILED, "", reason)
        return _create(host, repository, number, body)
    except (PermissionDeniedError, NotFoundError) as exc:
        # GitHub says 404, too, where a token may not know that something is there.
        return Posted(Outcome.REFUSED, "", exc.reason)
    except HostError as exc:
        return Posted(Outcome.FAILED, "", exc.reason)


def _edit(host: Host, repository: str, body: str, ours: Sequence[Remark]) -> Posted:
    first, *others = ours
    path = f"/repos/{repository}/issues/comments"
    posted = Posted(Outcome.UNCHANGED, first.url, "")
    if not _same(first.body, body):
        made = _twice(lambda: host.send("PATCH", f"{path}/{first.id}", {"body": body}, _Comment))
        posted = Posted(Outcome.UPDATED, made.html_url or first.url, "")
    for other in others:
        _delete(host, f"{path}/{other.id}")
    return posted


def _delete(host: Host, path: str) -> None:
    # Gone is gone, whoever did it.
    with contextlib.suppress(NotFoundError):
        _twice(lambda: host.send("DELETE", path, None, object))


def _twice(write: Callable[[], _T]) -> _T:
    """Do once more what is the same when it is done twice."""
    try:
        return write()
    except UncertainWriteError:
        return write()


def _create(host: Host, repository: str, number: int, body: str) -> Posted:
    path = f"/repos/{repository}/issues/{number}/comments"
    try:
        made = host.send("POST", path, {"body": body}, _Comment)
        return Posted(Outcome.CREATED, made.html_url, "")
    except UncertainWriteError:
        found = _find(host, path, body)
    if found is None:
        # It is not there: once more, and then no further, as lists can lag behind writes.
        try:
            found = host.send("POST", path, {"body": body}, _Comment)
        except UncertainWriteError as exc:
            found = _find(host, path, body)
            if found is None:
                return Posted(Outcome.FAILED, "", exc.reason)
    return Posted(Outcome.CREATED, found.html_url, "")


def _find(host: Host, path: str, body: str) -> _Comment | None:
    """Look for the comment that may have been written.

    Raises:
        HostError: The list could not be read whole, so nobody can say.
    """
    pages = host.pages(path, _Comment)
    found = next((one for one in pages.items if _same(one.body or "", body)), None)
    if found is None and pages.missing:
        raise UncertainWriteError(path, "the comment may have been written, and cannot be found")
    return found


def _same(left: str, right: str) -> bool:
    """Compare two bodies as GitHub keeps them: line ends and blanks at line ends may change."""
    return _plain(left) == _plain(right)


def _plain(body: str) -> str:
    return "\n".join(line.rstrip() for line in body.replace("\r\n", "\n").strip().split("\n"))
