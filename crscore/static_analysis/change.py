"""The findings that belong to the change.

A finding counts when it stands on a changed line of the new file. What the old file already had,
no less bad, is older than the change. The published filter, which compares the text of lines, is
kept for reproducing published numbers only.
"""

from __future__ import annotations

import bisect
from dataclasses import replace
from typing import TYPE_CHECKING

from crscore.records import SEVERITIES, LineKind
from crscore.static_analysis.preexisting import find_continued

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crscore.records import ChangedFile, Finding


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
    return tuple(
        replace(finding, pre_existing=was is not None and not _is_worse(finding, was))
        for finding, was in zip(marked, find_continued(file, new, old, sources), strict=True)
    )


def _is_worse(finding: Finding, was: Finding) -> bool:
    return SEVERITIES.index(finding.severity) < SEVERITIES.index(was.severity)


def added_lines(file: ChangedFile) -> frozenset[int]:
    """Number the lines that the change adds, as the new file counts them."""
    return frozenset(line.new for line in file.lines(LineKind.ADDED) if line.new is not None)


def _place(finding: Finding, changed: Sequence[int]) -> Finding:
    """A block that grew too long is in the change although its first line is not."""
    first = bisect.bisect_left(changed, finding.line)
    behind = bisect.bisect_right(changed, finding.end_line)
    if finding.line < 1 or first >= behind:
        return finding
    if changed[first] == finding.line:
        return replace(finding, in_change=True)
    return replace(finding, in_change=True, line=changed[first], end_line=changed[behind - 1])


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
    texts = {line.text.strip() for line in file.lines(LineKind.ADDED, LineKind.REMOVED)}
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
