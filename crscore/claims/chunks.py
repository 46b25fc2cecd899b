"""Cuts a change into chunks that fit a model's context, each a part of one file.

The published method sends one hunk at a time, and its model was trained on changes of 10 to 1,000
characters (Naik et al., NAACL 2025, appendix C.3). So a file whose change is at most that long is
one chunk; in a larger file, each hunk is a chunk. A hunk that is too long is cut between its lines.
The paper cuts each of its three blocks at 4,000 characters; here a note names every omitted part.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from crscore.diff.sections import SIGNS, part_of
from crscore.records import ChangedFile, Diff, DiffLine, Hunk, LineKind, LineSpan, Side
from crscore.text import count_noun

# The published 4,000 for the diff, and as many for its changed lines.
BUDGET: Final = 8_000
"""Maximum characters of a chunk."""
# Room for two changed lines of 48 characters, which are shown twice.
MIN_BUDGET: Final = 200
# The published model was trained on changes of 10 to 1,000 characters (appendix C.3).
MAX_FILE_CHARS: Final = 1_000
"""A change of a file with at most this many characters is one chunk, even with several hunks."""
MAX_CHUNKS: Final = 200
"""Maximum chunks of one diff, enough for a change of 800,000 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A part of one file's change."""

    file: ChangedFile
    """The file, with all of its hunks."""
    hunks: tuple[Hunk, ...]
    """Hunks that are shown, or parts of them with headers of their own; never empty."""

    @property
    def text(self) -> str:
        """The diff in git's hunk format."""
        lines: list[str] = []
        for hunk in self.hunks:
            old, new = f"{hunk.old_start},{hunk.old_length}", f"{hunk.new_start},{hunk.new_length}"
            lines.append(f"@@ -{old} +{new} @@ {hunk.section}".rstrip())
            lines += (SIGNS[line.kind] + line.text for line in hunk.lines)
        return "\n".join(lines)

    def changed(self, kind: LineKind) -> tuple[str, ...]:
        """Return the added or the removed lines that are not blank, stripped."""
        lines = (line for hunk in self.hunks for line in hunk.lines if line.kind is kind)
        return tuple(text for line in lines if (text := line.text.strip()))

    @property
    def spans(self) -> tuple[LineSpan, ...]:
        """Line ranges of the hunks, on each side that has lines."""
        return tuple(
            LineSpan(path=self.file.path_on(side), side=side, start=start, end=start + length - 1)
            for hunk in self.hunks
            for side in Side
            for start, length in [hunk.range_of(side)]
            if length
        )


class ChunkedDiff(NamedTuple):
    """A change, cut into chunks."""

    chunks: tuple[Chunk, ...]
    """Chunks in the order of the diff."""
    notes: tuple[str, ...]
    """Parts of the change that no chunk shows, one sentence each."""


def chunk_diff(diff: Diff, budget: int = BUDGET) -> ChunkedDiff:
    """Cut a change into chunks.

    Args:
        diff: The change.
        budget: Maximum characters of a chunk: its diff, and its removed and added lines; at least
            200.

    Returns:
        The chunks, at most `MAX_CHUNKS`, and notes on everything omitted.
    """
    budget = max(budget, MIN_BUDGET)
    chunks: list[Chunk] = []
    notes: list[str] = []
    for file in diff.files:
        lines = [line for hunk in file.hunks for line in hunk.lines]
        if not lines:
            notes.append(f"The model is not asked about `{file.path}`: it has no changed lines.")
        elif sum(map(_length, lines)) <= min(budget, MAX_FILE_CHARS):
            chunks.append(Chunk(file=file, hunks=file.hunks))
        else:
            parts = (part for hunk in file.hunks for part in _cut(hunk, budget))
            chunks += (Chunk(file=file, hunks=(part,)) for part in parts)
        if long := sum(_length(line) > budget for line in lines):
            notes.append(f"Lines of `{file.path}` too long to be shown to the model: {long}.")
    if len(chunks) > MAX_CHUNKS:
        left = chunks[MAX_CHUNKS:]
        paths = len({chunk.file.path for chunk in left})
        notes.append(
            f"The change has {len(chunks)} parts and the model is asked about {MAX_CHUNKS}; "
            f"left out, from `{left[0].file.path}` on: {count_noun(len(left), 'part')} of "
            f"{count_noun(paths, 'file')}."
        )
    return ChunkedDiff(tuple(chunks[:MAX_CHUNKS]), tuple(notes))


def _length(line: DiffLine) -> int:
    """Return the number of characters that a line takes; changed lines are shown twice."""
    return (1 if line.kind is LineKind.CONTEXT else 2) * (len(line.text) + 2)


def _cut(hunk: Hunk, budget: int) -> Iterator[Hunk]:
    """Cut a hunk into parts that fit; omit long lines and parts without a changed line."""
    start = size = 0
    ranges: list[tuple[int, int]] = []
    for index, line in enumerate(hunk.lines):
        length = _length(line)
        if size + length > budget:
            ranges.append((start, index))
            # A line that is longer than the budget is in no part.
            start, size = index + (length > budget), 0
        size += length if length <= budget else 0
    for begin, end in (*ranges, (start, len(hunk.lines))):
        if any(line.kind is not LineKind.CONTEXT for line in hunk.lines[begin:end]):
            yield part_of(hunk, begin, end)
