"""Which findings belong to the change.

A finding counts when it stands on a changed line of the new file. What the old file already had
on the same code is older than the change. The published filter, which compares the text of
lines, is kept for reproducing published numbers only.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from crscore.records import LineKind

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
    changed = added_lines(file)
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


def _place(finding: Finding, changed: frozenset[int]) -> Finding:
    """A block that grew too long is in the change although its first line is not."""
    inside = sorted(line for line in changed if finding.line <= line <= finding.end_line)
    if not inside:
        return finding
    if finding.line in changed:
        return replace(finding, in_change=True)
    return replace(finding, in_change=True, line=inside[0], end_line=inside[-1])


def _older(
    file: ChangedFile,
    new: Sequence[Finding],
    old: Sequence[Finding],
    sources: tuple[Sequence[str], Sequence[str]],
) -> list[bool]:
    """Pair each new finding with one of the old file that it continues, each used once.

    On the same line first, then on the same code, then in the same words but for the numbers:
    a function that was too long before is no news when its first line changes.
    """
    moves = _Moves(file)
    passes: tuple[tuple[Key, Key], ...] = (
        (lambda one: moves.before(one.line), lambda one: one.line),
        (lambda one: _code(sources[1], one.line), lambda one: _code(sources[0], one.line)),
        (lambda one: _NUMBER.sub("", one.text), lambda one: _NUMBER.sub("", one.text)),
    )
    older = [False] * len(new)
    free = list(old)
    for new_key, old_key in passes:
        waiting: dict[tuple[str, Hashable], list[Finding]] = defaultdict(list)
        for finding in free:
            waiting[finding.rule, old_key(finding)].append(finding)
        for index, finding in enumerate(new):
            key = (finding.rule, new_key(finding))
            if not older[index] and key[1] and waiting[key]:
                free.remove(waiting[key].pop())
                older[index] = True
    return older


def _code(lines: Sequence[str], line: int) -> str:
    return " ".join(lines[line - 1].split()) if 0 < line <= len(lines) else ""


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

    def before(self, line: int) -> int | None:
        """Count a line as the old file does; None for an added one."""
        if line in self.inside:
            return self.inside[line]
        shifts = [difference for start, difference in self.behind if line >= start]
        return line + (shifts[-1] if shifts else 0)


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
