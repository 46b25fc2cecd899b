"""crscore's comment on a pull request: created once, then edited in place.

It is identified by its author and by a hidden marker at its start, which contains a hash of the
text below: other programs post through the same account, and may quote a marker. A write without a
response may have succeeded, so crscore looks for the comment before it writes again: see
docs/design/020-the-comment.md.
"""

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from crscore.errors import HostError, NotFoundError, PermissionDeniedError, UncertainWriteError
from crscore.hosts.records import HostMessage

MARKER: Final = "<!-- crscore:sticky"
"""Hidden text at the start of crscore's comment."""


class Outcome(StrEnum):
    """Outcome of posting the comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    """The token lacks write permission."""
    FAILED = "failed"


class Posted(NamedTuple):
    """State of the comment after a run."""

    outcome: Outcome
    """Outcome of the write."""
    url: str
    """Address of the comment; "" if there is none."""
    reason: str
    """Why it was not written; "" if it was."""


class Writer(Protocol):
    """Writer of comments on one pull request.

    Each method sends one write. It raises `UncertainWriteError` when the outcome is unknown and
    another `HostError` when nothing was written.
    """

    def create(self, body: str) -> str:
        """Write a comment; returns its address."""

    def edit(self, comment: int, body: str) -> str:
        """Replace a comment's text; returns its address."""

    def delete(self, comment: int) -> str:
        """Delete a comment; returns ""."""

    def find(self, body: str) -> str | None:
        """Return the address of a comment with this text; None when there is none.

        Raises:
            HostError: Not all comments could be read, so the outcome is unknown.
        """


def sign(body: str) -> str:
    r"""Put the marker of a text before it, in place of an earlier marker.

    Example:
        >>> sign("Hello").partition(" sha256:")[0], sign("Hello  \r\n")[:90] == sign("Hello")[:90]
        ('<!-- crscore:sticky v1', True)
    """
    text = body.partition("\n")[2] if body.startswith(MARKER) else body
    digest = hashlib.sha256(_normalize(text).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{MARKER} v1 sha256:{digest} -->\n{text}"


def is_sticky(message: HostMessage) -> bool:
    """Return whether a message is crscore's own, and nobody has edited it since."""
    body = message.body.lstrip()
    # `is_own` can be None (unknown): a comment that may be somebody else's is never edited.
    return message.is_own is True and body.startswith(MARKER) and is_same(body, sign(body))


def post(writer: Writer, body: str, existing: Sequence[HostMessage], *, certain: bool) -> Posted:
    """Create or update crscore's comment.

    Args:
        writer: Writes on the pull request.
        body: New text, with the marker.
        existing: Existing comments by crscore, oldest first. The first is edited; others, which
            concurrent runs can leave, are deleted.
        certain: True if `existing` is known to be complete; otherwise no comment is created.

    Returns:
        The outcome. A refusal is not an error: the job summary still has the scores.
    """
    try:
        if existing:
            return _edit(writer, body, existing)
        if not certain:
            reason = "it may exist already, because not all comments could be read"
            return Posted(Outcome.FAILED, "", reason)
        return _create(writer, body)
    except (PermissionDeniedError, NotFoundError) as exc:
        # A host also sends 404 if the token may not know that a resource exists.
        return Posted(Outcome.REFUSED, "", exc.reason)
    except HostError as exc:
        return Posted(Outcome.FAILED, "", exc.reason)


def _create(writer: Writer, body: str) -> Posted:
    reason = ""
    # After each uncertain try, look for the comment; at most two tries, as lists can lag behind.
    for _ in range(2):
        try:
            url = writer.create(body)
        except UncertainWriteError as exc:
            address, reason = writer.find(body), exc.reason
            if address is None:
                continue
            url = address
        return Posted(Outcome.CREATED, url, "")
    return Posted(Outcome.FAILED, "", reason)


def _edit(writer: Writer, body: str, existing: Sequence[HostMessage]) -> Posted:
    first, *duplicates = existing
    posted = Posted(Outcome.UNCHANGED, first.url, "")
    if not is_same(first.body, body):
        url = _write_twice(lambda: writer.edit(first.id, body))
        posted = Posted(Outcome.UPDATED, url, "")
    for duplicate in duplicates:
        # A concurrent run may have deleted it.
        with contextlib.suppress(NotFoundError):
            _write_twice(lambda number=duplicate.id: writer.delete(number))  # type: ignore[misc]
    return posted


def _write_twice(action: Callable[[], str]) -> str:
    """Perform an idempotent write, and repeat it once if the outcome is unknown."""
    # A second edit or delete has the same result; a second comment would be a duplicate.
    try:
        return action()
    except UncertainWriteError:
        return action()


def is_same(left: str, right: str) -> bool:
    """Compare two texts without line ends and trailing spaces, which a host may change."""
    return _normalize(left) == _normalize(right)


def _normalize(body: str) -> str:
    return "\n".join(line.rstrip() for line in body.replace("\r\n", "\n").strip().split("\n"))
