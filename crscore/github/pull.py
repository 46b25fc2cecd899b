"""The order in which a pull request is read.

pull request -> diff (local checkout, else the files API) -> conversation -> whole files -> what
outdated comments were written on. Only the first has to succeed. What fails later is said in
`missing`, which makes the run partial, and never passes for empty.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from crscore.diff import full_files
from crscore.diff.checkout import Found
from crscore.errors import CRScoreError, HostError, NotFoundError
from crscore.github import blobs, change, comment, conversation, outdated_hunks
from crscore.github.change import Totals
from crscore.github.records import PullRequest, RemarkKind
from crscore.records import Diff, Side
from crscore.scoring import scopes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crscore.cache import Store
    from crscore.diff.checkout import Checkout
    from crscore.diff.full_files import Limits
    from crscore.github.conversation import Conversation
    from crscore.github.host import Host
    from crscore.github.records import Remark

    FindCheckout = Callable[[str, str], Found]

SETTINGS_FILE: Final = "pyproject.toml"
TRIES: Final = 2
"""Readings of a pull request that moves while it is read."""


class _User(msgspec.Struct, frozen=True):
    login: str


class _Repository(msgspec.Struct, frozen=True):
    full_name: str


class _Branch(msgspec.Struct, frozen=True):
    sha: str
    ref: str = ""
    repo: _Repository | None = None


class _Pull(msgspec.Struct, frozen=True):
    number: int
    base: _Branch
    head: _Branch
    changed_files: int
    additions: int
    deletions: int
    title: str = ""
    html_url: str = ""
    user: _User | None = None
    comments: int | None = None
    review_comments: int | None = None


class _Content(msgspec.Struct, frozen=True):
    content: str = ""
    encoding: str = "base64"


class Head(NamedTuple):
    """What a pull request is at, as GitHub says."""

    sha: str
    """The newest commit, 40 hex digits."""
    url: str
    """The page it is shown on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """The diff with its whole files, wherever they came from."""

    diff: Diff
    missing: tuple[str, ...]
    notes: tuple[str, ...]


class _Reading(NamedTuple):
    """One reading of all that can move."""

    pull: _Pull
    local: Checkout | None
    change: _Change
    said: Conversation

    @property
    def moved(self) -> bool:
        """True when somebody pushed while it was read."""
        return self.said.head is not None and self.said.head != self.pull.head.sha

    @property
    def missing(self) -> Iterator[str]:
        if self.moved:
            yield "The pull request was pushed to while it was read."
        if self.said.unlisted:
            yield f"{self.said.unlisted} comments are counted by GitHub and not listed."


def read_pull(
    host: Host,
    repository: str,
    number: int,
    *,
    limits: Limits,
    find_checkout: FindCheckout | None = None,
    store: Store | None = None,
) -> PullRequest:
    """Read a pull request.

    Args:
        host: Where to ask.
        repository: `owner/name`.
        number: Its number.
        limits: How large the diff and the whole files may be.
        find_checkout: Looks for a local checkout that has a base and a head; None to use none.
        store: Remembers whole files; None to remember nothing.

    Returns:
        All that could be had.

    Raises:
        HostError: The pull request itself could not be read.
    """
    for left in reversed(range(TRIES)):
        reading = _read_once(host, repository, number, limits, find_checkout, store)
        if not left or not (reading.moved or reading.said.unlisted):
            break
    pull, said, changed = reading.pull, reading.said, reading.change
    settings, unread = _settings(host, repository, pull.base.ref, said)
    ours = tuple(one for one in said.remarks if comment.is_sticky(one))
    kept = (one for one in said.remarks if not one.minimized and one not in ours)
    remarks = tuple(_of_version(one, changed.diff) for one in kept)
    older = outdated_hunks.read_outdated_hunks(
        host,
        repository,
        pull.base.sha,
        remarks,
        local=reading.local.diff_to if reading.local else None,
    )
    missing = (*changed.missing, *said.missing, *reading.missing, *unread, *older.missing)
    return PullRequest(
        repository=repository,
        number=number,
        title=pull.title,
        url=pull.html_url,
        author=pull.user.login if pull.user else None,
        base=pull.base.sha,
        head=pull.head.sha,
        diff=changed.diff,
        remarks=remarks,
        originals=older.hunks,
        missing=tuple(dict.fromkeys(missing)),
        notes=(*changed.notes, *older.notes),
        settings=settings,
        sticky=ours,
        knows_sticky=said.knows_ours and not said.unlisted,
    )


