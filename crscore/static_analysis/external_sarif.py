"""What tools outside of this run found: SARIF files of a team's own CI."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import msgspec

from crscore.records import Finding, Severity, ToolRun, ToolState
from crscore.static_analysis import change, sarif
from crscore.static_analysis.reports import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.records import Diff
    from crscore.static_analysis.reports import RawFinding, RawReport

UNKNOWN = "sarif"
"""Name of a tool that a file does not name."""
UNCHANGED = "unchanged"
"""SARIF's word for what was there before."""
# How tools say in a result that they could not read a file: ruff, oxlint, Biome, flake8, pylint.
_UNREAD = re.compile(
    r"invalid-syntax|syntax-error|OXL0001|parse|E999|E0001|fatal|.*(?:^|[/.-])pars(?:e|ing)-?error",
    re.IGNORECASE,
)
# A name goes into the signature, where a comma parts tools.
_UNSAFE = re.compile(r"[^\w.+ -]")
MAX_NAME = 60
"""Characters kept of a tool's name or version."""
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
    for report in map(clean, reports):
        name = _UNSAFE.sub("_", report.tool or UNKNOWN)[:MAX_NAME]
        # All paths of a report together: whether one fits depends on the others' common root.
        named = [*(raw.path for raw in report.findings), *report.unparsed]
        paths = sarif.match_paths(named, by_path)
        mine: dict[str, list[Finding]] = {}
        unread = {paths[path] for path in report.unparsed if path in paths}
        for raw in report.findings:
            path = paths.get(raw.path)
            if path is None or raw.suppressed or not raw.message.strip():
                continue
            if _UNREAD.fullmatch(raw.rule):
                unread.add(path)
            else:
                mine.setdefault(path, []).append(_finding(raw, name, path))
        run = ToolRun(
            tool=name,
            version=_named(report),
            state=ToolState.RAN,
            files=len(mine),
            unread=tuple(sorted(unread)),
        )
        marked = [
            one
            for path, findings in mine.items()
            for one in change.classify(by_path[path], findings, None, sources=None)
        ]
        found.append((run, tuple(marked)))
    return tuple(found)


def _named(report: RawReport) -> str:
    """Version and content: two files of one version are two sources of issues."""
    digest = hashlib.sha256(msgspec.json.encode(report)).hexdigest()[:8]
    version = _UNSAFE.sub("_", report.version or "")[:MAX_NAME]
    return f"{version}-{digest}" if version else digest


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
