"""Static analysis of a study's changes, and its effect on the score's agreement with people.

It answers two questions. How much do the tools report, and how much of it on the change? Does the
score agree better with people when it counts these findings?
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Unpack

from msgspec import Struct

from crscore.records import ToolState
from crscore.scorer import Scorer
from crscore.static_analysis import issues
from crscore.static_analysis.issues import ChosenIssues
from crscore_lab.statistics import ranks
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.study.data.study import DIMENSIONS, Study, StudyChange
from crscore_lab.study.measures import comparison, measurements, slices
from crscore_lab.study.measures.measurements import Measurements

WITHOUT: Final = "none"
"""The score counts no issues."""
TOOLS: Final = "tools"
"""The score counts the issues found by the tools of this run."""
RECORDED: Final = "recorded"
"""The score counts the issues found by the study's own tools."""
ALL: Final = "all"
"""All languages, or all tools together."""


class AnalyzedChange(NamedTuple):
    """Static analysis of one change."""

    change: StudyChange
    issues: ChosenIssues
    """Findings, and the issues chosen from them."""


class Variant(NamedTuple):
    """Measurements of the same reviews with other issues."""

    issues: str
    """`none`, `tools` or `recorded`."""
    measured: Measurements
    """Measurements whose primary metric is the score."""


class ToolRow(Struct, frozen=True, kw_only=True):
    """Findings of one tool on the changes in one language."""

    language: str
    """The language, or `all`."""
    tool: str
    """The tool, or `all` for all of them together."""
    changes: int
    """Changes that the tool can analyse."""
    unread: int
    """Changes whose file the tool could not read in full."""
    findings: int
    """Findings in the new files."""
    in_change: int
    """Findings on changed lines."""
    pre_existing: int
    """Findings on changed lines that the old file had on the same code."""
    style: int
    """Further findings on changed lines that are matters of style."""
    counted: int
    """Issues that count, alone or merged with another tool's; for all tools, each once."""
    share_in_change: float | None
    """Share of the findings on changed lines, in [0, 1]; None without a finding."""


class Effect(Struct, frozen=True, kw_only=True):
    """Agreement of the score with people with some issues, and the difference from no issues."""

    issues: str
    """`none`, `tools` or `recorded`."""
    dimension: str
    """Human dimension."""
    slice: str
    """`pooled`, `without-junk`, `within-system` or `language:NAME`."""
    n: int
    """Number of reviews."""
    spearman: float | None
    """In [-1, 1]; None when a side is constant."""
    kendall: float | None
    """Tau-b, in [-1, 1]; None when a side is constant."""
    difference: float | None
    """`spearman` minus its value without issues; None where either is undefined, and for `none`."""
    low: float | None
    """Lower end of the 95 % interval of `difference`; None without resamples."""
    high: float | None
    """Upper end of the 95 % interval of `difference`; None without resamples."""
    p: float | None
    """Two-sided p-value against no difference; None where the draws do not determine it."""


class Issues(Struct, frozen=True, kw_only=True):
    """Static analysis of a run."""

    analyzers: str
    """The setting that chose the tools."""
    max_issues: int | None
    """Maximum number of issues of one hunk that count; None for all."""
    tools: tuple[ToolRow, ...]
    """Rows by language and tool; all tools of a language last, all languages at the end."""
    effects: tuple[Effect, ...]
    """Effects by slice, without issues first."""
    notes: tuple[str, ...]
    """Tools that did not run, one sentence each."""


def analyze_changes(study: Study, scorer: Scorer) -> tuple[AnalyzedChange, ...]:
    """Analyse every change of a study.

    Args:
        study: The study.
        scorer: Scorer whose analyzers, encoder and limits are used.

    Returns:
        The findings, marked as a score of the change would count them.
    """
    parts = scorer.parts
    diffs = [measurements.read_diff(change, scorer) for change in study.changes]
    with parts.analyzers.analyzing(diffs) as wait:
        analyses = wait()
    return tuple(
        AnalyzedChange(
            change, issues.choose_issues(analysis, diff, parts.encoder, per_hunk=parts.max_issues)
        )
        for change, diff, analysis in zip(study.changes, diffs, analyses, strict=True)
    )


