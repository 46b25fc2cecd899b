"""Finds for each comment in the store whether it was acted on, by two signals.

The signals are whether lines near the comment changed later, and whether a person resolved the
thread. Only signals that differ from the stored signals are added to the store.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final

from crscore import progress
from crscore.audit.engines import Engine, run_serially
from crscore.audit.score.followed import LaterChanges, SignalValue
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pulls_to_observe, put_position, read_observations
from crscore.audit.store.rows import Comment, Pull, Signal, SignalRow, ThreadObservation
from crscore.errors import HostError
from crscore.pull_request.reviewers.authors import is_app, strip_app_suffix
from crscore.pull_request.reviewers.profile import profiles
from crscore.pull_request.reviewers.wildcards import matches_any

# The table also keeps the values from earlier rules; reports read the newest values.
RULES: Final = 6
"""Version of the rules by which signals are found; increased if the value of a signal may change.
"""
CURSOR: Final = "signals"
"""Name of the position in the store that has the date and the rules of the last run of a
repository."""

Signals = Mapping[int, Mapping[Signal, SignalValue]]
"""Values of the signals of each comment on one pull request, keyed by the key of the comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalTask:
    """Pull request with all stored data that another process needs to find its signals."""

    pull: Pull
    comments: Sequence[Comment]
    """Comments, sorted by time."""
    threads: Mapping[int, ThreadObservation]
    """Last observation of each thread, keyed by the key of the thread."""
    clone: Path
    """Folder of the bare clone of the repository; may be missing."""


def find_signals(store: Store, clones: Path, *, night: str, engine: Engine = run_serially) -> int:
    """Find and store whether each review comment was acted on.

    Pull requests that were already final in the last run are skipped.

    Args:
        store: The store; only this process reads and writes it.
        clones: Folder of the bare clones, `<repository id>.git`. If a clone is missing, it is
            unknown whether lines changed.
        night: Date of the run, ISO 8601.
        engine: Engine that processes the pull requests.

    Returns:
        Number of stored rows; 0 if nothing is new.

    Raises:
        StoreError: The store cannot be read or written.
    """
    keys = pulls_to_observe(store, CURSOR, RULES)
    tasks = (
        SignalTask(
            pull=store.find(Pull, repository=repository, number=number)[0],
            comments=store.find(Comment, "created", "key", repository=repository, number=number),
            threads={
                row.thread: row
                for row in read_observations(store, ThreadObservation, repository, number)
            },
            clone=clones.absolute() / f"{repository}.git",
        )
        for repository, number in keys
    )
    results = engine(tasks, measure, partial(measure, can_follow=False))
    stored = 0
    with progress.track("following comments", len(keys)) as advance:
        for repository, group in groupby(zip(keys, results, strict=True), lambda pair: pair[0][0]):
            for _, signals in group:
                stored += _store(store, signals, night)
                advance()
            # The position is stored after each repository, so that the run after a stopped run
            # continues there.
            put_position(store, repository, CURSOR, f"{night} {RULES}")
    return stored


def measure(task: SignalTask, *, can_follow: bool = True) -> Signals:
    """Find the signals of the comments on one pull request, in any process.

    Args:
        task: The pull request.
        can_follow: Whether to find out if lines changed; otherwise, this is unknown.

    Returns:
        Values for the first review comment of each reviewer in each thread.
    """
    # The first review comment of each reviewer in each thread.
    firsts: dict[tuple[str, int], Comment] = {}
    for comment in task.comments:
        if comment.is_review:
            thread = comment.key if comment.thread is None else comment.thread
            firsts.setdefault((comment.reviewer, thread), comment)
    on_lines = [comment for comment in firsts.values() if comment.line is not None]
    answers = {comment.key: SignalValue(None) for comment in on_lines}
    if can_follow and task.clone.is_dir():
        with suppress(HostError):
            later = LaterChanges(task.clone, task.pull, on_lines)
            answers = {comment.key: later.check_acted_on(comment) for comment in on_lines}
    signals = {row.key: {Signal.RESOLVED: _check_resolved(task, row)} for row in firsts.values()}
    for key, answer in answers.items():
        signals[key][Signal.ACTED_ON] = answer
    return signals


def _check_resolved(task: SignalTask, comment: Comment) -> SignalValue:
    """Return whether a person resolved the thread of a comment."""
    thread = task.threads.get(comment.thread or 0)
    if thread is None or not thread.resolved:
        return SignalValue(False)
    if thread.resolved_by is None:
        return SignalValue(None)
    login = thread.resolved_by.casefold()
    # GraphQL omits the suffix `[bot]` of logins. Other data show whether the account is a bot: the
    # form of its login, a post of an app with this name on the pull request, or a profile. Posts of
    # people do not count, because people can use a bot's name.
    name = strip_app_suffix(login)
    apps = {
        strip_app_suffix(post.author.casefold())
        for post in task.comments
        if post.is_app and post.author
    }
    # Profiles have logins as in the REST API, with `[bot]`.
    is_profiled = any(matches_any(profile.logins, f"{name}[bot]") for profile in profiles())
    is_bot = is_app(login) or name in apps or is_profiled
    return SignalValue(not is_bot)


def _store(store: Store, signals: Signals, night: str) -> int:
    """Store the signals that differ from the last stored values; return the number of rows."""
    rows: list[SignalRow] = []
    for comment, values in signals.items():
        last = {row.signal: row for row in store.find(SignalRow, "night", "rules", comment=comment)}
        for signal, (value, base) in sorted(values.items()):
            yes, units = base or (None, None)
            row = SignalRow(
                comment=comment,
                signal=int(signal),
                night=night,
                rules=RULES,
                value=None if value is None else int(value),
                base_yes=yes,
                base_all=units,
            )
            before = last.get(signal)
            # A thread without a row is not resolved. This saves rows, because most threads never
            # are.
            is_absent = before is None and row.value == 0 and signal is Signal.RESOLVED
            if not is_absent and (before is None or replace(before, night=night) != row):
                rows.append(row)
    if rows:
        with store.transaction():
            store.put(rows)
    return len(rows)
