"""Counts of what static analysis reports in a study's changes, by tool and language."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from crscore.records import Analysis, PseudoReference, ToolState
from crscore.scorer import Scorer
from crscore.static_analysis import issues
from crscore_lab.study.data.study import Study, StudyChange
from crscore_lab.study.measures import measurements

ALL: Final = "all"
"""Language or tool of a row that counts all languages or all tools together."""


class AnalyzedChange(NamedTuple):
    """Findings of the tools in one change."""

    change: StudyChange
    references: tuple[PseudoReference, ...]
    """Issues that count in a score of the change."""
    analysis: Analysis
    """Findings; each is marked as counted or not."""


class ToolRow(Struct, frozen=True, kw_only=True):
    """Findings of one tool on the changes in one language."""

    language: str
    """The language, or `all`."""
    tool: str
    """The tool, or `all` for all tools together."""
    changes: int
    """Number of changes in a language that the tool can analyse."""
    unread: int
    """Number of these changes that the tool could not read completely."""
    findings: int
    """Number of findings in the new versions of the files."""
    in_change: int
    """Number of findings on changed lines."""
    pre_existing: int
    """Number of findings on changed lines that the tool also had on the same code of the old
    file."""
    style: int
    """Number of other findings on changed lines that are about style."""
    counted: int
    """Number of issues that count in the scores and that the tool reported, alone or with another
    tool."""


class Issues(Struct, frozen=True, kw_only=True):
    """Findings of static analysis in a study's changes."""

    analyzers: str
    """The setting that chose the tools."""
    tools: tuple[ToolRow, ...]
    """Rows sorted by language and tool. The last row of a language counts all its tools; the very
    last row counts all languages."""
    notes: tuple[str, ...]
    """Why tools did not run, one sentence for each reason."""


def analyze_changes(study: Study, scorer: Scorer) -> tuple[AnalyzedChange, ...]:
    """Analyse every change of a study.

    Args:
        study: The study.
        scorer: Scorer whose analyzers, encoder and limits are used.

    Returns:
        The findings of each change, in study order.
    """
    parts = scorer.parts
    diffs = [measurements.read_diff(change, scorer) for change in study.changes]
    with parts.analyzers.analyzing(diffs) as wait:
        analyses = wait()
    return tuple(
        AnalyzedChange(
            change, *issues.choose_issues(analysis, diff, parts.encoder, per_hunk=parts.max_issues)
        )
        for change, diff, analysis in zip(study.changes, diffs, analyses, strict=True)
    )


def count_findings(changes: Sequence[AnalyzedChange], scorer: Scorer) -> Issues:
    """Count the findings of the tools.

    Args:
        changes: Findings of the tools for each change.
        scorer: Scorer whose setting `analyzers` is reported.
    """
    absent = (ToolState.MISSING, ToolState.UNSUPPORTED)
    runs = [run for analyzed in changes for run in analyzed.analysis.tools]
    # A set, because a tool that is missing gives the same reason for every change.
    reasons = {f"{run.tool} did not run: {run.reason}" for run in runs if run.state in absent}
    return Issues(
        analyzers=scorer.settings.analyzers,
        tools=tuple(_count_by_tool(changes)),
        notes=tuple(sorted(reasons)),
    )


def _count_by_tool(changes: Sequence[AnalyzedChange]) -> Iterator[ToolRow]:
    by_language: dict[str, list[AnalyzedChange]] = defaultdict(list)
    for analyzed in changes:
        by_language[analyzed.change.language].append(analyzed)
    for language, group in sorted(by_language.items()):
        tools = {run.tool for analyzed in group for run in analyzed.analysis.tools}
        for tool in (*sorted(tools), ALL):
            yield _count_of_tool(language, tool, group)
    yield _count_of_tool(ALL, ALL, changes)


def _count_of_tool(language: str, name: str, changes: Sequence[AnalyzedChange]) -> ToolRow:
    def includes(tool: str) -> bool:
        return name in (ALL, tool)

    analyses = [analyzed.analysis for analyzed in changes]
    runs = [[run for run in analysis.tools if includes(run.tool)] for analysis in analyses]
    findings = [
        finding for analysis in analyses for finding in analysis.findings if includes(finding.tool)
    ]
    in_change = [finding for finding in findings if finding.in_change]
    references = [reference for analyzed in changes for reference in analyzed.references]
    return ToolRow(
        language=language,
        tool=name,
        changes=sum(bool(of_change) for of_change in runs),
        unread=sum(any(not run.is_complete for run in of_change) for of_change in runs),
        findings=len(findings),
        in_change=len(in_change),
        pre_existing=sum(finding.pre_existing for finding in in_change),
        style=sum(finding.is_style and not finding.pre_existing for finding in in_change),
        # The source of an issue that two tools report is `ruff+pylint`.
        counted=sum(any(map(includes, ref.source.split("+"))) for ref in references),
    )
