"""Annotations on changed lines: unaddressed findings of tools.

A runner takes `::warning file=...,line=...::text` from a step's output. It shows ten errors, ten
warnings and ten notices per step and drops the rest, which is counted in one notice.
"""

from collections.abc import Mapping

from crscore.github.actions import commands
from crscore.pull_request.documents.overview_blocks import describe_place
from crscore.pull_request.overview import Overview, is_plain
from crscore.records import ReferenceKind, Severity, Side
from crscore.reports import escape, view

# https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md#limitations
MOST_OF_A_KIND = 10
"""Annotations of one level that a runner shows for one step."""
# `_maxIssueMessageLength` in
# https://github.com/actions/runner/blob/main/src/Runner.Worker/ExecutionContext.cs
MAX_MESSAGE_CHARS = 1_000
"""Maximum characters of a message; a runner cuts it at 4,096."""
_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
    # Not every tool states severities.
    None: "warning",
}


def render_annotations(overview: Overview, *, max_per_level: int = MOST_OF_A_KIND) -> str:
    """Write one command per line for the unaddressed issues.

    Args:
        overview: The overview; its points are sorted by importance.
        max_per_level: Remaining annotations of one level for the step, at least 1.

    Returns:
        Lines for the step's output; "" when no tool's finding is left.
    """
    issues = [point for point in overview.open if point.kind is ReferenceKind.ISSUE]
    # One notice less: the last one counts what was left out.
    room = {"error": max_per_level, "warning": max_per_level, "notice": max_per_level - 1}
    lines = []
    placed = [(point, place) for point in issues for place in (point, *point.more)]
    for point, place in placed:
        command = _COMMANDS[point.severity]
        if room[command] <= 0:
            continue
        room[command] -= 1
        properties: dict[str, str] = {}
        # Only a file of the head can be annotated, and only under its exact path.
        if place.listed is not None and is_plain(place.listed) and place.side is Side.NEW:
            properties["file"] = place.listed
            if place.line:
                properties |= {"line": str(place.line), "endLine": str(place.end_line)}
        text = escape.one_line(point.text, MAX_MESSAGE_CHARS)
        if not properties and place.path is not None:
            text = f"{text} ({escape.one_line(describe_place(place), 300)})"
        properties["title"] = f"No review addresses this ({escape.one_line(point.source, 80)})"
        lines.append(_command(command, properties, text))
    hidden = len(placed) - len(lines)
    if hidden:
        count = view.count_noun(hidden, "more finding")
        message = f"{count} that no review addresses: see the job summary."
        lines.append(_command("notice", {"title": "crscore"}, message))
    return "".join(f"{line}\n" for line in lines)


def _command(name: str, properties: Mapping[str, str], text: str) -> str:
    """Write a workflow command, escaped for the runner."""
    fields = ",".join(
        f"{key}={commands.escape_property(value)}" for key, value in properties.items()
    )
    # The runner would execute a command in the older form inside echoed text.
    return f"::{name} {fields}::{commands.escape(text)}".replace("##[", "# #[")
