"""Overview as text for a terminal, laid out by rich; every mark is readable without colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crscore.pull_request.documents import _words
from crscore.pull_request.overview import Overview, Point, Reviewer, Scores
from crscore.reports import console, escape, view

SHOWN_POINTS = 8
SHOWN_MISSING = 8
_TITLE, _DIM, _WARN = "bold", "dim", "yellow"


def render_terminal(
    overviews: Sequence[Overview],
    *,
    color: bool = False,
    width: int = 80,
    signature: bool = False,
) -> str:
    """Write each pull request below the one before, without the notes.

    Args:
        overviews: Overviews to show.
        color: Write colour sequences.
        width: Columns of the terminal; kept between 60 and 160.
        signature: Show the whole signature instead of its short form.

    Returns:
        Text that ends in a newline, without trailing blanks.
    """
    blocks: list[RenderableType] = []
    for found in overviews:
        blocks += _blocks(found, console.fit_width(width))
        blocks += ["", console.signature(found.signature, whole=signature), ""]
    return console.print_blocks(blocks, color=color, width=width)


def _blocks(found: Overview, width: int) -> Iterator[RenderableType]:
    name = f"{found.repository}#{found.number}"
    title = escape.one_line(found.title, 200)
    yield Text.assemble((name, _TITLE), f"  {title}", overflow="fold")
    yield Text(found.url, style=_DIM, overflow="fold")
    yield ""
    yield console.prose(_words.opening(found))
    yield from _partial(found)
    if found.reviewers:
        yield ""
        yield Padding(_table(found, width), (0, 0, 0, 2))
        if published := _words.published(found):
            yield console.prose(f"  {published}", style=_DIM)
    yield from _reasons(found)
    yield from _points(found)


def _partial(found: Overview) -> Iterator[Text]:
    for text in found.missing[:SHOWN_MISSING]:
        yield console.prose(f"Partial: {text}", style=_WARN)
    if (more := len(found.missing) - SHOWN_MISSING) > 0:
        yield Text(f"Partial: {more:,} more, in the report", style=_WARN)


def _table(found: Overview, width: int) -> Table:
    names = view.SHORT if found.together.usefulness is None else view.USEFUL
    table = console.reviewers_table(names, ("Comments", "Resolved"), width)
    if _words.reviewers(found) > 1:
        scores = (Text(value, style=_TITLE) for value in _three(found, found.together))
        console.add_row(table, Text("together", style=_TITLE), *scores, *_words.total(found))
    for row in found.reviewers:
        counts = (_words.comments(row), _words.resolved(row))
        console.add_row(table, Text(_name(row)), *_three(found, row), *counts)
    if found.other_reviewers:
        table.add_row(Text(f"and {found.other_reviewers:,} more", style=_DIM))
    return table


def _three(found: Overview, row: Scores) -> Iterator[str]:
    return map(escape.one_line, _words.three(found, row))


def _reasons(found: Overview) -> Iterator[Text]:
    for row in found.reviewers:
        if row.reason is not None:
            yield console.prose(
                f"  No score for {_name(row)}: {row.reason.rstrip('.')}.", style=_DIM
            )


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
        table.add_row("•", console.prose(point.text))
        table.add_row("", Text(_where(point), style=_DIM, overflow="fold"))
    yield Padding(table, (0, 0, 0, 2))
    more = found.together.unaddressed - min(len(found.open), SHOWN_POINTS)
    if more > 0:
        yield Text(f"    … and {more:,} more, in the report", style=_DIM)


def _where(point: Point) -> str:
    who = _words.finder(point)
    return escape.one_line(f"{_words.place(point)}{f' ({who})' if who else ''}", 400)
