"""Report section on static analysis."""

from __future__ import annotations

from typing import Final

from crscore.lab.study import compare, issues, slices
from crscore.lab.study.formats import (
    count,
    number,
    percent,
    probability,
    signed,
    signed_interval,
    whole,
)
from crscore.lab.study.issues import Effect, Issues, ToolRow
from crscore.lab.study.rediscovered_issues import Miss, Rediscovered
from crscore.lab.study.study import DIMENSIONS
from crscore.reports.charts import Bar, Plot
from crscore.reports.layout import Details, Example, Section, Table, make_table

MISSES_IN_TEXT: Final = 5
LABELS: Final = {
    issues.WITHOUT: "no issues",
    issues.TOOLS: "the tools' issues",
    issues.RECORDED: "the study's own issues",
}


def issue_section(found: Issues) -> Section:
    """Show the findings of static analysis and their effect."""
    bars = tuple(
        Bar(
            f"{slices.label(row.slice)}: {LABELS[row.issues]}",
            *(row.difference, row.low, row.high, signed(row.difference)),
            tone={"better": "good", "worse": "bad", "": ""}[_clear(row)],
        )
        for row in found.effects
        if row.dimension == DIMENSIONS[2] and row.issues != issues.WITHOUT
    )
    gains = "Gain in Spearman of relevance over a score without issues"
    intro = (
        f"Analyzers: {found.analyzers}. With a gain above 0, a score that counts issues agrees "
        "better with people than one that counts none."
    )
    return Section(
        "issues",
        "Issues",
        "Does static analysis help?",
        intro=(intro, *(_summary(row) for row in found.again)),
        plots=(Plot(gains, bars, tick_format="+~f"),),
        tables=(_effects(found), _tools(found)),
        notes=(_column_notes(found),),
        details=(
            Details("Every rule", _rules(found), in_text=0),
            *(_misses(row) for row in found.again if row.misses),
        ),
    )


def _clear(row: Effect) -> str:
    if row.p is None or row.p >= compare.SIGNIFICANT or not row.difference:
        return ""
    return "better" if row.difference > 0 else "worse"


def _effects(found: Issues) -> Table:
    return make_table(
        "What issues do to the score",
        found.effects,
        ("Issues", lambda r: f"{slices.label(r.slice)}, {r.dimension}: {LABELS[r.issues]}"),
        ("reviews", lambda row: whole(row.n)),
        ("Spearman", lambda row: number(row.spearman)),
        ("Kendall", lambda row: number(row.kendall)),
        ("gain", lambda row: signed(row.difference)),
        ("95 % interval", lambda row: signed_interval(row.low, row.high)),
        ("p", lambda row: probability(row.p)),
        ("", _clear),
        main=lambda row: row.issues == issues.TOOLS,
    )


def _tools(found: Issues) -> Table:
    def mean(row: ToolRow, total: int) -> str:
        return number(total / row.changes if row.changes else None, 2)

    return make_table(
        "What static analysis says of a change",
        found.tools,
        ("Tool", _tool_name),
        ("changes", lambda row: whole(row.changes)),
        ("unread", lambda row: whole(row.unread)),
        ("findings", lambda row: mean(row, row.findings)),
        ("on changed lines", lambda row: mean(row, row.in_change)),
        ("share", lambda row: percent(row.share_in_change)),
        ("pre-existing", lambda row: mean(row, row.pre_existing)),
        ("taste", lambda row: mean(row, row.style)),
        ("counted", lambda row: mean(row, row.counted)),
        main=lambda row: row.tool == issues.EVERY,
    )


def _tool_name(row: ToolRow) -> str:
    language = "all languages" if row.language == issues.EVERY else row.language
    return f"{language}: {'all tools' if row.tool == issues.EVERY else row.tool}"


def _column_notes(found: Issues) -> str:
    most = "all" if found.max_issues is None else f"at most {found.max_issues}"
    return (
        "Changes: those that a tool has to look at; unread: those it could not read whole; the "
        "rest is a mean over the changes, share of the findings; pre-existing: on changed lines, "
        "but the old file had it; taste: on changed lines and new, but a matter of style; "
        f"counted: issues that the score counts, what tools have in common once, {most} of a hunk."
    )


def _summary(row: Rediscovered) -> str:
    again = row.by_rule + row.by_meaning
    text = (
        f"{row.language}: of {count(row.rows, 'issue')} of the study's own tools, {again:,} "
        f"named again ({percent(row.share)}): {row.by_rule:,} by the same rule on the same line, "
        f"{row.by_meaning:,} there in other words; {row.counted:,} of them count"
    )
    if row.unreadable:
        text += f"; {count(row.unreadable, 'parse error')} of those tools left out"
    return f"{text}."


def _rules(found: Issues) -> Table:
    return make_table(
        "What each rule says of all changes",
        found.rules,
        ("Rule", lambda row: f"{row.tool}: {row.rule}"),
        ("severity", lambda row: "style" if row.is_style else row.severity.value),
        ("findings", lambda row: whole(row.findings)),
        ("on changed lines", lambda row: whole(row.in_change)),
        ("counted", lambda row: whole(row.counted)),
        ("such as", lambda row: row.example),
    )


def _misses(row: Rediscovered) -> Details:
    return Details(
        f"{row.language}: {count(len(row.misses), 'missed issue')}",
        examples=tuple(Example(f"{one.change} · {_nearest(one)}", one.text) for one in row.misses),
        in_text=MISSES_IN_TEXT,
    )


def _nearest(miss: Miss) -> str:
    if miss.nearest is None or miss.line is None:
        return "nothing is said of this change"
    return f"nearest: line {miss.line}, {miss.nearest} (cosine {number(miss.cosine, 2)})"
