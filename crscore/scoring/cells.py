"""Makes the cells of a review. A cell pairs a pseudo-reference of the change with a sentence.

First the pseudo-references are chosen, and then the sentences are compared with them.
"""

import heapq
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.errors import EncodingError
from crscore.records import (
    ChangedFile,
    Diff,
    Flag,
    PseudoReference,
    ReferenceKind,
    Scope,
    ScopeKind,
    Sentence,
    Topic,
)

Floats = npt.NDArray[np.float32]

# Without a discount, a large change in one file would crowd out the changes in other files.
# References with a topic have no discount, because their generator weighed them against each other.
SAME_FILE_DISCOUNT = 0.9
"""Factor on the weight of a reference for each reference of the same file that comes before it. The
order of the references of a file stays the same."""
# The weight of a claim is the estimated probability that people call it useful. In repositories
# that were not in the training data, 68 % of the counted claims are useful (benchmarks/README.md,
# "Claims").
MIN_COUNTED_WEIGHT = 0.5
"""Minimum weight at which a claim about a topic counts. The first claim always counts."""
# A constant limit on claims would leave out most of a large change. With a limit that grows, the
# topics that count have about half of the changed lines (median 0.487 in
# `benchmarks/large_changes.py`).
FREE_LINES = 300
"""Number of changed lines up to which the limit on claims does not grow."""
LINES_PER_LIMIT = 600
"""Number of changed lines after `FREE_LINES` that doubles the limit; twice this number triples
it."""
MAX_GROWTH = 5
"""Maximum factor by which the limit grows."""
# A function of 3,000 lines is still one topic with at most four claims, so it needs no higher
# limit.
MAX_TOPIC_LINES = 200
"""Maximum number of changed lines of one topic that count for the growth of the limit."""


class ChosenReferences(NamedTuple):
    """Pseudo-references of a change that the scores of one review use."""

    references: tuple[PseudoReference, ...]
    """Pseudo-references that the scores of the diff or of a comment use."""
    scopes: tuple[Scope | None, ...]
    """Scope of each comment; None if it is on a file that the diff does not change."""
    rows: tuple[tuple[int, ...], ...]
    """For each comment, the indices of the references that it is scored against, ascending."""
    small: tuple[Topic, ...]
    """Topics whose claims are too minor to be counted, most informative first."""


def choose_references(
    references: Sequence[PseudoReference],
    places: Sequence[Scope | None],
    diff: Diff,
    *,
    limit: int | None,
) -> ChosenReferences:
    """Choose the references that the scores of the diff or of a comment use.

    The scope of a comment on a hunk is the hunk if it has references, else the file.

    Args:
        references: Pseudo-references, most informative first.
        places: Part of the diff that each comment of the review is attached to; None if the comment
            is on a file that the diff does not change.
        diff: The change.
        limit: Maximum number of claims and implications of a score; None for all.

    Returns:
        The references, and which of them each comment is scored against.
    """
    selected = select_references(references, limit=limit)
    scopes: list[Scope | None] = []
    for place in places:
        scope = place
        if place and place.kind is ScopeKind.HUNK:
            is_covered = select_rows(selected, place, diff, limit=1)
            scope = place if is_covered else Scope(kind=ScopeKind.FILE, path=place.path)
        scopes.append(scope)
    # The score of a single comment may use references that the scores of the diff do not count.
    rows_of = {
        scope: select_rows(selected, scope, diff, limit=limit) if scope else []
        for scope in set(scopes)
    }
    used = {i for i, ref in enumerate(selected) if ref.counted}.union(*rows_of.values())
    index = {row: i for i, row in enumerate(sorted(used))}
    major_topics = {ref.topic for ref in selected if ref.counted or not _is_small(ref)}
    topics = dict.fromkeys(ref.topic for ref in selected)
    return ChosenReferences(
        references=tuple(selected[row] for row in index),
        scopes=tuple(scopes),
        rows=tuple(tuple(index[row] for row in rows_of[scope]) for scope in scopes),
        small=tuple(topic for topic in topics if topic is not None and topic not in major_topics),
    )


