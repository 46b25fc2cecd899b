"""Report of a benchmark: terminal, web page and Markdown."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from crscore.bench.records import SEVERITIES
from crscore.bench.results import BenchResult, BotScore, ChangeResult, Decision, Estimate
from crscore.records import Importance
from crscore.reports.blocks import Block, Folded, Heading, Paragraph, Run, Table, make_table
from crscore.reports.charts import Bar, Plot
from crscore.reports.layout import Card, Details, Report, Section
from crscore.reports.markdown_blocks import render_markdown
from crscore.text import count_noun

FEW: Final = 10
"""Rows of a list in a terminal; Markdown has twice as many, a page and JSON have all."""
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
    """Tabulate each problem with its hits and nearest findings, then the unlisted findings."""
    rows: list[tuple[str, ...]] = []
    for index, problem in enumerate(change.problems):
        pairs = [pair for pair in change.pairs if pair.problem == index]
        silent = [pair.bot for pair in pairs if not pair.finding]
        kind = "excluded" if problem.excluded else problem.severity
        name = f"{'also right' if problem.also_right else kind}: ".removeprefix(": ")
        cut_text = _cut(name + problem.text)
        rows += [
            (pair.outcome, pair.bot, cut_text, _cut(pair.finding.text), f"{pair.probability:.2f}",
             pair.why)
            for pair in sorted(pairs, key=lambda pair: (pair.outcome == "missed", pair.bot))
            if pair.finding
        ]  # fmt: skip
        if silent:
            rows.append(("missed", ", ".join(silent), cut_text, "–", "–", "no finding"))
    rows += [
        ("unlisted", d.finding.bot, "–", _cut(d.finding.text), "–", d.importance)
        for d in sorted(change.decisions, key=_by_importance)
        if d.outcome == "unlisted"
    ]
    header = ("Outcome", "Bot", "Problem", "Finding", "Probability", "Why, or importance")
    return Table(change.id, header, tuple(rows), is_prose=True)


def _by_importance(decision: Decision) -> int:
    return (*Importance, "").index(decision.importance)


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def _lists(result: BenchResult) -> Iterator[tuple[str, str, Table]]:
    """Yield title, noun and table of what a bot's author reads, the most important rows first."""
    pairs = [
        (change.id, change.problems[pair.problem], pair)
        for change in result.changes
        for pair in change.pairs
    ]
    missed = [row for row in pairs if row[2].outcome == "missed" and row[1].is_required]
    unsure = {row[2].id: row for row in pairs if row[2].is_unsure}
    yield (
        "Missed problems",
        "missed problem",
        _prose(
            "Missed problems, with the nearest finding",
            sorted(
                missed,
                key=lambda row: ((*SEVERITIES, "").index(row[1].severity), -row[2].probability),
            ),
            ("Severity", lambda row: row[1].severity),
            ("Bot", lambda row: row[2].bot),
            ("Change", lambda row: row[0]),
            ("Problem", lambda row: _cut(row[1].text)),
            ("Nearest finding", lambda row: _cut(row[2].finding.text) if row[2].finding else "–"),
            ("Probability", lambda row: f"{row[2].probability:.2f}" if row[2].finding else "–"),
            ("Why it is no hit", lambda row: row[2].why),
        ),
    )
    yield (
        "Unsure",
        "pair to judge by hand",
        _prose(
            "Pairs to judge by hand",
            sorted(unsure.values(), key=lambda row: abs(row[2].probability - 0.5)),
            ("Id", lambda row: row[2].id),
            ("Probability", lambda row: f"{row[2].probability:.2f}"),
            ("Bot", lambda row: row[2].bot),
            ("Change", lambda row: row[0]),
            ("Problem", lambda row: _cut(row[1].text)),
            ("Finding", lambda row: _cut(row[2].finding.text)),
        ),
    )
    unlisted = [
        (change.id, d)
        for change in result.changes
        for d in change.decisions
        if d.outcome == "unlisted"
    ]
    yield (
        "Unlisted findings",
        "unlisted finding",
        _prose(
            "Unlisted findings, by importance if right",
            sorted(unlisted, key=lambda row: _by_importance(row[1])),
            ("Importance", lambda row: row[1].importance or "asks for nothing"),
            ("Bot", lambda row: row[1].finding.bot),
            ("Change", lambda row: row[0]),
            ("Finding", lambda row: _cut(row[1].finding.text)),
        ),
    )


def _prose(caption: str, items: Iterable[Any], *columns: tuple[str, Callable[[Any], str]]) -> Table:
    return dataclasses.replace(make_table(caption, items, *columns), is_prose=True)


def _fold(table: Table, noun: str, rows: int) -> Details:
    count = len(table.rows)
    title = count_noun(count, noun)
    if noun.startswith("pair"):
        title = f"{count_noun(count, 'pair')} to judge by hand"
    if rows < count:
        title = f"{title}, of which the first {rows}"
    return Details(title, dataclasses.replace(table, rows=table.rows[:rows]))


def _moved(result: BenchResult) -> Table:
    def both(values: tuple[float | None, float | None]) -> str:
        return " → ".join("–" if value is None else f"{value:.2f}" for value in values)

    return make_table(
        "Before and after decisions by hand",
        result.moved,
        ("Bot", lambda row: row.bot),
        ("Hits", lambda row: f"{row.hits[0]:,} → {row.hits[1]:,}"),
        ("Recall", lambda row: both(row.recall)),
        ("Precision", lambda row: both(row.precision)),
        (f"F{result.beta:g}", lambda row: both(row.f)),
    )


def lay_out(result: BenchResult, *, rows: int | None = None) -> Report:
    """Lay out a result for a terminal and a web page.

    Args:
        result: The result.
        rows: Maximum rows of missed, unsure and unlisted ones; None for what a page shows.
    """
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
            *((Section("moved", "By hand", "Decisions by hand", tables=(_moved(result),)),)
              if result.moved else ()),
            *(
                Section(title.split()[0].lower(), title.split()[0], title,
                        details=(_fold(table, noun, rows or len(table.rows)),))
                for title, noun, table in _lists(result) if table.rows
            ),
            Section("others", "Others", "Other findings", tables=(_unlisted(result),)),
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
    """Render the bots, and what they missed, as Markdown, for a README or a comment."""
    blocks: list[Block] = [
        Heading(f"Known problems of {result.golden}"),
        tabulate_bots(result)[0][1],
        *((_moved(result),) if result.moved else ()),
        *(
            Folded(folded.title, (folded.table,))
            for _, noun, table in _lists(result) if table.rows
            for folded in (_fold(table, noun, 2 * FEW),)
        ),
        *(Paragraph(text, "dim") for text in (*READING, *result.notes)),
        Paragraph((Run(result.signature, "code"),), "dim"),
    ]  # fmt: skip
    return render_markdown([blocks], limit=_MAX_CHARS, noun="set")
