"""What tools outside of this run found: SARIF files of a team's own CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.analysis import change, sarif
from crscore.findings import Finding, Severity, ToolRun, ToolState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.analysis.reports import RawFinding, RawReport
    from crscore.records import Diff

UNKNOWN = "sarif"
"""Name of a tool that a file does not name."""
UNCHANGED = "unchanged"
"""SARIF's word for what was there before."""
_LEVELS = {"error": Severity.ERROR, "note": Severity.NOTE, "none": Severity.NOTE}


def runs(
    reports: Sequence[RawReport], diff: Diff
) -> tuple[tuple[ToolRun, tuple[Finding, ...]], ...]:
    """Find what SARIF files say of a change.

    Args:
        reports: The files' runs.
        diff: The change.

    Returns:
        For each run what became of it and its findings in the changed files; suppressed ones
        are left out.
    """
    by_path = {file.path: file for file in diff.files}
    found = []
    for report in reports:
        name = report.tool or UNKNOWN
        mine: dict[str, list[Finding]] = {}
        for raw in report.findings:
            path = None if raw.suppressed else sarif.match_path(raw.path, by_path)
            if path is not None:
                mine.setdefault(path, []).append(_finding(raw, name, path))
        unread = {sarif.match_path(path, by_path) for path in report.unparsed} - {None}
        run = ToolRun(
            tool=name,
            version=report.version,
            state=ToolState.RAN,
            files=len(mine),
            unread=tuple(sorted(path for path in unread if path)),
        )
        marked = [
            one
            for path, findings in mine.items()
            for one in change.classify(by_path[path], findings, None, sources=None)
        ]
        found.append((run, tuple(marked)))
    return tuple(found)


def _finding(raw: RawFinding, tool: str, path: str) -> Finding:
    return Finding(
        tool=tool,
        rule=raw.rule,
        path=path,
        line=raw.line,
        end_line=raw.end_line,
        message=raw.message,
        text=sarif.shorten(raw.message),
        severity=_LEVELS.get(raw.level or "", Severity.WARNING),
        pre_existing=raw.baseline == UNCHANGED,
    )
