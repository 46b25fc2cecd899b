"""Selection of the findings that belong to the change.

A finding counts when it is on a changed line of the new file. Findings that the old file already
had, at least as severe, predate the change.
"""

import bisect
from collections.abc import Sequence
from dataclasses import replace

from crscore.records import SEVERITIES, ChangedFile, Finding, LineKind
from crscore.static_analysis.preexisting import find_continued


def classify(
    file: ChangedFile,
    new: Sequence[Finding],
    old: Sequence[Finding] | None,
    *,
    sources: tuple[Sequence[str], Sequence[str]] | None,
) -> tuple[Finding, ...]:
    """Mark the findings on changed lines, and those that the old file already had.

    Args:
        file: The changed file.
        new: Findings in its new version.
        old: Findings in its old version; None when it was not analysed.
        sources: Lines of the old and of the new version; None when unknown.

    Returns:
        The new findings with `in_change` and `pre_existing` set, each at the first changed line
        that it covers.
    """
    changed = sorted(added_lines(file))
    marked = [_place(finding, changed) for finding in new]
    if old is None or sources is None:
        return tuple(marked)
    continued = find_continued(file, new, old, sources)
    return tuple(
        replace(finding, pre_existing=before is not None and not _is_worse(finding, before))
        for finding, before in zip(marked, continued, strict=True)
    )


def _is_worse(finding: Finding, old_finding: Finding) -> bool:
    # The severities are listed from the worst on.
    return SEVERITIES.index(finding.severity) < SEVERITIES.index(old_finding.severity)


def added_lines(file: ChangedFile) -> frozenset[int]:
    """Return the line numbers in the new file of the lines that the change adds."""
    return frozenset(line.new for line in file.lines(LineKind.ADDED) if line.new is not None)


def _place(finding: Finding, changed: Sequence[int]) -> Finding:
    """Move a finding to its first changed line: a block may start above the change."""
    first = bisect.bisect_left(changed, finding.line)
    stop = bisect.bisect_right(changed, finding.end_line)
    # Line 0 is a finding on the whole file.
    if finding.line < 1 or first >= stop:
        return finding
    if changed[first] == finding.line:
        return replace(finding, in_change=True)
    return replace(finding, in_change=True, line=changed[first], end_line=changed[stop - 1])
