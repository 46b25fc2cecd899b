"""Formats numbers, and tables in Markdown that a terminal can show."""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Final

DASH: Final = "–"
"""Placeholder for a missing number."""

Column = tuple[str, str | Callable[[Any], object]]
"""Header, and how to get the value from a row: its field (`field` or `field.field`) or a function
of the row."""


def format_value(value: object) -> str:
    """Format one cell.

    Example:
        >>> [format_value(value) for value in (None, 1845, 0.12345, -0.0001, True, "gpt4")]
        ['–', '1,845', '0.123', '0.000', 'yes', 'gpt4']
    """
    match value:
        case None:
            return DASH
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            # Without the rounding and the 0.0, -0.0001 would be written as -0.000.
            return f"{round(value, 3) + 0.0:.3f}"
    return str(value)


def format_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Format a number as `value [low, high]`, or as `value` if a bound is None."""
    if value is None or low is None or high is None:
        return format_value(value)
    return f"{format_value(value)} [{format_value(low)}, {format_value(high)}]"


def make_table(title: str, rows: Iterable[Any], *columns: Column) -> str:
    """Return a Markdown table below its title; "" if there are no rows."""
    getters = [attrgetter(get) if isinstance(get, str) else get for _, get in columns]
    cells = [[format_value(get(row)).replace("|", "\\|") for get in getters] for row in rows]
    if not cells:
        return ""
    lines = [[header for header, _ in columns], *cells]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    # The first column is text, the others are numbers.
    padded = [
        " | ".join(
            cell.rjust(width) if index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    rules = ["-" * (width + 1) + (":" if index else "-") for index, width in enumerate(widths)]
    head, *body = (f"| {line} |" for line in padded)
    return "\n".join([f"## {title}", "", head, f"|{'|'.join(rules)}|", *body])
