"""Combines the output of all tools into one analysis of a change."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TypeAlias

from crscore.errors import ToolFailedError
from crscore.records import Analysis, ChangedFile, Diff, Finding, Side, ToolRun, ToolState
from crscore.static_analysis import change, wording
from crscore.static_analysis.analyzer import Analyzer, Pattern
from crscore.static_analysis.execute import Outcome
from crscore.static_analysis.tools import Installed
from crscore.static_analysis.units import Unit, adds_lines, suffix_of

HUNKS_ONLY = "saw hunks, not whole files"
"""Reason for incomplete findings."""
NEEDS_FILES = "needs whole files, and has none"
"""Reason why a tool cannot read a hunk."""
UNPARSED = "could not parse the code"
"""Reason for missing or incomplete findings in a file."""


REFUSED = ToolRun(
    tool="",
    version=None,
    state=ToolState.ABSTAINED,
    reason="not run on untrusted code, as this system cannot confine them; --trust runs them",
)
"""Run of a tool that would have to read untrusted code without a sandbox."""
ToolResult: TypeAlias = tuple[Analyzer, Installed | ToolRun, Mapping[Unit, Outcome]]
"""An analyzer; its tool, or the reason why the tool cannot run; the outcome for each text."""


def analysis(
    diff: Diff,
    units: Sequence[Sequence[Unit]],
    results: Sequence[ToolResult],
    *,
    confined: bool,
    outside: Sequence[Analysis],
) -> Analysis:
    """Combine the output of all tools for one change.

    Args:
        diff: The change.
        units: The texts of each file of the change.
        results: Results of each tool that ran, for this change and others.
        confined: Whether this system can deny the network to the tools.
        outside: Findings of tools outside of this run.

    Returns:
        The marked findings, and the state of each tool that concerns this change.
    """
    findings: list[Finding] = []
    runs: list[ToolRun] = []
    own_units = [unit for texts in units for unit in texts]
    for analyzer, tool, all_outcomes in results:
        outcomes = {unit: all_outcomes[unit] for unit in own_units if unit in all_outcomes}
        concerned = [
            (file, texts)
            for file, texts in zip(diff.files, units, strict=True)
            if adds_lines(file) and suffix_of(file) in analyzer.manifest.suffixes
        ]
        if concerned:
            files = [file for file, _ in concerned]
            runs.append(tool if isinstance(tool, ToolRun) else _run_of(tool, outcomes, files))
        for file, texts in concerned:
            new: list[Finding] = []
            old: list[Finding] | None = None
            for unit in (unit for unit in texts if unit in outcomes):
                if unit.side is Side.NEW:
                    new += _findings(analyzer, unit, outcomes[unit])
                # An old version that was not read is unknown, not free of findings.
                elif _was_read(outcomes[unit]):
                    old = list(_findings(analyzer, unit, outcomes[unit]))
            findings += change.classify(file, new, old)
    # If no tool had a file to read, no sandbox was needed.
    confined = confined or not runs
    # If a linter also ran here, its findings from outside repeat these in other words.
    identities = {_identity(finding) for finding in findings}
    for external in outside:
        runs += external.tools
        findings += [
            finding for finding in external.findings if _identity(finding) not in identities
        ]
    return Analysis(
        findings=tuple(
            sorted(dict.fromkeys(findings), key=attrgetter("path", "line", "tool", "rule", "text"))
        ),
        tools=tuple(runs),
        notes=(*_notes(runs), *(note for external in outside for note in external.notes)),
        confined=confined,
    )


def _identity(finding: Finding) -> tuple[str, str, str, int]:
    # Names are compared in lower case: PMD's SARIF says "PMD", crscore's analyzer is named `pmd`.
    return finding.tool.lower(), finding.rule.lower(), finding.path, finding.line


def _run_of(
    tool: Installed, outcomes: Mapping[Unit, Outcome], files: Sequence[ChangedFile]
) -> ToolRun:
    """Return the state of one tool for one change: the files that it read, and why not others."""
    new = {unit: outcome for unit, outcome in outcomes.items() if unit.side is Side.NEW}
    # A failure on an old version counts, because pre-existing findings then go undetected.
    failures = [
        str(outcome) for outcome in outcomes.values() if isinstance(outcome, ToolFailedError)
    ]
    unread = {unit.path for unit, outcome in new.items() if not _was_read(outcome)}
    read = {unit.path for unit in new} - unread
    # These files have no text that the tool could read, for example only hunks that do not parse.
    waiting = {file.path for file in files} - read - unread
    has_output = any(
        not isinstance(outcome, ToolFailedError) and (outcome.findings or not outcome.unparsed)
        for outcome in new.values()
    )
    version = tool.version
    if not tool.analyzer.shipped:
        # The rules of a team's own analyzer may change without a new version of the tool.
        version += f"-{tool.analyzer.sha256[:8]}"
    reason = ""
    state = ToolState.RAN
    if not has_output:
        state = ToolState.FAILED if failures else ToolState.ABSTAINED
        reason = NEEDS_FILES if waiting else UNPARSED
    elif any(unit.is_fragment for unit in new):
        reason = HUNKS_ONLY
    return ToolRun(
        tool=tool.analyzer.name,
        version=version,
        state=state,
        reason=failures[0] if failures else reason,
        files=len(read),
        unread=tuple(sorted(unread | waiting)),
    )


def _was_read(outcome: Outcome) -> bool:
    return not isinstance(outcome, ToolFailedError) and not outcome.unparsed


def _findings(analyzer: Analyzer, unit: Unit, outcome: Outcome) -> Iterator[Finding]:
    """Yield the findings in one text as a reviewer's sentences, with their lines in the file."""
    if isinstance(outcome, ToolFailedError):
        return
    fragments = analyzer.manifest.fragments
    last = unit.text.count("\n") + 1
    for raw in outcome.findings:
        first = unit.line_in_file(raw.line)
        if first is None:
            continue
        if any(
            ignored.rule.compiled.fullmatch(raw.rule)
            and ignored.message.compiled.search(raw.message[: wording.MAX_MESSAGE])
            for ignored in analyzer.manifest.ignored
        ):
            continue
        if unit.is_fragment and not _is_one_of(raw.rule, fragments.rules if fragments else ()):
            continue
        text, severity = wording.word_finding(raw, analyzer.manifest)
        yield Finding(
            tool=analyzer.name,
            rule=raw.rule,
            path=unit.path,
            line=first,
            # A tool may report an end after the text or before the line. Lines after a hunk are
            # unknown.
            end_line=max(first, unit.line_in_file(min(raw.end_line, last)) or first),
            message=raw.message,
            text=text,
            severity=severity,
            is_style=_is_one_of(raw.rule, analyzer.manifest.style.rules),
        )


def _is_one_of(rule: str, patterns: Sequence[Pattern]) -> bool:
    return any(pattern.compiled.fullmatch(rule) for pattern in patterns)


def _notes(runs: Sequence[ToolRun]) -> Iterator[str]:
    """Yield sentences about tools that did not run, or did not read everything."""
    absent: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        absent_states = (ToolState.MISSING, ToolState.UNSUPPORTED)
        if run.state in absent_states or run.reason == REFUSED.reason:
            absent[run.reason].append(run.tool)
    if absent:
        reasons = ", ".join(f"{', '.join(names)} ({reason})" for reason, names in absent.items())
        yield f"Not every tool could run, so issues may be missing: {reasons}."
    limited = [run.tool for run in runs if run.reason in (HUNKS_ONLY, NEEDS_FILES)]
    if limited:
        yield f"Only hunks and no whole files are given, so {', '.join(limited)} can find less."
    for run in runs:
        if run.state is ToolState.FAILED:
            yield f"{run.reason}."
        elif run.tool not in limited and run.unread:
            reason = f": {run.reason}" if run.reason else ""
            yield f"{run.tool} could not read {', '.join(run.unread)}{reason}."
