"""Text for a terminal from rich's blocks: the arguments alone determine width and colour."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from crscore.reports import escape
from crscore.scoring.signature import shorten_signature

CODE: Final = "cyan"
"""Style of code."""
NARROWEST_COLUMNS: Final = 60
WIDEST_COLUMNS: Final = 160
"""Maximum width in columns; wider lines are hard to read."""
_COUNTS_FROM: Final = 80
"""Width from which a table of reviewers has the counts."""
_SCORES_WIDTH, _COUNTS_WIDTH = 36, 27
"""Columns for three scores, and for two counts beside them, at their widest."""


def fit_width(width: int) -> int:
    """Return the nearest width from 60 to 160 columns."""
    return min(max(width, NARROWEST_COLUMNS), WIDEST_COLUMNS)


def print_blocks(blocks: Iterable[RenderableType], *, color: bool, width: int) -> str:
    """Print blocks below one another.

    Args:
        blocks: What rich can print; a `Text` with `no_wrap` keeps to one line, however long.
        color: Whether to write colour sequences.
        width: Columns; see `fit_width`.

    Returns:
        Text that ends in a newline, without trailing blanks and terminal commands.
    """
    out = io.StringIO()
    console = Console(
        file=out,
        width=fit_width(width),
        force_terminal=color,
        color_system="256" if color else None,
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )
    for block in blocks:
        if getattr(block, "no_wrap", False):
            # rich joins texts into a new one and loses the setting that prevents wrapping.
            console.print(block, no_wrap=True, overflow="ignore", crop=False)
        else:
            console.print(block)
    lines = (line.rstrip() for line in out.getvalue().split("\n"))
    return escape.no_commands("\n".join(lines).rstrip("\n") + "\n")


def prose(text: str, limit: int = escape.MAX_ITEM_CHARS, style: str = "") -> Text:
    """Return cleaned prose with its code spans coloured.

    Args:
        text: Any text; the backticks of code spans stay for output without colour.
        limit: Longest text, in characters.
        style: Style of the prose.
    """
    parts = Text(style=style, overflow="fold")
    for piece in escape.pieces(text, limit):
        parts.append(f"`{piece.text}`" if piece.is_code else piece.text, CODE * piece.is_code)
    return parts


def signature(text: str, *, whole: bool) -> Text:
    """Return the line of a signature; the whole one is never wrapped, so that it can be copied.

    Args:
        text: The whole signature.
        whole: Whether to show all of it instead of its short form.
    """
    line = text if whole else shorten_signature(text)
    return Text(escape.one_line(line), style="dim", overflow="fold", no_wrap=whole)


def reviewers_table(scores: Sequence[str], counts: Sequence[str], width: int) -> Table:
    """Return an empty table of reviewers, filled by `add_row`.

    Names are rather whole than beside everything: a narrow terminal gets no counts.

    Args:
        scores: Names of the three columns of scores.
        counts: Names of the two columns of counts.
        width: Columns of the terminal.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    columns = (*scores, *counts) if width >= _COUNTS_FROM else scores
    room = width - _SCORES_WIDTH - (_COUNTS_WIDTH if columns != scores else 0)
    table.add_column("Reviewer", no_wrap=True, overflow="ellipsis", max_width=room)
    for name in columns:
        table.add_column(name, no_wrap=True, justify="right", min_width=4)
    return table


def add_row(table: Table, *cells: Text | str) -> None:
    """Add a row, as far as the table has columns for its cells."""
    table.add_row(*cells[: len(table.columns)])
