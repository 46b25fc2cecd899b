"""Blocks that reports are made of: headings, text, tables, bars and lists.

The module of a report creates the blocks. Three renderers turn them into text for a terminal
(`console.py`), a part of a web page (`frame.py`) or GitHub's Markdown (`markdown_blocks.py`). The
renderers clean and escape every text, so a block may contain untrusted text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

_Item = TypeVar("_Item")


class Run(NamedTuple):
    """Part of a line that has a tone or a link, or in which backticks do not mark code."""

    text: str
    """Plain text; backticks are shown as they are."""
    tone: str = ""
    """Words separated by spaces: `strong`, `dim`, `good`, `fair`, `bad` or `code`; pages also
    accept other CSS classes.
    """
    link: str = ""
    """Trusted address, for pages and Markdown; empty for none."""


Line: TypeAlias = "str | tuple[Run | str, ...]"
"""One line of text; a `str` is prose, in which backticks mark code."""


class Heading(Struct, frozen=True):
    """Title of the blocks below it."""

    text: Line
    level: int = 2
    """1 for the title of the report."""


class Paragraph(Struct, frozen=True):
    """Running text."""

    text: Line
    tone: str = ""
    """Tone as in `Run`; `dim` for less important text."""


class Notice(Struct, frozen=True):
    """Warnings to read before the numbers."""

    label: str
    """Word in front of each line in a terminal."""
    title: Line
    """Sentence above the list on a page and in Markdown."""
    lines: tuple[str, ...]


class Measure(Struct, frozen=True):
    """Number, shown with the data that it is based on."""

    name: str
    value: float | None
    """Number in [0, 1]; None when undefined."""
    basis: str
    """Description of the data."""
    tone: str = ""


class Measures(Struct, frozen=True):
    """Headline numbers, drawn as bars in a terminal and as cards on a page."""

    rows: tuple[Measure, ...]


class Table(Struct, frozen=True):
    """Table with a header."""

    caption: str
    header: tuple[str, ...]
    """One cell per column."""
    rows: tuple[tuple[Line, ...], ...]
    """Rows with as many cells as the header; the first cell names the row."""
    main: frozenset[int] = frozenset()
    """Indices of the highlighted rows."""
    is_prose: bool = False
    """Whether the cells contain words instead of numbers."""
    unlisted: int = 0
    """Number of further rows that are not in `rows`."""


def make_table(
    caption: str,
    items: Iterable[_Item],
    *columns: tuple[str, Callable[[_Item], Line]],
    main: Callable[[_Item], bool] = lambda _: False,
) -> Table:
    """Make a table with one row per item.

    Args:
        caption: Caption of the table.
        items: Items of the rows.
        columns: Header of each column, and the function that formats its cells.
        main: Function that returns whether to highlight the row of an item.
    """
    rows = list(items)
    return Table(
        caption,
        header=tuple(header for header, _ in columns),
        rows=tuple(tuple(format_cell(row) for _, format_cell in columns) for row in rows),
        main=frozenset(index for index, row in enumerate(rows) if main(row)),
    )


class Item(Struct, frozen=True):
    """Entry of a list."""

    text: Line
    lead: Line = ""
    """Number or mark in front of the text."""
    place: Line = ""
    """Location of the entry; a terminal shows it below the text."""
    below: tuple[Line, ...] = ()
    """Lines below the text."""


class Items(Struct, frozen=True):
    """List of entries."""

    items: tuple[Item, ...]
    noun: str = ""
    """Noun of the entries, in "3 more …"."""
    max_open: int | None = None
    """Maximum number of entries that are shown, None for all; the other entries are folded or, in a
    terminal, counted.
    """
    unlisted: int = 0
    """Number of further entries that are not in `items`."""
    hint: str = "in the report"
    """Where the entries are that a terminal does not show, as in "3 more, in the report"."""


def make_list(
    title: str, items: Sequence[Item], *, unlisted: int = 0, **settings: Any
) -> Iterator[Heading | Items]:
    """Yield a heading with the title and the number of entries, then the list.

    Without entries, nothing is yielded.

    Args:
        title: Title of the list.
        items: The entries.
        unlisted: Number of further entries.
        settings: Other fields of `Items`.
    """
    if items:
        yield Heading(f"{title} ({len(items) + unlisted:,})")
        yield Items(tuple(items), unlisted=unlisted, **settings)


class Folded(Struct, frozen=True):
    """Blocks that pages and Markdown fold below a title; a terminal shows them."""

    title: str
    blocks: tuple[Block, ...]


class Signature(Struct, frozen=True):
    """Signature of the scores, the last line of a report."""

    text: str
    is_full: bool = False
    """Whether to show the full signature instead of its short form."""
    before: Line = ""
    """Text in front of the signature."""


Block: TypeAlias = "Heading | Paragraph | Notice | Measures | Table | Items | Folded | Signature"
