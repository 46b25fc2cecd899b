"""A code host with a `Feed` as a source: pull requests one by one.

A pull request is read to the end of its lists and then written in one transaction. A host that
moves the places of comments along with pushes does not say where they were written: a comment keeps
the place of the first night that read it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from crscore.audit.store.database import Store
from crscore.audit.store.queries import (
    Account,
    add_thread,
    get_position,
    mark_pending,
    put_comments,
    put_listed,
    put_observation,
    put_position,
    thread_by_comment,
    thread_keys,
)
from crscore.audit.store.rows import (
    Comment,
    CommentObservation,
    Pull,
    Repository,
    Revision,
    ThreadObservation,
    comment_key,
    host_id_of,
)
from crscore.audit.sync.comments import (
    GHOST,
    classify_comments,
    rename_accounts,
    to_observation,
)
from crscore.audit.sync.reader import PullReader
from crscore.audit.sync.repositories import Listed, Messages, rename
from crscore.errors import (
    BadTokenError,
    HostError,
    NotFoundError,
    RateLimitedError,
    UnavailableError,
)
from crscore.hosts.feed import (
    Feed,
    FeedDetails,
    FeedPull,
    FeedRemark,
    FeedRepository,
    FeedThread,
)
from crscore.hosts.records import RemarkKind

MAX_UNANSWERED: Final = 5
"""Pull requests in a row without an answer after which the run stops."""


class FeedSource:
    """A code host with a feed: see `Source`.

    Args:
        feed: The feed.
    """

    is_deep = True

    def __init__(self, feed: Feed) -> None:
        self.page: str | None = feed.page
        self.refs, self.login = feed.refs, feed.login
        self._feed = feed
        self._before = feed.requests
        self.points = 0

    @property
    def requests(self) -> int:
        """Requests of this run."""
        return self._feed.requests - self._before

    def find(self, name: str) -> Listed:
        """Find a repository by its name."""
        return _listed(self._feed.find_repository(name))

    def find_by_id(self, number: int) -> Listed:
        """Find a repository by its number."""
        return _listed(self._feed.find_repository(str(number)))

    def list_owner(self, owner: str) -> list[Listed]:
        """List the repositories of an owner."""
        return [_listed(repository) for repository in self._feed.list_repositories(owner)]

    def read_lists(
        self,
        store: Store,
        repository: Repository,
        logins: dict[Account, str],  # noqa: ARG002  (comments come with the details)
        messages: Messages,
        now: str,
    ) -> Repository:
        """Store which pull requests changed, page by page."""
        listed = self.find_by_id(repository.id)
        repository = rename(store, repository, listed.full_name, messages)
        since = get_position(store, repository.id, "pulls") or ""
        last, in_order = since, True
        for pulls in self._feed.read_changed(repository.id, since):
            times = [last, *(pull.updated for pull in pulls)]
            in_order, last = in_order and times == sorted(times), max(times)
            with store.transaction():
                for pull in pulls:
                    put_listed(store, _row(store, repository.id, pull))
                if in_order:
                    put_position(store, repository.id, "pulls", min(last, now))
        # A host whose clock is ahead must not hide what changes until then.
        with store.transaction():
            put_position(store, repository.id, "pulls", min(last, now))
        return repository

    def observe_threads(
        self, store: Store, pulls: Sequence[Pull], night: str, advance: Callable[[], None]
    ) -> None:
        """Observe the threads of pull requests, one by one."""
        unanswered = 0
        for pull in pulls:
            try:
                threads = self._feed.read_threads(pull.repository, pull.number)
            except (RateLimitedError, BadTokenError):
                raise
            except HostError as exc:
                unanswered = unanswered + 1 if isinstance(exc, UnavailableError) else 0
                if unanswered == MAX_UNANSWERED:
                    raise
                threads = None
            with store.transaction():
                if threads is None or not _observe(store, pull, threads, night):
                    mark_pending(store, pull.repository, [pull.number])
            advance()

    def find_commits(self, repository: str, commits: Sequence[str]) -> Sequence[str]:
        """Return those of some commits that the host still has."""
        return [commit for commit in commits if self._feed.has_commit(repository, commit)]

    def make_reader(self, **options: Any) -> "FeedReader":
        """Make the reader of details."""
        return FeedReader(feed=self._feed, **options)


@dataclass(slots=True, kw_only=True)
class FeedReader(PullReader):
    """Reads details of pull requests from a feed and stores them."""

    feed: Feed

    def read_all(self, pulls: Sequence[Pull]) -> None:
        """Read pull requests one by one: see `read_pulls`."""
        unanswered = 0
        for pull in pulls:
            try:
                details = self.feed.read_details(pull.repository, pull.number, self._placed(pull))
            # No later pull request could be read either: the run stops.
            except (RateLimitedError, BadTokenError):
                raise
            except HostError as exc:
                is_gone = isinstance(exc, NotFoundError)
                self.fail(
                    pull, "the host has no such pull request any more" if is_gone else exc.reason
                )
                unanswered = unanswered + 1 if isinstance(exc, UnavailableError) else 0
                if unanswered == MAX_UNANSWERED:
                    raise
            else:
                unanswered = 0
                with self.store.transaction():
                    self._write(pull, details)
                self.advance()

    def _placed(self, pull: Pull) -> set[int]:
        """Return the ids of comments on lines that the store has, with their places."""
        rows = self.store.find(Comment, repository=pull.repository, number=pull.number)
        return {host_id_of(row.key) for row in rows if row.path is not None}

    def _write(self, pull: Pull, details: FeedDetails) -> None:
        store, facts = self.store, details.pull
        # The list moved on when this was read: the details are newer.
        listed = _row(store, pull.repository, facts)
        pull = replace(listed, observed=pull.observed, failure=pull.failure)
        rows = [self._comment(pull, remark) for remark in details.remarks]
        self.messages.notes += rename_accounts(store, self.logins, rows)
        put_comments(store, rows)
        self._observe(pull, details)
        store.put(
            Revision(
                repository=pull.repository, number=pull.number, at=push.at, kind=push.kind,
                before="", after=push.after,
            )
            for push in details.pushes
        )  # fmt: skip
        # After all comments are stored: whether a post is a review depends on the others of its
        # author.
        classify_comments(store, pull.repository, pull.number, pull.author)
        self.complete(
            pull, lines=details.lines, language=details.language, unlisted=details.unlisted
        )

    def _comment(self, pull: Pull, item: FeedRemark) -> Comment:
        """Return the row of a comment, and store its texts."""
        store, remark = self.store, item.remark
        is_line = remark.kind is RemarkKind.LINE
        row = Comment(
            key=comment_key(remark.kind, remark.id),
            repository=pull.repository,
            number=pull.number,
            thread=comment_key(RemarkKind.LINE, remark.thread or remark.id) if is_line else None,
            author=remark.login,
            author_id=item.author_id,
            is_app=int(remark.is_bot),
            reviewer=remark.login or GHOST,
            is_bot=int(remark.is_bot),
            # Until `classify_comments` has read all posts of the pull request.
            is_review=0,
            body=store.add_text(remark.body),
            hunk=store.add_text(remark.hunk) if remark.hunk else None,
            created=remark.created,
            updated=item.updated,
            state=remark.state,
            commit_id=remark.commit,
            path=remark.path,
            line=remark.line,
            start_line=remark.start_line,
            side=remark.side.value if remark.side else None,
        )
        previous = store.find_one(Comment, key=row.key)
        if previous is None or previous.path is None:
            return row
        names = ("thread", "hunk", "commit_id", "path", "line", "start_line", "side")
        return replace(row, **{name: getattr(previous, name) for name in names})

    def _observe(self, pull: Pull, details: FeedDetails) -> None:
        store = self.store
        for thread in details.threads:
            key = add_thread(store, comment_key(RemarkKind.LINE, thread.first), thread.node)
            put_observation(store, _to_thread_observation(key, self.night, thread))
        keys = set()
        for item in details.remarks:
            key = comment_key(item.remark.kind, item.remark.id)
            keys.add(key)
            row = CommentObservation(
                comment=key, night=self.night, minimized=None, up=item.up, down=item.down
            )
            put_observation(store, row)
        # Of a list that is not whole, nothing is known to be deleted.
        stored = thread_by_comment(store, pull.repository, pull.number)
        for key in stored.keys() - keys if not details.unlisted else ():
            put_observation(store, to_observation(key, self.night, None))


def _listed(repository: FeedRepository) -> Listed:
    return Listed(repository.id, repository.name, repository.default_branch)


def _row(store: Store, repository: int, facts: FeedPull) -> Pull:
    row = Pull(
        repository=repository,
        **(facts._asdict() | {"draft": int(facts.draft)}),
        pending=1,
        final=0,
    )
    if row.base:
        return row
    # Lists have no base; that of the details stays until they are read again.
    previous = store.find_one(Pull, repository=repository, number=facts.number)
    return replace(row, base=previous.base) if previous is not None else row


def _observe(store: Store, pull: Pull, threads: Sequence[FeedThread], night: str) -> bool:
    """Return whether all threads are known and were observed."""
    keys = thread_keys(store, pull.repository, pull.number)
    with_key = [(keys[thread.node], thread) for thread in threads if thread.node in keys]
    for key, thread in with_key:
        put_observation(store, _to_thread_observation(key, night, thread))
    return len(with_key) == len(threads)


def _to_thread_observation(key: int, night: str, thread: FeedThread) -> ThreadObservation:
    return ThreadObservation(
        thread=key,
        night=night,
        resolved=int(thread.resolved),
        resolved_by=thread.resolved_by,
        outdated=int(thread.outdated),
    )
