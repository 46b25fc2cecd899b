"""Overview as text for a terminal, laid out by rich; every mark is readable without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crscore.pull_request.documents import _words
from crscore.reports import console, escape, view

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from crscore.pull_request.overview import Overview, Point, Reviewer, Scores

SHOWN_POINTS = 8
SHOWN_NOTES = 8
_TITLE, _DIM, _CODE, _WARN = "bold", "dim", "cyan", "yellow"


def render_terminal(overviews: Sequence[Overview], *, color: bool = False, width: int = 80) -> str:
    """Write each pull request below the one before.

    Args:
        overviews: Overviews to show.
        color: Write colour sequences.
        width: Columns of the terminal; kept between 60 and 160.

    Returns:
        Text that ends in a newline, without trailing blanks.
    """
    blocks = (block for found in overviews for block in _document(found, width))
    return console.print_blocks(blocks, color=color, width=width)


def _document(found: Overview, width: int) -> Iterator[RenderableType]:
    yield from _blocks(found, console.fit_width(width))
    # Never wrapped, so that it can be copied and compared.
    yield Text(escape.one_line(found.signature), style=_DIM, no_wrap=True)
    yield ""


def _blocks(found: Overview, width: int) -> Iterator[RenderableType]:
    name = f"{found.repository}#{found.number}"
    title = escape.one_line(found.title, 200)
    yield Text.assemble((name, _TITLE), f"  {title}", overflow="fold")
    yield Text(found.url, style=_DIM, overflow="fold")
    yield ""
    yield _prose(_words.opening(found))
    yield from _labelled_texts("Partial", found.missing, _WARN)
    if found.reviewers:
        yield ""
        yield Padding(_table(found, width), (0, 0, 0, 2))
        if published := _words.published(found):
            yield _prose(f"  {published}", _DIM)
    yield from _reasons(found)
    yield from _points(found)
    yield ""
    yield from _labelled_texts("Note", found.notes, _DIM)


def _labelled_texts(label: str, texts: Sequence[str], style: str) -> Iterator[Text]:
    for text in texts[:SHOWN_NOTES]:
        yield _prose(f"{label}: {text}", style)
    more = len(texts) - SHOWN_NOTES
    if more > 0:
        yield Text(f"{label}: {more:,} more, in the report", style=style)


def _table(found: Overview, width: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style=_DIM)
    names, room = _words.columns(found), 72
    if names == view.PUBLISHED:
        names, room = ("Rel", "Con", "Comp"), 54
    table.add_column("Reviewer", no_wrap=True, overflow="ellipsis", max_width=max(width - room, 12))
    for heading in (*names, "Comments", "Resolved"):
        table.add_column(heading, no_wrap=True, justify="right")
    if _words.reviewers(found) > 1:
        scores = (Text(value, style=_TITLE) for value in _three(found, found.together))
        table.add_row(Text("together", style=_TITLE), *scores, *_words.total(found))
    for row in found.reviewers:
        counts = (_words.comments(row), _words.resolved(row))
        table.add_row(Text(_name(row)), *_three(found, row), *counts)
    if found.other_reviewers:
        table.add_row(Text(f"and {found.other_reviewers:,} more", style=_DIM), *[""] * 5)
    return table


def _three(found: Overview, row: Scores) -> Iterator[str]:
    return map(escape.one_line, _words.three(found, row))


def _reasons(found: Overview) -> Iterator[Text]:
    for row in found.reviewers:
        if row.reason is not None:
            yield _prose(f"  No score for {_name(row)}: {row.reason.rstrip('.')}.", _DIM)


def _name(row: Reviewer) -> str:
    return escape.one_line(row.name, 100) + " (bot)" * row.is_bot


def _points(found: Overview) -> Iterator[RenderableType]:
    if not found.open:
        return
    yield ""
    yield Text(f"{_words.title(found)} ({found.together.unaddressed:,})", style=_TITLE)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for point in found.open[:SHOWN_POINTS]:
        table.add_row("•", _prose(point.text))
        table.add_row("", Text(_where(point), style=_DIM, overflow="fold"))
    yield Padding(table, (0, 0, 0, 2))
    more = found.together.unaddressed - min(len(found.open), SHOWN_POINTS)
    if more > 0:
        yield Text(f"    … and {more:,} more, in the report", style=_DIM)


def _where(point: Point) -> str:
    who = _words.finder(point)
    return escape.one_line(f"{_words.place(point)}{f' ({who})' if who else ''}", 400)


def _prose(text: str, style: str = "") -> Text:
    """Return prose with its code spans coloured; the backticks stay for output without colour."""
    parts = Text(style=style, overflow="fold")
    for piece in escape.pieces(text):
        parts.append(f"`{piece.text}`" if piece.is_code else piece.text, _CODE * piece.is_code)
    return parts
