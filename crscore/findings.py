"""What static analysis says of a change. Part of the records, in a room of its own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Severity(StrEnum):
    """How much a finding matters, as SARIF names it."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


SEVERITIES = tuple(Severity)
"""Worst first."""


class ToolState(StrEnum):
    """What became of a tool in a run."""

    RAN = "ran"
    MISSING = "missing"
    UNSUPPORTED = "unsupported version"
    FAILED = "failed"
    ABSTAINED = "abstained"


class Coverage(StrEnum):
    """How much of what should have been analysed was."""

    NONE = "none"
    PARTIAL = "partial"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that one tool says of the code."""

    tool: str
    """The tool's name."""
    rule: str
    """The tool's id of the rule; "" when it gave none."""
    path: str
    """Path in the diff."""
    line: int
    """First line, 1-based, in the new file; 0 for the file as a whole."""
    end_line: int
    """Last line, inclusive; equal to `line` when the tool names one."""
    message: str
    """The tool's own words."""
    text: str
    """One English sentence, as a reviewer would say it."""
    severity: Severity
    """How much it matters."""
    in_change: bool = False
    """True when it stands on a changed line."""
    pre_existing: bool = False
    """True when the old file had it on the same code."""
    is_style: bool = False
    """True for a matter of taste, which does not count."""
    counted: bool = False
    """True when it is a pseudo-reference, alone or as one with another tool's finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """What one tool did for one change."""

    tool: str
    """The tool's name."""
    version: str | None
    """Its version; None when it is not installed or does not say."""
    state: ToolState
    """What became of it."""
    reason: str = ""
    """Why, when it did not simply read whole files: one clause."""
    files: int = 0
    """Files of the change that it read."""
    unread: tuple[str, ...] = ()
    """Files of the change that it should have read and could not."""

    @property
    def whole(self) -> bool:
        """True when it read all that it should have read, whole."""
        return self.state is ToolState.RAN and not self.unread and not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What all tools say of one change."""

    findings: tuple[Finding, ...] = ()
    """By path, line, tool, rule and text."""
    tools: tuple[ToolRun, ...] = ()
    """The tools that have something to say on the change's files, by name."""
    notes: tuple[str, ...] = ()
    """What was left out, one sentence each."""

    @property
    def coverage(self) -> Coverage:
        """`none` without tools that concern the change, `complete` when each read its files."""
        if not self.tools:
            return Coverage.NONE
        return Coverage.COMPLETE if all(run.whole for run in self.tools) else Coverage.PARTIAL

    @property
    def identity(self) -> str:
        """Names the tools with their versions, for the signature.

        Example:
            >>> Analysis().identity
            'none'
            >>> ruff = ToolRun(tool="ruff", version="0.17.6", state=ToolState.RAN, files=1)
            >>> pmd = ToolRun(tool="pmd", version=None, state=ToolState.MISSING)
            >>> Analysis(tools=(pmd, ruff)).identity
            'ruff@0.17.6,partial'
        """
        return identity([self])


def identity(analyses: Sequence[Analysis]) -> str:
    """Name the tools of several changes with their versions.

    Args:
        analyses: Of the changes.

    Returns:
        `none` when no tool spoke and none should have; ends in `partial` when some tool did not
        read all that it should have read.
    """
    ran = {
        f"{run.tool}@{run.version}" if run.version else run.tool
        for analysis in analyses
        for run in analysis.tools
        if run.state is ToolState.RAN
    }
    partial = any(analysis.coverage is Coverage.PARTIAL for analysis in analyses)
    return (
        ",".join([*sorted(ran), *([Coverage.PARTIAL.value] if partial else [])])
        or Coverage.NONE.value
    )
