r"""What a validation run found, for programs: as `schemas/validation.schema.json` describes it.

Keys stand in a fixed order; what a terminal could act on is written as `\uXXXX`.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from crscore.reports import escape
from crscore.study.saved import SCHEMA
from crscore.version import __version__

if TYPE_CHECKING:
    from crscore.study.compare import Comparison
    from crscore.study.results import Findings

COMPARISON_SCHEMA: Final = "urn:crscore:comparison:1"
"""Names what the document of a comparison keeps to; the same file describes it."""

# `[`, numbers one on a line, `]`: a string never holds a raw line end, so this is no text.
_NUMBERS = re.compile(r"\[\n\s+([-+\d.e]+(?:,\n\s+[-+\d.e]+)*)\n\s+\]")


def to_json(findings: Findings) -> str:
    """Render a run as one JSON object."""
    return _dump(document(findings))


def comparison_to_json(comparison: Comparison) -> str:
    """Render a comparison of two runs as one JSON object."""
    return _dump({"schema": COMPARISON_SCHEMA, "version": __version__, **asdict(comparison)})


def document(findings: Findings) -> dict[str, Any]:
    """Make the object of a run, ready for `json.dumps`."""
    measured, settings = findings.measured, findings.settings
    addressed = findings.addressed
    return {
        "schema": SCHEMA,
        "version": __version__,
        "signature": settings.signature,
        "metric": measured.primary.name,
        "data": {
            "sha256": findings.study.sha256,
            "changes": len(findings.study.changes),
            "reviews": len(measured.rows),
            "systems": sorted(set(measured.systems)),
            "languages": sorted({row.change.language for row in measured.rows}),
            "blank_reviews": measured.blank,
            "excluded_changes": list(measured.excluded),
            "references_per_change": measured.references,
        },
        "threshold": settings.threshold,
        "tau_by_procedure": measured.tau_by_procedure,
        "split": settings.split,
        "bootstrap": {
            "resamples": settings.resamples,
            "seed": settings.seed,
            "cluster": "change",
        },
        "metrics": [
            {"name": metric.name, "variant": metric.variant, "primary": metric.primary}
            for metric in measured.metrics
        ],
        "correlations": [asdict(row) for row in findings.correlations],
        "pairs": {
            "same_diff": [asdict(row) for row in findings.same_diff],
            "addressed": None if addressed is None else asdict(addressed),
        },
        "systems": {
            "ranking": [asdict(row) for row in findings.systems.ranking],
            "means": [asdict(row) for row in findings.systems.means],
        },
        "levels": [asdict(row) for row in findings.levels],
        "sweep": [asdict(row) for row in findings.sweep],
        "claims": [asdict(row) for row in findings.claims],
        "agreement": [asdict(row) for row in findings.agreement],
        "attacks": None if findings.attacks is None else findings.attacks.to_dict(),
        "issues": None if findings.issues is None else asdict(findings.issues),
        "length": asdict(findings.length),
        "errors": asdict(findings.errors),
        "notes": list(findings.notes),
        "reviews": _reviews(findings),
    }


def _reviews(findings: Findings) -> list[dict[str, Any]]:
    """List what a comparison with another run needs."""
    scores = findings.measured.primary.values.tolist()
    return [
        {
            "change": row.change.id,
            "system": row.review.system,
            "language": row.change.language,
            "annotator": row.review.annotator,
            "human": list(row.review.ratings),
            "scores": values,
        }
        for row, values in zip(findings.measured.rows, scores, strict=True)
    ]


def _dump(value: dict[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    text = _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
    return escape.json_text(text) + "\n"
