"""Text for a terminal from rich's blocks: the arguments alone determine width and colour."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from crscore.reports import escape
from crscore.scoring.signature import shorten_signature

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

CODE: Final = "cyan"
"""Style of code."""
NARROWEST_COLUMNS: Final = 60
WIDEST_COLUMNS: Final = 160
"""Maximum width in columns; wider lines are hard to read."""


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
