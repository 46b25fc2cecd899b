"""Lists of what changed in a repository: pull requests, comments on lines, conversations.

A list's cursor moves in the transaction that stores what was read, to a time of the host, and only
over what certainly was read: at the end of the list, or after a part of it that is in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Final

import msgspec

from crscore.audit.store.database import Store
from crscore.audit.store.rows import Cursor, Pull, Repository
from crscore.audit.sync.comments import (
    ConversationItem,
    LineItem,
    Logins,
    put_comments,
    rename_accounts,
)
from crscore.audit.sync.repositories import Messages, rename
from crscore.audit.sync.traffic import Meter
from crscore.errors import NotFoundError

PART_PAGES: Final = 10
"""Pages of comments that are stored in one transaction."""
_UNTIL: Final = "pulls-until"
_OWN: Final = ("lines", "language", "observed", "final", "failure")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """How far the list of pull requests was read, from its top on and in order."""

    page: int
    """The last page that was read."""
    last: str
    """Time of its last item."""
    top: str
    """Time of the first item of the list, or the cursor's when that is later."""


class _User(msgspec.Struct, frozen=True):
    login: str


class _Place(msgspec.Struct, frozen=True):
    id: int
    full_name: str


class _End(msgspec.Struct, frozen=True):
    sha: str
    ref: str = ""
    repo: _Place | None = None


class _PullItem(msgspec.Struct, frozen=True):
    number: int
    node_id: str
    state: str
    created_at: str
    updated_at: str
    base: _End
    head: _End
    title: str = ""
    user: _User | None = None
    draft: bool = False
    closed_at: str | None = None
    merged_at: str | None = None
    merge_commit_sha: str | None = None


def read_lists(
    store: Store, meter: Meter, repository: Repository, known: Logins, messages: Messages
) -> Repository:
    """Store what changed in a repository; its pull requests are pending then.

    Args:
        store: The store.
        meter: Reads from GitHub.
        repository: The repository.
        known: Logins by account, brought up to date.
        messages: Gets notes on new names.

    Returns:
        The repository, with its present name.

    Raises:
        NotFoundError: It does not answer to its name.
        HostError: A list could not be read to its end.
    """
    repository = _read_pulls(store, meter, repository, messages)
    for name, path, kind in (
        ("line", "pulls", LineItem), ("conversation", "issues", ConversationItem)
    ):  # fmt: skip
        messages.notes += _read_comments(store, meter, repository, name, path, kind, known)
    _read_unlisted(store, meter, repository)
    return repository


def _read_pulls(
    store: Store, meter: Meter, repository: Repository, messages: Messages
) -> Repository:
    """Read the list from its newest item to the cursor: it knows no `since`.

    A read that an earlier run did not end goes on first. What changed after it is newer than its
    top, and is read then.
    """
    found = store.select(Cursor, "WHERE repository = ? AND list = ?", repository.id, _UNTIL)
    if found:
        page, last, top = found[0].position.split()
        begun = _Begun(page=int(page), last=last, top=top)
        repository = _descend(store, meter, repository, messages, begun)
    return _descend(store, meter, repository, messages, None)


def _descend(
    store: Store, meter: Meter, repository: Repository, messages: Messages, begun: _Begun | None
) -> Repository:
    """Read the list down to the cursor, from the top or from the last page that was read.

    Items move to later pages only, but for those that a host hides. So the page that was read last
    has to begin with what was read; otherwise this returns, and the list is read from its top.
    """
    start = _cursor(store, repository, "pulls")
    query = {"state": "all", "sort": "updated", "direction": "desc"}
    first = begun.page if begun else 1
    path = f"/repos/{repository.name}/pulls"
    times: list[str] = []
    for page, items in enumerate(meter.pages(path, _PullItem, query, first=first), start=first):
        repository = _identify(store, repository, items, messages)
        times += [one.updated_at for one in items]
        in_order = _is_sorted(times[::-1])
        if begun and not (times and in_order and times[0] >= begun.last):
            return repository
        top = begun.top if begun else max(start, *times)
        with store.transaction():
            for one in items:
                if one.updated_at >= start:
                    _put_pull(store, repository, one)
            if times and in_order:
                _put_cursor(store, repository, _UNTIL, f"{page} {times[-1]} {top}")
        if times and times[-1] < start and in_order:
            break
    with store.transaction():
        _put_cursor(store, repository, "pulls", top)
        sql = "DELETE FROM cursors WHERE repository = ? AND list = ?"
        store.change(sql, repository.id, _UNTIL)
    return repository


