"""The section of the text report on static analysis."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from crscore.reports import escape
from crscore.study import issues, slices
from crscore.study._tables import (
    INDENT,
    NOTHING,
    WIDTH,
    explained,
    many,
    number,
    percent,
    probability,
    shown,
    signed,
    table,
)
from crscore.study.study import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.study.issues import Effect, Issues, ToolRow
    from crscore.study.rediscovered_issues import Again, Miss
    from crscore.study.results import Findings

RELEVANCE: Final = DIMENSIONS[2]
MISSES: Final = 5
"""Missed issues of each language that are shown; JSON has them all."""
LABELS: Final = {
    issues.WITHOUT: "no issues",
    issues.TOOLS: "the tools' issues",
    issues.RECORDED: "the study's own issues",
}
COUNTS: Final = (
    "changes",
    "unread",
    "findings",
    "on changed lines",
    "share",
    "pre-existing",
    "taste",
    "counted",
)
"""What is told of each tool."""


def section(findings: Findings) -> Iterator[str]:
    """Show what static analysis says and does; nothing where no tool was to look."""
    found = findings.issues
    if found is None:
        return
    yield from _tools(found)
    yield ""
    yield from _effects(found)
    for row in found.again:
        yield ""
        yield from _again(row)


def _tools(found: Issues) -> Iterator[str]:
    yield f"Static analysis ({escape.one_line(found.analyzers)}): what it says of a change"
    rows: list[tuple[str, ...]] = []
    language = ""
    for row in found.tools:
        if row.language != language:
            language = row.language
            name = "all languages" if language == issues.EVERY else shown(language)
            rows.append((name, *[""] * len(COUNTS)))
        rows.append((INDENT + tool_name(row), *counts(row)))
    yield from table(("", *COUNTS), rows)
    yield from explained(limits(found))


def tool_name(row: ToolRow) -> str:
    """Name a tool, or all of them."""
    return "all tools" if row.tool == issues.EVERY else shown(row.tool)


def counts(row: ToolRow) -> tuple[str, ...]:
    """Write what one tool says; findings as a mean over the changes it has to look at."""

    def mean(count: int) -> str:
        return number(count / row.changes if row.changes else None, 2)

    return (
        f"{row.changes:,}",
        f"{row.unread:,}",
        mean(row.findings),
        mean(row.in_change),
        percent(row.share_in_change),
        mean(row.pre_existing),
        mean(row.style),
        mean(row.counted),
    )


def limits(found: Issues) -> str:
    """Explain the columns."""
    most = "all" if found.max_issues is None else f"at most {found.max_issues}"
    return (
        "changes: those that a tool has to look at; unread: those it could not read whole; the "
        "rest is a mean over the changes, share of the findings; pre-existing: on changed lines, "
        "but the old file had it; taste: on changed lines and new, but a matter of style; "
        f"counted: issues that the score counts, what tools have in common once, {most} of a hunk"
    )


def _effects(found: Issues) -> Iterator[str]:
    yield "What issues do to the score: Spearman with people, and the gain over no issues"
    rows = []
    for name, mine in parts(found):
        rows.append((f"{name}, {many(mine[0].n, 'review')}", *[""] * 6))
        rows += [(INDENT + LABELS[row.issues], *effect(row)) for row in mine]
    yield from table(("Relevance", "Spearman", "Kendall", "gain", "95 % interval", "p", ""), rows)
    rows = [
        (f"{row.dimension}, {LABELS[row.issues]}", *effect(row))
        for dimension in DIMENSIONS[:2]
        for row in found.effects
        if (row.dimension, row.slice) == (dimension, slices.POOLED)
    ]
    yield from table(("", "Spearman", "Kendall", "gain", "95 % interval", "p", ""), rows)


def parts(found: Issues) -> Iterator[tuple[str, Sequence[Effect]]]:
    """Take the effects on relevance, slice by slice."""
    rows = [row for row in found.effects if row.dimension == RELEVANCE]
    for name in dict.fromkeys(row.slice for row in rows):
        yield shown(name.replace(":", " ")), [row for row in rows if row.slice == name]


def effect(row: Effect) -> tuple[str, ...]:
    """Write one effect."""
    interval = NOTHING
    if row.low is not None and row.high is not None:
        interval = f"[{signed(row.low)}, {signed(row.high)}]"
    is_clear = row.p is not None and row.p < 0.05 and row.difference
    return (
        number(row.spearman),
        number(row.kendall),
        signed(row.difference),
        interval,
        probability(row.p),
        ("better" if (row.difference or 0) > 0 else "worse") if is_clear else "",
    )


def _again(row: Again) -> Iterator[str]:
    yield from explained(summary(row))
    for miss in row.misses[:MISSES]:
        yield from _miss(miss)
    if len(row.misses) > MISSES:
        yield f"{INDENT * 2}… and {len(row.misses) - MISSES:,} more in --format json"


def summary(row: Again) -> str:
    """Say how many of a language's issues are named again."""
    again = row.by_rule + row.by_meaning
    text = (
        f"{shown(row.language)}: of {many(row.rows, 'issue')} of the study's own tools, {again:,} "
        f"named again ({percent(row.share)}): {row.by_rule:,} by the same rule on the same line, "
        f"{row.by_meaning:,} there in other words; {row.counted:,} of them count"
    )
    if row.unreadable:
        text += f"; {many(row.unreadable, 'parse error')} of those tools left out"
    return text


def _miss(miss: Miss) -> Iterator[str]:
    yield INDENT * 2 + _cut(f"missed in {shown(miss.change)}: {escape.one_line(miss.text)}")
    yield INDENT * 3 + _cut(nearest(miss))


def nearest(miss: Miss) -> str:
    """Say what this run has instead."""
    if miss.nearest is None or miss.line is None:
        return "nothing is said of this change"
    return (
        f"nearest: line {miss.line}, {escape.one_line(miss.nearest)} "
        f"(cosine {number(miss.cosine, 2)})"
    )


def _cut(text: str) -> str:
    return textwrap.shorten(text, WIDTH, placeholder=" …")
