"""Whether comments before a merge said what a later commit then mended."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from crscore.audit.escaped.history import Origin
from crscore.audit.signals.follow import Following, Span
from crscore.audit.signals.trees import COMMIT, Trees
from crscore.audit.store.database import Store
from crscore.audit.store.queries import comments_before_merge
from crscore.audit.store.rows import Comment, Mention, Pull
from crscore.bench.pairs import NEAR_LINES, PairModel, measure_pairs, read_model, view_texts
from crscore.bench.records import Finding, Problem
from crscore.encoders.base import Encoder, TokenEncoder
from crscore.encoders.minilm import MiniLM
from crscore.review.sentences import split_comment
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.model import read_weights
from crscore.usefulness.reader import SHIPPED

# What tools add to a message: `fix(parser): `, ` (#12)`, trailers, the commit that is reverted.
_MARKUP: Final = re.compile(
    r"^\w+(?:\([^)]*\))?!?: |\(#\d+\)|^(?:[A-Z][\w-]+-by|This reverts commit)\b.*$|"
    r"^Merge pull request .*$|\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? +[\w./-]*#\d+",
    re.MULTILINE | re.IGNORECASE,
)


class Matcher(NamedTuple):
    """Compares comments with the messages of later commits."""

    model: PairModel
    rarity: Rarity
    encoder: TokenEncoder


def make_matcher(encoder: Encoder) -> Matcher | None:
    """Make a matcher with the shipped weights of golden sets; None where they are not for it."""
    if not isinstance(encoder, MiniLM):
        return None
    return Matcher(read_model(), read_weights(SHIPPED).rarity, encoder)


def find_mentions(
    store: Store,
    trees: Trees,
    pull: Pull,
    landed: str,
    message: str,
    lines: Sequence[Origin],
    matcher: Matcher | None,
) -> list[Mention]:
    """Find the comments on a later commit: those next to its lines, and those that say the same.

    Args:
        store: The store.
        trees: Trees of the clone.
        pull: The pull request.
        landed: The commit.
        message: Its message.
        lines: Lines of the pull request that it changes, at least one.
        matcher: None to look at places only.

    Raises:
        HostError: git failed.
    """
    mentions = []
    comments = comments_before_merge(store, pull)
    for _, group in groupby(comments, lambda row: row.reviewer):
        listed = list(group)
        near = [_is_near(trees, comment, lines) for comment in listed]
        mentioned = [False] * len(listed)
        if matcher:
            mentioned = _match(store, listed, near, message, lines, matcher)
        mentions += [
            Mention(
                repository=pull.repository,
                number=pull.number,
                landed=landed,
                comment=comment.key,
                near=int(is_near),
                mentioned=int(is_mentioned),
            )
            for comment, is_near, is_mentioned in zip(listed, near, mentioned, strict=True)
            if is_near or is_mentioned
        ]
    return mentions


def _is_near(trees: Trees, comment: Comment, lines: Sequence[Origin]) -> bool:
    """Return whether a comment is at most `NEAR_LINES` from a line, by the text of the file."""
    if comment.line is None or comment.side == "old":
        return False
    path, commit = comment.path or "", comment.commit_id or ""
    span = Span((comment.start_line or comment.line) - 1, comment.line)
    by_commit: dict[str, list[int]] = {}
    for origin in lines:
        if origin.path == path:
            by_commit.setdefault(origin.commit, []).append(origin.line)
    for origin_commit, numbers in by_commit.items():
        new = trees.file(origin_commit, path).lines
        old = trees.file(commit, path).lines if COMMIT.fullmatch(commit) else None
        # A commit that the clone lacks: its place is that of the last one.
        if new is None:
            continue
        region = Following(old=old, new=new, base=None).region(span) if old else span
        if any(region.start - NEAR_LINES < at <= region.end + NEAR_LINES for at in numbers):
            return True
    return False


def _match(
    store: Store,
    comments: Sequence[Comment],
    near: Sequence[bool],
    message: str,
    lines: Sequence[Origin],
    matcher: Matcher,
) -> list[bool]:
    """Return which comments of a reviewer say what a message says."""
    text = " ".join(_MARKUP.sub(" ", message).split())
    paths = {origin.path for origin in lines}
    # A commit is one problem in several places; the first stands for all.
    problem = Problem(text=text or message, path=lines[0].path, line=lines[0].line)
    findings = [
        Finding(
            change="",
            bot=comment.reviewer,
            text=" ".join(split_comment(store.text(comment.body)).sentences),
            path=problem.path if comment.path in paths else comment.path,
            line=problem.line if is_near else None,
        )
        for comment, is_near in zip(comments, near, strict=True)
    ]
    views = view_texts(
        [problem.text, *(row.text for row in findings)], matcher.encoder, matcher.rarity
    )
    table = measure_pairs([views[row.text] for row in findings], [views[problem.text]])
    probabilities = matcher.model.probabilities(table, findings, [problem])[:, 0]
    is_mentioned: list[bool] = (probabilities >= matcher.model.threshold).tolist()
    return is_mentioned
