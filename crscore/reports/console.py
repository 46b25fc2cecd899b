"""Renders blocks as text for a terminal, with rich; only the arguments determine width and color.

Color only repeats what words and symbols say.
"""

import io
from collections.abc import Iterable, Iterator
from typing import Final

from rich import table as rich_table
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from crscore.reports import blocks, escape
from crscore.reports.blocks import Line, Run
from crscore.reports.view import hundred
from crscore.scoring.assembly import shorten_signature

NARROWEST_COLUMNS: Final = 40
WIDEST_COLUMNS: Final = 160
"""Maximum width in columns, because wider lines are hard to read."""
_UNWRAPPED: Final = 100_000
"""Width, in columns, for blocks whose lines must not be wrapped."""
_BAR_COLUMNS: Final = 60
"""Minimum width, in columns, at which scores have bars."""
_MAX_LABEL_CHARS: Final = 72
_MIN_LABEL_COLUMNS: Final = 20
_MAX_NUMBER_COLUMNS: Final = 20
_FIXED_COLUMNS: Final = 4
"""Number of columns of a table that are shown at any width: the name and three scores."""
# Unicode's left blocks, U+258F to U+2589.
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_BULLET: Final = (Run("•", "bad"),)
_STYLES: Final = {
    "strong": "bold",
    "dim": "dim",
    "good": "green",
    "fair": "yellow",
    "bad": "red",
    "code": "cyan",
    "warn": "yellow",
}


def render_blocks(
    content: Iterable[blocks.Block],
    *,
    color: bool,
    width: int,
    max_chars: int = escape.MAX_ITEM_CHARS,
    wide_tables: bool = False,
) -> str:
    """Render blocks below one another.

    Args:
        content: The blocks.
        color: Whether to write color sequences.
        width: Width in columns; less than 40 counts as 40, and more than 160 as 160.
        max_chars: Maximum characters of each text.
        wide_tables: Whether to show all columns of a table, even beyond `width`; otherwise
            the last columns that do not fit are dropped.

    Returns:
        Text that ends in a newline. It contains no trailing blanks, no control sequences from the
        data, and nothing that a CI runner would execute as a command.
    """
    columns = min(max(width, NARROWEST_COLUMNS), WIDEST_COLUMNS)
    out = io.StringIO()
    # rich would read COLUMNS, TERM and FORCE_COLOR, but the command line has already decided:
    # https://rich.readthedocs.io/en/stable/console.html#environment-variables
    console = Console(
        file=out,
        width=_UNWRAPPED,
        force_terminal=color,
        color_system="256" if color else None,
        no_color=not color,
        # A review that contains "[red]" or ":smile:" is shown as it is written.
        markup=False,
        emoji=False,
        highlight=False,
        # In an old Windows console, rich would leave the last column free.
        legacy_windows=False,
        _environ={},
    )
    for block in _render(content, columns, max_chars, wide_tables):
        # `expand=False` marks what must not wrap: a table that may be wider than the terminal, and
        # a full signature, which is easier to copy from one line.
        is_wide = isinstance(block, Padding) and not block.expand
        console.print(block, width=None if is_wide else columns)
    # rich fills the lines of tables with blanks up to their width.
    lines = (line.rstrip() for line in out.getvalue().split("\n"))
    return escape.no_commands("\n".join(lines).rstrip("\n") + "\n")


def render_line(line: Line, limit: int = escape.MAX_ITEM_CHARS, tone: str = "") -> Text:
    """Clean a line and style its parts; code spans keep their backticks, as color may be off."""
    text = Text(style=_style(tone), overflow="fold")
    for part in (line,) if isinstance(line, str) else line:
        if isinstance(part, str):
            for words, is_code in escape.split_code_spans(part, limit):
                text.append(*((f"`{words}`", _STYLES["code"]) if is_code else (words,)))
        else:
            text.append(escape.fragment(part.text, limit), _style(part.tone))
    return text


def _style(tone: str) -> str:
    return " ".join(_STYLES[word] for word in tone.split() if word in _STYLES)


def _render(
    content: Iterable[blocks.Block], width: int, max_chars: int, wide_tables: bool
) -> Iterator[RenderableType]:
    previous: blocks.Block | None = None
    for block in content:
        if previous is not None and _needs_gap(previous, block):
            yield ""
        yield from _render_block(block, width, max_chars, wide_tables)
        previous = block


def _render_block(
    block: blocks.Block, width: int, max_chars: int, wide_tables: bool
) -> Iterator[RenderableType]:
    if isinstance(block, blocks.Heading):
        text = render_line(block.text, max_chars, "" if block.level > 2 else "strong")
        yield _indent(text, 2 * (block.level > 2))
    elif isinstance(block, blocks.Paragraph):
        text = render_line(block.text, max_chars, block.tone)
        yield _indent(text, 2 * (block.tone == "dim"))
    elif isinstance(block, blocks.Notice):
        for line in block.lines:
            yield render_line(f"{block.label}: {line}", max_chars, "warn")
    elif isinstance(block, blocks.Measures):
        yield from map(_indent, _render_measures(block, width))
    elif isinstance(block, blocks.Table):
        yield from _render_table(block, width, max_chars, wide_tables)
    elif isinstance(block, blocks.Items):
        yield from _render_items(block, max_chars)
    elif isinstance(block, blocks.Folded):
        folded = (blocks.Heading(block.title), *block.blocks)
        yield from _render(folded, width, max_chars, wide_tables)
    else:
        line = escape.one_line(block.text if block.is_full else shorten_signature(block.text))
        yield Padding(Text(line, style="dim", overflow="fold"), 0, expand=not block.is_full)


