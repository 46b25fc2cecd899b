"""Cuts a change into chunks that fit a model's context; each chunk is a part of one file.

The published method sends one hunk at a time to a model that was trained on changes of 10 to 1,000
characters (Naik et al., NAACL 2025, appendix C.3). So if the change of a file has at most 1,000
characters, where changed lines count twice because they are shown twice, it is one chunk. Otherwise
each hunk is a chunk, and a hunk that is too long is cut between its lines. The paper cuts off its
three blocks (the diff, the removed and the added lines) at 4,000 characters each; here, notes name
every omitted part.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from crscore.diff.sections import SIGNS, slice_hunk
from crscore.records import ChangedFile, Diff, DiffLine, Hunk, LineKind, LineSpan, Side
from crscore.text import count_noun

# The paper's 4,000 characters for the diff, and as many for the changed lines, which are repeated.
BUDGET: Final = 8_000
"""Maximum characters of a chunk."""
MIN_BUDGET: Final = 200
"""Minimum budget: two changed lines of 48 characters fit, since changed lines are shown twice."""
MAX_FILE_CHARS: Final = 1_000
"""Maximum size of a file's change that is one chunk, in characters; changed lines count twice."""
MAX_CHUNKS: Final = 200
"""Maximum chunks of one diff, enough for a change of 800,000 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Part of the change of one file."""

    file: ChangedFile
    """The file, with all of its hunks."""
    hunks: tuple[Hunk, ...]
    """Hunks of the chunk, or one part of a hunk with an adapted header; never empty."""

    @property
    def text(self) -> str:
        """The hunks in git's diff format."""
        lines: list[str] = []
        for hunk in self.hunks:
            old, new = f"{hunk.old_start},{hunk.old_length}", f"{hunk.new_start},{hunk.new_length}"
            lines.append(f"@@ -{old} +{new} @@ {hunk.section}".rstrip())
            lines += (SIGNS[line.kind] + line.text for line in hunk.lines)
        return "\n".join(lines)

    def lines_of(self, kind: LineKind) -> tuple[str, ...]:
        """Return the lines of a kind, stripped, without blank lines."""
        lines = (line for hunk in self.hunks for line in hunk.lines if line.kind is kind)
        return tuple(text for line in lines if (text := line.text.strip()))

    @property
    def spans(self) -> tuple[LineSpan, ...]:
        """Line ranges of the hunks in the old and the new version, without empty ranges."""
        return tuple(
            LineSpan(path=self.file.path_on(side), side=side, start=start, end=start + length - 1)
            for hunk in self.hunks
            for side in Side
            for start, length in [hunk.range_of(side)]
            if length
        )


class ChunkedDiff(NamedTuple):
    """Change that is cut into chunks."""

    chunks: tuple[Chunk, ...]
    """Chunks in the order of the diff."""
    notes: tuple[str, ...]
    """Sentences that name the parts of the change that are in no chunk."""


def chunk_diff(diff: Diff, budget: int = BUDGET) -> ChunkedDiff:
    """Cut a change into chunks.

    Args:
        diff: The change.
        budget: Maximum characters of a chunk, where changed lines count twice because a prompt
            repeats them. A value below 200 means 200.

    Returns:
        At most `MAX_CHUNKS` chunks, and notes on everything that is omitted.
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
            f"The change has {len(chunks)} parts and the model reads the first {MAX_CHUNKS}; "
            f"{count_noun(len(left), 'part')} of {count_noun(paths, 'file')} are left out, "
            f"from `{left[0].file.path}` on."
        )
    return ChunkedDiff(tuple(chunks[:MAX_CHUNKS]), tuple(notes))


def _length(line: DiffLine) -> int:
    """Return the characters that a line takes in a prompt, where changed lines are shown twice."""
    return (1 if line.kind is LineKind.CONTEXT else 2) * (len(line.text) + 2)


def _cut(hunk: Hunk, budget: int) -> Iterator[Hunk]:
    """Yield the parts of a hunk that fit the budget and have a changed line.

    A line that is longer than the budget is omitted.
    """
    start = size = 0
    ranges: list[tuple[int, int]] = []
    for index, line in enumerate(hunk.lines):
        length = _length(line)
        if size + length > budget:
            ranges.append((start, index))
            # The next part begins at this line or, if the line does not fit any part, after it.
            start, size = index + (length > budget), 0
        size += length if length <= budget else 0
    for begin, end in (*ranges, (start, len(hunk.lines))):
        if any(line.kind is not LineKind.CONTEXT for line in hunk.lines[begin:end]):
            yield slice_hunk(hunk, begin, end)
