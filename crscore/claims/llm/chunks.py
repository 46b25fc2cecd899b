"""Chunks of a change that fit a model's context, each a part of one file.

The published method sends one hunk at a time, and its model was trained on changes of 10 to 1,000
characters (Naik et al., NAACL 2025, appendix C.3). So each hunk is a chunk, small hunks of one file
are combined up to that size, and files are never mixed: each claim then refers to known lines of
one file. A hunk that is too long is cut between its lines. The paper cuts each of its three blocks
at 4,000 characters; here a note names every omitted part.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from crscore.diff.sections import part_of
from crscore.records import ChangedFile, Diff, DiffLine, FileStatus, Hunk, LineKind, LineSpan, Side

Count = Callable[[str], int | None]

BUDGET: Final = 8_000
"""Characters of a chunk: the published 4,000 of a diff, and as many of its changed lines."""
TOGETHER: Final = 1_000
"""Characters of a diff up to which hunks of one file are combined."""
MAX_CHUNKS: Final = 200
"""Chunks of one diff: a change of 800,000 characters, at the cost of about 200 small ones."""

_SIGNS: Final = {LineKind.ADDED: "+", LineKind.REMOVED: "-", LineKind.CONTEXT: " "}


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
        return "\n".join(line for hunk in self.hunks for line in _printed(hunk))

    @property
    def removed(self) -> tuple[str, ...]:
        """The removed lines, stripped, without blank ones."""
        return tuple(_stripped(self.hunks, LineKind.REMOVED))

    @property
    def added(self) -> tuple[str, ...]:
        """The added lines, stripped, without blank ones."""
        return tuple(_stripped(self.hunks, LineKind.ADDED))

    @property
    def spans(self) -> tuple[LineSpan, ...]:
        """Line ranges of the hunks, on each side that has lines."""
        return tuple(span for hunk in self.hunks for span in _spans(self.file, hunk))

    def paths(self) -> dict[Side, str]:
        """Return the file's name on each side."""
        return {Side.OLD: self.file.old_path or self.file.path, Side.NEW: self.file.path}


class ChunkedDiff(NamedTuple):
    """A change, cut into chunks."""

    chunks: tuple[Chunk, ...]
    """Chunks in the order of the diff."""
    notes: tuple[str, ...]
    """Parts of the change that no chunk shows, one sentence each."""


def chunk_diff(diff: Diff, budget: int = BUDGET, count: Count | None = None) -> ChunkedDiff:
    """Cut a change into chunks.

    Args:
        diff: The change.
        budget: Maximum characters of a chunk: its diff, and its removed and added lines; at least
            200. With `count`, the maximum number of tokens instead.
        count: Counts the tokens of a text; returns None when it cannot.

    Returns:
        The chunks, at most `MAX_CHUNKS`, and notes on everything omitted.
    """
    counts = count is not None and count("") is not None
    cutter = _Cutter(max(budget, 200), count if counts else None)
    chunks: list[Chunk] = []
    for file in diff.files:
        chunks += cutter.chunks(file)
    kept_chunks, notes = chunks[:MAX_CHUNKS], cutter.notes
    if len(chunks) > len(kept_chunks):
        left = chunks[MAX_CHUNKS:]
        paths = len({chunk.file.path for chunk in left})
        notes.append(
            f"The change has {len(chunks)} parts and the model is asked about {MAX_CHUNKS}; "
            f"{len(left)} parts of {paths} {'file' if paths == 1 else 'files'} are left out, "
            f"from `{left[0].file.path}` on."
        )
    return ChunkedDiff(tuple(kept_chunks), tuple(notes))


