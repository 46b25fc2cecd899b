"""A change in pieces that a model can take, each a part of one file.

The published method asks about one hunk, and the model it trained saw changes of 10 to 1,000
characters (Naik et al., NAACL 2025, appendix C.3). So a hunk is a piece of its own, small ones of
one file go together up to that size, and files never mix: a claim then stands on known lines of
one file. A hunk that is too long is cut between its lines. The paper cuts each of its three
blocks at 4,000 characters; here nothing goes missing without a note.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.claims.llm import context as surroundings
from crscore.records import ChangedFile, FileStatus, Hunk, LineKind, LineSpan, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crscore.records import Diff, DiffLine

    Count = Callable[[str], int | None]

BUDGET: Final = 8_000
"""Characters of a piece: the published 4,000 of a diff, and as many of its changed lines."""
TOGETHER: Final = 1_000
"""Characters of a diff up to which hunks of one file are asked about together."""
MAX_PIECES: Final = 200
"""Pieces of one diff: a change of 800,000 characters, which costs as much as 200 small ones."""
CONTEXTS: Final = ("hunk", "function")
"""What a model is shown of the code: the diff alone, or the functions around it as well."""

_SIGNS: Final = {LineKind.ADDED: "+", LineKind.REMOVED: "-", LineKind.CONTEXT: " "}
_HEADER: Final = 60
"""Characters that a hunk's header takes beside its section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of one file's change."""

    file: ChangedFile
    """The file, with all of its hunks."""
    hunks: tuple[Hunk, ...]
    """Those that are shown, or parts of them with headers of their own; never empty."""
    around: str = ""
    """The functions around the changed lines, from the new source; may be empty."""

    @property
    def text(self) -> str:
        """The diff, as git prints hunks."""
        return "\n".join(line for hunk in self.hunks for line in _printed(hunk))

    @property
    def removed(self) -> tuple[str, ...]:
        """The removed lines, stripped, blank ones left out."""
        return tuple(_stripped(self.hunks, LineKind.REMOVED))

    @property
    def added(self) -> tuple[str, ...]:
        """The added lines, stripped, blank ones left out."""
        return tuple(_stripped(self.hunks, LineKind.ADDED))

    @property
    def spans(self) -> tuple[LineSpan, ...]:
        """The lines it shows, of either side that has any."""
        return tuple(span for hunk in self.hunks for span in _spans(self.file, hunk))

    def paths(self) -> dict[Side, str]:
        """The file's name on each side."""
        return {Side.OLD: self.file.old_path or self.file.path, Side.NEW: self.file.path}


class Pieces(NamedTuple):
    """A change, taken apart."""

    pieces: tuple[Piece, ...]
    """In the order of the diff."""
    notes: tuple[str, ...]
    """What no piece shows, one sentence each."""


def chunk_diff(
    diff: Diff, budget: int = BUDGET, count: Count | None = None, context: str = "hunk"
) -> Pieces:
    """Cut a change into pieces.

    Args:
        diff: The change.
        budget: Most characters of a piece: its diff, its removed and added lines, and what is
            around them; at least 200. With `count`, as many tokens instead.
        count: Counts the tokens of a text; None as its answer means that it cannot.
        context: One of `CONTEXTS`; `function` needs the new sources.

    Returns:
        The pieces, at most `MAX_PIECES`, and notes on all that they leave out.
    """
    counts = count is not None and count("") is not None
    cutter = _Cutter(max(budget, 200), count if counts else None)
    found: list[Piece] = []
    for file in diff.files:
        found += cutter.pieces(file)
    kept, notes = found[:MAX_PIECES], cutter.notes
    if len(found) > len(kept):
        left = found[MAX_PIECES:]
        paths = len({piece.file.path for piece in left})
        notes.append(
            f"The change has {len(found)} parts and the model is asked about {MAX_PIECES}; "
            f"{len(left)} parts of {paths} {'file' if paths == 1 else 'files'} are left out, "
            f"from `{left[0].file.path}` on."
        )
    if context == "function":
        kept = [cutter.surrounded(piece) for piece in kept]
    return Pieces(tuple(kept), tuple(notes))