def _identify(
    store: Store, repository: Repository, items: Sequence[_PullItem], messages: Messages
) -> Repository:
    """Follow a new name, which GitHub redirects to without a word."""
    place = next((one.base.repo for one in items if one.base.repo), None)
    if place is None:
        return repository
    if place.id != repository.id:
        reason = f"another repository is called {repository.name} now"
        raise NotFoundError(f"GET /repos/{repository.name}/pulls", reason)
    return rename(store, repository, place.full_name, messages)


def _put_pull(store: Store, repository: Repository, item: _PullItem) -> None:
    row = Pull(
        repository=repository.id,
        number=item.number,
        node=item.node_id,
        title=item.title,
        author=item.user.login if item.user else None,
        state="merged" if item.merged_at else item.state,
        draft=int(item.draft),
        created=item.created_at,
        updated=item.updated_at,
        closed=item.closed_at,
        merged=item.merged_at,
        base_ref=item.base.ref,
        base=item.base.sha,
        head=item.head.sha,
        merge_commit=item.merge_commit_sha if item.merged_at else None,
        pending=1,
        final=0,
    )
    where = "WHERE repository = ? AND number = ?"
    found = store.select(Pull, where, repository.id, item.number)
    if found:
        row = replace(row, **{name: getattr(found[0], name) for name in _OWN})
    if not found or replace(row, pending=found[0].pending) != found[0]:
        store.put([row])


def _read_comments(
    store: Store,
    meter: Meter,
    repository: Repository,
    name: str,
    path: str,
    kind: type[LineItem | ConversationItem],
    known: Logins,
) -> list[str]:
    """Read one of the two lists of comments from its cursor on, the oldest change first."""
    since = _cursor(store, repository, name)
    query = {"sort": "updated", "direction": "asc", "since": since}
    notes: list[str] = []
    part: list[LineItem | ConversationItem] = []
    last, in_order = since, True

    def store_part(position: str | None) -> None:
        with store.transaction():
            notes.extend(_put_comments(store, repository, part, known))
            if position is not None:
                _put_cursor(store, repository, name, position)
        part.clear()

    pages = meter.pages(
        f"/repos/{repository.name}/{path}/comments", kind, query, time=attrgetter("updated_at")
    )
    for number, items in enumerate(pages, start=1):
        part += items
        times = [last, *(one.updated_at for one in items)]
        in_order, last = in_order and _is_sorted(times), max(times)
        if number % PART_PAGES == 0:
            store_part(last if in_order else None)
    store_part(last)
    return notes


def _put_comments(
    store: Store,
    repository: Repository,
    items: Sequence[LineItem | ConversationItem],
    known: Logins,
) -> tuple[str, ...]:
    rows = [one.row(store, repository.id) for one in items if one.number is not None]
    notes = rename_accounts(store, known, rows)
    mark_pending(store, repository.id, put_comments(store, rows))
    return notes


def mark_pending(store: Store, repository: int, numbers: set[int]) -> None:
    """Mark pull requests as to be read, in an open transaction."""
    sql = "UPDATE pulls SET pending = 1 WHERE repository = ? AND number = ?"
    for number in sorted(numbers):
        store.change(sql, repository, number)


def _read_unlisted(store: Store, meter: Meter, repository: Repository) -> None:
    """Read the pull requests that have comments here and were not in the list."""
    sql = (
        "SELECT DISTINCT number FROM comments WHERE repository = ? AND number NOT IN "
        "(SELECT number FROM pulls WHERE repository = ?)"
    )
    for (number,) in store.query(sql, repository.id, repository.id):
        # one that the token may not see any more is left as it is
        with suppress(NotFoundError):
            item = meter.get(f"/repos/{repository.name}/pulls/{number}", _PullItem)
            with store.transaction():
                _put_pull(store, repository, item)


def _cursor(store: Store, repository: Repository, name: str) -> str:
    return store.select(Cursor, "WHERE repository = ? AND list = ?", repository.id, name)[
        0
    ].position


def _put_cursor(store: Store, repository: Repository, name: str, position: str) -> None:
    store.put([Cursor(repository=repository.id, list=name, position=position)])


def _is_sorted(times: Sequence[str]) -> bool:
    return all(one <= other for one, other in pairwise(times))