class _Cutter:
    """Splitter of files into chunks, with notes on the omitted parts."""

    def __init__(self, budget: int, count: Count | None) -> None:
        self.budget = budget
        self.count = count
        self.notes: list[str] = []

    def chunks(self, file: ChangedFile) -> Iterator[Chunk]:
        """Yield the chunks of a file."""
        if not file.hunks:
            self.notes.append(f"The model is not asked about `{file.path}`: {_why_empty(file)}.")
            return
        group: list[Hunk] = []
        for hunk in file.hunks:
            together = [*group, hunk]
            if group and not (self._fits(together) and _length(together) <= TOGETHER):
                yield Chunk(file=file, hunks=tuple(group))
                group = []
            if self._fits([hunk]):
                group.append(hunk)
            else:
                yield from (Chunk(file=file, hunks=(part,)) for part in self._cut(file, hunk))
        if group:
            yield Chunk(file=file, hunks=tuple(group))

    def _fits(self, hunks: Sequence[Hunk]) -> bool:
        # Counting tokens is slow, and no text has fewer tokens than a tenth of its characters.
        text = _text_shown(hunks)
        if self.count is not None and len(text) > 10 * self.budget:
            return False
        counted = self.count(text) if self.count else None
        return (len(text) if counted is None else counted) <= self.budget

    def _cut(self, file: ChangedFile, hunk: Hunk) -> Iterator[Hunk]:
        """Halve a hunk until its parts fit; parts with context lines only are omitted."""
        if all(line.kind is LineKind.CONTEXT for line in hunk.lines):
            return
        if self._fits([hunk]):
            yield hunk
        elif len(hunk.lines) == 1:
            self._note_long_line(file, hunk.lines[0])
        else:
            middle = _best_cut(hunk.lines)
            yield from self._cut(file, part_of(hunk, 0, middle))
            yield from self._cut(file, part_of(hunk, middle, len(hunk.lines)))

    def _note_long_line(self, file: ChangedFile, line: DiffLine) -> None:
        number, side = (line.old, "old") if line.new is None else (line.new, "new")
        self.notes.append(
            f"Line {number} of the {side} `{file.path}` has {len(line.text)} characters, "
            "too many to be shown to the model."
        )


def _why_empty(file: ChangedFile) -> str:
    if file.is_binary:
        return "it is binary"
    if file.is_missing:
        return f"what changed in it is not known ({file.missing})"
    if file.status is FileStatus.RENAMED:
        return f"it was renamed from `{file.old_path}` without a change"
    return f"no line of it changed ({file.status.value.replace('_', ' ')})"


def _printed(hunk: Hunk) -> Iterator[str]:
    old, new = f"{hunk.old_start},{hunk.old_length}", f"{hunk.new_start},{hunk.new_length}"
    yield f"@@ -{old} +{new} @@ {hunk.section}".rstrip()
    for line in hunk.lines:
        yield _SIGNS[line.kind] + line.text


def _stripped(hunks: Iterable[Hunk], kind: LineKind) -> Iterator[str]:
    for hunk in hunks:
        for line in hunk.lines:
            if line.kind is kind and line.text.strip():
                yield line.text.strip()


def _length(hunks: Iterable[Hunk]) -> int:
    """Return the number of characters of the diff alone."""
    return sum(len(line) + 1 for hunk in hunks for line in _printed(hunk))


def _text_shown(hunks: Sequence[Hunk]) -> str:
    """Return everything that a model is shown of the hunks."""
    lines = [line for hunk in hunks for line in _printed(hunk)]
    changed = (*_stripped(hunks, LineKind.REMOVED), *_stripped(hunks, LineKind.ADDED))
    return "\n".join((*lines, *changed))


def _best_cut(lines: Sequence[DiffLine]) -> int:
    """Return where to split lines: at the start of a run of changes, closest to the middle."""
    middle = len(lines) // 2
    starts = [
        index
        for index in range(1, len(lines))
        if lines[index - 1].kind is LineKind.CONTEXT and lines[index].kind is not LineKind.CONTEXT
    ]
    return min(starts, key=lambda index: abs(index - middle), default=middle)


def _spans(file: ChangedFile, hunk: Hunk) -> Iterator[LineSpan]:
    sides = (
        (file.old_path or file.path, Side.OLD, hunk.old_start, hunk.old_length),
        (file.path, Side.NEW, hunk.new_start, hunk.new_length),
    )
    for path, side, start, length in sides:
        if length:
            yield LineSpan(path=path, side=side, start=start, end=start + length - 1)
