"""Signals of all comments in a store; only changed signals are added."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Final, NamedTuple

from crscore import progress
from crscore.audit.engines import WORKER_DIED_REASON, Engine, Serial
from crscore.audit.score.followed import Answer, LaterChanges
from crscore.audit.signals import FILE_SIGNALS, RULES, Signal
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pulls_to_observe, put_position, read_observations
from crscore.audit.store.rows import (
    Comment,
    CommentObservation,
    Pull,
    SignalRow,
    ThreadObservation,
)
from crscore.errors import HostError
from crscore.pull_request.reviewers.authors import is_app, strip_app_suffix
from crscore.pull_request.reviewers.profile import profiles
from crscore.pull_request.reviewers.wildcards import matches_any
from crscore.review.sentences import split_comment

MAX_EVIDENCE: Final = 60
"""Maximum characters of stored evidence."""
CURSOR: Final = "signals"
"""Name of the cursor with the date and the rules of a repository's last signals."""

Signals = Mapping[int, Mapping[Signal, Answer]]
"""Signals of the comments of one pull request, by comment."""


class _Post(NamedTuple):
    """Posts of one reviewer in one thread."""

    first: Comment
    suggestions: tuple[str, ...]
    """Suggestion blocks of all the posts."""
    offsets: tuple[tuple[int, int] | None, ...]
    """Offsets of each block, see `ParsedComment`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalTask:
    """A pull request and its stored data; can be sent to another process."""

    pull: Pull
    comments: Sequence[Comment]
    """Comments, sorted by time."""
    texts: Mapping[bytes, str]
    """Bodies of the comments."""
    threads: Mapping[int, ThreadObservation]
    """Last observation of each thread."""
    observations: Mapping[int, CommentObservation]
    """Last observation of each comment."""
    clone: Path
    """Bare clone of the repository; may be missing."""

    def posts(self) -> Iterator[_Post]:
        """Group the comments by reviewer and thread; groups without a review are left out."""
        groups: dict[tuple[str, int], list[Comment]] = {}
        for comment in self.comments:
            key = (comment.reviewer, comment.key if comment.thread is None else comment.thread)
            groups.setdefault(key, []).append(comment)
        for group in groups.values():
            parsed = [split_comment(self.texts[comment.body]) for comment in group]
            if first := next((comment for comment in group if comment.is_review), None):
                blocks = chain.from_iterable(comment.suggestions for comment in parsed)
                offsets = chain.from_iterable(comment.suggestion_offsets for comment in parsed)
                yield _Post(first, tuple(blocks), tuple(offsets))

    def observed(self, comment: Comment) -> dict[Signal, Answer]:
        """Return the signals that the host shows: the thread's state and the thumbs."""
        last = self.observations.get(comment.key)
        up, down = (last.up, last.down) if last else (0, 0)
        return {
            Signal.RESOLVED: self._resolved(self.threads.get(comment.thread or 0)),
            Signal.THUMBS_UP: Answer(up > 0, str(up) if up else None),
            Signal.THUMBS_DOWN: Answer(down > 0, str(down) if down else None),
        }

    def _resolved(self, thread: ThreadObservation | None) -> Answer:
        if thread is None or not thread.resolved:
            return Answer(False)
        if thread.resolved_by is None:
            return Answer(None, "resolved by an unknown account")
        login = thread.resolved_by.casefold()
        # GraphQL omits `[bot]` from logins, so three sources are compared. A person can write under
        # a bot's name; only apps prove that an account is a bot.
        name = strip_app_suffix(login)
        apps = {
            strip_app_suffix(comment.author.casefold())
            for comment in self.comments
            if comment.is_app and comment.author
        }
        is_known = any(matches_any(profile.logins, f"{name}[bot]") for profile in profiles())
        is_bot = is_app(login) or name in apps or is_known
        return Answer(False) if is_bot else Answer(True, thread.resolved_by)