def _read_once(
    host: Host,
    repository: str,
    number: int,
    limits: Limits,
    find_checkout: FindCheckout | None,
    store: Store | None,
) -> _Reading:
    pull = host.get(f"/repos/{repository}/pulls/{number}", _Pull)
    found = find_checkout(pull.base.sha, pull.head.sha) if find_checkout else Found(None, None)
    changed = _change(host, repository, pull, found, limits, store)
    said = conversation.read_conversation(
        host,
        repository,
        number,
        settings=f"refs/heads/{pull.base.ref}:{SETTINGS_FILE}",
        expected=_expected(pull),
    )
    return _Reading(pull, found.checkout, changed, said)


def _of_version(remark: Remark, change: Diff) -> Remark:
    """Mark a comment on a whole file as outdated when the change no longer has the file.

    GitHub does so for lines alone.
    """
    if remark.path is None or remark.line is not None or remark.outdated:
        return remark
    known = scopes.file_at(change, remark.path, remark.side or Side.NEW)
    return remark if known is not None or not change.files else replace(remark, outdated=True)


def head(host: Host, repository: str, number: int) -> Head:
    """Ask what a pull request is at.

    Raises:
        HostError: It could not be read.
    """
    found = host.get(f"/repos/{repository}/pulls/{number}", _Pull)
    return Head(found.head.sha, found.html_url)


def _expected(pull: _Pull) -> dict[RemarkKind, int]:
    counts = {RemarkKind.LINE: pull.review_comments, RemarkKind.CONVERSATION: pull.comments}
    return {kind: count for kind, count in counts.items() if count is not None}


def _change(
    host: Host,
    repository: str,
    pull: _Pull,
    local: Found,
    limits: Limits,
    store: Store | None,
) -> _Change:
    totals = Totals(files=pull.changed_files, additions=pull.additions, deletions=pull.deletions)
    notes = [f"The local checkout was not used: {local.reason}."] if local.reason else []
    if local.checkout is not None:
        try:
            own = local.checkout.change(limits)
        except CRScoreError as exc:
            notes.append(f"The local checkout was not used: {exc}.")
        else:
            if not change.reconcile(own.diff, totals):
                return _Change(diff=own.diff, missing=(), notes=own.notes)
            # The base that GitHub names can be older than what it compares with, and a shallow
            # history has another merge base: GitHub's own list decides.
            notes.append(
                "The local checkout was not used: its change has other numbers than GitHub's."
            )
    try:
        found = change.read_change(
            host,
            repository,
            pull.number,
            totals=totals,
            head=pull.head.sha,
            limits=limits,
        )
    except HostError as exc:
        lost = f"The changed files could not be read ({exc.reason})."
        nothing = Diff(files=(), sha256=hashlib.sha256(b"").hexdigest())
        return _Change(diff=nothing, missing=(lost,), notes=tuple(notes))
    whole = blobs.read_blobs(host, repository, found, limits, store, pull.base.sha)
    return _Change(
        diff=full_files.add(whole.diff, whole.texts),
        missing=(*found.missing, *whole.missing),
        notes=(*notes, *found.notes, *whole.notes),
    )


def _settings(
    host: Host, repository: str, branch: str, said: Conversation
) -> tuple[str | None, tuple[str, ...]]:
    """Take the settings file of the base branch, alone where the conversation failed."""
    if said.settings_known:
        return said.settings, ()
    path = f"/repos/{repository}/contents/{SETTINGS_FILE}"
    try:
        found = host.get(path, _Content, {"ref": branch})
        return base64.b64decode(found.content).decode(), ()
    except NotFoundError:
        return None, ()
    except HostError as exc:
        return None, (f"{SETTINGS_FILE} of the base branch could not be read ({exc.reason}).",)
    except ValueError:
        return None, (f"{SETTINGS_FILE} of the base branch is no text.",)
