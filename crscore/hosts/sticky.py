"""crscore's comment on a pull request: created once, then edited in place.

Many programs post through one account, such as `github-actions[bot]`, and may copy or quote the
comment. So the comment begins with a hidden marker. The marker contains the comment's own id, which
no copy can have, and a key authenticates the id and the text (docs/design/020-the-comment.md). If
the host does not respond when a comment is created, the comment may still have been written, so the
next run looks for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import secrets
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from crscore.errors import HostError, NotFoundError, PermissionDeniedError, UncertainWriteError
from crscore.hosts.records import HostMessage, MessageKind, OwnMessages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crscore.hosts.http import HostClient

T = TypeVar("T")

MARKER: Final = "<!-- crscore:sticky"
"""Hidden text at the start of crscore's comment."""
# An id has at most 20 digits, a nonce 16, an HMAC 64; the rest is for the words between them.
MAX_MARKER_CHARS: Final = 160
"""Maximum number of characters of the whole marker."""
_DRAFT: Final = "draft"
# <!-- crscore:sticky v2 id=3000000204 nonce=8f14e45fceea167a hmac=eeef4558... -->
_SIGNED: Final = re.compile(
    rf"{MARKER} v2 id=(?P<id>[0-9]{{1,20}}|{_DRAFT}) nonce=(?P<nonce>[0-9a-f]{{16}})"
    r" hmac=[0-9a-f]{64} -->\n(?P<text>(?s:.*))"
)


class Outcome(StrEnum):
    """Outcome of posting the comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    """The token lacks write permission."""
    FAILED = "failed"


class Posted(NamedTuple):
    """Result of posting crscore's comment."""

    outcome: Outcome
    """Action that was taken."""
    url: str
    """Address of the comment; "" if there is none."""
    reason: str
    """Why the comment was not written; "" if it was written or is unchanged."""


def derive_key(secret: str | None) -> bytes:
    """Return a key that is derived from a secret but does not reveal it; empty without a secret."""
    return hmac.new(secret.encode(), b"crscore comment", hashlib.sha256).digest() if secret else b""


def sign(text: str, key: bytes, number: int | str, nonce: str) -> str:
    r"""Put the marker before a text.

    Args:
        text: Text of the comment.
        key: Key of this installation. With an empty key, anyone can make a marker, but a marker is
            still invalid in another comment.
        number: The comment's id; "draft" before the host has assigned an id.
        nonce: 16 hex digits that distinguish a comment from drafts of other runs.

    Example:
        >>> sign("Hello", b"", 7, "8f14e45fceea167a").partition(" hmac=")[0]
        '<!-- crscore:sticky v2 id=7 nonce=8f14e45fceea167a'
    """
    content = f"{number}\n{nonce}\n{_normalize(text)}".encode("utf-8", "surrogatepass")
    digest = hmac.new(key, content, hashlib.sha256).hexdigest()
    return f"{MARKER} v2 id={number} nonce={nonce} hmac={digest} -->\n{text}"


def find_own(messages: Sequence[HostMessage], key: bytes) -> tuple[HostMessage, ...]:
    """Return the comments that crscore wrote with this key and that were not edited since.

    Args:
        messages: All messages, oldest first.
        key: See `sign`.
    """
    own_comments: list[HostMessage] = []
    nonces: set[str] = set()
    for message in messages:
        body = message.body.lstrip().replace("\r\n", "\n")
        if not (match := _SIGNED.fullmatch(body)):
            continue
        text, number, nonce = match["text"], match["id"], match["nonce"]
        # A run that ended between its two writes left a draft. All copies of the draft are newer,
        # including those made from the edit history of a finished comment, so the first comment
        # with each nonce is crscore's.
        is_original = number == str(message.id) or (number == _DRAFT and nonce not in nonces)
        nonces.add(nonce)
        # `is_own` is None if unknown. A comment that may be by another account is never edited.
        is_own_post = message.is_own is True and message.kind is MessageKind.CONVERSATION
        if is_own_post and is_original and is_same(body, sign(text, key, number, nonce)):
            own_comments.append(message)
    return tuple(own_comments)


def post(
    client: HostClient, repository: str, number: int, text: str, existing: OwnMessages
) -> Posted:
    """Create or update crscore's comment.

    Args:
        client: Client of the host.
        repository: Current full name of the repository, because writes follow no redirect.
        number: Number of the pull request.
        text: New text, without a marker.
        existing: Comments from `find_own`. The first is edited; others, which concurrent runs can
            leave, are deleted. If there is none, but not all comments could be read, none is
            created.

    Returns:
        The outcome. No error is raised, because the job summary still has the scores.
    """
    key = client.comment_key
    try:
        if not existing.messages and existing.is_complete:
            return _create(client, repository, number, text)
        if not existing.messages:
            reason = "the comment may already exist, because not all comments could be read"
            return Posted(Outcome.FAILED, "", reason)
        first, *duplicates = existing.messages
        posted = Posted(Outcome.UNCHANGED, first.url, "")
        # The comment keeps its draft's nonce, so that `find_own` rejects later copies of the draft.
        match = _SIGNED.match(first.body.lstrip().replace("\r\n", "\n"))
        body = sign(text, key, first.id, match["nonce"] if match else secrets.token_hex(8))
        if not is_same(first.body, body):
            url = _write_with_retry(client.edit_comment, repository, number, first.id, body)
            posted = Posted(Outcome.UPDATED, url, "")
        for duplicate in duplicates:
            # A concurrent run may have deleted the duplicate.
            with contextlib.suppress(NotFoundError):
                _write_with_retry(client.delete_comment, repository, number, duplicate.id)
        return posted
    except (PermissionDeniedError, NotFoundError) as exc:
        # A host also sends 404 (not found) to hide a resource from a token without access.
        return Posted(Outcome.REFUSED, "", exc.reason)
    except HostError as exc:
        return Posted(Outcome.FAILED, "", exc.reason)


def _create(client: HostClient, repository: str, number: int, text: str) -> Posted:
    # The id is known only after the first write, so a draft is written first. If the host writes
    # the draft but does not respond, the next run finds the draft by its marker. Each draft has its
    # own nonce, because all but the first of several drafts with one nonce count as copies.
    key, nonce = client.comment_key, secrets.token_hex(8)
    draft = sign(text, key, _DRAFT, nonce)
    comment, url = client.create_comment(repository, number, draft)
    # If this edit fails, the next run still finds the draft.
    with contextlib.suppress(HostError):
        body = sign(text, key, comment, nonce)
        _write_with_retry(client.edit_comment, repository, number, comment, body)
    return Posted(Outcome.CREATED, url, "")


def _write_with_retry(write: Callable[..., T], *arguments: object) -> T:
    """Perform an idempotent write, and repeat it once if the outcome is unknown."""
    # A second edit or delete has the same result; a second comment would be a duplicate.
    try:
        return write(*arguments)
    except UncertainWriteError:
        return write(*arguments)


def is_same(left: str, right: str) -> bool:
    """Return whether two texts differ at most in white space that a host may change."""
    return _normalize(left) == _normalize(right)


def _normalize(body: str) -> str:
    return "\n".join(line.rstrip() for line in body.replace("\r\n", "\n").strip().split("\n"))
