"""Classifies stored comments, and renames accounts."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from crscore.audit.store.database import Store
from crscore.audit.store.queries import Account, rename_author, rename_reviewer, to_message
from crscore.audit.store.rows import (
    Comment,
    kind_of,
)
from crscore.hosts.records import MessageKind
from crscore.pull_request.reviewers.classify import read_posts

DELETED: Final = "deleted"
"""Reason that marks a deleted comment as minimised."""
GHOST: Final = "ghost"
"""Reviewer name for deleted accounts."""


def classify_comments(
    store: Store, repository: int, number: int, pull_author: str | None
) -> dict[str, str]:
    """Classify all comments on a pull request again, in an open transaction.

    Returns:
        New names of renamed reviewers, by former name.
    """
    # A new post can change the classification of earlier ones, so all are read again.
    rows = store.find(Comment, "created", "key", repository=repository, number=number)
    messages = [to_message(store, row) for row in rows]
    renamed = {}
    for row, post in zip(rows, read_posts(messages, pull_author=pull_author), strict=True):
        classified = replace(
            row,
            reviewer=post.reviewer,
            is_bot=int(post.is_bot),
            is_review=int(post.is_review),
            skip=post.skip,
        )
        if classified != row:
            store.put([classified])
        if classified.reviewer != row.reviewer:
            renamed[row.reviewer] = classified.reviewer
    return renamed


def rename_accounts(
    store: Store, logins: dict[Account, str], rows: Iterable[Comment]
) -> tuple[str, ...]:
    """Store the new logins of renamed accounts in all rows, in an open transaction.

    Args:
        store: The store.
        logins: Logins of the accounts; updated.
        rows: Comments that were just read.

    Returns:
        One sentence for each renamed account.
    """
    notes = []
    for row in rows:
        if row.author_id is None or row.author is None:
            continue
        # An app's account has two logins: one in REST and one in GraphQL's reviews. The difference
        # is not a new name.
        account = (kind_of(row.key) is MessageKind.REVIEW, row.author_id)
        former = logins.setdefault(account, row.author)
        if former == row.author:
            continue
        logins[account] = row.author
        for repository, number, author in rename_author(store, row.author_id, former, row.author):
            renamed = classify_comments(store, repository, number, author)
            for old, new in renamed.items():
                rename_reviewer(store, repository, number, old, new)
        notes.append(f"{former} is now called {row.author}; stored comments were updated.")
    return tuple(notes)
