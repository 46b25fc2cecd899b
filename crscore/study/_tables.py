"""Tables and numbers of the text reports of a validation."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from crscore.reports import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING: Final = "–"
"""Stands where there is no number."""
INDENT: Final = "  "
WIDTH: Final = 100
"""Columns of running text; a table is as wide as its cells."""
MAX_NAME_CHARS: Final = 60


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    r"""Lay out cells: the first column to the left, the others to the right.

    Args:
        header: One cell a column; all empty for a table without a header.
        rows: As many cells each.

    Returns:
        Lines without trailing space.

    Example:
        >>> print("\n".join(table(("", "n"), [("one", "1"), ("many", "100")])))
                  n
          one     1
          many  100
    """
    lines = [header, *rows] if any(header) else list(rows)
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return [
        (INDENT + INDENT.join(_cell(cell, widths[i], i) for i, cell in enumerate(line))).rstrip()
        for line in lines
    ]


def _cell(text: str, width: int, column: int) -> str:
    return text.ljust(width) if column == 0 else text.rjust(width)


def number(value: float | None, digits: int = 3) -> str:
    """Write a number, or a dash where there is none."""
    # Rounding first: -0.0001 is written without its sign.
    return NOTHING if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def signed(value: float | None) -> str:
    """Write a difference with its sign."""
    return NOTHING if value is None else f"{round(value, 3) + 0.0:+.3f}"


def ranged(value: float | None, low: float | None, high: float | None) -> str:
    """Write a number with its interval, if it has one."""
    if value is None or low is None or high is None:
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


def cut(value: float) -> str:
    """Write a threshold: two decimals, or as many as it has."""
    return f"{value:.2f}" if round(value, 2) == value else f"{value:g}"


def percent(value: float | None) -> str:
    """Write a share as whole percents, with a decimal below ten."""
    if value is None:
        return NOTHING
    return f"{100 * value:.{1 if 0 < abs(value) < 0.0995 else 0}f} %"


def probability(value: float | None) -> str:
    """Write a p-value; nobody can act on more than three digits of one."""
    if value is None:
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def many(count: int, noun: str) -> str:
    """Write a count with its noun.

    Example:
        >>> many(1, "review"), many(1845, "review")
        ('1 review', '1,845 reviews')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shown(text: str) -> str:
    """Make a name from the data fit for a table: one line, harmless, not too long."""
    return escape.one_line(text, MAX_NAME_CHARS)


def explained(text: str) -> list[str]:
    """Break an explanation into lines."""
    return [INDENT + line for line in textwrap.wrap(text + ".", WIDTH - len(INDENT))]
