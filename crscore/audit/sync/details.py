"""Details of the pull requests that changed, by GraphQL, many in one query.

A pull request is read to the end of its lists and then written in one transaction. One that fails
stays pending with its failure, and the others go on.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from crscore.audit.store.database import Store
from crscore.audit.store.rows import (
    Check,
    Comment,
    Pull,
    Revision,
    Thread,
    comment_key,
)
from crscore.audit.sync import queries
from crscore.audit.sync.comments import (
    ConversationItem,
    LineItem,
    Logins,
    classify_comments,
    put_comments,
    rename_accounts,
)
from crscore.audit.sync.observations import observe_comment, observe_deletion, observe_thread
from crscore.audit.sync.repositories import Messages
from crscore.audit.sync.traffic import Meter
from crscore.diff.languages import language_of
from crscore.errors import (
    BadTokenError,
    HostError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
)
from crscore.github.records import RemarkKind
from crscore.github.response_errors import one_line

PULLS_A_QUERY: Final = 20
"""Pull requests in one query for details; half as many after one that GitHub could not do."""
MAX_LOST: Final = 5
"""Pull requests in a row without an answer after which GitHub is not asked any more."""
_PENDING: Final = "PENDING"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Everything read of one pull request."""

    node: queries.Pull
    items: tuple[LineItem | ConversationItem, ...] = ()
    """Comments that the repository's lists did not have."""


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads details of pull requests and stores them."""

    store: Store
    meter: Meter
    night: str
    """Night of the observations, ISO 8601."""
    final_before: str
    """Pull requests that were closed before this time are not observed any more."""
    known: Logins
    """Logins of the accounts, brought up to date."""
    messages: Messages
    names: dict[int, str]
    """Names of the repositories by number."""
    advance: Callable[[], None]
    """Called for each pull request."""
    read: int = 0
    """Pull requests that were read."""
    failed: int = 0
    """Pull requests that were not."""
    first_reason: str = ""
    """Why the first of these was not."""
    query: str = queries.DETAILS_QUERY
    """Query for details; without checks once GitHub refused them."""

    def read_pulls(self, pulls: Sequence[Pull]) -> None:
        """Read pull requests; the first are read first.

        Raises:
            RateLimitedError: The budget is spent, or GitHub's.
            BadTokenError: The token is missing or wrong.
            UnavailableError: GitHub does not answer any more.
        """
        try:
            self._read_batches(pulls)
        finally:
            if self.read and self.query == queries.UNCHECKED_QUERY:
                self.messages.miss(
                    "Checks could not be read: the token lacks checks: read and statuses: read."
                )
            if self.failed:
                what = "pull request" if self.failed == 1 else "pull requests"
                reason = self.first_reason
                self.messages.miss(f"{self.failed:,} {what} could not be read: {reason}.")

    def _read_batches(self, pulls: Sequence[Pull]) -> None:
        size, lost = PULLS_A_QUERY, 0
        waiting = deque(pulls)
        while waiting:
            batch = [waiting.popleft() for _ in range(min(size, len(waiting)))]
            try:
                found = query_nodes(self.meter, self.query, batch)
            except (RateLimitedError, BadTokenError):
                raise
            except HostError as exc:
                if self._leaves_checks_out(exc):
                    waiting.extendleft(reversed(batch))
                    continue
                if len(batch) > 1:
                    size = len(batch) // 2
                    waiting.extendleft(reversed(batch))
                    continue
                self._fail(batch[0], exc.reason)
                lost = lost + 1 if isinstance(exc, UnavailableError) else 0
                if lost == MAX_LOST:
                    raise
            else:
                size, lost = min(2 * size, PULLS_A_QUERY), 0
                for pull in batch:
                    self._read_one(pull, found.get(pull.node))

    def _leaves_checks_out(self, exc: HostError) -> bool:
        """Leave the checks out when they may be what GitHub refuses; return whether so now."""
        refused = isinstance(exc, PermissionDeniedError)
        if not refused or self.query == queries.UNCHECKED_QUERY:
            return False
        self.query = queries.UNCHECKED_QUERY
        return True

    def _read_one(self, pull: Pull, node: queries.Pull | None) -> None:
        if node is None:
            self._fail(pull, "GitHub has no such pull request any more")
            return
        try:
            node = self._read_rest(node)
            items = self._read_unlisted(pull, node)
        except (RateLimitedError, BadTokenError):
            raise
        except HostError as exc:
            self._fail(pull, exc.reason)
            return
        with self.store.transaction():
            self._write(pull, _Found(node=node, items=items))
        self.advance()

    def _fail(self, pull: Pull, reason: str) -> None:
        self.failed += 1
        self.first_reason = self.first_reason or one_line(reason)
        with self.store.transaction():
            self.store.put([replace(pull, failure=reason, pending=1)])
        self.advance()

    def _read_rest(self, node: queries.Pull) -> queries.Pull:
        """Read what follows in the lists that are longer than one answer."""
        while after := _cursors(node):
            answer = self.meter.graphql(queries.rest_query(after), {"ids": [node.id], **after})
            more = answer.nodes[0]
            if more is None:
                raise UnavailableError("GraphQL", "the pull request vanished while it was read")
            joined = {name: _join(getattr(node, name), getattr(more, name)) for name in after}
            node = msgspec.structs.replace(node, **joined)
        return node

    def _read_unlisted(
        self, pull: Pull, node: queries.Pull
    ) -> tuple[LineItem | ConversationItem, ...]:
        """Read the lists of this pull request when the store lacks comments on it.

        So it is with those from before a repository's first night.
        """
        if not self._lacks_comments(pull, node):
            return ()
        at = f"/repos/{self.names[pull.repository]}"
        items: list[LineItem | ConversationItem] = []
        for page in self.meter.pages(f"{at}/pulls/{pull.number}/comments", LineItem):
            items += page
        for notes in self.meter.pages(f"{at}/issues/{pull.number}/comments", ConversationItem):
            items += notes
        return tuple(one for one in items if one.number == pull.number)

    def _lacks_comments(self, pull: Pull, node: queries.Pull) -> bool:
        sql = "SELECT key, thread FROM comments WHERE repository = ? AND number = ?"
        stored = dict(self.store.query(sql, pull.repository, pull.number))
        sizes = Counter(stored.values())
        notes = node.comments.nodes if node.comments else []
        if any(comment_key(RemarkKind.CONVERSATION, one.id) not in stored for one in notes):
            return True
        return any(
            first not in stored or sizes[stored[first]] < thread.comments.total_count
            for first, thread in _threads(node)
            if thread.comments
        )

    def _write(self, pull: Pull, found: _Found) -> None:
        store, node = self.store, found.node
        rows = [one.row(store, pull.repository) for one in found.items]
        rows += [_review_row(store, pull, one) for one in _reviews(node)]
        self.messages.notes += rename_accounts(store, self.known, rows)
        put_comments(store, rows)
        self._write_states(pull, found)
        store.put(_revisions(pull, node))
        self._write_checks(pull, node)
        classify_comments(store, pull.repository, pull.number, pull.author)
        # GitHub may take a moment to list what it counts.
        lacks = self._lacks_comments(pull, node)
        reason = "GitHub counts comments that it does not list"
        store.put(
            [
                replace(
                    pull,
                    lines=node.additions + node.deletions,
                    language=_language(node),
                    pending=int(lacks),
                    observed=self.night,
                    final=int(pull.closed is not None and pull.closed < self.final_before),
                    failure=reason if lacks else None,
                )
            ]
        )
        if lacks:
            self.first_reason = self.first_reason or reason
        self.read, self.failed = self.read + (not lacks), self.failed + lacks

    def _write_states(self, pull: Pull, seen: _Found) -> None:
        node = seen.node
        there = {comment_key(_kind(one), one.id) for one in seen.items}
        for first, thread in _threads(node):
            found = self.store.select(Comment, "WHERE key = ?", first)
            # That of a deleted first comment goes on under the key that it had.
            root = found[0].thread if found and found[0].thread is not None else first
            self.store.append([Thread(id=root, node=thread.id)])
            there.add(root)
            observe_thread(self.store, root, self.night, thread)
            for state in thread.comments.nodes if thread.comments else ():
                observe_comment(self.store, first, self.night, state)
        for note in node.comments.nodes if node.comments else ():
            key = comment_key(RemarkKind.CONVERSATION, note.id)
            there.add(key)
            observe_comment(self.store, key, self.night, note)
        for review in _reviews(node):
            key = comment_key(RemarkKind.REVIEW, review.id)
            there.add(key)
            observe_comment(self.store, key, self.night, review)
        # Of a thread that is left, a single deleted comment is not told.
        where = "WHERE repository = ? AND number = ?"
        for row in self.store.select(Comment, where, pull.repository, pull.number):
            if row.key not in there and row.thread not in there:
                observe_deletion(self.store, row.key, self.night)

    def _write_checks(self, pull: Pull, node: queries.Pull) -> None:
        """Replace the checks of this head: one that ran again has another outcome."""
        where = "repository = ? AND number = ? AND head = ?"
        for head in node.commits.nodes if node.commits else ():
            commit = head.commit
            delete = f"DELETE FROM checks WHERE {where}"  # noqa: S608  (no value in it)
            self.store.change(delete, pull.repository, pull.number, commit.oid)
            rollup = commit.status_check_rollup
            self.store.put(
                Check(
                    repository=pull.repository,
                    number=pull.number,
                    head=commit.oid,
                    app=one.app,
                    name=one.name or one.context,
                    outcome=one.outcome,
                )
                for one in (rollup.contexts.nodes if rollup else ())
            )


def query_nodes(meter: Meter, query: str, pulls: Sequence[Pull]) -> dict[str, queries.Pull]:
    """Query pull requests; return those that GitHub has, by GraphQL id.

    Raises:
        HostError: The answer is missing or incomplete.
    """
    answer = meter.graphql(query, {"ids": [one.node for one in pulls]})
    return {node.id: node for node in answer.nodes if node is not None}


def _threads(node: queries.Pull) -> Iterator[tuple[int, queries.Thread]]:
    """Yield the threads by the key of their first comment, without those not yet submitted."""
    for thread in node.threads.nodes if node.threads else ():
        for first in thread.comments.nodes if thread.comments else ():
            if first.state != _PENDING:
                yield comment_key(RemarkKind.LINE, first.id), thread


def _kind(item: LineItem | ConversationItem) -> RemarkKind:
    return RemarkKind.LINE if isinstance(item, LineItem) else RemarkKind.CONVERSATION


def _reviews(node: queries.Pull) -> Iterator[queries.Review]:
    for review in node.reviews.nodes if node.reviews else ():
        if review.state != _PENDING:
            yield review


def _cursors(node: queries.Pull) -> dict[str, str | None]:
    """Return where the lists go on that are not read to the end."""
    lists = {name: getattr(node, name) for name in queries.NEXT_ITEMS}
    return {
        name: one.page_info.end_cursor
        for name, one in lists.items()
        if one is not None and one.page_info.has_next_page
    }


def _join(
    before: queries.Connection[Any], after: queries.Connection[Any] | None
) -> queries.Connection[Any]:
    if after is None or not after.nodes:
        raise UnavailableError("GraphQL", "a list ends before its end")
    return msgspec.structs.replace(after, nodes=[*before.nodes, *after.nodes])


def _review_row(store: Store, pull: Pull, review: queries.Review) -> Comment:
    author = review.author
    return Comment(
        key=comment_key(RemarkKind.REVIEW, review.id),
        repository=pull.repository,
        number=pull.number,
        author=author.rest_login if author else None,
        author_id=author.database_id if author else None,
        is_app=int(author is not None and author.is_app),
        reviewer=author.rest_login if author else "ghost",
        is_bot=int(author is not None and author.is_app),
        is_review=0,
        body=store.add_text(review.body),
        created=review.submitted_at or review.created_at,
        updated=review.updated_at,
        state=review.state,
        commit_id=review.commit.oid if review.commit else None,
    )


def _revisions(pull: Pull, node: queries.Pull) -> Iterator[Revision]:
    for event in node.timeline.nodes if node.timeline else ():
        kind, after = event.revision
        # A commit that GitHub has lost is null.
        if after is not None:
            yield Revision(
                repository=pull.repository,
                number=pull.number,
                at=event.created_at or after.committed_date,
                kind=kind,
                before=event.before_commit.oid if event.before_commit else "",
                after=after.oid,
            )


def _language(node: queries.Pull) -> str | None:
    """Return the language of most changed lines, the first by name of equal ones."""
    lines: Counter[str] = Counter()
    for file in node.files.nodes if node.files else ():
        language = language_of(file.path)
        if language is not None:
            lines[language] += file.additions + file.deletions
    return min(lines, key=lambda one: (-lines[one], one), default=None)
