"""Findings of the new file that continue a finding of the old one."""

from __future__ import annotations

import bisect
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from crscore.records import ChangedFile, DiffLine, Finding, LineKind, Side

Key = Callable[["_Version", Finding], Hashable]

# An unchanged line of brackets alone does not separate two edits: a differ aligns any two of them.
_WORD_CHARACTER = re.compile(r"\w")
_NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b")


def find_continued(
    file: ChangedFile,
    new: Sequence[Finding],
    old: Sequence[Finding],
    sources: tuple[Sequence[str], Sequence[str]],
) -> list[Finding | None]:
    """Pair each new finding with the old finding that it continues; each is used once.

    A finding continues where its line is unchanged, was indented or moved within a run of edits, or
    was replaced by another with the same message. The same code or message elsewhere is another
    defect.

    Args:
        file: The changed file.
        new: Findings in its new version.
        old: Findings in its old version.
        sources: The lines of the old and of the new version.

    Returns:
        For each new finding, the old one or None.
    """
    edits = _edits(file)
    before = _Version(sources[0], edits[Side.OLD], None)
    after = _Version(sources[1], edits[Side.NEW], Moves(file))
    matches: list[Finding | None] = [None] * len(new)
    is_used = [False] * len(old)
    for key_of in _PASSES:
        waiting: dict[tuple[str, Hashable], list[int]] = defaultdict(list)
        # Reversed, so that `pop` takes the first one.
        for index, finding in reversed(list(enumerate(old))):
            if not is_used[index]:
                waiting[finding.rule, key_of(before, finding)].append(index)
        for index, finding in enumerate(new):
            key = (finding.rule, key_of(after, finding))
            if matches[index] is None and key[1] is not None and waiting[key]:
                match = waiting[key].pop()
                matches[index], is_used[match] = old[match], True
    return matches


class _Edit(NamedTuple):
    """Position of an added or a removed line among the edits."""

    segment: int
    """Number of its segment; unchanged code separates segments."""
    pair: tuple[int, int] | None
    """Identity of the line of the other version that it replaces, where lines were replaced one by
    one."""


def _is_context(line: DiffLine) -> bool:
    return line.kind is LineKind.CONTEXT


def _edits(file: ChangedFile) -> dict[Side, dict[int, _Edit]]:
    edits: dict[Side, dict[int, _Edit]] = {Side.OLD: {}, Side.NEW: {}}
    segment = run = 0
    for hunk in file.hunks:
        segment += 1
        for unchanged, group in itertools.groupby(hunk.lines, _is_context):
            lines = list(group)
            if unchanged:
                segment += any(_WORD_CHARACTER.search(line.text) for line in lines)
                continue
            run += 1
            removed = [line.old for line in lines if line.old]
            added = [line.new for line in lines if line.new]
            # As many lines were added as removed: each is taken for the successor of one.
            is_one_by_one = len(removed) == len(added)
            for side, line_numbers in ((Side.OLD, removed), (Side.NEW, added)):
                for index, line_number in enumerate(line_numbers):
                    pair = (run, index) if is_one_by_one else None
                    edits[side][line_number] = _Edit(segment, pair)
    return edits


class _Version(NamedTuple):
    """Version of a file, with keys for the surroundings of a finding that both versions share.

    Each key is None where it does not apply.
    """

    lines: Sequence[str]
    edits: Mapping[int, _Edit]
    moves: Moves | None

    def unchanged(self, finding: Finding) -> Hashable:
        """Return the line number in the old version; for the whole file, the message."""
        if finding.line < 1:
            return _without_measures(finding)
        if finding.line in self.edits:
            return None
        return finding.line if self.moves is None else self.moves.before(finding.line)

    def indented(self, finding: Finding) -> Hashable:
        """Return the code, where both versions of it are in one segment."""
        edit = self.edits.get(finding.line)
        return (edit.segment, " ".join(self.lines[finding.line - 1].split())) if edit else None

    def replaced(self, finding: Finding) -> Hashable:
        """Return the message, where a line replaced another."""
        edit = self.edits.get(finding.line)
        return (edit.pair, _without_measures(finding)) if edit and edit.pair else None


# The most certain evidence first, as each old finding is used once.
_PASSES: tuple[Key, ...] = (_Version.unchanged, _Version.indented, _Version.replaced)


def _without_measures(finding: Finding) -> str:
    """Return the message without numbers, except those in names."""
    parts = finding.text.split("`")
    parts[::2] = [_NUMBER.sub("", part) for part in parts[::2]]
    return "`".join(parts)


class Moves:
    """Mapping from the unchanged lines of the new file to the old one."""

    def __init__(self, file: ChangedFile) -> None:
        self.inside = {line.new: line.old for line in file.lines() if line.new}
        # The first line after each hunk, and its offset in the old file. An empty side has the
        # number of the line before it.
        self.after_hunks = [
            (
                hunk.new_start + (hunk.new_length or 1),
                hunk.old_start + (hunk.old_length or 1) - hunk.new_start - (hunk.new_length or 1),
            )
            for hunk in file.hunks
        ]
        self.starts = [start for start, _ in self.after_hunks]

    def before(self, line: int) -> int | None:
        """Return the line number in the old file; None for an added line."""
        if line in self.inside:
            return self.inside[line]
        index = bisect.bisect_right(self.starts, line) - 1
        return line + (self.after_hunks[index][1] if index >= 0 else 0)
