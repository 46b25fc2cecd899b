"""Writes the unaddressed points in the formats that hosts show at the lines of a change.

Annotations are for GitHub's runner, which reads `::warning file=...,line=...::text` from a step's
output. It shows ten errors, ten warnings and ten notices per step and drops the rest, so a final
notice counts the omitted ones. A code-quality report is for GitLab
(https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format), and SARIF for code
scanning.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from crscore.github.actions import commands
from crscore.pull_request.documents.for_people import describe_place
from crscore.pull_request.overview import Overview, Place, Point, is_plain
from crscore.records import ReferenceKind, Result, Severity, Side
from crscore.reports import escape, sarif, view

# https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md#limitations
MAX_PER_LEVEL = 10
"""Maximum number of annotations of one level that a runner shows for one step."""
# `_maxIssueMessageLength` in
# https://github.com/actions/runner/blob/main/src/Runner.Worker/ExecutionContext.cs
MAX_MESSAGE_CHARS = 1_000
"""Maximum number of characters of a message; a runner truncates messages after 4,096."""
_COMMANDS: Final[dict[Severity | None, commands.Level]] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
    # Not every tool states the severity of its findings.
    None: "warning",
}
# The levels `blocker` and `critical` of GitLab are not used, because no tool states them.
_QUALITY: Final = {Severity.ERROR: "major", Severity.WARNING: "minor"}
# The category is the same for each push, so that a host replaces the earlier alerts.
CATEGORY: Final = "crscore/pull-request"
"""Category of the alerts of code scanning."""


def render_annotations(overview: Overview, *, max_per_level: int = MAX_PER_LEVEL) -> str:
    """Write a runner command for each place of each unaddressed issue.

    Args:
        overview: The overview; its points are sorted by importance.
        max_per_level: Maximum number of annotations of each level that the step may still write,
            at least 1.

    Returns:
        Lines for the step's output; "" if no issue is unaddressed.
    """
    issues = (point for point in overview.open if point.kind is ReferenceKind.ISSUE)
    # One notice is reserved for the last line, which counts the omitted annotations.
    remaining = {"error": max_per_level, "warning": max_per_level, "notice": max_per_level - 1}
    lines = []
    issue_places = list(_list_places(issues))
    for point, place in issue_places:
        command = _COMMANDS[point.severity]
        if remaining[command] <= 0:
            continue
        remaining[command] -= 1
        properties: dict[str, str] = {}
        # An annotation needs a file of the newest commit, and its exact path.
        if place.listed is not None and is_plain(place.listed) and place.side is Side.NEW:
            properties["file"] = place.listed
            if place.line:
                properties |= {"line": str(place.line), "endLine": str(place.end_line)}
        text = escape.one_line(point.text, MAX_MESSAGE_CHARS)
        if not properties and place.path is not None:
            text = f"{text} ({escape.one_line(describe_place(place), 300)})"
        properties["title"] = f"No review addresses this ({escape.one_line(point.source, 80)})"
        lines.append(commands.message(command, text, **properties))
    hidden = len(issue_places) - len(lines)
    if hidden:
        count = view.count_noun(hidden, "more finding")
        message = f"{count} that no review addresses: see the job summary."
        lines.append(commands.message("notice", message))
    return "".join(f"{line}\n" for line in lines)


def render_code_quality(overview: Overview) -> str:
    """Write the code-quality report for GitLab.

    The same points have the same fingerprints in every run.
    """
    repeats: Counter[str] = Counter()
    rows = []
    for point, place in _list_places(overview.open):
        if place.path is None or place.side is not Side.NEW or not place.line:
            continue
        # The fingerprint does not depend on the line, so that it stays the same if the lines move.
        subject = f"{place.path}\n{point.kind}\n{point.source}\n{point.text}"
        # Repeats are numbered, because GitLab shows only the first violation with a fingerprint:
        # https://gitlab.com/cromefire/detekt-gitlab-report/-/issues/10
        repeats[subject] += 1
        text = f"{subject}\n{repeats[subject]}".encode("utf-8", "surrogatepass")
        severity = point.severity and _QUALITY.get(point.severity)
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


def render_sarif(overview: Overview, result: Result) -> str:
    """Write SARIF for code scanning.

    Args:
        overview: Overview of the pull request; its missing data and notes become notifications.
        result: Result of scoring all comments of all reviewers together.

    Returns:
        SARIF 2.1.0 with one run, which has no results if there is no score.
    """
    notes = (*(f"Incomplete data: {text}" for text in overview.missing), *overview.notes)
    return sarif.render([replace(result, notes=notes)], CATEGORY)


def _list_places(points: Iterable[Point]) -> Iterator[tuple[Point, Place]]:
    """Yield each point with each of its places."""
    return ((point, place) for point in points for place in (point, *point.more))