class _Cutter:
    """Cuts files, and notes what cannot be shown."""

    def __init__(self, budget: int, count: Count | None) -> None:
        self.budget = budget
        self.count = count
        self.notes: list[str] = []

    def pieces(self, file: ChangedFile) -> Iterator[Piece]:
        if not file.hunks:
            self.notes.append(f"The model is not asked about `{file.path}`: {_why_empty(file)}.")
            return
        group: list[Hunk] = []
        for hunk in file.hunks:
            if self._fits([*group, hunk]) and _length([*group, hunk]) <= TOGETHER:
                group.append(hunk)
                continue
            if group:
                yield Piece(file=file, hunks=tuple(group))
            group = []
            if self._fits([hunk]):
                group.append(hunk)
            else:
                yield from (Piece(file=file, hunks=(part,)) for part in self._cut(file, hunk))
        if group:
            yield Piece(file=file, hunks=tuple(group))

    def surrounded(self, piece: Piece) -> Piece:
        """Add the functions around a piece, where they fit."""
        around = surroundings.functions(piece.file, piece.hunks)
        if not around:
            return piece
        if self._size("\n".join((_shown(piece.hunks), around))) > self.budget:
            where = f"`{piece.file.path}`, line {piece.hunks[0].new_start}"
            self.notes.append(f"The function around {where}, is too long to be shown to the model.")
            return piece
        return replace(piece, around=around)

    def _fits(self, hunks: Sequence[Hunk]) -> bool:
        # Counting tokens is slow, and no token has less than one character in ten.
        shown = _shown(hunks)
        if self.count is not None and len(shown) > 10 * self.budget:
            return False
        return self._size(shown) <= self.budget

    def _size(self, text: str) -> int:
        counted = self.count(text) if self.count is not None else None
        return len(text) if counted is None else counted

    def _cut(self, file: ChangedFile, hunk: Hunk) -> Iterator[Hunk]:
        """Cut one hunk between its lines; what shows nothing but context is left out."""
        room = self.budget * (4 if self.count is not None else 1) - _HEADER - len(hunk.section)
        before = _Before(hunk)
        for start, end in self._ranges(file, hunk, room):
            yield from self._halved(file, before.part(start, end))

    def _ranges(self, file: ChangedFile, hunk: Hunk, room: int) -> Iterator[tuple[int, int]]:
        start, used = 0, 0
        for at, line in enumerate(hunk.lines):
            cost = _cost(line)
            if cost > room:
                self._too_long(file, line)
                yield start, at
                start, used = at + 1, 0
            elif used + cost > room:
                cut = _best_cut(hunk.lines, start, at)
                yield start, cut
                start, used = cut, sum(map(_cost, hunk.lines[cut:at])) + cost
            else:
                used += cost
        yield start, len(hunk.lines)

    def _halved(self, file: ChangedFile, part: Hunk) -> Iterator[Hunk]:
        """Halve a part until it fits: a count of characters does not tell the tokens."""
        if all(line.kind is LineKind.CONTEXT for line in part.lines):
            return
        if self._fits([part]):
            yield part
        elif len(part.lines) == 1:
            self._too_long(file, part.lines[0])
        else:
            before, middle = _Before(part), len(part.lines) // 2
            yield from self._halved(file, before.part(0, middle))
            yield from self._halved(file, before.part(middle, len(part.lines)))

    def _too_long(self, file: ChangedFile, line: DiffLine) -> None:
        if line.kind is LineKind.CONTEXT:
            return
        number, side = (line.old, "old") if line.new is None else (line.new, "new")
        self.notes.append(
            f"Line {number} of the {side} `{file.path}` has {len(line.text)} characters, "
            "too many to be shown to the model."
        )


def _why_empty(file: ChangedFile) -> str:
    if file.is_binary:
        return "it is binary"
    if file.is_missing:
        return "what changed in it is not known"
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
    """Characters of the diff alone."""
    return sum(len(line) + 1 for hunk in hunks for line in _printed(hunk))


def _shown(hunks: Sequence[Hunk]) -> str:
    """All that a model is shown of hunks."""
    lines = [line for hunk in hunks for line in _printed(hunk)]
    changed = (*_stripped(hunks, LineKind.REMOVED), *_stripped(hunks, LineKind.ADDED))
    return "\n".join((*lines, *changed))


def _cost(line: DiffLine) -> int:
    again = 0 if line.kind is LineKind.CONTEXT else len(line.text.strip()) + 1
    return len(line.text) + 2 + again


def _best_cut(lines: Sequence[DiffLine], start: int, end: int) -> int:
    """Where to end a part: where a run of changed lines begins, if that is not too early."""
    earliest = start + (end - start) // 2
    for at in range(end, max(earliest, start + 1) - 1, -1):
        if lines[at - 1].kind is LineKind.CONTEXT and lines[at].kind is not LineKind.CONTEXT:
            return at
    return end


class _Before:
    """Counts the lines of each side before every line of a hunk."""

    def __init__(self, hunk: Hunk) -> None:
        self._hunk = hunk
        kinds = [line.kind for line in hunk.lines]
        self._old = [0, *accumulate(kind is not LineKind.ADDED for kind in kinds)]
        self._new = [0, *accumulate(kind is not LineKind.REMOVED for kind in kinds)]

    def part(self, start: int, end: int) -> Hunk:
        """Some lines of the hunk, as a hunk with the right header."""
        hunk = self._hunk
        old_length = self._old[end] - self._old[start]
        new_length = self._new[end] - self._new[start]
        old = hunk.old_start + (hunk.old_length == 0) + self._old[start]
        new = hunk.new_start + (hunk.new_length == 0) + self._new[start]
        return replace(
            hunk,
            # A side without lines is named by the line before it.
            old_start=old - (old_length == 0),
            old_length=old_length,
            new_start=new - (new_length == 0),
            new_length=new_length,
            lines=hunk.lines[start:end],
        )


def _spans(file: ChangedFile, hunk: Hunk) -> Iterator[LineSpan]:
    sides = (
        (file.old_path or file.path, Side.OLD, hunk.old_start, hunk.old_length),
        (file.path, Side.NEW, hunk.new_start, hunk.new_length),
    )
    for path, side, start, length in sides:
        if length:
            yield LineSpan(path=path, side=side, start=start, end=start + length - 1)
