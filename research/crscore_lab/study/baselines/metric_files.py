"""Metrics computed elsewhere, such as by an LLM judge, read from a file.

The file has one JSON object per line: `change`, `system` and `metric` are strings, `relevance` is a
number, `conciseness` and `comprehensiveness` are numbers that may be left out of all lines of a
metric. Rows of reviews that are not compared are skipped.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from crscore import jsonl
from crscore.encoders.base import Encoder
from crscore.errors import InputError
from crscore_lab.study.data.study import DIMENSIONS
from crscore_lab.study.measures.measurements import Extra, ExtraMetrics, Measurements, Metric

Floats = npt.NDArray[np.float64]

# JSON integers are unbounded.
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]


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


def from_files(paths: Sequence[Path]) -> Extra:
    """Return a function that reads the metrics of files for a run.

    Args:
        paths: Files in the format of this module.

    Returns:
        A function for `run.run`; it raises InputError where a metric lacks a review.

    Raises:
        InputError: A file cannot be read; raised before the work begins.
    """
    for path in paths:
        # Read here only so that its errors are reported before the scoring.
        read_metrics(path, ())

    def compute(measured: Measurements, _: Encoder) -> ExtraMetrics:
        rows = list(zip(measured.changes, measured.systems, strict=True))
        return ExtraMetrics(tuple(metric for path in paths for metric in read_metrics(path, rows)))

    return compute


def read_metrics(path: Path, rows: Sequence[tuple[str, str]]) -> tuple[Metric, ...]:
    """Read the metrics of a file for the reviews that are compared.

    Args:
        path: The file.
        rows: N pairs of a change's id and a system, in output order.

    Returns:
        The metrics in order of first appearance in the file, values of shape (N, 3) in the metric's
        own unit; a metric with relevance only repeats it three times.

    Raises:
        InputError: The file cannot be read; a field is missing or wrong, or a review has a
            metric twice (the message names the line); a metric lacks a review (it names the
            first one), or has a dimension on some lines only.
    """
    metrics: dict[str, dict[tuple[str, str], tuple[float | None, ...]]] = {}
    content = jsonl.read_bytes(path, "metrics")
    for location, row in jsonl.read_rows(content, MetricRow, path, "metrics"):
        key = (row.change, row.system)
        values = metrics.setdefault(row.metric, {})
        if key in values:
            raise InputError(f"{location}: an earlier line has {row.metric} of {_review(key)}")
        values[key] = (row.conciseness, row.comprehensiveness, row.relevance)
    if not metrics:
        raise InputError(f"{path} has no values; it needs one JSON object per line")
    return tuple(
        Metric(
            name=name,
            values=_matrix(f"{path}: {name}", values, rows),
            variant=f"read from {path.name}",
        )
        for name, values in metrics.items()
    )


def _matrix(
    metric: str,
    values: dict[tuple[str, str], tuple[float | None, ...]],
    rows: Sequence[tuple[str, str]],
) -> Floats:
    missing = next((row for row in rows if row not in values), None)
    if missing is not None:
        raise InputError(f"{metric}: no value for {_review(missing)}; it needs every review")
    table = [values[row] for row in rows]
    columns = []
    for index, dimension in enumerate(DIMENSIONS):
        column = [row[index] for row in table]
        if all(value is None for value in column):
            column = [row[DIMENSIONS.index("relevance")] for row in table]
        if any(value is None for value in column):
            raise InputError(f"{metric}: {dimension} is on some lines only; give it on all or none")
        columns.append(column)
    return np.array(columns, dtype=np.float64).T


def _review(key: tuple[str, str]) -> str:
    return f"the review of {key[0]} by {key[1]}"
