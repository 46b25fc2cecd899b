"""Signals of all comments of a store, appended where they differ from the last ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Final, NamedTuple

from crscore import progress
from crscore.audit.engines import DIED, Engine, Serial
from crscore.audit.signals import OF_TREES, RULES, Signal
from crscore.audit.signals.changed import FileComment, PullTrees, SignalValue
from crscore.audit.signals.follow import Answer
from crscore.audit.signals.observed import claimed, names, referred, resolved, thumbs
from crscore.audit.signals.trees import open_trees
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pulls_to_observe, put_position, read_observations
from crscore.audit.store.rows import (
    Comment,
    CommentObservation,
    Pull,
    Revision,
    SignalRow,
    ThreadObservation,
)
from crscore.errors import HostError
from crscore.pull_request.reviewers.authors import strip_app_suffix
from crscore.review.sentences import split_comment
from crscore.text.content import stems_and_names

MAX_EVIDENCE: Final = 60
"""Maximum characters of stored evidence."""
CURSOR: Final = "signals"
"""List whose cursor has the night of a repository's last signals, and their rules."""


class _Post(NamedTuple):
    """Reviewer's posts in one thread."""

    first: Comment
    bodies: tuple[str, ...]
    """Texts of all its posts there, review or not."""


Signals = Mapping[int, Mapping[Signal, SignalValue]]
"""Signals of the comments of one pull request, by comment, as a worker returns them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalTask:
    """Pull request with what the store has of it; can be sent to another process."""

    pull: Pull
    comments: Sequence[Comment]
    """By time."""
    texts: Mapping[bytes, str]
    """Bodies and hunks of the comments."""
    revisions: Sequence[Revision]
    """By time."""
    threads: Mapping[int, ThreadObservation]
    """Last observation of each thread."""
    observations: Mapping[int, CommentObservation]
    """Last observation of each comment."""
    clone: Path
    """Bare clone of the repository; may be missing."""

    def posts(self) -> list[_Post]:
        """Group the comments by reviewer and thread; those without a review are left out."""
        groups: dict[tuple[str, int], list[Comment]] = {}
        for comment in self.comments:
            key = (comment.reviewer, comment.key if comment.thread is None else comment.thread)
            groups.setdefault(key, []).append(comment)
        posts: list[_Post] = []
        for group in groups.values():
            review = [comment for comment in group if comment.is_review]
            if review:
                bodies = tuple(self.texts[comment.body] for comment in group)
                posts.append(_Post(review[0], bodies))
        return posts

    def observed(self, post: _Post) -> dict[Signal, SignalValue]:
        """Return the signals of the host."""
        first = post.first
        # A person can write under a bot's name; only apps prove that an account is a bot.
        accounts = (comment.author for comment in self.comments if comment.is_app)
        bots = {strip_app_suffix(account.casefold()) for account in accounts if account}
        answers = {
            **resolved(self.threads.get(first.thread or 0), self.pull.author, frozenset(bots)),
            **thumbs(self.observations.get(first.key)),
            Signal.BOT_SAYS_ADDRESSED: claimed(post.bodies) if first.is_bot else Answer(False),
        }
        return {signal: SignalValue(answer) for signal, answer in answers.items()}

    def file_comment(self, post: _Post) -> FileComment:
        """Return the comment of a post on a file."""
        suggestions = (split_comment(body).suggestions for body in post.bodies)
        return FileComment(
            comment=post.first,
            hunk=self.texts[post.first.hunk] if post.first.hunk else "",
            suggestions=tuple(chain.from_iterable(suggestions)),
            words=stems_and_names(self.texts[post.first.body])[0],
        )

    def commits(self, since: str = "") -> list[str]:
        """Return the commits pushed after a time, in order."""
        return [row.after for row in self.revisions if row.kind == "commit" and row.at > since]

    def referred(self, post: _Post, messages: Mapping[str, str]) -> SignalValue:
        """Return whether the message of a later commit refers to a post."""
        later = self.commits(post.first.created)
        commits = [(commit, messages[commit]) for commit in later if commit in messages]
        accounts: dict[str, list[str | None]] = {}
        for comment in self.comments:
            if comment.is_bot:
                accounts.setdefault(comment.reviewer, [])
                accounts[comment.reviewer] += [comment.author] if comment.is_app else []
        names_by_bot = {bot: names(bot, logins) for bot, logins in accounts.items()}
        answer = referred(post.first, names_by_bot, commits)
        if not answer.value and len(commits) < len(later):
            answer = Answer(None, "a later commit is missing")
        return SignalValue(answer)


def find_signals(
    store: Store,
    clones: Path,
    *,
    night: str,
    engine: Engine = Serial(),  # noqa: B008  (it has no state)
) -> int:
    """Find out whether each review comment was acted on.

    Pull requests that were final already at the last signals are skipped.

    Args:
        store: The store; only this process reads and writes it.
        clones: Folder with the bare clones, `<repository id>.git`; without one, signals
            from trees are unknown.
        night: Date of the run.
        engine: Where the comments are followed.

    Returns:
        Number of stored rows of signals; 0 for a run that is repeated.

    Raises:
        StoreError: The store cannot be read or written.
    """
    keys = pulls_to_observe(store, CURSOR, RULES)
    tasks = (_read_task(store, clones.absolute(), *key) for key in keys)
    results = engine.run(tasks, measure, _died)
    stored = 0
    with progress.track("following comments", len(keys)) as advance:
        for repository, group in groupby(zip(keys, results, strict=True), lambda pair: pair[0][0]):
            for _, signals in group:
                stored += _store(store, signals, night)
                advance()
            # After each repository: a run that is stopped continues with the next one.
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
        texts={
            key: store.text(key)
            for comment in comments
            for key in (comment.body, comment.hunk)
            if key
        },
        revisions=store.find(Revision, "at", "kind", "after", **of_pull),
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
    """Find the signals of one pull request, in any process."""
    posts = task.posts()
    remarks = [task.file_comment(post) for post in posts if post.first.path is not None]
    try:
        # Handled like a git that fails: what trees show is unknown, not no.
        trees = open_trees(task.clone) if posts else None
        if trees is None:
            raise HostError("git", "there is no clone")
        of_trees = PullTrees(trees, task.pull, task.revisions, remarks)
        measured = {remark.comment.key: of_trees.measure(remark) for remark in remarks}
        messages = trees.messages(sorted(task.commits()))
    except HostError as exc:
        return _without_trees(task, exc.reason)
    return _with_observed(task, measured, messages)


def _died(task: SignalTask) -> Signals:
    return _without_trees(task, DIED)


def _without_trees(task: SignalTask, reason: str) -> Signals:
    """Return the signals of the host; those of trees are unknown."""
    remarks = (task.file_comment(post) for post in task.posts() if post.first.path is not None)
    measured = {remark.comment.key: _unknown(remark, reason) for remark in remarks}
    return _with_observed(task, measured, {})


def _with_observed(
    task: SignalTask,
    measured: Mapping[int, Mapping[Signal, SignalValue]],
    messages: Mapping[str, str],
) -> dict[int, Mapping[Signal, SignalValue]]:
    return {
        post.first.key: task.observed(post)
        | dict(measured.get(post.first.key, {}))
        | {Signal.TRAILER: task.referred(post, messages)}
        for post in task.posts()
    }


def _store(store: Store, signals: Signals, night: str) -> int:
    """Store what differs from the last signals; return the number of rows of signals."""
    rows: list[SignalRow] = []
    for comment, values in signals.items():
        rows += _new_rows(store, comment, values, night)
    if rows:
        with store.transaction():
            store.put(rows)
    return len(rows)


def _unknown(remark: FileComment, reason: str) -> dict[Signal, SignalValue]:
    answer = SignalValue(Answer(None, reason))
    applies = {
        Signal.SUGGESTION_APPLIED: bool(remark.suggestions) and remark.comment.line is not None,
        Signal.LINES_CHANGED: remark.comment.line is not None,
        Signal.ACTED_ON: remark.comment.line is not None,
        Signal.FILE_CHANGED: True,
    }
    return {signal: answer for signal, does in applies.items() if does}


def _new_rows(
    store: Store, comment: int, values: Mapping[Signal, SignalValue], night: str
) -> Iterator[SignalRow]:
    """Yield the rows that differ from the last ones; for most signals, absence means no."""
    last = {row.signal: row for row in store.find(SignalRow, "night", "rules", comment=comment)}
    for signal, (answer, base) in sorted(values.items()):
        row = SignalRow(
            comment=comment,
            signal=int(signal),
            night=night,
            rules=RULES,
            value=None if answer.value is None else int(answer.value),
            evidence=answer.evidence[:MAX_EVIDENCE] if answer.evidence else None,
            base_yes=base[0] if base else None,
            base_all=base[1] if base else None,
        )
        before = last.get(signal)
        is_absent = before is None and row.value == 0 and signal not in OF_TREES
        if not is_absent and (before is None or replace(before, night=night) != row):
            yield row
