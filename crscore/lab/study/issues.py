"""Static analysis of a study's changes, and its effect on the score's agreement with people.

Three questions: how much do the tools report, and how much of it on the change; does the score
agree better with people when it counts that; does it repeat the study's own tools.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from crscore.lab.study import compare, measure, slices
from crscore.lab.study.measure import Measurements
from crscore.lab.study.rediscovered_issues import Rediscovered, find_rediscovered
from crscore.lab.study.study import DIMENSIONS, Study, StudyChange
from crscore.records import Finding, Severity, ToolRun, ToolState
from crscore.scorer import Scorer
from crscore.static_analysis import issues
from crscore.static_analysis.issues import ChosenIssues
from crscore.statistics import ranks

WITHOUT: Final = "none"
"""The score counts no issues."""
TOOLS: Final = "tools"
"""The score counts the issues found by the tools of this run."""
RECORDED: Final = "recorded"
"""The score counts the issues found by the study's own tools."""
EVERY: Final = "all"
"""All languages, or all tools together."""


class AnalyzedChange(NamedTuple):
    """Change with the results of the tools."""

    change: StudyChange
    """Change of the study."""
    chosen: ChosenIssues
    """Findings, and the issues made of them."""


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
    """Changes of which the tool could not read the file, or could read only hunks."""
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


class RuleRow(Struct, frozen=True, kw_only=True):
    """Findings of one rule."""

    tool: str
    """The tool."""
    rule: str
    """The tool's id of the rule; "" when it gives none."""
    severity: Severity
    """Worst severity of its findings."""
    is_style: bool
    """True when all its findings are matters of style, which do not count."""
    findings: int
    """Findings in the new files."""
    in_change: int
    """Findings on changed lines."""
    counted: int
    """Findings that count, alone or merged with another."""
    example: str
    """Message of one finding, one that counts where there is one."""


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
    """`spearman` less that without issues; None where either is undefined, and for `none`."""
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
    rules: tuple[RuleRow, ...]
    """Rows of the rules, those that count most often first."""
    effects: tuple[Effect, ...]
    """Effects by slice, without issues first."""
    again: tuple[Rediscovered, ...]
    """Rediscovered issues, for each language with issues of the study's own tools."""
    notes: tuple[str, ...]
    """Tools that did not run, one sentence each."""


def analyze_changes(study: Study, scorer: Scorer, *, sources: bool) -> tuple[AnalyzedChange, ...]:
    """Analyse every change of a study.

    Args:
        study: The study.
        scorer: Scorer whose analyzers, encoder and limits are used.
        sources: Give the tools the whole files where the study has them.

    Returns:
        The findings, marked as a score of the change would count them.
    """
    parts = scorer.parts
    diffs = [measure.read_diff(change, scorer, sources=sources) for change in study.changes]
    return tuple(
        AnalyzedChange(
            change, issues.choose_issues(analysis, diff, parts.encoder, per_hunk=parts.max_issues)
        )
        for change, diff, analysis in zip(
            study.changes, diffs, parts.analyzers.analyze(diffs), strict=True
        )
    )


def assess(
    looks: Sequence[AnalyzedChange],
    variants: Sequence[Variant],
    scorer: Scorer,
    *,
    resamples: int,
    seed: int,
) -> Issues:
    """Answer the three questions of the module.

    Args:
        looks: Results of the tools for each change.
        variants: The reviews scored with no issues, then with others.
        scorer: Scorer whose settings are reported and whose encoder compares findings.
        resamples: Draws of changes; 0 for no interval.
        seed: Seed of the draws.

    Returns:
        The answers, computed without further scoring.

    Raises:
        DependencyError: scipy is not installed.
    """
    analyses = [one.chosen.analysis for one in looks]
    return Issues(
        analyzers=scorer.settings.analyzers,
        max_issues=scorer.parts.max_issues,
        tools=tuple(_tools(looks)),
        rules=_rules(finding for one in analyses for finding in one.findings),
        effects=tuple(effects(variants, resamples=resamples, seed=seed)),
        again=find_rediscovered(
            [(one.change, one.chosen.analysis) for one in looks], scorer.parts.encoder
        ),
        notes=_notes(run for one in analyses for run in one.tools),
    )


def _notes(runs: Iterable[ToolRun]) -> tuple[str, ...]:
    absent = (ToolState.MISSING, ToolState.UNSUPPORTED)
    return tuple(
        sorted({f"{run.tool} did not run: {run.reason}" for run in runs if run.state in absent})
    )


