"""The section of the validation page on static analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.reports import escape
from crscore.study import _issue_tables, _plots, issues
from crscore.study._page_parts import Example, Fold, Section, Table, examples_text
from crscore.study._tables import many, shown, signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.study.issues import Effect, Issues
    from crscore.study.rediscovered_issues import Again
    from crscore.study.results import Findings

MAX_RULES: Final = 200
"""Rules that the page holds; JSON has them all."""
MAX_MISSES: Final = 50
"""Missed issues of each language that the page holds; JSON has them all."""


def section(findings: Findings) -> Section | None:
    """Show what static analysis says and does; nothing where no tool was to look."""
    found = findings.issues
    if found is None:
        return None
    return Section(
        name="issues",
        short="Issues",
        title="Does static analysis help?",
        lead=(
            f"Analyzers: {escape.one_line(found.analyzers)}. Right of 0, a score that counts "
            "issues agrees better with people than one that counts none.",
            *(_issue_tables.summary(row) + "." for row in found.again),
        ),
        plots=(
            _plots.forest(
                "issues",
                [
                    _bar(name, row)
                    for name, rows in _issue_tables.parts(found)
                    for row in rows
                    if row.issues != issues.WITHOUT
                ],
                title="Gain in Spearman of relevance over a score without issues",
                write=lambda value: f"{value:+g}" if value else "0",
            ),
        ),
        tables=(_effects(found), _tools(found)),
        notes=(_issue_tables.limits(found).capitalize() + ".",),
        folds=(_rules(found), *(_misses(row) for row in found.again if row.misses)),
    )


def _bar(name: str, row: Effect) -> _plots.Bar:
    said = _issue_tables.effect(row)[-1]
    return _plots.Bar(
        label=f"{name}: {_issue_tables.LABELS[row.issues]}",
        value=row.difference,
        low=row.low,
        high=row.high,
        written=signed(row.difference),
        look={"better": "good", "worse": "bad", "": ""}[said],
    )


def _effects(found: Issues) -> Table:
    rows = tuple(
        (
            f"{shown(row.slice.replace(':', ' '))}, {row.dimension}: "
            f"{_issue_tables.LABELS[row.issues]}",
            f"{row.n:,}",
            *_issue_tables.effect(row),
        )
        for row in found.effects
    )
    return Table(
        caption="What issues do to the score",
        header=("Issues", "reviews", "Spearman", "Kendall", "gain", "95 % interval", "p", ""),
        rows=rows,
        main=frozenset(
            place for place, row in enumerate(found.effects) if row.issues == issues.TOOLS
        ),
    )


def _tools(found: Issues) -> Table:
    def language(name: str) -> str:
        return "all languages" if name == issues.EVERY else shown(name)

    return Table(
        caption="What static analysis says of a change",
        header=("Tool", *_issue_tables.COUNTS),
        rows=tuple(
            (
                f"{language(row.language)}: {_issue_tables.tool_name(row)}",
                *_issue_tables.counts(row),
            )
            for row in found.tools
        ),
        main=frozenset(place for place, row in enumerate(found.tools) if row.tool == issues.EVERY),
    )


def _rules(found: Issues) -> Fold:
    more = len(found.rules) - MAX_RULES
    return Fold(
        title="Every rule",
        table=Table(
            caption="What each rule says of all changes",
            header=("Rule", "severity", "findings", "on changed lines", "counted", "such as"),
            rows=tuple(
                (
                    shown(f"{row.tool}: {row.rule}"),
                    "style" if row.is_style else row.severity.value,
                    f"{row.findings:,}",
                    f"{row.in_change:,}",
                    f"{row.counted:,}",
                    escape.one_line(row.example),
                )
                for row in found.rules[:MAX_RULES]
            ),
        ),
        rest=f"… and {many(more, 'more rule')} in --format json" if more > 0 else "",
    )


def _misses(row: Again) -> Fold:
    more = len(row.misses) - MAX_MISSES
    return Fold(
        title=f"{shown(row.language)}: {many(len(row.misses), 'missed issue')}",
        examples=tuple(_examples(row)),
        rest=f"… and {more:,} more in --format json" if more > 0 else "",
    )


def _examples(row: Again) -> Iterator[Example]:
    for miss in row.misses[:MAX_MISSES]:
        yield Example(
            facts=f"{shown(miss.change)} · {_issue_tables.nearest(miss)}",
            text=examples_text(miss.text),
        )
