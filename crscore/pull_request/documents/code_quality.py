"""Code-quality report of GitLab: the points of a change that no review addresses.

Format: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format. Only points
with a place at the head are in it, as GitLab shows others nowhere.
"""

import hashlib
from typing import Any, Final

from crscore.pull_request.overview import Overview, Place, Point
from crscore.records import Severity, Side
from crscore.reports import escape

_SEVERITIES: Final = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def render_code_quality(overview: Overview) -> str:
    """Render the report; the same points give the same fingerprints in every run."""
    repeats: dict[str, int] = {}
    rows = [
        _row(point, place, repeats)
        for point in overview.open
        for place in (point, *point.more)
        if place.path is not None and place.side is Side.NEW and place.line
    ]
    return escape.write_json(rows)


def _row(point: Point, place: Place, repeats: dict[str, int]) -> dict[str, Any]:
    # Without the line, so that a point that moved stays the same.
    subject = f"{place.path}\n{point.kind}\n{point.source}\n{point.text}"
    repeats[subject] = repeats.get(subject, 0) + 1
    text = f"{subject}\n{repeats[subject]}".encode("utf-8", "surrogatepass")
    return {
        "description": f"No review addresses: {point.text}",
        "check_name": f"crscore/{point.kind.value}",
        "fingerprint": hashlib.sha256(text).hexdigest(),
        "severity": "info" if point.severity is None else _SEVERITIES.get(point.severity, "info"),
        "location": {
            "path": place.path,
            "lines": {"begin": place.line, "end": max(place.line, place.end_line)},
        },
    }
