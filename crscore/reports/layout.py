"""Report in sections with tables and plots, as text for a terminal and as a web page."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from crscore.reports import blocks, charts, console, frame
from crscore.reports.blocks import Table
from crscore.reports.charts import Plot

WIDTH: Final = 100
"""Width of running text in `to_text`, in columns; tables may be wider."""
MAX_ROWS: Final = 200
"""Maximum number of rows of a folded table on a page; JSON has all rows."""


class Details(Struct, frozen=True):
    """Table that a page shows folded."""

    title: str
    table: Table
    in_text: bool = True
    """Whether the text rendering has the table, too."""


class Section(Struct, frozen=True):
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
    details: tuple[Details, ...] = ()


class Card(NamedTuple):
    """One key number."""

    title: str
    value: str
    basis: str
    """Data that it is based on."""


class Report(Struct, frozen=True, kw_only=True):
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
        DependencyError: The package that draws its plots is not installed.
    """
    return frame.page(
        "reports/templates/layout.html.j2",
        title=report.title,
        style=frame.read_resource("reports/templates/charts.css")
        + frame.read_resource("reports/templates/layout.css"),
        report=report,
        draw=charts.draw,
        max_rows=MAX_ROWS,
    )


def to_text(report: Report, *, color: bool = False, width: int = WIDTH) -> str:
    """Render a report as titled tables; a table may be wider than `width`."""
    facts = (*report.facts, *(f"note: {note}" for note in report.notes))
    content: list[blocks.Block] = [
        blocks.Heading(report.heading, 1),
        *(blocks.Paragraph(text, "dim") for text in facts),
        Table("In short", ("", "", ""), report.cards, is_prose=True),
    ]
    for section in report.sections:
        # A page alone has plots and long tables, and a section may have nothing else.
        if section_content := list(_content(section)):
            content += [blocks.Heading(section.title), *section_content]
    content += [blocks.Signature(signature, whole=True) for signature in report.signatures]
    return console.render_blocks(content, color=color, width=width, wide_tables=True)


def _content(section: Section) -> Iterator[blocks.Block]:
    yield from (blocks.Paragraph(text, "dim") for text in section.intro)
    for table in section.tables:
        if len(section.tables) > 1:
            yield blocks.Heading(f"{table.caption}:", 3)
        yield table
    yield from (blocks.Paragraph(text, "dim") for text in section.notes)
    for details in section.details:
        if details.in_text:
            rows, hidden = details.table.rows[:MAX_ROWS], len(details.table.rows[MAX_ROWS:])
            yield blocks.Heading(f"{details.title}:", 3)
            yield replace(details.table, rows=rows, unlisted=hidden)
