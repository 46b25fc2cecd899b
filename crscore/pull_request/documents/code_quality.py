"""Code-quality report of GitLab: the points of a change that no review addresses.

Format: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format. Only points
with a place at the head are in it, as GitLab shows others nowhere.
"""

import hashlib
from collections import Counter
from typing import Final

from crscore.pull_request.overview import Overview
from crscore.records import Severity, Side
from crscore.reports import escape

# The others of GitLab, `blocker` and `critical`, would be a judgement that no tool made.
_SEVERITIES: Final = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def render_code_quality(overview: Overview) -> str:
    """Render the report; the same points give the same fingerprints in every run."""
    repeats: Counter[str] = Counter()
    rows = []
    placed = [(point, place) for point in overview.open for place in (point, *point.more)]
    for point, place in placed:
        if place.path is None or place.side is not Side.NEW or not place.line:
            continue
        # Without the line, so that a point that moved stays the same.
        subject = f"{place.path}\n{point.kind}\n{point.source}\n{point.text}"
        # Numbered, as GitLab shows only the first violation of a fingerprint:
        # https://gitlab.com/cromefire/detekt-gitlab-report/-/issues/10
        repeats[subject] += 1
        text = f"{subject}\n{repeats[subject]}".encode("utf-8", "surrogatepass")
        severity = point.severity and _SEVERITIES.get(point.severity)
        row = {
            "description": f"No review addresses: {point.text}",
            "check_name": f"crscore/{point.kind.value}",
            "fingerprint": hashlib.sha256(text).hexdigest(),
            "severity": severity or "info",
            "location": {
                "path": place.path,
                "lines": {"begin": place.line, "end": max(place.line, place.end_line)},
            },
        }
        rows.append(row)
    return escape.write_json(rows)
