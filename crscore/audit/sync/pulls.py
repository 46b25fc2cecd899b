"""Reads pull requests from a code host: those that changed in full, the others only for threads.

All details of a pull request are read and then written in one transaction. If this fails, the pull
request stays pending, which means that it must be read (again), its row gets the reason, and the
run continues with the next pull request. A comment keeps the position that was read first, because
some hosts update positions after a push and do not report the original positions.
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
from crscore.audit.sync.repositories import Messages, store_repository
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

# Each of these requests has then been tried up to five times.
MAX_UNANSWERED: Final = 5
"""The run stops after this number of successive requests without a response."""
DELETED: Final = "deleted"
"""Stored reason why a comment is minimised if it was deleted."""
GHOST: Final = "ghost"
"""Name of the reviewer if the account was deleted."""


def read_changed(
    store: Store, feed: Feed, repository: Repository, messages: Messages, now: str
) -> Repository:
    """Store the pull requests that changed since the last run, and mark them as pending.

    Args:
        store: The store.
        feed: The code host.
        repository: The repository.
        messages: Sentences for the user; a note is added if the repository has a new name.
        now: Current time; the stored position in the list is never later.

    Returns:
        The repository with its current name.

    Raises:
        NotFoundError: The repository does not exist.
        HostError: The list could not be read to its end.
    """
    # The repository is found by its id, which does not change when the repository is renamed.
    listed = feed.find_repository(str(repository.id))
    repository = store_repository(store, feed, *listed, "", messages)
    since = queries.get_position(store, repository.id, "pulls") or ""
    last, in_order = since, True
    for pulls in feed.read_changed(repository.id, since):
        times = [last, *(pull.updated for pull in pulls)]
        in_order, last = in_order and times == sorted(times), max(times)
        with store.transaction():
            for pull in pulls:
                queries.put_pull(store, _to_row(store, pull))
            # If the list is not in the order of time, a run that stops here may have missed earlier
            # changes, so the next run starts from the old position.
            if in_order:
                # If the host's clock is ahead, the time of a change may be in the future. With such
                # a position, the next run would miss other changes before that time.
                queries.put_position(store, repository.id, "pulls", min(last, now))
    queries.put_position(store, repository.id, "pulls", min(last, now))
    return repository


def observe_threads(
    store: Store, feed: Feed, pulls: Sequence[Pull], night: str, advance: Callable[[], None]
) -> None:
    """Read the threads of pull requests and store their states.

    Pull requests whose threads cannot be read, or that have a new thread, are marked as pending.

    Args:
        store: The store.
        feed: The code host.
        pulls: Pull requests that are not pending.
        night: Date of the run, ISO 8601.
        advance: Called after each pull request.

    Raises:
        RateLimitedError: The budget or the host's rate limit is spent.
        BadTokenError: The token is missing or wrong.
        UnavailableError: The host no longer responds.
    """
    unanswered = 0
    # The threads of all pull requests are read, because a pull request does not count as changed
    # if only a thread was resolved.
    for start in range(0, len(pulls), feed.threads_at_once):
        batch = pulls[start : start + feed.threads_at_once]
        states: Sequence[tuple[FeedThread, ...] | None] = [None] * len(batch)
        try:
            states = feed.read_threads([_to_feed_pull(pull) for pull in batch])
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
                # The comments of a new thread are only in the details of the pull request.
                if threads is None or any(thread.node not in keys for thread in threads):
                    queries.mark_pending(store, pull.repository, [pull.number])
                advance()


@dataclass(slots=True, kw_only=True)
class PullReader:
    """Reads pull requests in full and stores them."""

    store: Store
    feed: Feed
    night: str
    """Date of the run, ISO 8601."""
    final_before: str
    """Pull requests that were closed before this time are now read for the last time."""
    messages: Messages
    """Sentences for the user; one is added if pull requests could not be read."""
    read: int = 0
    """Number of pull requests that were read."""
    failures: list[tuple[str, bool]] = field(default_factory=list)
    """For each pull request that could not be read: the reason, and whether an earlier run also
    failed to read it."""

    def read_pulls(self, pulls: Sequence[Pull]) -> Iterator[None]:
        """Read and store pull requests in this order, and yield after each of them.

        Raises:
            RateLimitedError: The budget or the host's rate limit is spent.
            BadTokenError: The token is missing or wrong.
            UnavailableError: The host no longer responds.
        """
        store, unanswered = self.store, 0
        try:
            for pull in pulls:
                # On GitHub, this takes one GraphQL query and two REST requests. Altogether, 1,000
                # changed pull requests took 1,038 points and 2,006 requests
                # (`benchmarks/audit_sync.py`).
                rows = store.find(Comment, repository=pull.repository, number=pull.number)
                known_hunks = {host_id_of(row.key) for row in rows if row.path is not None}
                try:
                    details = self.feed.read_details(_to_feed_pull(pull), known_hunks)
                # No other pull request could be read, either, so the run stops.
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
                # If the same pull requests failed before, the run does not count as partial.
                # Otherwise, a pull request that always fails would make every run partial.
                is_known = all(has_failed_before for _, has_failed_before in self.failures)
                texts = self.messages.notes if is_known else self.messages.missing
                texts.append(f"{count} could not be read: {self.failures[0][0]}.")

    def _write(self, pull: Pull, details: FeedDetails) -> None:
        """Store the details of a pull request, in an open transaction."""
        store, facts = self.store, details.pull
        # The details are newer than the list, because they were read later.
        if facts is not None:
            listed = _to_row(store, facts)
            pull = replace(pull, **{name: getattr(listed, name) for name in facts._fields})
        # The comments are stored first and classified below.
        store.put([self._make_comment(pull, item) for item in details.messages])
        self._observe(pull, details)
        subject: dict[str, Any] = {"repository": pull.repository, "number": pull.number}
        # Stored checks are deleted first, because a check may no longer exist.
        for head in {pull.head, *(head for head, _, _ in details.checks)}:
            store.delete(Check, **subject, head=head)
        store.put(
            Check(**subject, head=head, app=app, name=name, outcome=outcome)
            for (head, app, name), outcome in details.checks.items()
        )
        # All comments must be stored before, because it depends on an author's other posts whether
        # a post is a review.
        classify_comments(store, pull.repository, pull.number, pull.author)
        unlisted = details.unlisted
        row = replace(
            pull,
            lines=details.lines,
            language=details.language,
            # If the host did not list all comments, the next run reads the pull request again.
            pending=int(bool(unlisted)),
            observed=self.night,
            # A closed pull request is read once more after the days of observation, and then never
            # again.
            final=int(pull.closed is not None and pull.closed < self.final_before),
            failure=unlisted or None,
        )
        store.put([row])
        if unlisted:
            self.failures.append((unlisted, pull.failure is not None))
        else:
            self.read += 1

    def _make_comment(self, pull: Pull, message: HostMessage) -> Comment:
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
            # `classify_comments` sets this value, because it depends on all posts.
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
        # The comment keeps the position that was read first, because GitLab updates positions after
        # a push.
        previous = store.find_one(Comment, key=row.key)
        if previous is None or previous.path is None:
            return row
        names = ("thread", "hunk", "commit_id", "path", "line", "start_line", "side")
        return replace(row, **{name: getattr(previous, name) for name in names})

    def _observe(self, pull: Pull, details: FeedDetails) -> None:
        """Store the states of all threads and comments, in an open transaction."""
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
                # The store keeps all versions of a text, because a bot may rewrite a comment that
                # proved wrong, and hosts keep only the last version.
                body=comment.body,
                minimized=(item.minimized or None) if item else DELETED,
            )
            # If the list of comments is incomplete, a missing comment need not be deleted.
            if item or not details.unlisted:
                queries.put_observation(store, row)


def _to_feed_pull(row: Pull) -> FeedPull:
    return FeedPull(*(getattr(row, name) for name in FeedPull._fields))


def _to_row(store: Store, facts: FeedPull) -> Pull:
    row = Pull(**facts._asdict(), pending=1, final=0)
    if row.base:
        return row
    # Lists of GitLab do not have the base, so the stored base is kept until the details are read.
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
    # A new post can change the classification of earlier posts, so all posts are classified again.
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
