"""Report in sections with tables and plots, as text for a terminal and as a web page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crscore.reports import blocks, console, frame
from crscore.reports.blocks import Table

WIDTH: Final = 100
"""Width of running text in `to_text`, in columns; tables may be wider."""
MAX_ROWS: Final = 200
"""Maximum number of rows of a folded table on a page; JSON has all rows."""


# `charts.html.j2` draws bars as SVG. Positions are attributes, because the page's content security
# policy forbids `style` attributes. Colors are CSS variables, so that one drawing is used in light
# mode, in dark mode and in print. Only heights are in pixels, so that a drawing fits every screen
# but its letters keep their size: https://www.w3.org/TR/SVG2/coords.html
class Bar(Struct, frozen=True):
    """Row of a plot: a value with its interval."""

    label: str
    value: float | None
    """Value in [0, 1]; None if undefined, and the row then has no marker."""
    low: float | None
    """Lower end of the interval; None without an interval."""
    high: float | None
    """Upper end of the interval; None without an interval."""
    written: str
    """The value as text."""
    tone: str = ""
    """CSS class of the row: `main`, `trivial`, `good` or `bad`; empty for none."""
    base: Bar | None = None
    """Rate to compare with, drawn as a hollow marker below the value."""

    @property
    def text(self) -> str:
        """Text of the row for screen readers and tooltips."""
        text = f"{self.label}: {self.written}"
        if self.low is not None and self.high is not None:
            text += f" (from {self.low:.3g} to {self.high:.3g})"
        return text + (f"; {self.base.text}" if self.base else "")


class Section(Struct, frozen=True):
    """Section of a report, which answers one question."""

    anchor: str
    """Target of links to the section, made of letters and dashes."""
    short: str
    """Label in the navigation."""
    title: str
    intro: tuple[str, ...] = ()
    """Paragraphs above the tables."""
    bars: tuple[Bar, ...] = ()
    """Rows of a plot, which is on the page only because tables have the same numbers."""
    bars_title: str = ""
    """Title of the plot."""
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes on how to read the tables."""
    folded: tuple[Table, ...] = ()
    """Tables that a page folds below their captions."""
    has_folded_in_text: bool = True
    """Whether the folded tables are also in the text for a terminal."""


class Report(Struct, frozen=True, kw_only=True):
    """Content of a report on a run or a comparison."""

    title: str
    """Title of the page."""
    heading: str
    """Heading above the content."""
    facts: tuple[str, ...]
    """Facts about the run, such as its data, one line each."""
    notes: tuple[str, ...]
    """Notes to read before the numbers."""
    cards: tuple[tuple[str, str, str], ...]
    """Key numbers: title, value, and the data that the value is based on."""
    sections: tuple[Section, ...]
    signatures: tuple[str, ...]


def to_html(report: Report) -> str:
    """Render a report as one self-contained web page, which loads nothing and runs no script."""
    return frame.page(
        "reports/templates/layout.html.j2",
        title=report.title,
        style=frame.read_resource("reports/templates/charts.css")
        + frame.read_resource("reports/templates/layout.css"),
        report=report,
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
        # Text has no plots and, for some sections, no folded tables. The heading of a section that
        # contains nothing else is left out.
        if section_content := list(_list_blocks(section)):
            content += [blocks.Heading(section.title), *section_content]
    content += [blocks.Signature(signature, is_full=True) for signature in report.signatures]
    return console.render_blocks(content, color=color, width=width, wide_tables=True)


def _list_blocks(section: Section) -> Iterator[blocks.Block]:
    yield from (blocks.Paragraph(text, "dim") for text in section.intro)
    for table in section.tables:
        if len(section.tables) > 1:
            yield blocks.Heading(f"{table.caption}:", 3)
        yield table
    yield from (blocks.Paragraph(text, "dim") for text in section.notes)
    for table in section.folded if section.has_folded_in_text else ():
        yield blocks.Heading(f"{table.caption}:", 3)
        yield replace(table, rows=table.rows[:MAX_ROWS], unlisted=len(table.rows[MAX_ROWS:]))
