"""Formatting of validation numbers as text."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

DASH: Final = "–"
"""Placeholder for a missing number."""


def number(value: float | None, digits: int = 3) -> str:
    """Format a number, or a dash for None."""
    # Rounding first and adding 0.0 removes the sign of -0.0001.
    return DASH if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def signed(value: float | None) -> str:
    """Format a difference with its sign."""
    return DASH if value is None else f"{round(value, 3) + 0.0:+.3f}"


def ranged(value: float | None, low: float | None, high: float | None) -> str:
    """Format a number with its interval, if it has one."""
    if value is None or low is None or high is None:
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"


def signed_interval(low: float | None, high: float | None) -> str:
    """Format the interval of a difference, or a dash for None."""
    return DASH if low is None or high is None else f"[{signed(low)}, {signed(high)}]"


def threshold(value: float) -> str:
    """Format a threshold with two decimals, or more if it has more."""
    return f"{value:.2f}" if round(value, 2) == value else f"{value:g}"


def percent(value: float | None) -> str:
    """Format a share as a whole percentage, with one decimal below ten."""
    if value is None:
        return DASH
    # From 0.0995 on, one decimal would give "10.0".
    return f"{100 * value:.{1 if 0 < abs(value) < 0.0995 else 0}f} %"


def probability(value: float | None) -> str:
    """Format a p-value with three decimals, or as `< 0.001`."""
    if value is None:
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def p_value(value: float | None) -> str:
    """Format a p-value with its name: `p < 0.001`, `p = 0.040`."""
    text = probability(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def whole(value: int | None) -> str:
    """Format a whole number, or a dash for None."""
    return DASH if value is None else f"{value:,}"


def count(quantity: int, noun: str) -> str:
    """Format a quantity with its noun.

    Example:
        >>> count(1, "review"), count(1845, "review")
        ('1 review', '1,845 reviews')
    """
    return f"{quantity:,} {noun}{'' if quantity == 1 else 's'}"


def columns(
    form: Callable[[Any], str], *fields: str, **headed: str
) -> tuple[tuple[str, Callable[[Any], str]], ...]:
    """Describe table columns of fields in one format.

    Args:
        form: Format of the cells, such as `number`.
        fields: Fields that are their own headers.
        headed: Header, with underscores for spaces -> field; dots lead to fields of fields.

    Example:
        >>> [(header, cell(3 + 4j)) for header, cell in columns(number, "imag", real_part="real")]
        [('imag', '4.000'), ('real part', '3.000')]
    """

    def formatted(field: str) -> Callable[[Any], str]:
        get = attrgetter(field)
        return lambda row: form(get(row))

    headers = dict(zip(fields, fields, strict=True)) | headed
    return tuple((header.replace("_", " "), formatted(name)) for header, name in headers.items())
