"""The section on static analysis in the report of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.study import issues, slices
from crscore.study.formats import (
    count,
    number,
    percent,
    probability,
    signed,
    signed_interval,
)
from crscore.study.layout import Details, Example, Section, Table
from crscore.study.plot import Bar, Plot
from crscore.study.study import DIMENSIONS

if TYPE_CHECKING:
    from crscore.study.issues import Effect, Issues, ToolRow
    from crscore.study.rediscovered_issues import Again, Miss

MISSES_IN_TEXT: Final = 5
LABELS: Final = {
    issues.WITHOUT: "no issues",
    issues.TOOLS: "the tools' issues",
    issues.RECORDED: "the study's own issues",
}


def issue_section(found: Issues | None) -> Section | None:
    """Show what static analysis says and does; None where no tool was to look."""
    if found is None:
        return None
    plot = Plot(
        title="Gain in Spearman of relevance over a score without issues",
        bars=tuple(
            _bar(row)
            for row in found.effects
            if row.dimension == DIMENSIONS[2] and row.issues != issues.WITHOUT
        ),
        write=lambda value: f"{value:+g}" if value else "0",
    )
    return Section(
        anchor="issues",
        short="Issues",
        title="Does static analysis help?",
        intro=(
            f"Analyzers: {found.analyzers}. With a gain above 0, a score that counts issues agrees "
            "better with people than one that counts none.",
            *(_summary(row) for row in found.again),
        ),
        plots=(plot,),
        tables=(_effects(found), _tools(found)),
        notes=(_column_notes(found),),
        details=(_rules(found), *(_misses(row) for row in found.again if row.misses)),
    )


def _bar(row: Effect) -> Bar:
    return Bar(
        label=f"{slices.label(row.slice)}: {LABELS[row.issues]}",
        value=row.difference,
        low=row.low,
        high=row.high,
        written=signed(row.difference),
        look={"better": "good", "worse": "bad", "": ""}[_clear(row)],
    )


def _clear(row: Effect) -> str:
    if row.p is None or row.p >= 0.05 or not row.difference:
        return ""
    return "better" if row.difference > 0 else "worse"


def _effects(found: Issues) -> Table:
    return Table(
        caption="What issues do to the score",
        header=("Issues", "reviews", "Spearman", "Kendall", "gain", "95 % interval", "p", ""),
        rows=tuple(
            (
                f"{slices.label(row.slice)}, {row.dimension}: {LABELS[row.issues]}",
                f"{row.n:,}",
                number(row.spearman),
                number(row.kendall),
                signed(row.difference),
                signed_interval(row.low, row.high),
                probability(row.p),
                _clear(row),
            )
            for row in found.effects
        ),
        main=frozenset(
            place for place, row in enumerate(found.effects) if row.issues == issues.TOOLS
        ),
    )


def _tools(found: Issues) -> Table:
    columns = ("changes", "unread", "findings", "on changed lines", "share", "pre-existing")
    return Table(
        caption="What static analysis says of a change",
        header=("Tool", *columns, "taste", "counted"),
        rows=tuple(_tool(row) for row in found.tools),
        main=frozenset(place for place, row in enumerate(found.tools) if row.tool == issues.EVERY),
    )


def _tool(row: ToolRow) -> tuple[str, ...]:
    language = "all languages" if row.language == issues.EVERY else row.language
    tool = "all tools" if row.tool == issues.EVERY else row.tool

    def mean(total: int) -> str:
        return number(total / row.changes if row.changes else None, 2)

    return (
        f"{language}: {tool}",
        f"{row.changes:,}",
        f"{row.unread:,}",
        mean(row.findings),
        mean(row.in_change),
        percent(row.share_in_change),
        mean(row.pre_existing),
        mean(row.style),
        mean(row.counted),
    )


def _column_notes(found: Issues) -> str:
    most = "all" if found.max_issues is None else f"at most {found.max_issues}"
    return (
        "Changes: those that a tool has to look at; unread: those it could not read whole; the "
        "rest is a mean over the changes, share of the findings; pre-existing: on changed lines, "
        "but the old file had it; taste: on changed lines and new, but a matter of style; "
        f"counted: issues that the score counts, what tools have in common once, {most} of a hunk."
    )


def _summary(row: Again) -> str:
    again = row.by_rule + row.by_meaning
    text = (
        f"{row.language}: of {count(row.rows, 'issue')} of the study's own tools, {again:,} "
        f"named again ({percent(row.share)}): {row.by_rule:,} by the same rule on the same line, "
        f"{row.by_meaning:,} there in other words; {row.counted:,} of them count"
    )
    if row.unreadable:
        text += f"; {count(row.unreadable, 'parse error')} of those tools left out"
    return f"{text}."


def _rules(found: Issues) -> Details:
    table = Table(
        caption="What each rule says of all changes",
        header=("Rule", "severity", "findings", "on changed lines", "counted", "such as"),
        rows=tuple(
            (
                f"{row.tool}: {row.rule}",
                "style" if row.is_style else row.severity.value,
                f"{row.findings:,}",
                f"{row.in_change:,}",
                f"{row.counted:,}",
                row.example,
            )
            for row in found.rules
        ),
    )
    return Details(title="Every rule", table=table, in_text=0)


def _misses(row: Again) -> Details:
    return Details(
        title=f"{row.language}: {count(len(row.misses), 'missed issue')}",
        examples=tuple(
            Example(facts=f"{miss.change} · {_nearest(miss)}", text=miss.text)
            for miss in row.misses
        ),
        in_text=MISSES_IN_TEXT,
    )


def _nearest(miss: Miss) -> str:
    if miss.nearest is None or miss.line is None:
        return "nothing is said of this change"
    return f"nearest: line {miss.line}, {miss.nearest} (cosine {number(miss.cosine, 2)})"
