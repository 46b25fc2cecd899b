"""Reader of a review: its comments, split into sentences and the code that they propose."""

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Final, NamedTuple

from crscore.diff.scopes import file_of
from crscore.records import ChangedFile, Comment, Diff, ParsedComment, Position, Sentence
from crscore.review.language import mark_unread
from crscore.review.proposals import read_proposals
from crscore.review.sentences import split_comment

# Sizes are limited, not time, so that a result does not depend on the machine
# (docs/design/013-untrusted-code.md).
MAX_SENTENCES: Final = 20_000
"""Maximum number of sentences scored per change: each takes about 20 KB of memory."""


class ReadReview(NamedTuple):
    """Parts of a review, and what was left out."""

    parsed: tuple[ParsedComment, ...]
    """Parts of each comment."""
    authors: Mapping[str | None, Sequence[int]]
    """Indices of each author's comments, in order of first appearance."""
    files: tuple[ChangedFile | None, ...]
    """File that each comment is on; None if unknown."""
    sentences: tuple[Sentence, ...]
    """Visible sentences of all comments, then the hidden ones."""
    notes: tuple[str, ...]
    """Sentences about text that is not scored."""


def read_review(
    comments: Sequence[Comment], diff: Diff, splitter: str, *, english_only: bool = False
) -> ReadReview:
    """Split the comments of a review.

    Args:
        comments: The comments.
        diff: The change under review.
        splitter: Name of the sentence splitter. `paper`, the published one, ignores proposed code.
        english_only: Whether to mark text in another language as unread.

    Returns:
        The parts of the comments. Above `MAX_SENTENCES`, the longest reviews lose sentences, so
        that a long review cannot crowd out another.
    """
    parsed = tuple(parse_comment(comment, diff, splitter) for comment in comments)
    authors: dict[str | None, list[int]] = {}
    for index, comment in enumerate(comments):
        authors.setdefault(comment.author, []).append(index)
    sentences = sentences_of(parsed)
    if english_only:
        sentences = mark_unread(sentences)
    notes = []
    if len(sentences) > MAX_SENTENCES:
        notes.append(
            f"{MAX_SENTENCES:,} of {len(sentences):,} sentences are scored; "
            "the end of the longest review is left out."
        )
        lengths = {
            author: sum(len(comments[index].body) for index in indices)
            for author, indices in authors.items()
        }
        # A stable sort: of each review, the first sentences are kept.
        order = sorted(
            range(len(sentences)), key=lambda i: lengths[comments[sentences[i].comment].author]
        )
        sentences = tuple(sentences[i] for i in sorted(order[:MAX_SENTENCES]))
    files = tuple(file_of(comment, diff) for comment in comments)
    return ReadReview(parsed, authors, files, sentences, tuple(notes))


def parse_comment(comment: Comment, diff: Diff, splitter: str) -> ParsedComment:
    """Split a comment and, except with the published splitter, read the code that it proposes."""
    parsed = split_comment(comment.body, splitter=splitter)
    if splitter == "paper":
        return parsed
    return read_proposals(parsed, comment, file_of(comment, diff))


def sentences_of(parsed: Sequence[ParsedComment]) -> tuple[Sentence, ...]:
    """Return the visible sentences of all comments, then the hidden ones."""
    visible: list[Sentence] = []
    hidden: list[Sentence] = []
    for index, comment in enumerate(parsed):
        positions = comment.positions or repeat(Position(), len(comment.sentences))
        visible += (
            Sentence(text=text, comment=index, position=position)
            for text, position in zip(comment.sentences, positions, strict=True)
        )
        visible += (
            Sentence(text=text, comment=index, proposal=True, position=position)
            for text, position in zip(comment.proposals, comment.proposal_positions, strict=True)
        )
        hidden += (Sentence(text=text, comment=index, hidden=True) for text in comment.hidden)
    return (*visible, *hidden)
