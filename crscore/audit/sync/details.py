"""Details of the pull requests that changed, by GraphQL, many in one query.

A pull request is read to the end of its lists and then written in one transaction. One that fails
stays pending with its failure; the others continue.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from crscore.audit.store.comments import (
    Account,
    add_thread,
    put_comments,
    put_observation,
    thread_by_comment,
)
from crscore.audit.store.database import Store
from crscore.audit.store.rows import Check, Pull, Revision, comment_key
from crscore.audit.sync.comments import (
    classify_comments,
    kind_of_item,
    rename_accounts,
    to_observation,
    to_review_row,
    to_row,
    to_thread_observation,
)
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
from crscore.github import graphql
from crscore.github.conversation import PENDING, CommentItem, LineItem
from crscore.github.response_errors import one_line
from crscore.hosts.records import RemarkKind

PULLS_PER_QUERY: Final = 20
"""Pull requests in one query for details; half as many after each one that fails."""
MAX_UNANSWERED: Final = 5
"""Pull requests in a row without an answer after which the run stops."""
_UNLISTED: Final = "GitHub counts comments that it does not list"


@dataclass(slots=True, kw_only=True)
class DetailReader:
    """Reads details of pull requests and stores them."""

    store: Store
    meter: Meter
    night: str
    """Night of the observations, ISO 8601."""
    final_before: str
    """Pull requests that were closed before this time are read for the last time."""
    logins: dict[Account, str]
    """Logins of the accounts, brought up to date."""
    messages: Messages
    names: Mapping[int, str]
    """Names of the repositories by number."""
    advance: Callable[[], None]
    """Called for each pull request."""
    read: int = 0
    """Pull requests that were read."""
    failed: int = 0
    """Pull requests that were not."""
    first_reason: str = ""
    """Why the first of these was not."""
    failed_again: int = 0
    """Those that had failed before, too."""
    query: str = graphql.DETAILS_QUERY
    """Query for details; without checks once GitHub refused them."""

    def read_pulls(self, pulls: Sequence[Pull]) -> None:
        """Read pull requests in this order.

        Raises:
            RateLimitedError: The budget is spent, or GitHub's.
            BadTokenError: The token is missing or wrong.
            UnavailableError: GitHub has stopped answering.
        """
        try:
            self._read_batches(pulls)
        finally:
            if self.read and self.query == graphql.UNCHECKED_QUERY:
                self.messages.miss(
                    "Checks could not be read: the token lacks checks: read and statuses: read."
                )
            if self.failed:
                noun = "pull request" if self.failed == 1 else "pull requests"
                reason = self.first_reason
                # One that GitHub never answers for does not make each later run partial.
                report = self.messages.miss
                if self.failed == self.failed_again:
                    report = self.messages.note
                report(f"{self.failed:,} {noun} could not be read: {reason}.")

    def _read_batches(self, pulls: Sequence[Pull]) -> None:
        size, unanswered = PULLS_PER_QUERY, 0
        waiting = deque(pulls)
        while waiting:
            batch = [waiting.popleft() for _ in range(min(size, len(waiting)))]
            try:
                nodes = query_nodes(self.meter, self.query, batch)
            # No later pull request could be read either: the run stops.
            except (RateLimitedError, BadTokenError):
                raise
            except HostError as exc:
                refused = isinstance(exc, PermissionDeniedError)
                if refused and self.query == graphql.DETAILS_QUERY:
                    # The checks may be what GitHub refuses.
                    self.query = graphql.UNCHECKED_QUERY
                    # At the front and in the old order, so that the least recently changed ones
                    # stay first.
                    waiting.extendleft(reversed(batch))
                elif len(batch) > 1:
                    # The whole batch fails with its most expensive pull request, so it is read in
                    # halves.
                    size = len(batch) // 2
                    waiting.extendleft(reversed(batch))
                else:
                    self._fail(batch[0], exc.reason)
                    unanswered = unanswered + 1 if isinstance(exc, UnavailableError) else 0
                    if unanswered == MAX_UNANSWERED:
                        raise
            else:
                size, unanswered = min(2 * size, PULLS_PER_QUERY), 0
                for pull in batch:
                    self._read_pull(pull, nodes.get(pull.node))

    def _read_pull(self, pull: Pull, node: graphql.Node | None) -> None:
        if node is None:
            self._fail(pull, "GitHub has no such pull request any more")
            return
        try:
            node = graphql.read_rest(self.meter.graphql, node, graphql.DETAILS)
            items = self._read_unlisted(pull, node)
        except (RateLimitedError, BadTokenError):
            raise
        except HostError as exc:
            self._fail(pull, exc.reason)
            return
        with self.store.transaction():
            self._write(pull, node, items)
        self.advance()

    def _fail(self, pull: Pull, reason: str) -> None:
        self.failed += 1
        self.failed_again += pull.failure is not None
        self.first_reason = self.first_reason or one_line(reason)
        with self.store.transaction():
            self.store.put([replace(pull, failure=reason, pending=1)])
        self.advance()

    def _read_unlisted(self, pull: Pull, node: graphql.Node) -> list[CommentItem]:
        """Read the lists of this pull request when the store lacks comments on it.

        That is the case for comments from before a repository's first night.
        """
        if not self._lacks_comments(pull, node):
            return []
        repository = f"/repos/{self.names[pull.repository]}"
        lists: tuple[tuple[str, type[CommentItem]], ...] = (
            ("pulls", LineItem),
            ("issues", CommentItem),
        )
        return [
            item
            for name, kind in lists
            for page in self.meter.pages(f"{repository}/{name}/{pull.number}/comments", kind)
            for item in page
            if item.number == pull.number
        ]

    def _lacks_comments(self, pull: Pull, node: graphql.Node) -> bool:
        threads = thread_by_comment(self.store, pull.repository, pull.number)
        sizes = Counter(threads.values())
        keys = (comment_key(RemarkKind.CONVERSATION, note.id) for note in node.comments.nodes)
        # A thread's size is compared because an unread reply leaves its first comment known.
        return any(key not in threads for key in keys) or any(
            first not in threads or sizes[threads[first]] < thread.comments.total_count
            for first, thread in _threads(node)
        )

    def _write(self, pull: Pull, node: graphql.Node, items: Sequence[CommentItem]) -> None:
        store, reviews = self.store, _reviews(node)
        rows = [to_row(store, pull.repository, item) for item in items]
        rows += [to_review_row(store, pull, review) for review in reviews]
        self.messages.notes += rename_accounts(store, self.logins, rows)
        put_comments(store, rows)
        self._observe(pull, node, items)
        store.put(_revisions(pull, node))
        self._write_checks(pull, node)
        # After all comments are stored: whether a post is a review depends on the others of its
        # author.
        classify_comments(store, pull.repository, pull.number, pull.author)
        # GitHub may take a moment to list what it counts.
        lacks = self._lacks_comments(pull, node)
        row = replace(
            pull,
            lines=node.additions + node.deletions,
            language=_language(node),
            pending=int(lacks),
            observed=self.night,
            # Closed ones are read once more after the observed days; from then on they stay as they
            # are.
            final=int(pull.closed is not None and pull.closed < self.final_before),
            failure=_UNLISTED if lacks else None,
        )
        store.put([row])
        if lacks:
            self.first_reason = self.first_reason or _UNLISTED
        self.read, self.failed = self.read + (not lacks), self.failed + lacks

    def _observe(self, pull: Pull, node: graphql.Node, items: Sequence[CommentItem]) -> None:
        states: dict[int, graphql.CommentState] = {}
        keys = {comment_key(kind_of_item(item), item.id) for item in items}
        for first, thread in _threads(node):
            key = add_thread(self.store, first, thread.id)
            keys.add(key)
            put_observation(self.store, to_thread_observation(key, self.night, thread))
            states[first] = thread.comments.nodes[0]
        for note in node.comments.nodes:
            states[comment_key(RemarkKind.CONVERSATION, note.id)] = note
        for review in _reviews(node):
            states[comment_key(RemarkKind.REVIEW, review.id)] = review
        for comment, state in states.items():
            put_observation(self.store, to_observation(comment, self.night, state))
        keys |= states.keys()
        # Of a thread that still exists, single deleted comments are not reported.
        threads = thread_by_comment(self.store, pull.repository, pull.number)
        for comment, thread_key in threads.items():
            if comment not in keys and thread_key not in keys:
                put_observation(self.store, to_observation(comment, self.night, None))

    def _write_checks(self, pull: Pull, node: graphql.Node) -> None:
        """Replace the checks of this head: one that ran again has another outcome."""
        for head in node.commits.nodes:
            commit = head.commit
            subject = {
                "repository": pull.repository, "number": pull.number, "head": commit.oid
            }  # fmt: skip
            # Checks that no longer exist would stay otherwise.
            self.store.delete(Check, **subject)
            rollup = commit.status_check_rollup
            self.store.put(
                Check(
                    repository=pull.repository,
                    number=pull.number,
                    head=commit.oid,
                    app=check.app,
                    name=check.name or check.context,
                    outcome=check.outcome,
                )
                for check in (rollup.contexts.nodes if rollup else ())
            )


def query_nodes(meter: Meter, query: str, pulls: Sequence[Pull]) -> dict[str, graphql.Node]:
    """Query pull requests; return those that GitHub has, by GraphQL id.

    Raises:
        HostError: The answer is missing or incomplete.
    """
    answer = meter.graphql(query, {"ids": [pull.node for pull in pulls]})
    # GraphQL answers null for a pull request that was deleted or that the token may not see.
    return {node.id: node for node in answer.nodes if node is not None}


def _threads(node: graphql.Node) -> Iterator[tuple[int, graphql.Thread]]:
    """Yield the threads by the key of their first comment, without those not yet submitted."""
    for thread in node.threads.nodes:
        for first in thread.comments.nodes:
            # Pending reviews are drafts that only their author can see.
            if first.state != PENDING:
                yield comment_key(RemarkKind.LINE, first.id), thread


def _reviews(node: graphql.Node) -> list[graphql.Review]:
    reviews = node.reviews.nodes if node.reviews else ()
    return [review for review in reviews if review.state != PENDING]


def _revisions(pull: Pull, node: graphql.Node) -> Iterator[Revision]:
    for event in node.timeline.nodes:
        kind, after = event.revision
        # A commit that GitHub has lost is null.
        if after is not None:
            yield Revision(
                repository=pull.repository,
                number=pull.number,
                # A commit in the timeline has no time of its own event.
                at=event.created_at or after.committed_date,
                kind=kind,
                before=event.before_commit.oid if event.before_commit else "",
                after=after.oid,
            )


def _language(node: graphql.Node) -> str | None:
    """Return the language of most changed lines, the first by name of equal ones."""
    lines: Counter[str] = Counter()
    for file in node.files.nodes if node.files else ():
        language = language_of(file.path)
        if language is not None:
            lines[language] += file.additions + file.deletions
    return min(lines, key=lambda language: (-lines[language], language), default=None)
