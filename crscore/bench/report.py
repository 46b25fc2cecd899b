"""Lays out the report of a benchmark for a terminal, a web page and Markdown."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from crscore.bench.records import SEVERITIES, Problem
from crscore.bench.results import BenchResult, BotScore, ChangeResult, Estimate, Pair
from crscore.records import Importance
from crscore.reports.blocks import Block, Folded, Heading, Paragraph, Run, Table, make_table
from crscore.reports.layout import Bar, Report, Section
from crscore.reports.markdown_blocks import render_markdown
from crscore.text import count_noun, shorten

FEW: Final = 10
"""Number of rows of a list in a terminal. Markdown shows twice as many; a page and JSON show all.
"""
_ALL: Final = 10**9
NEAR: Final = 0.02
"""If a problem's nearest finding is in another file and its probability is lower than this, the
finding is not shown.
"""
_SHORT: Final = 160
"""Maximum number of characters of a text in a table; longer texts are truncated."""
# GitHub accepts 65,536 in a comment: https://github.com/danger/danger/issues/424
_MAX_CHARS: Final = 60_000
"""Maximum characters of a Markdown report."""
# The number of digits is limited, because `int` rejects a text of thousands of digits.
_NUMBERED: Final = re.compile(r"(\D*)(\d{0,18})")
OTHER_FINDINGS: Final = {
    "Also right": "also_right", "Unlisted": "unlisted", "Unlisted, critical or major": "serious",
    "Repeated": "duplicates", "Changes without a finding": "silent",
}  # fmt: skip
"""Columns of the table of other findings: field of `BotScore` for each header."""
READING: Final = (
    "Findings that match no problem are unlisted, not false, so precision is a lower bound.",
    "Intervals and ranges of ranks are 95 % intervals, from a bootstrap over the changes.",
)
"""Sentences that explain how to read the numbers."""


def _show(number: Estimate | float | str | None) -> str:
    if isinstance(number, float | int | str):
        return number if isinstance(number, str) else f"{number:,}"
    if number is None or number.value is None:
        return "–"
    has_interval = number.low is not None and number.high is not None
    interval = f" [{number.low:.2f}, {number.high:.2f}]" if has_interval else ""
    return f"{number.value:.2f}{interval}"


def _tabulate_scores(
    caption: str,
    bots: Sequence[BotScore],
    fields: Mapping[str, str],
    show: Callable[[BotScore, str], str] = lambda row, field: _show(getattr(row, field)),
) -> Table:
    """Tabulate the scores of bots.

    Args:
        caption: Caption of the table.
        bots: The scores, one row for each bot.
        fields: Field of `BotScore` for each header; a field that is None for every bot gets no
            column.
        show: Function that formats a field of a bot.
    """
    columns = [(name, lambda row, at=at: show(row, at)) for name, at in fields.items()
               if any(getattr(row, at) is not None for row in bots)]  # fmt: skip
    return make_table(caption, bots, ("Bot", lambda row: row.bot), *columns)


def tabulate_bots(result: BenchResult) -> Table:
    """Tabulate the bots, the one with the highest F first."""
    measures = {
        f"F{result.beta:g}": "f", "Precision": "precision", "Recall": "recall",
        "Weighted recall": "weighted_recall", "Unlisted": "unlisted", "Unsure": "unsure",
        "Seconds": "seconds", "Cost": "cost",
    }  # fmt: skip
    return _tabulate_scores("Bots", result.bots, {"Rank": "rank", **measures})


def _tabulate_groups(result: BenchResult, kind: str) -> Table | None:
    cells = {
        (row.bot, group.name): f"{group.hits} of {group.problems}"
        for row in result.bots
        for group in row.groups
        if group.kind == kind
    }
    names = {name for _, name in cells}
    order = [name for name in SEVERITIES if name in names] if kind == "severity" else sorted(names)
    columns = [(name.capitalize(), lambda row, name=name: cells[row.bot, name]) for name in order]
    table = make_table(f"Recall by {kind}", result.bots, ("Bot", lambda row: row.bot), *columns)
    return table if names else None


def _tabulate_comparisons(result: BenchResult) -> Table:
    return make_table(
        "Comparisons",
        result.comparisons,
        ("Bots", lambda row: f"{row.first} − {row.second}"),
        (f"Difference in F{result.beta:g}", lambda row: _show(row.difference)),
        ("p, corrected", lambda row: "–" if row.p_value is None else f"{row.p_value:.3f}"),
    )


def _make_sort_key(change: ChangeResult) -> list[tuple[str, int]]:
    """Return a key that sorts changes by the numbers in their names, "shop#2" before "shop#10"."""
    return [(text, int(number or 0)) for text, number in _NUMBERED.findall(change.id)]


def _tabulate(caption: str, first: str, rows: Iterable[tuple[str, ...]]) -> Table:
    """Tabulate findings and problems; columns that are empty or repeat the caption are left out.

    Args:
        caption: Caption of the table.
        first: Header of the first column.
        rows: Seven cells each: that of the first column, bot, bots that found the problem, change,
            problem, finding, and probability with reason.
    """
    header = (first, "Bot", "Hit by", "Change", "Problem", "Finding", "Probability and why")
    listed = list(rows)
    used = [at for at in range(len(header)) if {row[at] for row in listed} - {"", caption}]
    cells = tuple(tuple(shorten(row[at], _SHORT) or "–" for at in used) for row in listed)
    return Table(caption, tuple(header[at] for at in used), cells, is_prose=True)


def _describe(pair: Pair) -> tuple[str, str]:
    """Return the text of a pair's finding, and the pair's probability with the reason.

    The text is "" if the bot has no finding, or none near the problem.
    """
    if pair.finding is None:
        return "", pair.why
    if pair.probability < NEAR and re.search("another claim.*another file", pair.why):
        return "", "nothing near"
    return pair.finding.text, f"{pair.probability:.2f}; {pair.why}"


def _tabulate_change(change: ChangeResult) -> Table:
    """Tabulate each problem with its hits and nearest findings, then findings without a match."""
    rows: list[tuple[str, ...]] = []
    for index, problem in enumerate(change.problems):
        pairs = [pair for pair in change.pairs if pair.problem == index]
        kind = "excluded" if problem.excluded else problem.severity
        name = f"{'also right' if problem.also_right else kind}: {problem.text}".removeprefix(": ")
        rows += [
            (pair.outcome, pair.bot, "", "", name, *_describe(pair))
            for pair in sorted(pairs, key=lambda pair: (pair.outcome == "missed", pair.bot))
            if pair.finding
        ]
        if without_finding := ", ".join(pair.bot for pair in pairs if not pair.finding):
            rows.append(("missed", without_finding, "", "", name, "", "no finding"))
    rows += [
        (d.outcome, d.finding.bot, "", "", "", d.finding.text, d.importance)
        for d in sorted(change.decisions, key=lambda d: (*Importance, "").index(d.importance))
        if d.outcome in ("unlisted", "unread")
    ]
    return _tabulate(change.id, "Outcome", rows)


def _make_lists(result: BenchResult) -> Iterator[tuple[str, str, list[Table]]]:
    """Yield three lists for the author of a bot: missed problems, unsure pairs, unlisted findings.

    Each list is a title, the noun for a row, and tables with the most important rows first.
    """
    entries = [
        (change, change.problems[pair.problem], pair)
        for change in result.changes
        for pair in change.pairs
    ]
    hit_by = defaultdict[tuple[str, int], list[str]](list)
    for change, _, pair in entries:
        hit_by[change.id, pair.problem] += [pair.bot] if pair.outcome == "hit" else []

    def row(first: str, change: ChangeResult, problem: Problem, pair: Pair) -> tuple[str, ...]:
        hits = "" if pair.outcome == "hit" else ", ".join(hit_by[change.id, pair.problem])
        return first, pair.bot, hits, change.id, problem.text, *_describe(pair)

    # Within a severity, problems that more bots found come first, because they are easier to find.
    # Of problems that equally many bots found, the one with the most probable finding comes first,
    # because it is nearly a hit.
    missed = sorted(
        (entry for entry in entries if entry[2].outcome == "missed" and entry[1].is_required),
        key=lambda entry: (
            (*SEVERITIES, "").index(entry[1].severity),
            -len(hit_by[entry[0].id, entry[2].problem]),
            -entry[2].probability,
        ),
    )
    rows = [row(entry[1].severity, *entry) for entry in missed]
    of_bots = {row.bot: [cells for cells in rows if cells[1] == row.bot] for row in result.bots}
    tables = [_tabulate(bot, "Severity", listed) for bot, listed in of_bots.items()]
    yield "Missed problems", "missed problem", tables
    unsure = {entry[2].id: entry for entry in entries if entry[2].is_unsure}
    undecided = sorted(unsure.values(), key=lambda entry: abs(entry[2].probability - 0.5))
    rows = [row(entry[2].outcome, *entry) for entry in undecided]
    yield "Unsure", "unsure pair", [_tabulate("To judge by hand", "Outcome", rows)]
    unlisted = [
        (d.importance, d.finding.bot, "", change.id, "", d.finding.text, "")
        for change in result.changes
        for d in change.decisions
        if d.outcome == "unlisted"
    ]
    rows = sorted(unlisted, key=lambda cells: (*Importance, "").index(cells[0]))
    table = _tabulate("By importance", "Importance judged from the text", rows)
    yield "Unlisted findings", "unlisted finding", [table]


def _fold(tables: Iterable[Table], noun: str, rows: int) -> tuple[Table, ...]:
    """Shorten tables so that together they have about `rows` rows; empty tables are left out.

    The caption of each table says how many rows there are and, if it is shortened, how many of them
    are shown.
    """
    used = [table for table in tables if table.rows]
    row_limit = max(3, rows // max(1, len(used)))
    return tuple(
        replace(
            table,
            caption=f"{table.caption}: {count_noun(len(table.rows), noun)}"
            f"{f', of which the first {row_limit}' * (row_limit < len(table.rows))}",
            rows=table.rows[:row_limit],
        )
        for table in used
    )


def _tabulate_effect(result: BenchResult) -> Table:
    before = {row.bot: row for row in result.before}

    def show(row: BotScore, field: str) -> str:
        sides = (getattr(before[row.bot], field), getattr(row, field))
        return " → ".join(_show(side).partition(" ")[0] for side in sides)

    fields = {"Hits": "hits", "Recall": "recall", "Precision": "precision", "F": "f"}
    return _tabulate_scores("Without and with decisions on unsure pairs", result.bots, fields, show)


def lay_out(result: BenchResult, *, rows: int | None = None) -> Report:
    """Lay out a result for a terminal and a web page.

    Args:
        result: The result.
        rows: Maximum number of rows of each list of findings; None for all rows, as on a page.
    """
    by_kind = (_tabulate_groups(result, kind) for kind in ("severity", "category", "language"))
    required = sum(p.is_required for change in result.changes for p in change.problems)
    unsure = sum(row.unsure for row in result.bots)
    pairs = sum(pair.finding is not None for change in result.changes for pair in change.pairs)
    best, comparisons = result.bots[0], _tabulate_comparisons(result)
    changes = sorted(result.changes, key=_make_sort_key)

    def bar(label: str, value: Estimate, tone: str, base: Bar | None = None) -> Bar:
        written = _show(value)
        return Bar(label, value.value, value.low, value.high, written, tone, base)

    return Report(
        title="crscore bench",
        heading=f"Known problems of {result.golden}: {count_noun(len(result.bots), 'bot')}",
        facts=READING,
        notes=result.notes,
        cards=(
            ("Changes", f"{len(result.changes):,}", count_noun(required, "required problem")),
            (f"Best F{result.beta:g}", best.bot, _show(best.f)),
            ("Unsure", f"{unsure / max(1, pairs):.0%}", f"{unsure:,} of {pairs:,} pairs"),
        ),
        sections=(
            Section("bots", "Bots", "Bots", bars_title="Recall (hollow: precision)", bars=tuple(
                bar(row.bot, row.recall, "main", bar("precision", row.precision, "trivial"))
                for row in result.bots
            ), tables=(tabulate_bots(result),)),
            Section("groups", "Groups", "Recall by group",
                    tables=tuple(table for table in by_kind if table)),
            *((Section("decided", "Decided", "Decided pairs", tables=(_tabulate_effect(result),)),)
              if result.before else ()),
            *(
                Section(title.split()[0].lower(), title.split()[0], title,
                        folded=folded)
                for title, noun, tables in _make_lists(result)
                if (folded := _fold(tables, noun, rows or _ALL))
            ),
            Section("others", "Others", "Other findings",
                    tables=(_tabulate_scores("Other findings", result.bots, OTHER_FINDINGS),)),
            Section("comparisons", "Comparisons", "Comparisons", tables=(comparisons,)),
            Section("changes", "Changes", "Changes", has_folded_in_text=False,
                    folded=tuple(map(_tabulate_change, changes))),
        ),
        signatures=(result.signature,),
    )  # fmt: skip


def render_short(result: BenchResult) -> str:
    """Return the bots' scores and the three lists as Markdown for a README or a comment."""
    blocks: list[Block] = [
        Heading(f"Known problems of {result.golden}"),
        tabulate_bots(result),
        *((_tabulate_effect(result),) if result.before else ()),
        *(
            Folded(table.caption, (table,))
            for _, noun, tables in _make_lists(result)
            for table in _fold(tables, noun, 2 * FEW)
        ),
        *(Paragraph(text, "dim") for text in (*READING, *result.notes)),
        Paragraph((Run(result.signature, "code"),), "dim"),
    ]  # fmt: skip
    return render_markdown([blocks], limit=_MAX_CHARS, noun="set")
