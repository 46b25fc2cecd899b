"""Which findings belong to the change.

A finding counts when it stands on a changed line of the new file. What the old file already had
on the same code is older than the change. The published filter, which compares the text of
lines, is kept for reproducing published numbers only.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from crscore.records import LineKind, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from crscore.findings import Finding
    from crscore.records import ChangedFile

    Key = Callable[[Finding], Hashable]

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def classify(
    file: ChangedFile,
    new: Sequence[Finding],
    old: Sequence[Finding] | None,
    *,
    sources: tuple[Sequence[str], Sequence[str]] | None,
) -> tuple[Finding, ...]:
    """Mark what stands on changed lines, and what the old file already had.

    Args:
        file: The changed file.
        new: Findings in its new version.
        old: Findings in its old version; None when nobody looked.
        sources: The lines of the old and of the new version; None when they are not known.

    Returns:
        The new findings, `in_change` and `pre_existing` set, each at the first changed line
        that it covers.
    """
    changed = sorted(added_lines(file))
    marked = [_place(finding, changed) for finding in new]
    if old is None or sources is None:
        return tuple(marked)
    older = _older(file, new, old, sources)
    return tuple(
        replace(finding, pre_existing=is_old) for finding, is_old in zip(marked, older, strict=True)
    )


def added_lines(file: ChangedFile) -> frozenset[int]:
    """Number the lines that the change adds, as the new file counts them."""
    return frozenset(
        line.new
        for hunk in file.hunks
        for line in hunk.lines
        if line.kind is LineKind.ADDED and line.new is not None
    )


def _place(finding: Finding, changed: Sequence[int]) -> Finding:
    """A block that grew too long is in the change although its first line is not."""
    first = bisect.bisect_left(changed, finding.line)
    behind = bisect.bisect_right(changed, finding.end_line)
    if finding.line < 1 or first >= behind:
        return finding
    if changed[first] == finding.line:
        return replace(finding, in_change=True)
    return replace(finding, in_change=True, line=changed[first], end_line=changed[behind - 1])


def _older(
    file: ChangedFile,
    new: Sequence[Finding],
    old: Sequence[Finding],
    sources: tuple[Sequence[str], Sequence[str]],
) -> list[bool]:
    """Pair each new finding with one of the old file that it continues, each used once.

    On the same line first. Then on the same code with the same neighbour, as in a block that was
    moved, or in the same hunk, as in one that was indented. Last in the same hunk and in the same
    words but for the numbers: a function that was too long before is no news when its first line
    changes. The same words elsewhere are another defect.
    """
    before, after = _Version(file, Side.OLD, sources[0]), _Version(file, Side.NEW, sources[1])
    moves = _Moves(file)
    passes: list[tuple[Key, Key]] = [(lambda one: moves.before(one.line), lambda one: one.line)]
    passes += [
        (functools.partial(key, after), functools.partial(key, before))
        for key in (_Version.with_line_before, _Version.with_line_behind, _Version.code_in_hunk)
    ]
    passes.append((after.words_in_hunk, before.words_in_hunk))
    older = [False] * len(new)
    used = [False] * len(old)
    for new_key, old_key in passes:
        waiting: dict[tuple[str, Hashable], list[int]] = defaultdict(list)
        for index, finding in reversed(list(enumerate(old))):
            if not used[index]:
                waiting[finding.rule, old_key(finding)].append(index)
        for index, finding in enumerate(new):
            key = (finding.rule, new_key(finding))
            if not older[index] and key[1] and waiting[key]:
                used[waiting[key].pop()] = older[index] = True
    return older


class _Version:
    """One version of a file: what stands around a finding, in terms that both versions share."""

    def __init__(self, file: ChangedFile, side: Side, lines: Sequence[str]) -> None:
        self.lines = lines
        is_old = side is Side.OLD
        self.starts = [hunk.old_start if is_old else hunk.new_start for hunk in file.hunks]
        self.lengths = [hunk.old_length if is_old else hunk.new_length for hunk in file.hunks]

    def with_line_before(self, one: Finding) -> Hashable:
        return self._neighbours(one.line, -1)

    def with_line_behind(self, one: Finding) -> Hashable:
        return self._neighbours(one.line, 1)

    def code_in_hunk(self, one: Finding) -> Hashable:
        hunk, code = self._hunk(one.line), self._code(one.line)
        return (hunk, code) if code and hunk is not None else None

    def words_in_hunk(self, one: Finding) -> Hashable:
        hunk = self._hunk(one.line)
        # What is said of the file as a whole stays in the file.
        if one.line > 0 and hunk is None:
            return None
        return hunk, _NUMBER.sub("", one.text)

    def _neighbours(self, line: int, step: int) -> Hashable:
        code = self._code(line)
        line += step
        while 0 < line <= len(self.lines) and not self._code(line):
            line += step
        other = self._code(line)
        return (code, other) if code and other else None

    def _code(self, line: int) -> str:
        return " ".join(self.lines[line - 1].split()) if 0 < line <= len(self.lines) else ""

    def _hunk(self, line: int) -> int | None:
        index = bisect.bisect_right(self.starts, line) - 1
        if index < 0 or line >= self.starts[index] + self.lengths[index]:
            return None
        return index


class _Moves:
    """Where the unchanged lines of the new file stood in the old one."""

    def __init__(self, file: ChangedFile) -> None:
        self.inside = {line.new: line.old for hunk in file.hunks for line in hunk.lines if line.new}
        # The first line behind each hunk, and by how much the old file counts it otherwise. An
        # empty side names the line before it.
        self.behind = [
            (
                hunk.new_start + (hunk.new_length or 1),
                hunk.old_start + (hunk.old_length or 1) - hunk.new_start - (hunk.new_length or 1),
            )
            for hunk in file.hunks
        ]
        self.starts = [start for start, _ in self.behind]

    def before(self, line: int) -> int | None:
        """Count a line as the old file does; None for an added one."""
        if line in self.inside:
            return self.inside[line]
        index = bisect.bisect_right(self.starts, line) - 1
        return line + (self.behind[index][1] if index >= 0 else 0)


def same_text(
    file: ChangedFile, findings: Iterable[Finding], new: Sequence[str]
) -> tuple[Finding, ...]:
    """Keep what the published filter keeps, for reproducing its numbers.

    A finding is kept when the text of its line equals the text of any added or removed line;
    line -1, a finding on the file as a whole, reads the last line but one, as the reference code
    happens to do.

    Source:
        Naik et al., NAACL 2025, appendix on code smells, and the reference code's filter.
    """
    texts = {
        line.text.strip()
        for hunk in file.hunks
        for line in hunk.lines
        if line.kind is not LineKind.CONTEXT
    }
    return tuple(
        replace(finding, in_change=_published_line(new, finding.line) in texts)
        for finding in findings
    )


def _published_line(lines: Sequence[str], line: int) -> str | None:
    index = line - 1 if line > 0 else -2
    try:
        return lines[index].strip()
    except IndexError:
        return None