def find_signals(
    store: Store,
    clones: Path,
    *,
    night: str,
    engine: Engine = Serial(),  # noqa: B008  (it has no state)
) -> int:
    """Find out whether each review comment was acted on.

    Pull requests that were already final in the last run are skipped.

    Args:
        store: The store; only this process reads and writes it.
        clones: Folder of the bare clones, `<repository id>.git`; without a clone, the signals
            from files are unknown.
        night: Date of the run.
        engine: Engine that processes the pull requests.

    Returns:
        Number of stored rows; 0 if the run is repeated.

    Raises:
        StoreError: The store cannot be read or written.
    """
    keys = pulls_to_observe(store, CURSOR, RULES)
    tasks = (_read_task(store, clones.absolute(), *key) for key in keys)
    results = engine.run(tasks, measure, _without_clone)
    stored = 0
    with progress.track("following comments", len(keys)) as advance:
        for repository, group in groupby(zip(keys, results, strict=True), lambda pair: pair[0][0]):
            for _, signals in group:
                stored += _store(store, signals, night)
                advance()
            # Stored after each repository, so that the next run continues after a stopped one.
            with store.transaction():
                put_position(store, repository, CURSOR, f"{night} {RULES}")
    return stored


def _read_task(store: Store, clones: Path, repository: int, number: int) -> SignalTask:
    of_pull = {"repository": repository, "number": number}
    (pull,) = store.find(Pull, **of_pull)
    comments = store.find(Comment, "created", "key", **of_pull)
    return SignalTask(
        pull=pull,
        comments=comments,
        texts={comment.body: store.text(comment.body) for comment in comments},
        threads={
            row.thread: row
            for row in read_observations(store, ThreadObservation, repository, number)
        },
        observations={
            row.comment: row
            for row in read_observations(store, CommentObservation, repository, number)
        },
        clone=clones / f"{repository}.git",
    )


def measure(task: SignalTask) -> Signals:
    """Compute the signals of one pull request, in any process."""
    if not task.clone.is_dir():
        return _without_clone(task, "there is no clone")
    try:
        posts = [post for post in task.posts() if post.first.line is not None]
        later = LaterChanges(task.clone, task.pull, [post.first for post in posts])
        file_signals: dict[int, dict[Signal, Answer]] = {}
        for comment, suggestions, offsets in posts:
            values = file_signals[comment.key] = {Signal.ACTED_ON: later.acted_on(comment)}
            if suggestions:
                values[Signal.SUGGESTION_APPLIED] = later.applied(comment, suggestions, offsets)
    except HostError as exc:
        return _without_clone(task, exc.reason)
    return {
        post.first.key: task.observed(post.first) | file_signals.get(post.first.key, {})
        for post in task.posts()
    }


def _without_clone(task: SignalTask, reason: str = WORKER_DIED_REASON) -> Signals:
    """Return the signals of the host; the signals from files are unknown."""
    unknown = Answer(None, reason)
    signals = {}
    for comment, suggestions, _ in task.posts():
        values = signals[comment.key] = task.observed(comment)
        if comment.line is not None:
            values[Signal.ACTED_ON] = unknown
            if suggestions:
                values[Signal.SUGGESTION_APPLIED] = unknown
    return signals


def _store(store: Store, signals: Signals, night: str) -> int:
    """Store signals that differ from the last ones; return the number of rows."""
    rows: list[SignalRow] = []
    for comment, values in signals.items():
        last = {row.signal: row for row in store.find(SignalRow, "night", "rules", comment=comment)}
        for signal, (value, evidence, base) in sorted(values.items()):
            row = SignalRow(
                comment=comment,
                signal=int(signal),
                night=night,
                rules=RULES,
                value=None if value is None else int(value),
                evidence=evidence[:MAX_EVIDENCE] if evidence else None,
                base_yes=base[0] if base else None,
                base_all=base[1] if base else None,
                base_of=base[2] if base else None,
            )
            before = last.get(signal)
            is_absent = before is None and row.value == 0 and signal not in FILE_SIGNALS
            if not is_absent and (before is None or replace(before, night=night) != row):
                rows.append(row)
    if rows:
        with store.transaction():
            store.put(rows)
    return len(rows)
