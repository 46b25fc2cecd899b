"""Marks the findings that belong to a change.

A finding belongs to the change if it is on an added line. It does not count if the old version of
the file already had this finding, with at least the same severity.
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


def classify_findings(
    file: ChangedFile, new: Sequence[Finding], old: Sequence[Finding] | None
) -> tuple[Finding, ...]:
    """Mark the findings on added lines, and the findings that the old version already had.

    Args:
        file: The changed file.
        new: Findings in the new version of the file.
        old: Findings in the old version; None if the old version was not analyzed.

    Returns:
        The findings in the new version with `in_change` and `pre_existing` set. A finding in the
        change that begins above an added line is moved to the range of added lines that it covers.
    """
    changed = sorted(added_lines(file))
    marked: list[Finding] = []
    for finding in new:
        first = bisect.bisect_left(changed, finding.line)
        stop = bisect.bisect_right(changed, finding.end_line)
        # A finding about the whole file is on line 0.
        is_in_change = finding.line >= 1 and first < stop
        line, end_line = finding.line, finding.end_line
        # If a finding about a block begins above the change, it is moved to the added lines.
        if is_in_change and changed[first] != line:
            line, end_line = changed[first], changed[stop - 1]
        marked.append(replace(finding, in_change=is_in_change, line=line, end_line=end_line))
    if old is None:
        return tuple(marked)
    rank = SEVERITIES.index  # 0 is the highest severity
    return tuple(
        replace(finding, pre_existing=rank(finding.severity) >= rank(before.severity))
        if before
        else finding
        for finding, before in zip(marked, find_earlier(file, new, old), strict=True)
    )


def added_lines(file: ChangedFile) -> frozenset[int]:
    """Return the numbers of the lines that the change adds, in the new version."""
    return frozenset(line.new for line in file.lines(LineKind.ADDED) if line.new is not None)


def find_earlier(
    file: ChangedFile, new: Sequence[Finding], old: Sequence[Finding]
) -> list[Finding | None]:
    """Find the findings in the old version that are the same as findings in the new version.

    On an unchanged line, two findings are the same if they have the same rule. On a line that
    replaced another line, they must also have the same message. A finding with the same message on
    a line elsewhere is another defect.

    Args:
        file: The changed file.
        new: Findings in the new version.
        old: Findings in the old version; each is returned at most once.

    Returns:
        For each finding in the new version, the same finding in the old version or, if there is
        none, None.
    """
    removed, added = _find_edits(file)
    old_line_of = old_lines(file)
    unused: dict[Hashable, list[Finding]] = defaultdict(list)
    # The findings are reversed, so that `pop` takes the first one.
    for finding in reversed(old):
        unused[_make_key(finding, removed, finding.line)].append(finding)
    candidates = (unused[_make_key(finding, added, old_line_of(finding.line))] for finding in new)
    return [findings.pop() if findings else None for findings in candidates]


def _make_key(finding: Finding, edits: Mapping[int, Hashable], old_line: int) -> Hashable:
    """Return a value that is equal for the same finding in both versions."""
    edit = edits.get(finding.line)
    # The number of the line is compared and not its text, because a copy of a bad line is a new
    # defect.
    if edit is None and finding.line > 0:
        return finding.rule, old_line
    # Numbers outside of names are left out of the message, such as the length of a function,
    # because they may have changed.
    parts = finding.text.split("`")
    parts[::2] = [_NUMBER.sub("", part) for part in parts[::2]]
    return finding.rule, edit, "`".join(parts)


def _find_edits(file: ChangedFile) -> tuple[dict[int, Hashable], dict[int, Hashable]]:
    """Return two mappings, for removed and added lines: number of a line -> id of its edit.

    A removed line and the added line that replaced it have the same id.
    """
    removed: dict[int, Hashable] = {}
    added: dict[int, Hashable] = {}
    for number, changed in enumerate(runs_of(file)):
        old = [line.old for line in changed if line.old]
        new = [line.new for line in changed if line.new]
        # If as many lines were added as removed, each added line replaces one removed line;
        # otherwise all added lines replace all removed lines.
        is_one_by_one = len(old) == len(new)
        for numbers, edits in ((old, removed), (new, added)):
            for index, line_number in enumerate(numbers):
                edits[line_number] = (number, index if is_one_by_one else None)
    return removed, added


def old_lines(file: ChangedFile) -> Callable[[int], int]:
    """Return a function that maps the new number of an unchanged line to its old number."""
    in_hunks = {line.new: line.old for line in file.lines() if line.new and line.old}
    ends, offsets = [], []
    for hunk in file.hunks:
        # The number of the first line after the hunk. If a hunk has no lines on a side, its start
        # there is the number of the line before.
        old_end = hunk.old_start + (hunk.old_length or 1)
        new_end = hunk.new_start + (hunk.new_length or 1)
        ends.append(new_end)
        offsets.append(old_end - new_end)

    def old_line(line: int) -> int:
        index = bisect.bisect_right(ends, line) - 1
        return in_hunks.get(line, line + (offsets[index] if index >= 0 else 0))

    return old_line
