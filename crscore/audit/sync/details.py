"""Details of the pull requests that changed, by GraphQL, many in one query.

A pull request is read to the end of its lists and then written in one transaction. One that fails
stays pending with its failure; the others continue.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from crscore.audit.store.queries import add_thread, put_comments, put_observation, thread_by_comment
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
from crscore.audit.sync.reader import PullReader
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
from crscore.hosts.records import RemarkKind

PULLS_PER_QUERY: Final = 20
"""Pull requests in one query for details; half as many after each one that fails."""
MAX_UNANSWERED: Final = 5
"""Pull requests in a row without an answer after which the run stops."""
_UNLISTED: Final = "GitHub counts comments that it does not list"


@dataclass(slots=True, kw_only=True)
class DetailReader(PullReader):
    """Reads details of pull requests from GitHub and stores them."""

    meter: Meter
    query: str = graphql.DETAILS_QUERY
    """Query for details; without checks once GitHub refused them."""

    def read_all(self, pulls: Sequence[Pull]) -> None:
        """Read pull requests in batches: see `read_pulls`."""
        try:
            self._read_batches(pulls)
        finally:
            if self.read and self.query == graphql.UNCHECKED_QUERY:
                self.messages.miss(
                    "Checks could not be read: the token lacks checks: read and statuses: read."
                )

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
                    self.fail(batch[0], exc.reason)
                    unanswered = unanswered + 1 if isinstance(exc, UnavailableError) else 0
                    if unanswered == MAX_UNANSWERED:
                        raise
            else:
                size, unanswered = min(2 * size, PULLS_PER_QUERY), 0
                for pull in batch:
                    self._read_pull(pull, nodes.get(pull.node))

    def _read_pull(self, pull: Pull, node: graphql.Node | None) -> None:
        if node is None:
            self.fail(pull, "GitHub has no such pull request any more")
            return
        try:
            node = graphql.read_rest(self.meter.graphql, node, graphql.DETAILS)
            items = self._read_unlisted(pull, node)
        except (RateLimitedError, BadTokenError):
            raise
        except HostError as exc:
            self.fail(pull, exc.reason)
            return
        with self.store.transaction():
            self._write(pull, node, items)
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
        lacks = self._lacks_comments(pull, node)
        self.complete(
            pull,
            lines=node.additions + node.deletions,
            language=_language(node),
            unlisted=_UNLISTED if lacks else "",
        )

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
