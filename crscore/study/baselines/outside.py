"""Metrics computed elsewhere, an LLM as a judge above all, read from a file.

The file has one JSON object a line: `change`, `system` and `metric` are strings, `relevance`
is a number, `conciseness` and `comprehensiveness` are numbers too but may be left out of all
lines of a metric. Rows of reviews that are not compared are passed over.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crscore.errors import InputError
from crscore.study._fields import Fields
from crscore.study.study import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

RELEVANCE = "relevance"


class Outside(NamedTuple):
    """One metric from outside, of N reviews."""

    name: str
    """As the file names it."""
    values: Floats
    """Shape (N, 3), in the metric's own unit: conciseness, comprehensiveness, relevance. A
    metric that gives relevance alone has it three times."""


def read_metrics(path: Path, rows: Sequence[tuple[str, str]]) -> tuple[Outside, ...]:
    """Read the metrics of a file for the reviews that are compared.

    Args:
        path: The file.
        rows: N pairs of a change's id and a system, in the order wanted.

    Returns:
        The metrics in the order in which the file first names them.

    Raises:
        InputError: The file cannot be read; a field is missing or wrong, or a review has a
            metric twice (the message names the line); a metric lacks a review (it names the
            first one), or has a dimension on some lines only.
    """
    found: dict[str, dict[tuple[str, str], tuple[float | None, ...]]] = {}
    for fields in _lines(path):
        key = (fields.text("change"), fields.text("system"))
        values = found.setdefault(fields.text("metric"), {})
        if key in values:
            raise InputError(
                f"{fields.place}: an earlier line has {fields.text('metric')} of {_review(key)}"
            )
        values[key] = tuple(_number(fields, dimension) for dimension in DIMENSIONS)
    if not found:
        raise InputError(f"{path} holds no value; it needs one JSON object a line")
    return tuple(
        Outside(name, _matrix(f"{path}: {name}", values, rows)) for name, values in found.items()
    )


def _lines(path: Path) -> Iterator[Fields]:
    try:
        # Not `splitlines`: a JSON string may hold other line separators.
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise InputError(f"{path} cannot be read: {exc}") from exc
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise InputError(f"{path}:{number}: not a line of JSON: {exc}") from exc
        if not isinstance(row, dict):
            raise InputError(f"{path}:{number}: expected a JSON object, one a line")
        yield Fields(values=row, place=f"{path}:{number}")


def _number(fields: Fields, dimension: str) -> float | None:
    value = fields.values.get(dimension)
    if value is None and dimension != RELEVANCE:
        return None
    limit = sys.float_info.max  # JSON has Infinity and NaN in Python, and integers of any size
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= limit:
        return float(value)
    raise fields.fault(dimension, "a finite number")


def _matrix(
    place: str,
    values: dict[tuple[str, str], tuple[float | None, ...]],
    rows: Sequence[tuple[str, str]],
) -> Floats:
    missing = next((row for row in rows if row not in values), None)
    if missing is not None:
        raise InputError(f"{place}: no value for {_review(missing)}; it needs every review")
    kept = [values[row] for row in rows]
    columns = []
    for index, dimension in enumerate(DIMENSIONS):
        column = [row[index] for row in kept]
        if all(value is None for value in column):
            column = [row[DIMENSIONS.index(RELEVANCE)] for row in kept]
        if any(value is None for value in column):
            raise InputError(f"{place}: {dimension} is on some lines only; give it on all or none")
        columns.append(column)
    return np.array(columns, dtype=np.float64).T


def _review(key: tuple[str, str]) -> str:
    return f"the review of {key[0]} by {key[1]}"