def assess(
    changes: Sequence[AnalyzedChange],
    variants: Sequence[Variant],
    scorer: Scorer,
    **resampling: Unpack[Resampling],
) -> Issues:
    """Answer the two questions of the module.

    Args:
        changes: Findings of the tools for each change.
        variants: The reviews scored with no issues, then with others.
        scorer: Scorer whose settings are reported.
        resampling: Number of draws of changes, 0 for no interval, and their seed.

    Returns:
        The answers, computed without further scoring.

    Raises:
        DependencyError: scipy is not installed.
    """
    absent = (ToolState.MISSING, ToolState.UNSUPPORTED)
    runs = [run for analyzed in changes for run in analyzed.issues.analysis.tools]
    # A set, because a tool gives the same reason for every change.
    reasons = {f"{run.tool} did not run: {run.reason}" for run in runs if run.state in absent}
    return Issues(
        analyzers=scorer.settings.analyzers,
        max_issues=scorer.parts.max_issues,
        tools=tuple(_tools(changes)),
        effects=tuple(effects(variants, **resampling)),
        notes=tuple(sorted(reasons)),
    )


def _tools(changes: Sequence[AnalyzedChange]) -> Iterator[ToolRow]:
    by_language: dict[str, list[AnalyzedChange]] = defaultdict(list)
    for analyzed in changes:
        by_language[analyzed.change.language].append(analyzed)
    for language, group in sorted(by_language.items()):
        tools = {run.tool for analyzed in group for run in analyzed.issues.analysis.tools}
        for tool in (*sorted(tools), ALL):
            yield _tool(language, tool, group)
    yield _tool(ALL, ALL, changes)


def _tool(language: str, name: str, changes: Sequence[AnalyzedChange]) -> ToolRow:
    def includes(tool: str) -> bool:
        return name in (ALL, tool)

    analyses = [analyzed.issues.analysis for analyzed in changes]
    runs = [[run for run in analysis.tools if includes(run.tool)] for analysis in analyses]
    findings = [
        finding for analysis in analyses for finding in analysis.findings if includes(finding.tool)
    ]
    in_change = [finding for finding in findings if finding.in_change]
    references = [reference for analyzed in changes for reference in analyzed.issues.references]
    return ToolRow(
        language=language,
        tool=name,
        changes=sum(bool(of_change) for of_change in runs),
        unread=sum(any(not run.whole for run in of_change) for of_change in runs),
        findings=len(findings),
        in_change=len(in_change),
        pre_existing=sum(finding.pre_existing for finding in in_change),
        style=sum(finding.is_style and not finding.pre_existing for finding in in_change),
        # `ruff+pylint` is the source of an issue that both report.
        counted=sum(any(map(includes, ref.source.split("+"))) for ref in references),
        share_in_change=len(in_change) / len(findings) if findings else None,
    )


def effects(variants: Sequence[Variant], **resampling: Unpack[Resampling]) -> Iterator[Effect]:
    """Compare each variant with the first on the reviews that all of them scored.

    Args:
        variants: The same reviews with other issues; the first is the reference.
        resampling: Number of draws of changes, 0 for no interval, and their seed.

    Yields:
        One row per slice, dimension and variant.

    Raises:
        DependencyError: scipy is not installed.
    """
    shared = _shared_rows([variant.measured for variant in variants])
    rows = [variants[0].measured.rows[index] for index in shared[0]]
    human = variants[0].measured.human[shared[0]]
    tables = [
        variant.measured.primary.values[indices]
        for variant, indices in zip(variants, shared, strict=True)
    ]
    changes = [row.change.id for row in rows]
    subsets = [
        *slices.of_systems([row.review.system for row in rows], human[:, 2]),
        *slices.of_names("language", [row.change.language for row in rows]),
    ]
    for subset in subsets:
        draws = slices.resample_spearman(human, tables, subset, changes, **resampling)
        clusters = len({changes[row] for row in subset.rows})
        for d, dimension in enumerate(DIMENSIONS):
            ratings = human[:, d]
            spearman = [subset.correlate(ranks.spearman, table[:, d], ratings) for table in tables]
            for v, variant in enumerate(variants):
                test = comparison.assess_difference(
                    spearman[0], spearman[v], (draws[0, d], draws[v, d]), changes=clusters
                )
                yield Effect(
                    issues=variant.issues,
                    dimension=dimension,
                    slice=subset.name,
                    n=len(subset.rows),
                    spearman=spearman[v],
                    kendall=subset.correlate(ranks.kendall, tables[v][:, d], ratings),
                    # The first variant is the baseline of the comparison.
                    difference=test.difference if v else None,
                    low=test.low if v else None,
                    high=test.high if v else None,
                    p=test.p if v else None,
                )


def _shared_rows(measured: Sequence[Measurements]) -> list[list[int]]:
    """Find the common rows: a change may have a pseudo-reference only when issues are counted."""
    counts = Counter(row.position for variant in measured for row in variant.rows)
    return [
        [index for index, row in enumerate(variant.rows) if counts[row.position] == len(measured)]
        for variant in measured
    ]
