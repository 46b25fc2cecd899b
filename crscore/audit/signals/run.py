"""Signals of all comments of a store, appended where they differ from the last ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from crscore.audit.signals import RULES, Signal
from crscore.audit.signals.changed import FileComment, PullTrees, SignalValue
from crscore.audit.signals.follow import Answer
from crscore.audit.signals.observed import claimed, names, referred, resolved, thumbs
from crscore.audit.signals.suggested import FAST_METRICS, JudgedSuggestion, judge_suggestions
from crscore.audit.signals.trees import Trees, open_trees
from crscore.audit.store.database import Store
from crscore.audit.store.rows import (
    Comment,
    Cursor,
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

MAX_EVIDENCE: Final = 60
"""Maximum characters of stored evidence."""
CURSOR: Final = "signals"
"""List whose cursor has the night of a repository's last signals, and their rules."""
_OF_TREES: Final = (Signal.SUGGESTION_APPLIED, Signal.LINES_CHANGED, Signal.FILE_CHANGED)


class RunCounts(NamedTuple):
    """Work of a run."""

    pulls: int
    comments: int
    rows: int
    """Stored rows."""
    unknown: int
    """Stored rows whose value is unknown."""


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
    pulls: Iterable[tuple[int, int]] | None = None,
    metrics: Sequence[str] = FAST_METRICS,
) -> RunCounts:
    """Find out whether each review comment was acted on.

    Args:
        store: The store.
        clones: Folder with the bare clones, `<repository id>.git`; without one, signals
            from trees are unknown.
        night: Date of the run.
        pulls: Pull requests, pairs of repository and number; None for all but those that were
            final already at the last signals.
        metrics: Metrics of similarity of suggested code to merged code, of `MERGED_METRICS`.

    Returns:
        RunCounts of the run. One that is repeated stores nothing new.

    Raises:
        StoreError: The store cannot be read or written.
    """
    keys = pulls_to_observe(store, CURSOR, RULES) if pulls is None else sorted(set(pulls))
    total = RunCounts(0, 0, 0, 0)
    for repository, group in groupby(keys, key=lambda key: key[0]):
        trees = open_trees(clones / f"{repository}.git")
        for _, number in group:
            counts = _find_of_pull(store, trees, (repository, number), night, metrics)
            total = RunCounts(*(sum(pair) for pair in zip(total, counts, strict=True)))
            if trees:
                trees.forget()
        if pulls is None:
            with store.transaction():
                position = f"{night} {RULES}"
                store.put([Cursor(repository=repository, list=CURSOR, position=position)])
    return total


