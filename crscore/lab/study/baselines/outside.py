"""Metrics computed elsewhere, such as by an LLM judge, read from a file.

The file has one JSON object per line: `change`, `system` and `metric` are strings, `relevance` is a
number, `conciseness` and `comprehensiveness` are numbers that may be left out of all lines of a
metric. Rows of reviews that are not compared are skipped.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from crscore import jsonl
from crscore.errors import InputError
from crscore.lab.study.study import DIMENSIONS

Floats = npt.NDArray[np.float64]

RELEVANCE = "relevance"
# JSON integers are unbounded.
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]


class Outside(NamedTuple):
    """External metric of N reviews."""

    name: str
    """Name in the file."""
    values: Floats
    """Shape (N, 3), in the metric's own unit: conciseness, comprehensiveness, relevance. A metric
    with relevance only repeats it three times."""


class MetricRow(Struct, frozen=True, kw_only=True):
    """One line of the file."""

    change: str
    """Id of the change."""
    system: str
    """Author of the review."""
    metric: str
    """Name of the metric."""
    conciseness: Finite | None = None
    """In the metric's own unit; null or missing on all lines of a metric with relevance only."""
    comprehensiveness: Finite | None = None
    """As `conciseness`."""
    relevance: Finite
    """In the metric's own unit."""


def read_metrics(path: Path, rows: Sequence[tuple[str, str]]) -> tuple[Outside, ...]:
    """Read the metrics of a file for the reviews that are compared.

    Args:
        path: The file.
        rows: N pairs of a change's id and a system, in output order.

    Returns:
        The metrics in order of first appearance in the file.

    Raises:
        InputError: The file cannot be read; a field is missing or wrong, or a review has a
            metric twice (the message names the line); a metric lacks a review (it names the
            first one), or has a dimension on some lines only.
    """
    found: dict[str, dict[tuple[str, str], tuple[float | None, ...]]] = {}
    content = jsonl.read_bytes(path, "metrics")
    for place, row in jsonl.read_rows(content, MetricRow, path, "metrics"):
        key = (row.change, row.system)
        values = found.setdefault(row.metric, {})
        if key in values:
            raise InputError(f"{place}: an earlier line has {row.metric} of {_review(key)}")
        values[key] = (row.conciseness, row.comprehensiveness, row.relevance)
    if not found:
        raise InputError(f"{path} holds no value; it needs one JSON object a line")
    return tuple(
        Outside(name, _matrix(f"{path}: {name}", values, rows)) for name, values in found.items()
    )


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
