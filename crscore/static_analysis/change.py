"""Selects the findings that belong to the change.

A finding counts when it is on a changed line of the new file. Findings that the old file already
had, at least as severe, predate the change.
"""

import bisect
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence

from msgspec.structs import replace

from crscore.records import SEVERITIES, ChangedFile, Finding, LineKind
from crscore.syntax.change import runs_of

# "63", "2.5"; not the 2 of "x2"
_NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b")


def classify(
    file: ChangedFile, new: Sequence[Finding], old: Sequence[Finding] | None
) -> tuple[Finding, ...]:
    """Mark the findings on changed lines, and the findings that the old file already had.

    Args:
        file: The changed file.
        new: Findings in its new version.
        old: Findings in its old version; None if it was not analyzed.

    Returns:
        The new findings with `in_change` and `pre_existing` set, each at the first changed line
        that it covers.
    """
    changed = sorted(added_lines(file))
    marked: list[Finding] = []
    for finding in new:
        first = bisect.bisect_left(changed, finding.line)
        stop = bisect.bisect_right(changed, finding.end_line)
        # Line 0 is a finding on the whole file.
        is_in_change = finding.line >= 1 and first < stop
        line, end_line = finding.line, finding.end_line
        # A block may start above the change.
        if is_in_change and changed[first] != line:
            line, end_line = changed[first], changed[stop - 1]
        marked.append(replace(finding, in_change=is_in_change, line=line, end_line=end_line))
    if old is None:
        return tuple(marked)
    rank = SEVERITIES.index  # 0 is the worst
    return tuple(
        replace(finding, pre_existing=rank(finding.severity) >= rank(before.severity))
        if before
        else finding
        for finding, before in zip(marked, find_continued(file, new, old), strict=True)
    )


def added_lines(file: ChangedFile) -> frozenset[int]:
    """Return the line numbers in the new file of the lines that the change adds."""
    return frozenset(line.new for line in file.lines(LineKind.ADDED) if line.new is not None)


def find_continued(
    file: ChangedFile, new: Sequence[Finding], old: Sequence[Finding]
) -> list[Finding | None]:
    """Pair each new finding with the old finding that it continues, which is used only once.

    On an unchanged line, an old finding continues if the new one has the same rule; on a line that
    replaced another, the message must be the same, too. The same message elsewhere is another
    defect.

    Args:
        file: The changed file.
        new: Findings in its new version.
        old: Findings in its old version.

    Returns:
        For each new finding, the old one, or None.
    """
    removed, added = _replaced_lines(file)
    old_line_of = old_lines(file)
    unused: dict[Hashable, list[Finding]] = defaultdict(list)
    # The findings are reversed, so that `pop` takes the first one.
    for finding in reversed(old):
        unused[_key(finding, removed, finding.line)].append(finding)
    candidates = (unused[_key(finding, added, old_line_of(finding.line))] for finding in new)
    return [findings.pop() if findings else None for findings in candidates]


def _key(finding: Finding, edits: Mapping[int, Hashable], old_line: int) -> Hashable:
    """Return a value that both versions of a finding share."""
    edit = edits.get(finding.line)
    # The key has the number of the line, not its words: if a bad line is copied above itself, the
    # copy is new.
    if edit is None and finding.line > 0:
        return finding.rule, old_line
    # The key has the message without numbers outside of names, because a function may have grown.
    parts = finding.text.split("`")
    parts[::2] = [_NUMBER.sub("", part) for part in parts[::2]]
    return finding.rule, edit, "`".join(parts)


def _replaced_lines(file: ChangedFile) -> tuple[dict[int, Hashable], dict[int, Hashable]]:
    """Return the edits of the removed and of the added lines, by line number."""
    removed: dict[int, Hashable] = {}
    added: dict[int, Hashable] = {}
    for number, changed in enumerate(runs_of(file)):
        old = [line.old for line in changed if line.old]
        new = [line.new for line in changed if line.new]
        # If as many lines were added as removed, each added line replaces one removed line.
        is_one_by_one = len(old) == len(new)
        for numbers, edits in ((old, removed), (new, added)):
            for index, line_number in enumerate(numbers):
                edits[line_number] = (number, index if is_one_by_one else None)
    return removed, added


def old_lines(file: ChangedFile) -> Callable[[int], int]:
    """Return a function from the number of an unchanged line to its number in the old file."""
    inside = {line.new: line.old for line in file.lines() if line.new and line.old}
    ends, offsets = [], []
    for hunk in file.hunks:
        # The first line after the hunk. An empty side has the number of the line before it.
        old_end = hunk.old_start + (hunk.old_length or 1)
        new_end = hunk.new_start + (hunk.new_length or 1)
        ends.append(new_end)
        offsets.append(old_end - new_end)

    def old_line(line: int) -> int:
        index = bisect.bisect_right(ends, line) - 1
        return inside.get(line, line + (offsets[index] if index >= 0 else 0))

    return old_line
