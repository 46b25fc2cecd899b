"""Report of a benchmark: terminal, web page and Markdown."""

import re
from collections.abc import Callable
from typing import Final

from crscore.bench.records import SEVERITIES
from crscore.bench.results import BenchResult, BotScore, ChangeResult, Estimate
from crscore.reports.blocks import Block, Heading, Paragraph, Run, Table, make_table
from crscore.reports.charts import Bar, Plot
from crscore.reports.layout import Card, Details, Report, Section
from crscore.reports.markdown_blocks import render_markdown
from crscore.text import count_noun

_SHORT: Final = 160
"""Maximum characters of a text in a table."""
_MAX_CHARS: Final = 60_000
"""Maximum characters of a Markdown report; GitHub accepts 65,536."""
_NUMBERED: Final = re.compile(r"(\D*)(\d{0,18})")
READING: Final = (
    "Findings that match nothing are unlisted, not false: precision is a lower bound.",
    "Intervals: 95 %, bootstrap over changes. Ranks: in 95 % of the draws.",
)


def _estimate(number: Estimate) -> str:
    if number.value is None:
        return "–"
    text = f"{number.value:.2f}"
    if number.low is None or number.high is None:
        return text
    return f"{text} [{number.low:.2f}, {number.high:.2f}]"


def tabulate_bots(result: BenchResult) -> tuple[tuple[str, Table], ...]:
    """Tabulate the bots by F, and by each other measure."""
    fields = {
        f"F{result.beta:g}": "f", "Precision": "precision", "Recall": "recall",
        "By severity": "weighted_recall", "Unlisted": "unlisted", "Unsure": "unsure",
    }  # fmt: skip

    def cell(row: BotScore, field: str) -> str:
        value = getattr(row, field)
        return f"{value:,}" if isinstance(value, int) else _estimate(value)

    def size(row: BotScore, field: str) -> float:
        value = getattr(row, field)
        return value if isinstance(value, int) else value.value or 0.0

    def column(field: str) -> Callable[[BotScore], str]:
        return lambda row: cell(row, field)

    def table(field: str) -> Table:
        columns = ((name, column(measure)) for name, measure in fields.items())
        bots = sorted(result.bots, key=lambda row: -size(row, field))
        return make_table("Bots", bots, ("Bot", lambda row: row.bot), ("Rank", _rank), *columns)

    return tuple((name, table(field)) for name, field in fields.items())


def _rank(row: BotScore) -> str:
    if row.best_rank == row.worst_rank:
        return str(row.best_rank)
    return f"{row.best_rank} to {row.worst_rank}"


def _unlisted(result: BenchResult) -> Table:
    return make_table(
        "Other findings",
        result.bots,
        ("Bot", lambda row: row.bot),
        ("Also right", lambda row: f"{row.also_right:,}"),
        ("Unlisted", lambda row: f"{row.unlisted:,}"),
        ("Critical or major", lambda row: f"{row.serious:,}"),
        ("Said twice", lambda row: f"{row.duplicates:,}"),
        ("Changes without a finding", lambda row: f"{row.silent:,} of {len(result.changes):,}"),
    )


def _groups(result: BenchResult, kind: str) -> Table | None:
    names = {group.name for row in result.bots for group in row.groups if group.kind == kind}
    order = [name for name in SEVERITIES if name in names] if kind == "severity" else sorted(names)

    def cell(row: BotScore, name: str) -> str:
        return next(
            f"{group.hits} of {group.problems}"
            for group in row.groups
            if (group.kind, group.name) == (kind, name)
        )

    columns = [(name.capitalize(), lambda row, name=name: cell(row, name)) for name in order]
    table = make_table(f"Recall by {kind}", result.bots, ("Bot", lambda row: row.bot), *columns)
    return table if names else None


def _comparisons(result: BenchResult) -> Table:
    return make_table(
        "Comparisons",
        result.comparisons,
        ("Bots", lambda row: f"{row.first} − {row.second}"),
        (f"Difference in F{result.beta:g}", lambda row: _estimate(row.difference)),
        ("p, corrected", lambda row: "–" if row.p_value is None else f"{row.p_value:.3f}"),
    )


def _natural_order(change: ChangeResult) -> list[tuple[str, int]]:
    """Return a sort key: "shop#2" before "shop#10"."""
    return [(text, int(number or 0)) for text, number in _NUMBERED.findall(change.id)]


def _change(change: ChangeResult) -> Table:
    """Tabulate the problems of a change with their bots, then the unlisted findings."""
    rows: list[tuple[str, ...]] = []
    for index, problem in enumerate(change.problems):
        bots = [
            f"{d.finding.bot} ({d.probability:.2f})"
            for d in change.decisions
            if d.problem == index and d.outcome in ("hit", "also right", "excluded")
        ]
        kind = "also right" if problem.also_right else problem.severity or "problem"
        kind = "excluded" if problem.excluded else kind
        rows.append((kind, problem.text[:_SHORT], ", ".join(bots) or "no bot"))
    rows += [
        (f"unlisted, {d.importance}".removesuffix(", "), d.finding.text[:_SHORT], d.finding.bot)
        for d in change.decisions
        if d.outcome == "unlisted"
    ]
    return Table(change.id, ("", "Text", "Bots (probability)"), tuple(rows), is_prose=True)


def lay_out(result: BenchResult) -> Report:
    """Lay out a result for a terminal and a web page."""
    by_kind = (_groups(result, kind) for kind in ("severity", "category", "language"))
    required = sum(p.is_required for change in result.changes for p in change.problems)
    best = result.bots[0]

    def bar(label: str, value: Estimate, tone: str, base: Bar | None = None) -> Bar:
        written = _estimate(value)
        return Bar(label, value.value, value.low, value.high, written, tone, base)

    return Report(
        title="crscore bench",
        heading=f"Known problems of {result.golden}: {count_noun(len(result.bots), 'bot')}",
        facts=READING,
        notes=result.notes,
        cards=(
            Card("Changes", f"{len(result.changes):,}", count_noun(required, "required problem")),
            Card(f"Best F{result.beta:g}", best.bot, _estimate(best.f)),
            Card("Unlisted", f"{result.distinct_unlisted:,}", "distinct points of all bots"),
        ),
        sections=(
            Section(
                "bots", "Bots", "Bots",
                plots=(Plot(
                    "Recall; hollow: precision",
                    tuple(
                        bar(row.bot, row.recall, "main", bar("precision", row.precision, "trivial"))
                        for row in result.bots
                    ),
                ),),
                orders=tabulate_bots(result),
            ),
            Section("groups", "Groups", "Recall by group",
                    tables=tuple(table for table in by_kind if table)),
            Section("unlisted", "Unlisted", "Other findings", tables=(_unlisted(result),)),
            Section("comparisons", "Comparisons", "Comparisons", tables=(_comparisons(result),)),
            Section(
                "changes", "Changes", "Changes",
                details=tuple(
                    Details(c.id, _change(c), False)
                    for c in sorted(result.changes, key=_natural_order)
                ),
            ),
        ),
        signatures=(result.signature,),
    )  # fmt: skip


def render_short(result: BenchResult) -> str:
    """Render the table of bots as Markdown, for a README or a comment."""
    blocks: list[Block] = [
        Heading(f"Known problems of {result.golden}"),
        tabulate_bots(result)[0][1],
        *(Paragraph(text, "dim") for text in (*READING, *result.notes)),
        Paragraph((Run(result.signature, "code"),), "dim"),
    ]
    return render_markdown([blocks], limit=_MAX_CHARS, noun="set")
