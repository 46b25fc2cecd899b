"""A validation run as text or JSON."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from crscore.validation.study import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.validation.correlate import Correlation
    from crscore.validation.measure import Measurements
    from crscore.validation.study import Study


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """What a validation run found."""

    study: Study
    """The data."""
    measured: Measurements
    """Every review's values."""
    correlations: Sequence[Correlation]
    """The flat list."""
    threshold: float
    """The threshold the score used."""
    signature: str
    """How the score was made."""
    resamples: int
    """Draws of the bootstrap."""
    seed: int
    """Seed of the bootstrap."""


def to_json(run: Run) -> str:
    """Render as one JSON object with the flat list `correlations`."""
    measured = run.measured
    document: dict[str, Any] = {
        "signature": run.signature,
        "data": {
            "sha256": run.study.sha256,
            "changes": len(run.study.changes),
            "reviews": len(measured.changes),
            "blank_reviews": measured.blank,
            "excluded_changes": list(measured.excluded),
            "references_per_change": measured.references,
        },
        "threshold": run.threshold,
        "tau_by_procedure": measured.tau_by_procedure,
        "bootstrap": {"resamples": run.resamples, "seed": run.seed, "cluster": "change"},
        "correlations": [dataclasses.asdict(row) for row in run.correlations],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_text(run: Run) -> str:
    """Render as tables for a terminal."""
    measured = run.measured
    tau = measured.tau_by_procedure
    lines = [
        run.signature,
        f"{len(measured.changes)} reviews of {len(set(measured.changes))} changes, "
        f"{measured.references:.1f} pseudo-references a change",
        f"{measured.blank} reviews have no sentence and count as 0",
        f"{len(measured.excluded)} changes left out for having no pseudo-reference",
        f"tau used {run.threshold:.4f}; tau by the paper's procedure on this data "
        + ("unknown" if tau is None else f"{tau:.4f}"),
    ]
    for dimension in DIMENSIONS:
        lines += ["", f"against human {dimension}: Spearman [95 % interval], Kendall tau-b"]
        lines += _table([row for row in run.correlations if row.dimension == dimension])
    lines += ["", f"intervals: {run.resamples} draws of changes, seed {run.seed}"]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Correlation]) -> list[str]:
    width = max(len(row.metric) for row in rows)
    lines = []
    previous = ""
    for row in rows:
        name = row.metric if row.metric != previous else ""
        previous = row.metric
        lines.append(
            f"  {name:<{width}}  {row.slice:<20} n={row.n:<5} {_number(row.spearman)} "
            f"[{_number(row.low)}, {_number(row.high)}]  {_number(row.kendall)}"
        )
    return lines


def _number(value: float | None) -> str:
    return "    –" if value is None else f"{value:5.3f}"
