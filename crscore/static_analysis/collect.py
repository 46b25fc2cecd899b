"""Combines the findings of all tools into one analysis of a change."""

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
"""Reason given for a tool whose findings may be incomplete."""
NEEDS_FILES = "needs whole files, and has none"
"""Reason given for a tool that cannot read hunks without their file."""
UNPARSED = "could not parse the code"
"""Reason given for a tool that could not read any file."""


REFUSED = ToolRun(
    tool="",
    version=None,
    state=ToolState.ABSTAINED,
    reason="not run on untrusted code, as no sandbox works here; --trust runs tools without one",
)
"""State of a tool that is not run, because the code is untrusted and there is no sandbox."""
ToolResult: TypeAlias = tuple[Analyzer, Installed | ToolRun, Mapping[Unit, Outcome]]
"""Analyzer, its tool or the reason why the tool cannot run, and the outcome for each text."""


def combine_results(
    diff: Diff,
    units: Sequence[Sequence[Unit]],
    results: Sequence[ToolResult],
    *,
    confined: bool,
    outside: Sequence[Analysis],
) -> Analysis:
    """Combine the findings of all tools for one change.

    Args:
        diff: The change.
        units: The texts of each file of the change.
        results: Results of each tool, for this change and other changes of the run.
        confined: Whether this system can deny the network to the tools.
        outside: Findings of tools that ran elsewhere, from SARIF files.

    Returns:
        The findings, marked by `change.classify_findings`, and the state of each tool that reads a
        file of the change.
    """
    findings: list[Finding] = []
    runs: list[ToolRun] = []
    change_units = [unit for texts in units for unit in texts]
    for analyzer, tool, all_outcomes in results:
        outcomes = {unit: all_outcomes[unit] for unit in change_units if unit in all_outcomes}
        readable_files = [
            (file, texts)
            for file, texts in zip(diff.files, units, strict=True)
            if adds_lines(file) and suffix_of(file) in analyzer.manifest.suffixes
        ]
        if readable_files:
            files = [file for file, _ in readable_files]
            runs.append(tool if isinstance(tool, ToolRun) else _describe_run(tool, outcomes, files))
        for file, texts in readable_files:
            new: list[Finding] = []
            old: list[Finding] | None = None
            for unit in (unit for unit in texts if unit in outcomes):
                if unit.side is Side.NEW:
                    new += _read_findings(analyzer, unit, outcomes[unit])
                # If the old version was not read, its findings are unknown (None), not none at all.
                elif _was_read(outcomes[unit]):
                    old = list(_read_findings(analyzer, unit, outcomes[unit]))
            findings += change.classify_findings(file, new, old)
    # If no tool had a file to read, no sandbox was needed.
    confined = confined or not runs
    # Findings from a SARIF file are left out if the same linter also reported them in this run.
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
        notes=(*_write_notes(runs), *(note for external in outside for note in external.notes)),
        confined=confined,
    )


def _identity(finding: Finding) -> tuple[str, str, str, int]:
    # Names are compared in lower case, because PMD calls itself "PMD" in SARIF and the analyzer is
    # named `pmd`.
    return finding.tool.lower(), finding.rule.lower(), finding.path, finding.line


def _describe_run(
    tool: Installed, outcomes: Mapping[Unit, Outcome], files: Sequence[ChangedFile]
) -> ToolRun:
    """Return the state of a tool for one change, with the files that the tool could not read."""
    new = {unit: outcome for unit, outcome in outcomes.items() if unit.side is Side.NEW}
    # A failure on an old version counts, too, because it is then unknown which findings existed
    # before.
    failures = [
        str(outcome) for outcome in outcomes.values() if isinstance(outcome, ToolFailedError)
    ]
    unread = {unit.path for unit, outcome in new.items() if not _was_read(outcome)}
    read = {unit.path for unit in new} - unread
    # The tool got no text of these files, for example because their hunks do not parse.
    not_passed = {file.path for file in files} - read - unread
    has_output = any(
        not isinstance(outcome, ToolFailedError) and (outcome.findings or not outcome.unparsed)
        for outcome in new.values()
    )
    version = tool.version
    if not tool.analyzer.shipped:
        # The rules of a user's own analyzer may change while the version of the tool stays the
        # same.
        version += f"-{tool.analyzer.sha256[:8]}"
    reason = ""
    state = ToolState.RAN
    if not has_output:
        state = ToolState.FAILED if failures else ToolState.ABSTAINED
        reason = NEEDS_FILES if not_passed else UNPARSED
    elif any(unit.is_fragment for unit in new):
        reason = HUNKS_ONLY
    return ToolRun(
        tool=tool.analyzer.name,
        version=version,
        state=state,
        reason=failures[0] if failures else reason,
        files=len(read),
        unread=tuple(sorted(unread | not_passed)),
    )


def _was_read(outcome: Outcome) -> bool:
    return not isinstance(outcome, ToolFailedError) and not outcome.unparsed


def _read_findings(analyzer: Analyzer, unit: Unit, outcome: Outcome) -> Iterator[Finding]:
    """Yield the findings in one text, with sentences by the manifest and line numbers of the file.

    Findings that the manifest ignores are left out, and in a hunk also those of rules that
    `[fragments]` does not list.
    """
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
            # A tool may report an end before the first line or after the text, and the end may be a
            # line that is not from the file but completes a hunk.
            end_line=max(first, unit.line_in_file(min(raw.end_line, last)) or first),
            message=raw.message,
            text=text,
            severity=severity,
            is_style=_is_one_of(raw.rule, analyzer.manifest.style.rules),
        )


def _is_one_of(rule: str, patterns: Sequence[Pattern]) -> bool:
    return any(pattern.compiled.fullmatch(rule) for pattern in patterns)


def _write_notes(runs: Sequence[ToolRun]) -> Iterator[str]:
    """Yield notes about tools that did not run, or that did not read all files."""
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
