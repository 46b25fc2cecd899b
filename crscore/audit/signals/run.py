"""Signals of all comments of a store, appended where they differ from the last ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Final, NamedTuple

from crscore.audit.signals import OF_TREES, RULES, Signal
from crscore.audit.signals.changed import FileComment, PullTrees, SignalValue
from crscore.audit.signals.follow import Answer
from crscore.audit.signals.observed import claimed, names, referred, resolved, thumbs
from crscore.audit.signals.suggested import FAST_METRICS, JudgedSuggestion, judge_suggestions
from crscore.audit.signals.trees import Trees, open_trees
from crscore.audit.store.database import Store
from crscore.audit.store.repositories import put_position
from crscore.audit.store.rows import (
    Comment,
    Pull,
    Revision,
    SignalRow,
    SuggestionRow,
)
from crscore.audit.store.signals import (
    last_comment_observation,
    last_thread_observation,
    pulls_to_observe,
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


def find_signals(
    store: Store,
    clones: Path,
    *,
    night: str,
    metrics: Sequence[str] = FAST_METRICS,
) -> int:
    """Find out whether each review comment was acted on.

    Pull requests that were final already at the last signals are skipped.

    Args:
        store: The store.
        clones: Folder with the bare clones, `<repository id>.git`; without one, signals
            from trees are unknown.
        night: Date of the run.
        metrics: Metrics of similarity of suggested code to merged code, of `MERGED_METRICS`.

    Returns:
        Number of stored rows of signals; 0 for a run that is repeated.

    Raises:
        StoreError: The store cannot be read or written.
    """
    keys = pulls_to_observe(store, CURSOR, RULES)
    stored = 0
    for repository, group in groupby(keys, key=lambda key: key[0]):
        trees = open_trees(clones / f"{repository}.git")
        for _, number in group:
            stored += _find_of_pull(store, trees, repository, number, night, metrics)
            if trees:
                trees.forget()
        # After each repository: a run that is stopped continues with the next one.
        with store.transaction():
            put_position(store, repository, CURSOR, f"{night} {RULES}")
    return stored


def _find_of_pull(
    store: Store,
    trees: Trees | None,
    repository: int,
    number: int,
    night: str,
    metrics: Sequence[str],
) -> int:
    pull = store.find_one(Pull, repository=repository, number=number)
    comments = store.find(Comment, "created", "key", repository=repository, number=number)
    posts = _group(store, comments)
    if pull is None or not posts:
        return 0
    revisions = store.find(Revision, "at", "kind", "after", repository=repository, number=number)
    finder = _Finder(store, pull, comments, posts, revisions)
    remarks = [finder.file_comment(post) for post in posts if post.first.path is not None]
    suggestions: list[SuggestionRow] = []
    try:
        # Handled like a git that fails: what trees show is unknown, not no.
        if trees is None:
            raise HostError("git", "there is no clone")
        of_trees = PullTrees(trees, pull, revisions, remarks)
        measured = {remark.comment.key: of_trees.measure(remark) for remark in remarks}
        for remark in remarks:
            judged = judge_suggestions(of_trees, remark, names=metrics)
            suggestions += _new_suggestions(store, remark.comment.key, judged, night)
        messages = trees.messages(sorted(finder.commits()))
    except HostError as exc:
        # Signals of the host need no trees and are stored all the same.
        measured = {remark.comment.key: _unknown(remark, exc.reason) for remark in remarks}
        suggestions, messages = [], {}
    rows: list[SignalRow] = []
    for post in posts:
        values = finder.observed(post) | measured.get(post.first.key, {})
        values[Signal.TRAILER] = finder.referred(post, messages)
        rows += _new_rows(store, post.first.key, values, night)
    if rows or suggestions:
        with store.transaction():
            store.put([*rows, *suggestions])
    return len(rows)


def _group(store: Store, comments: Sequence[Comment]) -> list[_Post]:
    """Group comments by reviewer and thread, by time."""
    groups: dict[tuple[str, int], list[Comment]] = {}
    for comment in comments:
        key = (comment.reviewer, comment.key if comment.thread is None else comment.thread)
        groups.setdefault(key, []).append(comment)
    posts: list[_Post] = []
    for group in groups.values():
        review = [comment for comment in group if comment.is_review]
        if review:
            posts.append(_Post(review[0], tuple(store.text(comment.body) for comment in group)))
    return posts


@dataclass(frozen=True, slots=True)
class _Finder:
    """One pull request with its comments."""

    store: Store
    pull: Pull
    comments: Sequence[Comment]
    posts: Sequence[_Post]
    revisions: Sequence[Revision]

    def observed(self, post: _Post) -> dict[Signal, SignalValue]:
        """Return the signals of the host."""
        first = post.first
        thread = last_thread_observation(self.store, first.thread)
        # A person can write under a bot's name; only apps prove that an account is a bot.
        accounts = (comment.author for comment in self.comments if comment.is_app)
        bots = {strip_app_suffix(account.casefold()) for account in accounts if account}
        answers = {
            **resolved(thread, self.pull.author, frozenset(bots)),
            **thumbs(last_comment_observation(self.store, first.key)),
            Signal.BOT_SAYS_ADDRESSED: claimed(post.bodies) if first.is_bot else Answer(False),
        }
        return {signal: SignalValue(answer) for signal, answer in answers.items()}

    def file_comment(self, post: _Post) -> FileComment:
        """Return the comment of a post on a file."""
        suggestions = (split_comment(body).suggestions for body in post.bodies)
        return FileComment(
            comment=post.first,
            hunk=self.store.text(post.first.hunk) if post.first.hunk else "",
            suggestions=tuple(chain.from_iterable(suggestions)),
            words=stems_and_names(self.store.text(post.first.body))[0],
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


def _new_suggestions(
    store: Store, comment: int, judged: Sequence[JudgedSuggestion], night: str
) -> Iterator[SuggestionRow]:
    """Yield the rows that differ from the last ones."""
    last = {row.block: row for row in store.find(SuggestionRow, "night", "rules", comment=comment)}
    for block, (suggestion, scores) in enumerate(judged):
        row = SuggestionRow(
            comment=comment,
            block=block,
            night=night,
            rules=RULES,
            applies=suggestion.applies,
            parses=suggestion.parses,
            effect=suggestion.effect,
            reason=suggestion.reason,
            **scores,
        )
        before = last.get(block)
        if before is None or replace(before, night=night, rules=RULES) != row:
            yield row