def scale_limit(references: Sequence[PseudoReference], limit: int) -> int:
    """Return the limit on claims for a change, which grows with the changed lines of its topics.

    A limit of 12 stays 12 up to 300 changed lines and becomes 24 at 900 lines and at most 60.
    """
    topics = {ref.topic for ref in references if ref.topic is not None}
    lines = sum(min(topic.lines, MAX_TOPIC_LINES) for topic in topics)
    growth = 1 + max(0, lines - FREE_LINES) / LINES_PER_LIMIT
    return int(limit * min(growth, MAX_GROWTH))


def select_references(
    references: Sequence[PseudoReference], *, limit: int | None
) -> tuple[PseudoReference, ...]:
    """Mark the references that count in the scores of the whole diff.

    Issues always count, because they have a separate limit. Claims and implications count if a
    reviewer would mention them, up to a limit (see `scale_limit`), spread over the files.

    Args:
        references: Pseudo-references, most informative first.
        limit: Maximum number of claims and implications in a small change; None for all.

    Returns:
        The same references in the same order, with `counted` set.
    """
    claims = [i for i, ref in enumerate(references) if ref.kind is not ReferenceKind.ISSUE]
    major = [i for i in claims if i == claims[0] or not _is_small(references[i])]
    counted = set(range(len(references))) - (set(claims) - set(major))
    if limit is not None and len(major) > (grown_limit := scale_limit(references, limit)):
        # There is one queue per file, in the generator's order, not sorted by weight: `merge` only
        # compares the first items of the queues, so it keeps the order within a file.
        queues: dict[str, list[tuple[float, int]]] = {}
        for index in major:
            ref = references[index]
            queue = queues.setdefault(ref.spans[0].path if ref.spans else "", [])
            discount = 1.0 if ref.topic else SAME_FILE_DISCOUNT ** len(queue)
            queue.append((-ref.weight * discount, index))
        best = islice(heapq.merge(*queues.values()), grown_limit)
        counted -= set(major) - {index for _, index in best}
    return tuple(replace(ref, counted=i in counted) for i, ref in enumerate(references))


def _is_small(reference: PseudoReference) -> bool:
    """Return whether a reference is about a topic and too minor to be mentioned in a review."""
    return reference.topic is not None and reference.weight < MIN_COUNTED_WEIGHT


def select_rows(
    refs: Sequence[PseudoReference], scope: Scope, diff: Diff, *, limit: int | None
) -> list[int]:
    """Return the references that a comment with this scope is scored against.

    A comment on the whole diff is scored against the references that count. A comment on a hunk or
    a file is scored against all references of this part, so that a comment on a minor part of a
    large change has references, too.

    Args:
        refs: Pseudo-references, most informative first, with `counted` set.
        scope: Scope of the comment.
        diff: The change.
        limit: Maximum number of claims and implications; None for all.

    Returns:
        Indices into `refs`, ascending.
    """
    if scope.kind is ScopeKind.DIFF:
        return [i for i, ref in enumerate(refs) if ref.counted]
    file = diff.file_at(scope.path or "")
    rows: list[int] = []
    claims = 0
    for index, ref in enumerate(refs):
        if in_scope(ref, scope, file):
            claims += ref.kind is not ReferenceKind.ISSUE
            # The limit is not for issues, which have a separate limit.
            if limit is None or claims <= limit or ref.kind is ReferenceKind.ISSUE:
                rows.append(index)
    return rows


def in_scope(reference: PseudoReference, scope: Scope, file: ChangedFile | None) -> bool:
    """Return whether a comment with this scope is scored against this reference.

    Args:
        reference: A reference of the diff.
        scope: Scope of the comment.
        file: The scope's file; None if the scope is the whole diff.

    Returns:
        Whether the reference is on a line of the scope, or about the whole change.
    """
    if scope.kind is ScopeKind.DIFF or file is None or not reference.spans:
        return True
    # The old lines of a renamed file are under its old path.
    spans = [span for span in reference.spans if span.path == file.path_on(span.side)]
    if scope.kind is ScopeKind.FILE or scope.hunk is None:
        return bool(spans)
    hunk = file.hunks[scope.hunk]
    for span in spans:
        start, length = hunk.range_of(span.side)
        # A hunk without lines in a version still has a position there: `@@ -20,0 +21,3 @@`.
        if span.start < start + max(length, 1) and start <= span.end:
            return True
    return False


