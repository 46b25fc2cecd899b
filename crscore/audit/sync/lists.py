"""Lists of what changed in a repository: pull requests, comments on lines, conversations.

A list's position moves in the transaction that stores what was read, to a time of the host, and
only over what was certainly read: to the end of the list, or after a sorted part of it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Final

import msgspec

from crscore.audit.store.database import Store
from crscore.audit.store.queries import (
    Account,
    get_position,
    mark_pending,
    put_comments,
    put_listed,
    put_position,
    unlisted_numbers,
)
from crscore.audit.store.rows import Cursor, Pull, Repository
from crscore.audit.sync.comments import rename_accounts, to_row
from crscore.audit.sync.repositories import Messages, rename
from crscore.audit.sync.traffic import Meter
from crscore.errors import NotFoundError
from crscore.github.conversation import CommentItem, LineItem, User

PAGES_PER_TRANSACTION: Final = 10
"""Pages of comments that are stored in one transaction."""
_UNFINISHED: Final = "pulls-until"
"""Name of the position in a list of pull requests that an earlier run did not finish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Progress:
    """How far the list of pull requests was read, from its top and in order."""

    # Stored as three words in one position, see `_UNFINISHED`.
    page: int
    """The last page that was read."""
    last: str
    """Time of its last item."""
    top: str
    """Time of the first item of the list, or the position's when that is later."""


class _ListedRepository(msgspec.Struct, frozen=True):
    id: int
    full_name: str


class _Branch(msgspec.Struct, frozen=True):
    sha: str
    ref: str = ""
    repo: _ListedRepository | None = None


class _PullItem(msgspec.Struct, frozen=True):
    number: int
    node_id: str
    state: str
    created_at: str
    updated_at: str
    base: _Branch
    head: _Branch
    title: str = ""
    user: User | None = None
    draft: bool = False
    closed_at: str | None = None
    merged_at: str | None = None
    merge_commit_sha: str | None = None


def read_lists(
    store: Store,
    meter: Meter,
    repository: Repository,
    logins: dict[Account, str],
    messages: Messages,
    now: str,
) -> Repository:
    """Store what changed in a repository and mark its pull requests as pending.

    Args:
        store: The store.
        meter: Reads from GitHub.
        repository: The repository.
        logins: Logins by account, brought up to date.
        messages: Gets notes on new names.
        now: Current time. No position is later: a host whose clock is ahead must not hide what
            changes until then.

    Returns:
        The repository, with its present name.

    Raises:
        NotFoundError: There is no repository of this name.
        HostError: A list could not be read to its end.
    """
    repository = _read_pulls(store, meter, repository, messages, now)
    # GitHub has no list of reviews of a repository; they come with the details of each pull
    # request.
    lists: tuple[tuple[str, str, type[CommentItem]], ...] = (
        ("line", "pulls", LineItem),
        ("conversation", "issues", CommentItem),
    )
    for name, folder, kind in lists:
        path = f"/repos/{repository.name}/{folder}/comments"
        messages.notes += _read_comments(store, meter, repository.id, name, path, kind, logins, now)
    # Last, as it needs the comments: it adds pull requests that the list did not show.
    _read_unlisted(store, meter, repository)
    return repository


def _read_pulls(
    store: Store, meter: Meter, repository: Repository, messages: Messages, now: str
) -> Repository:
    """Read the list from its newest item to the position, as it has no `since`.

    A read that an earlier run did not finish continues first. What changed after it is newer than
    its top, and is read then.
    """
    unfinished = get_position(store, repository.id, _UNFINISHED)
    if unfinished is not None:
        page, last, top = unfinished.split()
        progress = _Progress(page=int(page), last=last, top=top)
        repository = _descend(store, meter, repository, messages, progress, now)
    return _descend(store, meter, repository, messages, None, now)


