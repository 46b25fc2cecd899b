"""Comments as rows of the store: their classification, and renamed accounts."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from crscore.audit.store.database import Store
from crscore.audit.store.queries import Account, rename_author, rename_reviewer, to_remark
from crscore.audit.store.rows import (
    Comment,
    CommentObservation,
    Pull,
    ThreadObservation,
    comment_key,
    kind_of,
)
from crscore.github import graphql
from crscore.github.conversation import CommentItem, LineItem
from crscore.hosts.records import RemarkKind
from crscore.pull_request.reviewers.classify import read_posts

DELETED: Final = "deleted"
"""Reason with which a deleted comment counts as minimised."""
GHOST: Final = "ghost"
"""Name of the reviewer whose account is deleted."""


def kind_of_item(item: CommentItem) -> RemarkKind:
    """Return the kind of a comment in REST's lists."""
    return RemarkKind.LINE if isinstance(item, LineItem) else RemarkKind.CONVERSATION


def to_row(store: Store, repository: int, item: CommentItem) -> Comment:
    """Return the row of a comment in REST's lists, and store its texts."""
    is_app = int(item.user is not None and item.user.type == "Bot")
    row = Comment(
        key=comment_key(kind_of_item(item), item.id),
        repository=repository,
        # An item of an issue has no pull request; callers skip it.
        number=item.number or 0,
        author=item.user.login if item.user else None,
        author_id=item.user.id if item.user else None,
        is_app=is_app,
        reviewer=item.user.login if item.user else GHOST,
        is_bot=is_app,
        # Until `classify_comments` has read all posts of the pull request.
        is_review=0,
        body=store.add_text(item.body or ""),
        created=item.created_at,
        updated=item.updated_at,
        state="",
    )
    if not isinstance(item, LineItem):
        return row
    # The host moves `line` with every push; only the original lines stay true to the stored hunk.
    first, last = item.lines(original=True)
    return replace(
        row,
        # A reply names the first comment of its thread, never another reply.
        thread=comment_key(RemarkKind.LINE, item.in_reply_to_id or item.id),
        hunk=store.add_text(item.diff_hunk) if item.diff_hunk else None,
        commit_id=item.original_commit_id,
        path=item.path,
        line=last,
        start_line=first,
        side=item.comment_side.value,
    )


def to_review_row(store: Store, pull: Pull, review: graphql.Review) -> Comment:
    """Return the row of a submitted review, and store its text."""
    author = review.author
    is_app = int(author is not None and author.is_app)
    return Comment(
        key=comment_key(RemarkKind.REVIEW, review.id),
        repository=pull.repository,
        number=pull.number,
        author=author.rest_login if author else None,
        author_id=author.database_id if author else None,
        is_app=is_app,
        reviewer=author.rest_login if author else GHOST,
        is_bot=is_app,
        is_review=0,
        body=store.add_text(review.body),
        created=review.submitted_at or review.created_at,
        updated=review.updated_at,
        state=review.state,
        commit_id=review.commit.oid if review.commit else None,
    )


def to_thread_observation(key: int, night: str, thread: graphql.Thread) -> ThreadObservation:
    """Return the state of a thread on a night."""
    return ThreadObservation(
        thread=key,
        night=night,
        resolved=int(thread.is_resolved),
        resolved_by=thread.resolved_by.login if thread.resolved_by else None,
        outdated=int(thread.is_outdated),
    )


def to_observation(key: int, night: str, state: graphql.CommentState | None) -> CommentObservation:
    """Return the state of a comment on a night; `state` is None for a deleted comment."""
    return CommentObservation(
        comment=key,
        night=night,
        minimized=state.minimized if state else DELETED,
        up=state.reactions("THUMBS_UP") if state else 0,
        down=state.reactions("THUMBS_DOWN") if state else 0,
    )


def classify_comments(
    store: Store, repository: int, number: int, pull_author: str | None
) -> dict[str, str]:
    """Classify all comments on a pull request anew, in an open transaction.

    Returns:
        New names of renamed reviewers, by former name.
    """
    # All posts are read again because a new one can change how an earlier one is
    # classified.
    rows = store.find(Comment, "created", "key", repository=repository, number=number)
    remarks = [to_remark(store, row) for row in rows]
    renamed = {}
    for row, post in zip(rows, read_posts(remarks, pull_author=pull_author), strict=True):
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
    """Give all rows of renamed accounts their new login, in an open transaction.

    Args:
        store: The store.
        logins: Logins of the accounts; brought up to date.
        rows: Comments that were just read.

    Returns:
        One sentence for each renamed account.
    """
    notes = []
    for row in rows:
        if row.author_id is None or row.author is None:
            continue
        # The same account has two logins when it is an app: one in REST, one in GraphQL's reviews.
        # The difference is no new name.
        account = (kind_of(row.key) is RemarkKind.REVIEW, row.author_id)
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