def _render_measures(block: blocks.Measures, width: int) -> Iterator[RenderableType]:
    """Yield a line for each number, with a bar if `width` allows."""
    if width < _BAR_COLUMNS:
        for row in block.rows:
            yield Text(f"{row.name} {_of_hundred(row.value)}: {row.basis}")
        return
    grid = _grid("left", "right", "left")
    columns = 24 if width >= 100 else 10 if width >= 80 else 6
    for index, row in enumerate(block.rows):
        grid.add_row(
            Text(row.name, style="bold" if index == 0 else ""),
            Text(_of_hundred(row.value), style=f"bold {_style(row.tone)}"),
            _bar(row.value, columns, _style(row.tone)),
            Text(row.basis, style="dim"),
        )
    yield grid


def _render_table(
    block: blocks.Table, width: int, max_chars: int, wide_tables: bool
) -> Iterator[RenderableType]:
    rows = [
        [
            render_line(cell, max_chars if index else _MAX_LABEL_CHARS)
            for index, cell in enumerate(row)
        ]
        for row in block.rows
    ]
    lengths = [
        [cell_len(header), *(row[index].cell_len for row in rows)]
        for index, header in enumerate(block.header)
    ]
    widths = [max(column) + 2 for column in lengths]
    column_count = len(widths)
    if not wide_tables:
        label_width = min(widths[0], _MIN_LABEL_COLUMNS)
        while column_count > _FIXED_COLUMNS and label_width + sum(widths[1:column_count]) > width:
            column_count -= 1
    table = rich_table.Table(
        box=None,
        padding=(0, 2, 0, 0),
        show_edge=False,
        header_style="dim",
        show_header=any(block.header),
    )
    for index, header in enumerate(block.header[:column_count]):
        table.add_column(
            escape.one_line(header),
            no_wrap=not block.is_prose or index == 0,
            overflow="fold" if block.is_prose else "ellipsis",
            justify="left" if block.is_prose or index == 0 else "right",
            min_width=None
            if index == 0 or block.is_prose
            else min(max(widths[index] - 2, 4), _MAX_NUMBER_COLUMNS),
        )
    for index, row in enumerate(rows):
        table.add_row(*row[:column_count], style="bold" if index in block.main else None)
    is_wide = wide_tables and not block.is_prose
    yield Padding(table, (0, 0, 0, 2), expand=not is_wide)
    if block.unlisted:
        yield _indent(Text(f"… and {block.unlisted:,} more", style="dim"), 4)


def _render_items(block: blocks.Items, max_chars: int) -> Iterator[RenderableType]:
    if entries := block.items[: block.max_open]:
        has_lead = any(item.lead or item.place for item in entries)
        grid = _grid(*["right"] * has_lead)
        for item in entries:
            lead = [render_line(item.lead or _BULLET, max_chars)] * has_lead
            grid.add_row(*lead, render_line(item.text, max_chars))
            for line in (item.place, *item.below):
                if line:
                    grid.add_row(*[""] * has_lead, render_line(line, max_chars, "dim"))
        yield _indent(grid)
    hidden = len(block.items) - len(entries) + block.unlisted
    if hidden > 0:
        yield Text(f"    … and {hidden:,} more, {block.hint}", style="dim")


def _needs_gap(previous: blocks.Block, block: blocks.Block) -> bool:
    """Return whether an empty line separates two blocks."""
    if isinstance(previous, blocks.Heading):
        return isinstance(block, blocks.Heading | blocks.Signature)
    if isinstance(block, blocks.Paragraph) and block.tone == "dim":
        return False
    if isinstance(block, blocks.Items):
        return not isinstance(previous, blocks.Items)
    lead_blocks = (blocks.Paragraph, blocks.Notice)
    if isinstance(block, lead_blocks):
        return not isinstance(previous, lead_blocks) or getattr(previous, "tone", "") == "dim"
    return not (isinstance(block, blocks.Signature) and isinstance(previous, blocks.Signature))


def _of_hundred(value: float | None) -> str:
    return hundred(value) + " of 100" * (value is not None)


def _indent(renderable: RenderableType, columns: int = 2) -> RenderableType:
    return Padding(renderable, (0, 0, 0, columns)) if columns else renderable


def _grid(*justify: str) -> rich_table.Table:
    """Return a grid that has a column for each item of `justify`, then a column for text."""
    grid = rich_table.Table.grid(padding=(0, 2, 0, 0))
    for side in justify:
        grid.add_column(no_wrap=True, justify=side)  # type: ignore[arg-type]
    grid.add_column(overflow="fold")
    return grid


def _bar(value: float | None, columns: int, style: str) -> Text:
    """Return a bar drawn in eighths of a column."""
    if value is None:
        return Text("·" * columns, style="dim")
    # With whole columns, 0.61 and 0.63 would look equal.
    full, eighth = divmod(round(value * columns * 8), 8)
    filled = "█" * full + (_EIGHTHS[eighth] if eighth else "")
    return Text.assemble((filled, style), ("·" * (columns - len(filled)), "dim"))