class Cells(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Cells of one change before matching: each pairs a pseudo-reference with a sentence."""

    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """Rows: R pseudo-references."""
    sentences: tuple[Sentence, ...]
    """Columns: S sentences; first the visible text of all comments, then hidden text."""
    reference_vectors: Floats
    """Unit vectors of the references' encoded texts, shape (R, D)."""
    sentence_vectors: Floats
    """Unit vectors of the sentences, shape (S, D)."""
    similarity: Floats
    """Cosines of rows and columns, shape (R, S), each in [-1, 1], read-only."""
    about: Floats
    """Probability that each sentence is about the change, judged by the lines, names and claims of
    the change, shape (S,); 0.5 without weights for the encoder."""
    line_comments: frozenset[int] = frozenset()
    """Indices of the comments that are attached to a hunk of the change."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Matcher's judgement of the cells of one change."""

    degrees: Floats
    """Degree to which each sentence addresses each pseudo-reference, shape (R, S), in [0, 1]."""
    decision: float
    """Minimum degree at which a sentence addresses a pseudo-reference, in (0, 1)."""
    flags: tuple[Flag | None, ...]
    """For each of the S sentences, why it addresses nothing or less than it seems; usually None."""
    in_review: tuple[bool, ...]
    """For each of the S sentences, False for hidden text that is left out of the review."""


def compare(
    diff: Diff,
    references: Sequence[PseudoReference],
    sentences: Sequence[Sentence],
    rows: Floats,
    columns: Floats,
    line_comments: Iterable[int] = (),
) -> Cells:
    """Compare the sentences of a review with the pseudo-references of its change.

    Args:
        diff: The change.
        references: Its R pseudo-references.
        sentences: The S sentences of the review.
        rows: Unit vectors of the references' encoded texts, shape (R, D).
        columns: Unit vectors of the sentences, shape (S, D).
        line_comments: Indices of the comments that are attached to a hunk of the change.

    Returns:
        The cells, in which `about` is not yet set.
    """
    return Cells(
        diff=diff,
        references=tuple(references),
        sentences=tuple(sentences),
        reference_vectors=rows,
        sentence_vectors=columns,
        similarity=cosine(rows, columns),
        about=np.full(len(sentences), 0.5, dtype=np.float32),
        line_comments=frozenset(line_comments),
    )


def cosine(
    references: npt.NDArray[np.float32], sentences: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return the cosine similarity of every pseudo-reference and every sentence.

    Args:
        references: Unit vectors, shape (R, D).
        sentences: Unit vectors, shape (S, D).

    Returns:
        Read-only float32 array of shape (R, S), each value in [-1, 1]. R and S may be 0.

    Raises:
        EncodingError: The two sides differ in D, or a vector holds NaN or infinity.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, section 4: s(p, r) is the cosine.

    Example:
        >>> import numpy as np
        >>> axes = np.eye(2, dtype=np.float32)
        >>> cosine(axes[:1], axes).tolist()
        [[1.0, 0.0]]
    """
    if references.ndim != 2 or sentences.ndim != 2 or references.shape[1] != sentences.shape[1]:
        shapes = f"{references.shape} and {sentences.shape}"
        raise EncodingError(f"vectors of shapes {shapes} cannot be compared")
    # Because of rounding, a product of unit vectors can be slightly outside of the range.
    products = references @ sentences.T
    matrix: npt.NDArray[np.float32] = np.clip(products, -1.0, 1.0).astype(np.float32, copy=False)
    if not np.isfinite(matrix).all():
        raise EncodingError("the encoder returned a vector with NaN or infinity")
    matrix.setflags(write=False)
    return matrix