def _tools(looks: Sequence[AnalyzedChange]) -> Iterator[ToolRow]:
    by_language: dict[str, list[AnalyzedChange]] = defaultdict(list)
    for one in looks:
        by_language[one.change.language].append(one)
    for language, mine in sorted(by_language.items()):
        names = {run.tool for one in mine for run in one.chosen.analysis.tools}
        yield from (_tool(language, name, mine) for name in sorted(names))
        yield _tool(language, EVERY, mine)
    yield _tool(EVERY, EVERY, looks)


def _tool(language: str, name: str, looks: Sequence[AnalyzedChange]) -> ToolRow:
    def is_mine(tool: str) -> bool:
        return name in (EVERY, tool)

    analyses = [one.chosen.analysis for one in looks]
    runs = [[run for run in one.tools if is_mine(run.tool)] for one in analyses]
    found = [finding for one in analyses for finding in one.findings if is_mine(finding.tool)]
    changed = [finding for finding in found if finding.in_change]
    references = [ref for one in looks for ref in one.chosen.references]
    return ToolRow(
        language=language,
        tool=name,
        changes=sum(bool(each) for each in runs),
        unread=sum(any(not run.whole for run in each) for each in runs),
        findings=len(found),
        in_change=len(changed),
        pre_existing=sum(finding.pre_existing for finding in changed),
        style=sum(finding.is_style and not finding.pre_existing for finding in changed),
        counted=sum(any(map(is_mine, ref.source.split("+"))) for ref in references),
        share_in_change=len(changed) / len(found) if found else None,
    )


def _rules(findings: Iterable[Finding]) -> tuple[RuleRow, ...]:
    by_rule: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        by_rule[finding.tool, finding.rule].append(finding)
    rows = [
        RuleRow(
            tool=tool,
            rule=rule,
            severity=min((one.severity for one in mine), key=tuple(Severity).index),
            is_style=all(one.is_style for one in mine),
            findings=len(mine),
            in_change=sum(one.in_change for one in mine),
            counted=sum(one.counted for one in mine),
            example=max(mine, key=lambda one: (one.counted, one.in_change)).text,
        )
        for (tool, rule), mine in by_rule.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.counted, -row.in_change, row.tool, row.rule)))


def effects(variants: Sequence[Variant], *, resamples: int, seed: int) -> Iterator[Effect]:
    """Compare each variant with the first on the reviews that all of them scored.

    Args:
        variants: The same reviews with other issues; the first is the reference.
        resamples: Draws of changes, shared by all variants; 0 for no interval.
        seed: Seed of the draws.

    Yields:
        One row per slice, dimension and variant.

    Raises:
        DependencyError: scipy is not installed.
    """
    kept = _shared([one.measured for one in variants])
    first = variants[0].measured
    rows = [first.rows[index] for index in kept[0]]
    human = first.human[kept[0]]
    tables = [one.measured.primary.values[mine] for one, mine in zip(variants, kept, strict=True)]
    changes = [row.change.id for row in rows]
    columns = slices.Columns(human, tables)
    parts = [
        *slices.of_systems([row.review.system for row in rows], human[:, 2]),
        *slices.of_names("language", [row.change.language for row in rows]),
    ]
    for part in parts:
        sampled = columns.sample(part, changes, resamples=resamples, seed=seed)
        clusters = len({changes[row] for row in part.rows})
        for d, dimension in enumerate(DIMENSIONS):
            ratings = human[:, d]
            values = [columns.values(v, d) for v in range(len(variants))]
            found = [part.correlate(ranks.spearman, one, ratings) for one in values]
            for v, variant in enumerate(variants):
                gain = compare.difference(
                    (found[0], found[v]),
                    (sampled[0, d], sampled[v, d]),
                    labels=(compare.SPEARMAN, dimension, part.name),
                    changes=clusters,
                )
                yield Effect(
                    issues=variant.issues,
                    dimension=dimension,
                    slice=part.name,
                    n=len(part.rows),
                    spearman=found[v],
                    kendall=part.correlate(ranks.kendall, values[v], ratings),
                    difference=gain.difference if v else None,
                    low=gain.low if v else None,
                    high=gain.high if v else None,
                    p=gain.p if v else None,
                )


def _shared(measured: Sequence[Measurements]) -> list[list[int]]:
    """Find the common rows: a change may have a pseudo-reference only when issues are counted."""
    often = Counter(row.place for one in measured for row in one.rows)
    return [
        [index for index, row in enumerate(one.rows) if often[row.place] == len(measured)]
        for one in measured
    ]