def _find_of_pull(
    store: Store,
    trees: Trees | None,
    key: tuple[int, int],
    night: str,
    metrics: Sequence[str],
) -> RunCounts:
    repository, number = key
    pull = store.find_one(Pull, repository=repository, number=number)
    comments = store.find(Comment, "created", "key", repository=repository, number=number)
    posts = _group(store, comments)
    if pull is None or not posts:
        return RunCounts(int(pull is not None), 0, 0, 0)
    revisions = store.find(Revision, "at", "kind", "after", repository=repository, number=number)
    finder = _Finder(store, pull, comments, posts, metrics)
    measurements, suggestions_by_comment = finder.find(trees, revisions)
    rows = _new_rows(store, measurements, night)
    suggestions = _new_suggestions(store, suggestions_by_comment, night)
    if rows or suggestions:
        with store.transaction():
            store.put([*rows, *suggestions])
    return RunCounts(1, len(posts), len(rows), sum(row.value is None for row in rows))


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
    metrics: Sequence[str]

    def find(
        self, trees: Trees | None, revisions: Sequence[Revision]
    ) -> tuple[dict[int, dict[Signal, SignalValue]], dict[int, tuple[JudgedSuggestion, ...]]]:
        """Return all signals, and the suggestions, of each comment by its key."""
        judged: dict[int, tuple[JudgedSuggestion, ...]] = {}
        measurements = {post.first.key: self._observed(post) for post in self.posts}
        remarks = [self._remark(post) for post in self.posts if post.first.path is not None]
        try:
            if trees is None:
                raise HostError("git", "there is no clone")
            of_trees = PullTrees(trees, self.pull, revisions, remarks)
            measured = {remark.comment.key: of_trees.measure(remark) for remark in remarks}
            for remark in remarks:
                if remark.suggestions:
                    judged[remark.comment.key] = judge_suggestions(
                        of_trees, remark, names=self.metrics
                    )
            messages = self._messages(trees, revisions)
        except HostError as exc:
            measured = {remark.comment.key: _unknown(remark, exc.reason) for remark in remarks}
            messages = {}
        for key, signals in measured.items():
            measurements[key] |= signals
        for post in self.posts:
            measurements[post.first.key][Signal.TRAILER] = self._referred(post, revisions, messages)
        return measurements, judged

    def _observed(self, post: _Post) -> dict[Signal, SignalValue]:
        first = post.first
        thread = last_thread_observation(self.store, first.thread)
        claim = claimed(post.bodies) if first.is_bot else Answer(False)
        answers = {
            **resolved(thread, self.pull.author, self._bots()),
            **thumbs(last_comment_observation(self.store, first.key)),
            Signal.BOT_SAYS_ADDRESSED: claim,
        }
        return {signal: SignalValue(answer) for signal, answer in answers.items()}

    def _bots(self) -> frozenset[str]:
        accounts = (comment.author for comment in self.comments if comment.is_app)
        return frozenset(strip_app_suffix(account.casefold()) for account in accounts if account)

    def _remark(self, post: _Post) -> FileComment:
        hunk = post.first.hunk
        return FileComment(
            comment=post.first,
            hunk=self.store.text(hunk) if hunk else "",
            suggestions=tuple(
                suggestion for body in post.bodies for suggestion in split_comment(body).suggestions
            ),
        )

    def _messages(self, trees: Trees, revisions: Sequence[Revision]) -> Mapping[str, str]:
        return trees.messages(
            sorted({revision.after for revision in revisions if revision.kind == "commit"})
        )

    def _referred(
        self, post: _Post, revisions: Sequence[Revision], messages: Mapping[str, str]
    ) -> SignalValue:
        later = [
            revision.after
            for revision in revisions
            if revision.kind == "commit" and revision.at > post.first.created
        ]
        commits = [(commit, messages[commit]) for commit in later if commit in messages]
        bots = {comment.reviewer for comment in self.comments if comment.is_bot}
        names_by_bot = {
            bot: names(
                bot,
                (
                    comment.author
                    for comment in self.comments
                    if comment.reviewer == bot and comment.is_app
                ),
            )
            for bot in bots
        }
        answer = referred(post.first, names_by_bot, commits)
        if not answer.value and len(commits) < len(later):
            answer = Answer(None, "a later commit is missing")
        return SignalValue(answer)


def _unknown(remark: FileComment, reason: str) -> dict[Signal, SignalValue]:
    answer = SignalValue(Answer(None, reason))
    applies = {
        Signal.SUGGESTION_APPLIED: bool(remark.suggestions) and remark.comment.line is not None,
        Signal.LINES_CHANGED: remark.comment.line is not None,
        Signal.FILE_CHANGED: True,
    }
    return {signal: answer for signal, does in applies.items() if does}


def _new_rows(
    store: Store, measurements: Mapping[int, Mapping[Signal, SignalValue]], night: str
) -> list[SignalRow]:
    """Return the rows that differ from the last ones; for most signals, absence means no."""
    rows: list[SignalRow] = []
    for comment, signals in measurements.items():
        last = {row.signal: row for row in store.find(SignalRow, "night", "rules", comment=comment)}
        for signal, measured in sorted(signals.items()):
            row = _row(comment, signal, measured, night)
            before = last.get(signal)
            if before is None and row.value == 0 and signal not in _OF_TREES:
                continue
            if before is None or _content(before) != _content(row):
                rows.append(row)
    return rows


def _new_suggestions(
    store: Store, judged: Mapping[int, tuple[JudgedSuggestion, ...]], night: str
) -> list[SuggestionRow]:
    """Return the rows that differ from the last ones."""
    rows = []
    for comment, blocks in judged.items():
        last = {
            row.block: row for row in store.find(SuggestionRow, "night", "rules", comment=comment)
        }
        for block, (suggestion, scores) in enumerate(blocks):
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
                rows.append(row)
    return rows


def _row(comment: int, signal: Signal, measured: SignalValue, night: str) -> SignalRow:
    value, evidence = measured.answer
    base_yes, base_all = measured.base or (None, None)
    return SignalRow(
        comment=comment,
        signal=int(signal),
        night=night,
        rules=RULES,
        value=None if value is None else int(value),
        evidence=evidence[:MAX_EVIDENCE] if evidence else None,
        base_yes=base_yes,
        base_all=base_all,
    )


def _content(row: SignalRow) -> tuple[object, ...]:
    return row.rules, row.value, row.evidence, row.base_yes, row.base_all
