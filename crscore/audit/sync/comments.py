"""Comments in the store: rows from REST's lists, their classification, renamed accounts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from crscore.audit.store.database import Store
from crscore.audit.store.remarks import to_remark
from crscore.audit.store.rows import Comment, comment_key, kind_of
from crscore.github.records import RemarkKind
from crscore.pull_request.reviewers.classify import read_posts
from crscore.records import Side

Logins = dict[tuple[bool, int], str]
"""Login of an account, by whether it stands on reviews, and the host's number of the account.

GraphQL, which gives the reviews, calls some apps otherwise than REST, which gives the comments.
"""
_NUMBER: Final = re.compile(r"/pulls?/([0-9]{1,9})(?:#[^/]*)?\Z", re.ASCII)
_SIDES: Final = {"LEFT": Side.OLD, "RIGHT": Side.NEW}
_GHOST: Final = "ghost"


class User(msgspec.Struct, frozen=True):
    """Account as REST shows it."""

    login: str
    id: int | None = None
    type: str = "User"


class _Item(msgspec.Struct, frozen=True):
    id: int
    updated_at: str
    created_at: str
    body: str | None = None
    user: User | None = None


class LineItem(_Item, frozen=True, kw_only=True):
    """Comment on lines as REST lists it."""

    pull_request_url: str
    path: str | None = None
    diff_hunk: str | None = None
    original_line: int | None = None
    original_start_line: int | None = None
    side: str | None = None
    start_side: str | None = None
    subject_type: str | None = None
    original_commit_id: str | None = None
    in_reply_to_id: int | None = None

    @property
    def number(self) -> int | None:
        """Number of the pull request."""
        return _number(self.pull_request_url)

    def row(self, store: Store, repository: int) -> Comment:
        """Return its row, and store its texts."""
        on_file = self.subject_type == "file"
        start = self.original_start_line
        # A range across both sides cannot be expressed on one of them.
        crosses = self.start_side is not None and self.start_side != self.side
        has_start = start is not None and start <= (self.original_line or 0) and not crosses
        return replace(
            _row(store, repository, RemarkKind.LINE, self, self.number),
            thread=comment_key(RemarkKind.LINE, self.in_reply_to_id or self.id),
            hunk=store.add_text(self.diff_hunk) if self.diff_hunk else None,
            commit_id=self.original_commit_id,
            path=self.path,
            line=None if on_file else self.original_line,
            start_line=start if has_start and not on_file else None,
            side=_SIDES.get((self.side or "").upper(), Side.NEW).value,
        )


class ConversationItem(_Item, frozen=True, kw_only=True):
    """Comment in a conversation as REST lists it, of an issue or a pull request."""

    html_url: str

    @property
    def number(self) -> int | None:
        """Number of the pull request; None for an issue."""
        return _number(self.html_url)

    def row(self, store: Store, repository: int) -> Comment:
        """Return its row, and store its text."""
        return _row(store, repository, RemarkKind.CONVERSATION, self, self.number)


def put_comments(store: Store, rows: Iterable[Comment]) -> set[int]:
    """Write the rows that are new or changed, not yet classified, in an open transaction.

    Returns:
        Numbers of their pull requests.
    """
    changed = set()
    for row in rows:
        found = store.select(Comment, "WHERE key = ?", row.key)
        if not found or found[0] != replace(row, **_class_of(found[0])):
            store.put([row])
            changed.add(row.number)
    return changed


def classify_comments(
    store: Store, repository: int, number: int, pull_author: str | None
) -> dict[str, str]:
    """Classify all comments on a pull request anew, in an open transaction.

    Returns:
        Reviewers that are called otherwise now: former name -> name.
    """
    where = "WHERE repository = ? AND number = ? ORDER BY created, key"
    rows = store.select(Comment, where, repository, number)
    remarks = [to_remark(store, row) for row in rows]
    renamed = {}
    for row, reading in zip(rows, read_posts(remarks, pull_author=pull_author), strict=True):
        new = replace(
            row,
            reviewer=reading.reviewer,
            is_bot=int(reading.is_bot),
            is_review=int(reading.is_review),
            skip=reading.skip,
        )
        if new != row:
            store.put([new])
        if new.reviewer != row.reviewer:
            renamed[row.reviewer] = new.reviewer
    return renamed


def known_logins(store: Store) -> Logins:
    """Return the logins of the known accounts."""
    sql = "SELECT DISTINCT key % 4 = 1, author_id, author FROM comments WHERE author_id IS NOT NULL"
    return {(bool(is_review), number): login for is_review, number, login in store.query(sql)}


def rename_accounts(store: Store, known: Logins, rows: Iterable[Comment]) -> tuple[str, ...]:
    """Give all rows of renamed accounts their new login, in an open transaction.

    Args:
        store: The store.
        known: Logins of the accounts; brought up to date.
        rows: Comments that were just read.

    Returns:
        One sentence for each renamed account.
    """
    notes = []
    for row in rows:
        if row.author_id is None or row.author is None:
            continue
        account = (kind_of(row.key) is RemarkKind.REVIEW, row.author_id)
        former = known.setdefault(account, row.author)
        if former != row.author:
            known[account] = row.author
            _rename(store, row.author_id, former, row.author)
            notes.append(f"{former} is called {row.author} now: what was stored is renamed.")
    return tuple(notes)


def _rename(store: Store, account: int, former: str, login: str) -> None:
    sql = (
        "SELECT DISTINCT repository, number, pulls.author FROM comments "
        "JOIN pulls USING (repository, number) WHERE author_id = ? AND comments.author = ?"
    )
    met = store.query(sql, account, former)
    change = "UPDATE comments SET author = ? WHERE author_id = ? AND author = ?"
    store.change(change, login, account, former)
    store.change("UPDATE pulls SET author = ? WHERE author = ?", login, former)
    resolver = "UPDATE thread_observations SET resolved_by = ? WHERE resolved_by = ?"
    store.change(resolver, login, former)
    for repository, number, author in met:
        present = login if author == former else author
        for old, new in classify_comments(store, repository, number, present).items():
            scores = (
                "UPDATE OR REPLACE scores SET reviewer = ? "
                "WHERE repository = ? AND number = ? AND reviewer = ?"
            )
            store.change(scores, new, repository, number, old)


def _row(
    store: Store, repository: int, kind: RemarkKind, item: _Item, number: int | None
) -> Comment:
    is_app = int(item.user is not None and item.user.type == "Bot")
    return Comment(
        key=comment_key(kind, item.id),
        repository=repository,
        number=number or 0,
        author=item.user.login if item.user else None,
        author_id=item.user.id if item.user else None,
        is_app=is_app,
        reviewer=item.user.login if item.user else _GHOST,
        is_bot=is_app,
        is_review=0,
        body=store.add_text(item.body or ""),
        created=item.created_at,
        updated=item.updated_at,
        state="",
    )


def _class_of(row: Comment) -> Mapping[str, Any]:
    return {name: getattr(row, name) for name in ("reviewer", "is_bot", "is_review", "skip")}


def _number(url: str) -> int | None:
    """Return the number of the pull request in an address.

    It is the last part of `https://api.github.com/repos/o/r/pulls/7` and of
    `https://github.com/o/r/pull/7#issuecomment-1`.
    """
    found = _NUMBER.search(url)
    return int(found[1]) if found else None
