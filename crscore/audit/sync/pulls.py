"""Reads the pull requests of a run: the changed ones in full, of the others only the threads.

A pull request is read to the end of its lists and then written in one transaction. If that fails,
the pull request stays pending, its row gets the reason, and the run goes on with the next one. Some
hosts move the positions of comments along with pushes and do not report the original positions, so
a comment keeps the position that the first run read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from crscore.audit.store import queries
from crscore.audit.store.database import Store
from crscore.audit.store.rows import (
    Check,
    Comment,
    CommentObservation,
    Pull,
    Repository,
    ThreadObservation,
    comment_key,
    host_id_of,
)
from crscore.audit.sync.repositories import Messages, store_listed
from crscore.errors import (
    BadTokenError,
    HostError,
    NotFoundError,
    RateLimitedError,
    UnavailableError,
)
from crscore.hosts.feed import Feed, FeedDetails, FeedPull, FeedThread
from crscore.hosts.records import HostMessage, MessageKind
from crscore.pull_request.reviewers.classify import read_posts
from crscore.reports.escape import one_line
from crscore.text import count_noun

# At that point, each of these requests has been tried up to five times.
MAX_UNANSWERED: Final = 5
"""Number of successive requests without a response after which the run stops."""
DELETED: Final = "deleted"
"""Reason that marks a deleted comment as minimised."""
GHOST: Final = "ghost"
"""Reviewer name for deleted accounts."""


def read_changed(
    store: Store, feed: Feed, repository: Repository, messages: Messages, now: str
) -> Repository:
    """Store the changed pull requests, page by page, and mark them as pending.

    Args:
        store: The store.
        feed: The code host.
        repository: The repository.
        messages: A note is added to it if the repository has a new name.
        now: Current time; the stored position in the list is never later.

    Returns:
        The repository, with its current name.

    Raises:
        NotFoundError: The repository does not exist.
        HostError: The list could not be read to its end.
    """
    # The repository is found by its number, which stays when the repository is renamed.
    listed = feed.find_repository(str(repository.id))
    repository = store_listed(store, feed, *listed, "", messages)
    since = queries.get_position(store, repository.id, "pulls") or ""
    last, in_order = since, True
    for pulls in feed.read_changed(repository.id, since):
        times = [last, *(pull.updated for pull in pulls)]
        in_order, last = in_order and times == sorted(times), max(times)
        with store.transaction():
            for pull in pulls:
                queries.put_listed(store, _row(store, pull))
            if in_order:
                # The host's clock may be ahead. With its time as the position, changes made before
                # that time would be missed.
                queries.put_position(store, repository.id, "pulls", min(last, now))
    queries.put_position(store, repository.id, "pulls", min(last, now))
    return repository


def observe_threads(
    store: Store, feed: Feed, pulls: Sequence[Pull], night: str, advance: Callable[[], None]
) -> None:
    """Store the changed states of threads; pull requests that fail become pending.

    Raises:
        RateLimitedError: The budget or the host's rate limit is spent.
        BadTokenError: The token is missing or wrong.
        UnavailableError: The host no longer responds.
    """
    unanswered = 0
    # All threads are requested: resolving one does not change its pull request, so the list of
    # changed pull requests lacks it.
    for start in range(0, len(pulls), feed.threads_at_once):
        batch = pulls[start : start + feed.threads_at_once]
        states: Sequence[tuple[FeedThread, ...] | None] = [None] * len(batch)
        try:
            states = feed.read_threads([_listed(pull) for pull in batch])
        except (RateLimitedError, BadTokenError):
            raise
        except HostError as exc:
            unanswered = unanswered + 1 if isinstance(exc, UnavailableError) else 0
            if unanswered == MAX_UNANSWERED:
                raise
        with store.transaction():
            for pull, threads in zip(batch, states, strict=True):
                keys = queries.thread_keys(store, pull.repository, pull.number)
                for thread in threads or ():
                    if thread.node in keys:
                        row = _to_thread_observation(keys[thread.node], night, thread)
                        queries.put_observation(store, row)
                # The details of the pull request have the comments of a new thread.
                if threads is None or any(thread.node not in keys for thread in threads):
                    queries.mark_pending(store, pull.repository, [pull.number])
                advance()


@dataclass(slots=True, kw_only=True)
class PullReader:
    """Reads pull requests in full and stores them."""

    store: Store
    feed: Feed
    night: str
    """Date of the observations, ISO 8601."""
    final_before: str
    """Pull requests closed before this time are read for the last time."""
    messages: Messages
    read: int = 0
    """Number of pull requests that were read."""
    failures: list[tuple[str, bool]] = field(default_factory=list)
    """Why a pull request could not be read, and whether it had failed before."""

    def read_pulls(self, pulls: Sequence[Pull]) -> Iterator[None]:
        """Read pull requests in this order, and yield after each.

        Raises:
            RateLimitedError: The budget or the host's rate limit is spent.
            BadTokenError: The token is missing or wrong.
            UnavailableError: The host no longer responds.
        """
        store, unanswered = self.store, 0
        try:
            for pull in pulls:
                # On GitHub, one GraphQL query and two REST requests: 1,038 points and 2,006
                # requests for 1,000 changed pull requests (`benchmarks/audit_sync.py`).
                rows = store.find(Comment, repository=pull.repository, number=pull.number)
                known_hunks = {host_id_of(row.key) for row in rows if row.path is not None}
                try:
                    details = self.feed.read_details(_listed(pull), known_hunks)
                # No later pull request could be read either: the run stops.
                except (RateLimitedError, BadTokenError):
                    raise
                except HostError as exc:
                    is_gone = isinstance(exc, NotFoundError)
                    reason = "the pull request no longer exists" if is_gone else exc.reason
                    self.failures.append((one_line(reason), pull.failure is not None))
                    store.put([replace(pull, failure=reason, pending=1)])
                    unanswered = unanswered + 1 if isinstance(exc, UnavailableError) else 0
                    if unanswered == MAX_UNANSWERED:
                        raise
                else:
                    unanswered = 0
                    with store.transaction():
                        self._write(pull, details)
                yield
        finally:
            if self.failures:
                count = count_noun(len(self.failures), "pull request")
                # A pull request that always fails must not make every later run partial.
                is_known = all(has_failed_before for _, has_failed_before in self.failures)
                texts = self.messages.notes if is_known else self.messages.missing
                texts.append(f"{count} could not be read: {self.failures[0][0]}.")

    def _write(self, pull: Pull, details: FeedDetails) -> None:
        """Store a pull request that was read, in an open transaction."""
        store, facts = self.store, details.pull
        # The details were read after the list, so they are newer.
        if facts is not None:
            listed = _row(store, facts)
            pull = replace(pull, **{name: getattr(listed, name) for name in facts._fields})
        # The comments are stored first and classified below.
        store.put([self._comment(pull, item) for item in details.messages])
        self._observe(pull, details)
        subject: dict[str, Any] = {"repository": pull.repository, "number": pull.number}
        # Checks may have run again or may no longer exist.
        for head in {pull.head, *(head for head, _, _ in details.checks)}:
            store.delete(Check, **subject, head=head)
        store.put(
            Check(**subject, head=head, app=app, name=name, outcome=outcome)
            for (head, app, name), outcome in details.checks.items()
        )
        # Only after all comments are stored: whether a post is a review depends on its author's
        # other posts.
        classify_comments(store, pull.repository, pull.number, pull.author)
        unlisted = details.unlisted
        row = replace(
            pull,
            lines=details.lines,
            language=details.language,
            # The host may list all comments only later, so read it again.
            pending=int(bool(unlisted)),
            observed=self.night,
            # Closed pull requests are read once more after the observed days, and then no more.
            final=int(pull.closed is not None and pull.closed < self.final_before),
            failure=unlisted or None,
        )
        store.put([row])
        if unlisted:
            self.failures.append((unlisted, pull.failure is not None))
        else:
            self.read += 1

    def _comment(self, pull: Pull, message: HostMessage) -> Comment:
        """Store the texts of a comment, and return its row."""
        store, is_line = self.store, message.kind is MessageKind.LINE
        row = Comment(
            key=comment_key(message.kind, message.id),
            repository=pull.repository,
            number=pull.number,
            thread=comment_key(MessageKind.LINE, message.thread or message.id) if is_line else None,
            author=message.login,
            is_app=int(message.is_bot),
            reviewer=message.login or GHOST,
            is_bot=int(message.is_bot),
            # Set by `classify_comments`, which needs all posts of the pull request.
            is_review=0,
            body=store.add_text(message.body),
            hunk=store.add_text(message.hunk) if message.hunk else None,
            created=message.created,
            updated=message.updated,
            state=message.state,
            commit_id=message.commit,
            path=message.path,
            line=message.line,
            start_line=message.start_line,
            side=message.side.value if message.side else None,
        )
        # The comment keeps the position of its first reading, because GitLab moves positions along
        # with pushes.
        previous = store.find_one(Comment, key=row.key)
        if previous is None or previous.path is None:
            return row
        names = ("thread", "hunk", "commit_id", "path", "line", "start_line", "side")
        return replace(row, **{name: getattr(previous, name) for name in names})

    def _observe(self, pull: Pull, details: FeedDetails) -> None:
        store = self.store
        for thread in details.threads:
            key = queries.add_thread(
                store, comment_key(MessageKind.LINE, thread.first), thread.node
            )
            queries.put_observation(store, _to_thread_observation(key, self.night, thread))
        items = {comment_key(item.kind, item.id): item for item in details.messages}
        for comment in store.find(Comment, repository=pull.repository, number=pull.number):
            item = items.get(comment.key)
            row = CommentObservation(
                comment=comment.key,
                night=self.night,
                # A bot may rewrite what proved wrong. The host keeps only the last text, the store
                # all of them.
                body=comment.body,
                minimized=(item.minimized or None) if item else DELETED,
            )
            # An incomplete list does not show which comments were deleted.
            if item or not details.unlisted:
                queries.put_observation(store, row)


def _listed(row: Pull) -> FeedPull:
    return FeedPull(*(getattr(row, name) for name in FeedPull._fields))


def _row(store: Store, facts: FeedPull) -> Pull:
    row = Pull(**facts._asdict(), pending=1, final=0)
    if row.base:
        return row
    # GitLab's lists have no base, so the stored base is kept until the details are read.
    previous = store.find_one(Pull, repository=facts.repository, number=facts.number)
    return replace(row, base=previous.base) if previous is not None else row


def _to_thread_observation(key: int, night: str, thread: FeedThread) -> ThreadObservation:
    return ThreadObservation(
        thread=key,
        night=night,
        resolved=int(thread.resolved),
        resolved_by=thread.resolved_by,
        outdated=int(thread.outdated),
    )


def classify_comments(store: Store, repository: int, number: int, pull_author: str | None) -> None:
    """Classify all comments on a pull request again, in an open transaction."""
    # A new post can change the classification of earlier ones, so all are read again.
    rows = store.find(Comment, "created", "key", repository=repository, number=number)
    messages = [queries.to_message(store, row) for row in rows]
    for row, message in zip(rows, read_posts(messages, pull_author=pull_author), strict=True):
        classified = replace(
            row,
            reviewer=message.reviewer,
            is_bot=int(message.is_bot),
            is_review=int(message.is_review),
            skip=message.skip,
        )
        if classified != row:
            store.put([classified])