def _descend(
    store: Store,
    meter: Meter,
    repository: Repository,
    messages: Messages,
    progress: _Progress | None,
    now: str,
) -> Repository:
    """Read the list down to the position, from the top or from the last page that was read.

    Items move to later pages only, except for those that a host hides. So the page that was read
    last has to begin with what was read; otherwise the list is read from its top.
    """
    start = _position(store, repository.id, "pulls")
    query = {"state": "all", "sort": "updated", "direction": "desc"}
    first = progress.page if progress else 1
    path = f"/repos/{repository.name}/pulls"
    times: list[str] = []
    for page, items in enumerate(meter.pages(path, _PullItem, query, first=first), start=first):
        repository = _identify(store, repository, items, messages)
        times += [item.updated_at for item in items]
        in_order = _is_sorted(times[::-1])
        # The list changed since the earlier run: what it read cannot be joined to this page. The
        # caller reads from the top.
        if progress and not (times and in_order and times[0] >= progress.last):
            return repository
        top = progress.top if progress else max([start, *times])
        with store.transaction():
            for item in items:
                # Equal times are read again: several items can share the second of the position.
                if item.updated_at >= start:
                    put_listed(store, _to_row(repository.id, item))
            # Only a sorted part certainly holds everything newer than its last item.
            if times and in_order:
                put_position(store, repository.id, _UNFINISHED, f"{page} {times[-1]} {top}")
        if times and times[-1] < start and in_order:
            break
    # At the end only: a run that is killed on the way must not skip the older pages.
    with store.transaction():
        put_position(store, repository.id, "pulls", min(top, now))
        store.delete(Cursor, repository=repository.id, list=_UNFINISHED)
    return repository


def _identify(
    store: Store, repository: Repository, items: Sequence[_PullItem], messages: Messages
) -> Repository:
    """Follow a new name, which GitHub redirects to silently."""
    listed = next((item.base.repo for item in items if item.base.repo), None)
    if listed is None:
        return repository
    # After a rename, somebody else can take the old name.
    if listed.id != repository.id:
        reason = f"another repository is now called {repository.name}"
        raise NotFoundError(f"GET /repos/{repository.name}/pulls", reason)
    return rename(store, repository, listed.full_name, messages)


def _to_row(repository: int, item: _PullItem) -> Pull:
    return Pull(
        repository=repository,
        number=item.number,
        node=item.node_id,
        title=item.title,
        author=item.user.login if item.user else None,
        # REST calls a merged pull request closed.
        state="merged" if item.merged_at else item.state,
        draft=int(item.draft),
        created=item.created_at,
        updated=item.updated_at,
        closed=item.closed_at,
        merged=item.merged_at,
        base_ref=item.base.ref,
        base=item.base.sha,
        head=item.head.sha,
        # Of an open one, this is GitHub's trial merge, which no branch contains.
        merge_commit=item.merge_commit_sha if item.merged_at else None,
        pending=1,
        final=0,
    )


def _read_comments(
    store: Store,
    meter: Meter,
    repository: int,
    name: str,
    path: str,
    kind: type[CommentItem],
    logins: dict[Account, str],
    now: str,
) -> list[str]:
    """Read a list of comments from its position, the oldest change first; return notes."""
    since = _position(store, repository, name)
    query = {"sort": "updated", "direction": "asc", "since": since}
    notes: list[str] = []
    part: list[CommentItem] = []
    last, in_order = since, True

    def store_part(position: str | None) -> None:
        with store.transaction():
            rows = [to_row(store, repository, item) for item in part if item.number is not None]
            notes.extend(rename_accounts(store, logins, rows))
            # Signals and scores are computed from details, so a changed comment has to reach them.
            mark_pending(store, repository, put_comments(store, rows))
            if position is not None:
                put_position(store, repository, name, min(position, now))
        part.clear()

    pages = meter.pages(path, kind, query, time=attrgetter("updated_at"))
    for count, items in enumerate(pages, start=1):
        part += items
        times = [last, *(item.updated_at for item in items)]
        in_order, last = in_order and _is_sorted(times), max(times)
        if count % PAGES_PER_TRANSACTION == 0:
            # Without order, nothing is certain before the end of the list.
            store_part(last if in_order else None)
    store_part(last)
    return notes


def _read_unlisted(store: Store, meter: Meter, repository: Repository) -> None:
    """Read the pull requests that have comments here and were not in the list."""
    for number in unlisted_numbers(store, repository.id):
        # One that the token may no longer see stays as it is.
        with suppress(NotFoundError):
            item = meter.get(f"/repos/{repository.name}/pulls/{number}", _PullItem)
            with store.transaction():
                put_listed(store, _to_row(repository.id, item))


def _position(store: Store, repository: int, name: str) -> str:
    return get_position(store, repository, name) or ""


def _is_sorted(times: Sequence[str]) -> bool:
    return all(time <= later for time, later in pairwise(times))
