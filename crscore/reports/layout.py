"""Parts of a report, and its two renderings: text for a terminal, and a web page.

A report is built once, as values. Texts are cleaned here, when they are rendered, so a builder may
pass on any text of the data.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from crscore.reports import charts, escape, frame
from crscore.reports.charts import Plot

_Item = TypeVar("_Item")

YES: Final = "✓"
"""First character of a cell for a goal that is reached."""
NO: Final = "✗"
"""First character of a cell for a goal that is missed."""
INDENT: Final = "  "
WIDTH: Final = 100
"""Columns of running text; tables may be wider."""
MAX_LABEL_CHARS: Final = 72
"""Maximum characters of the first cell of a row."""
MAX_ROWS: Final = 200
"""Maximum rows of a folded table on a page; JSON has them all."""
MAX_EXAMPLES: Final = 50
"""Maximum folded examples on a page; JSON has them all."""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells under a header."""

    caption: str
    header: tuple[str, ...]
    """One cell per column."""
    rows: tuple[tuple[str, ...], ...]
    """As many cells as the header; the first one names the row."""
    main: frozenset[int] = frozenset()
    """Highlighted rows."""
    is_prose: bool = False
    """Whether the cells are words, not numbers."""


def make_table(
    caption: str,
    items: Iterable[_Item],
    *columns: tuple[str, Callable[[_Item], str]],
    main: Callable[[_Item], bool] = lambda _: False,
) -> Table:
    """Make a table with one row per item.

    Args:
        caption: Caption of the table.
        items: Items of the rows.
        columns: Header of each column, and the function that formats its cells.
        main: Predicate of the rows to highlight.
    """
    listed = list(items)
    return Table(
        caption,
        header=tuple(header for header, _ in columns),
        rows=tuple(tuple(write(item) for _, write in columns) for item in listed),
        main=frozenset(place for place, item in enumerate(listed) if main(item)),
    )


@dataclass(frozen=True, slots=True)
class Example:
    """Text of the data with facts about it."""

    facts: str
    text: str


@dataclass(frozen=True, slots=True)
class Details:
    """Table or examples that a page shows folded."""

    title: str
    table: Table | None = None
    examples: tuple[Example, ...] = ()
    in_text: int = MAX_ROWS
    """Maximum rows or examples in the text rendering; 0 for the page only."""


@dataclass(frozen=True, slots=True)
class Section:
    """Answer to one question."""

    anchor: str
    """Target of links; letters and dashes."""
    short: str
    """Label in the navigation."""
    title: str
    intro: tuple[str, ...] = ()
    """Paragraphs above the tables."""
    plots: tuple[Plot, ...] = ()
    """Plots, on the page only: tables have the same numbers."""
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes on how to read the tables."""
    code: str = ""
    """Command to type."""
    details: tuple[Details, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """One key number."""

    title: str
    value: str
    basis: str
    """Data that it is based on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Content of a report on a run, or on a comparison."""

    title: str
    heading: str
    facts: tuple[str, ...]
    notes: tuple[str, ...]
    """Notes to read before the numbers."""
    cards: tuple[Card, ...]
    sections: tuple[Section, ...]
    signatures: tuple[str, ...]


def to_html(report: Report) -> str:
    """Render a report as one self-contained web page: it loads nothing and runs no script.

    Raises:
        DependencyError: What draws its plots is not installed.
    """
    return frame.page(
        "reports/templates/layout.html.j2",
        title=report.title,
        style=frame.read_resource("reports/templates/charts.css")
        + frame.read_resource("reports/templates/layout.css"),
        report=report,
        draw=charts.draw,
        line=escape.one_line,
        label=_label,
        lines=_lines,
        max_rows=MAX_ROWS,
        max_examples=MAX_EXAMPLES,
    )


def to_text(report: Report) -> str:
    """Render a report as titled tables."""
    lines = [escape.one_line(report.heading), ""]
    for text in (*report.facts, *(f"note: {note}" for note in report.notes)):
        lines += _wrapped(text)
    cards = [(card.title, card.value, card.basis) for card in report.cards]
    lines += ["", *_table(("", "", ""), cards, prose_from=2), ""]
    for section in report.sections:
        lines += [*_section(section), ""]
    lines += map(escape.one_line, report.signatures)
    return escape.no_commands("\n".join(lines) + "\n")


def _section(section: Section) -> Iterator[str]:
    yield section.title
    for text in section.intro:
        yield from _wrapped(text)
    for table in section.tables:
        if len(section.tables) > 1:
            yield from ("", f"{INDENT}{escape.one_line(table.caption)}:")
        yield from _rows(table, table.rows)
    for text in section.notes:
        yield from _wrapped(text)
    if section.code:
        yield INDENT + escape.one_line(section.code)
    for details in section.details:
        if details.in_text:
            yield from ("", f"{INDENT}{escape.one_line(details.title)}:")
            yield from _details(details)


def _details(details: Details) -> Iterator[str]:
    rows = details.table.rows if details.table else ()
    if details.table:
        yield from _rows(details.table, rows[: details.in_text])
    for example in details.examples[: details.in_text]:
        yield INDENT * 2 + _shortened(example.facts)
        yield INDENT * 3 + _shortened(example.text)
    left = len(rows) + len(details.examples) - details.in_text
    if left > 0:
        yield f"{INDENT * 2}… and {left:,} more in --format json"


def _rows(table: Table, rows: Sequence[tuple[str, ...]]) -> list[str]:
    return _table(table.header, rows, prose_from=1 if table.is_prose else len(table.header))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], *, prose_from: int) -> list[str]:
    """Lay out cells: names and prose aligned left, numbers right."""
    cells = [[_label(row[0]), *map(escape.one_line, row[1:])] for row in rows]
    lines = [list(header), *cells] if any(header) else cells
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return [
        INDENT
        + INDENT.join(
            cell.ljust(width) if not 0 < column < prose_from else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _wrapped(text: str) -> list[str]:
    return [INDENT + line for line in textwrap.wrap(escape.one_line(text), WIDTH - len(INDENT))]


def _shortened(text: str) -> str:
    return textwrap.shorten(escape.one_line(text), WIDTH - 3 * len(INDENT), placeholder=" …")


def _label(text: str) -> str:
    return escape.one_line(text, MAX_LABEL_CHARS)


def _lines(text: str) -> str:
    """Clean a text, keep its lines, and cut it to a readable length."""
    limit = escape.MAX_ITEM_CHARS
    cleaned = escape.clean(text[: limit * 4]).strip()
    if len(cleaned) <= limit:
        return cleaned
    return f"{cleaned[:limit]}… (+{max(len(cleaned), len(text)) - limit:,} characters)"
