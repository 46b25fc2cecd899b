"""Selection of the pseudo-references that a score counts."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

from crscore.records import (
    ChangedFile,
    Hunk,
    LineSpan,
    PseudoReference,
    ReferenceKind,
    Scope,
    ScopeKind,
    Side,
)

SAME_FILE_DISCOUNT = 0.9
"""Factor by which each reference already selected from a file lowers the file's next one, so that a
large change in one file does not crowd out the others. It never reorders within a file. References
with a topic were weighed against each other by their generator."""
FREE_LINES = 300
"""Changed lines up to which the limit stands as given."""
LINES_A_LIMIT = 600
"""Changed lines above these for which the limit counts once more."""
MOST_LIMITS = 5
"""Factor by which the limit grows at most."""
LINES_OF_ONE = 200
"""Lines of one topic that make the limit grow; more of them need no further claim."""


def limit_of(references: Sequence[PseudoReference], limit: int) -> int:
    """Return the limit for a change: it grows with the lines of the topics, in proportion.

    A limit of 12 is 12 up to 300 changed lines, 24 at 900 and at most 60.
    """
    topics = {ref.topic for ref in references if ref.topic is not None}
    lines = sum(min(topic.lines, LINES_OF_ONE) for topic in topics)
    growth = 1 + max(0, lines - FREE_LINES) / LINES_A_LIMIT
    return int(limit * min(growth, MOST_LIMITS))


def select(
    references: Sequence[PseudoReference], *, limit: int | None
) -> tuple[PseudoReference, ...]:
    """Mark the references that count in the diff's score.

    Findings always count, as they have a separate limit. Of claims and implications the most
    informative `limit` count, spread over the files.

    Args:
        references: Most informative first.
        limit: Number of claims and implications that count; None for all.

    Returns:
        The same references in the same order, `counted` set.
    """
    claims = [i for i, ref in enumerate(references) if ref.kind is not ReferenceKind.ISSUE]
    limit = None if limit is None else limit_of(references, limit)
    if limit is None or len(claims) <= limit:
        return tuple(replace(ref, counted=True) for ref in references)
    kept = _most_informative(references, claims, limit)
    return tuple(
        replace(ref, counted=ref.kind is ReferenceKind.ISSUE or i in kept)
        for i, ref in enumerate(references)
    )


def _most_informative(
    references: Sequence[PseudoReference], claims: Sequence[int], limit: int
) -> set[int]:
    queues: dict[str, list[int]] = {}
    for index in claims:
        spans = references[index].spans
        queues.setdefault(spans[0].path if spans else "", []).append(index)
    # One queue per file, in the generator's order; the heap holds each file's next claim.
    heap = [(-references[queue[0]].weight, queue[0], path, 0) for path, queue in queues.items()]
    heapq.heapify(heap)
    kept: set[int] = set()
    while heap and len(kept) < limit:
        _, index, path, taken = heapq.heappop(heap)
        kept.add(index)
        position = taken + 1
        if position < len(queues[path]):
            following = queues[path][position]
            spread = 1.0 if references[following].topic else SAME_FILE_DISCOUNT**position
            worth = references[following].weight * spread
            heapq.heappush(heap, (-worth, following, path, position))
    return kept


def in_scope(reference: PseudoReference, scope: Scope, file: ChangedFile | None) -> bool:
    """Return whether a comment with this scope is scored against this reference.

    Args:
        reference: Any reference of the diff; one without lines is about the whole change and
            belongs to every scope.
        scope: Scope of the comment.
        file: The scope's file; None when the scope is the whole diff.

    Returns:
        True when the reference is on a line of the scope.
    """
    if scope.kind is ScopeKind.DIFF or file is None or not reference.spans:
        return True
    paths = {Side.NEW: file.path, Side.OLD: file.old_path or file.path}
    spans = [span for span in reference.spans if span.path == paths[span.side]]
    if scope.kind is ScopeKind.FILE or scope.hunk is None:
        return bool(spans)
    return any(_overlaps(span, file.hunks[scope.hunk]) for span in spans)


def _overlaps(span: LineSpan, hunk: Hunk) -> bool:
    if span.side is Side.OLD:
        start, length = hunk.old_start, hunk.old_length
    else:
        start, length = hunk.new_start, hunk.new_length
    return span.start < start + max(length, 1) and start <= span.end
