"""Blocks that reports are made of: headings, text, tables, bars and lists.

The module of a report makes the blocks once, as values. They are rendered as text for a terminal
(`console.py`), in a web page (`frame.py`) and as GitHub's Markdown (`markdown_blocks.py`). The
renderers clean and escape every text, so a block may have any text of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

_Item = TypeVar("_Item")


class Run(NamedTuple):
    """Part of a line that is not prose."""

    text: str
    """Plain text; backticks have no meaning in it."""
    tone: str = ""
    """Words of `strong`, `dim`, `good`, `fair`, `bad`, `code` and, on pages, CSS classes."""
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
    """Tone as in `Run`; `dim` for an aside."""


class Notice(Struct, frozen=True):
    """Warnings to read before the numbers."""

    label: str
    """Word in front of each line in a terminal."""
    title: Line
    """Sentence above the list on a page and in Markdown."""
    lines: tuple[str, ...]


class Measure(Struct, frozen=True):
    """Number, and the data that it is based on."""

    name: str
    value: float | None
    """In [0, 1]; None when undefined."""
    basis: str
    tone: str = ""


class Measures(Struct, frozen=True):
    """Headline numbers, drawn as bars in a terminal and as cards on a page."""

    rows: tuple[Measure, ...]


class Table(Struct, frozen=True):
    """Cells under a header."""

    caption: str
    header: tuple[str, ...]
    """One cell per column."""
    rows: tuple[tuple[Line, ...], ...]
    """Rows with as many cells as the header; the first cell names the row."""
    main: frozenset[int] = frozenset()
    """Indices of the highlighted rows."""
    is_prose: bool = False
    """Whether the cells are words, not numbers."""
    unlisted: int = 0
    """Number of further rows."""


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
        main: Predicate of the rows to highlight.
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
    """Location of the entry; on the same line if there is room."""
    below: tuple[Line, ...] = ()
    """Lines below the text."""


class Items(Struct, frozen=True):
    """List of entries."""

    items: tuple[Item, ...]
    noun: str = ""
    """Noun of the entries, in "3 more …"."""
    max_open: int | None = None
    """Maximum number of entries shown; the others are folded or, in a terminal, counted. None for
    all."""
    unlisted: int = 0
    """Number of further entries that are not in `items`."""
    hint: str = "in the report"
    """Where a reader of a terminal finds the entries that are not shown."""


def make_list(
    title: str, items: Sequence[Item], *, unlisted: int = 0, **settings: Any
) -> Iterator[Heading | Items]:
    """Yield a list below its title and length; without entries, yield nothing.

    Args:
        title: The title.
        items: The entries.
        unlisted: Number of further entries.
        settings: Other fields of `Items`.
    """
    if items:
        yield Heading(f"{title} ({len(items) + unlisted:,})")
        yield Items(tuple(items), unlisted=unlisted, **settings)


class Folded(Struct, frozen=True):
    """Blocks that a page and Markdown show folded."""

    title: str
    blocks: tuple[Block, ...]


class Signature(Struct, frozen=True):
    """Signature of the scores, the last line."""

    text: str
    whole: bool = False
    """Whether to show the full signature instead of its short form."""
    before: Line = ""
    """Text in front of the signature."""


Block: TypeAlias = "Heading | Paragraph | Notice | Measures | Table | Items | Folded | Signature"
