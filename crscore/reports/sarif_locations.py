"""SARIF locations of spans in the new version."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from crscore.records import ChangedFile, Diff, FileStatus, LineSpan, Side

ROOT: Final = "%SRCROOT%"
"""Conventional SARIF name for the root of the repository."""
MAX_RELATED: Final = 10
"""Maximum number of further locations of one result."""


def make_locations(diff: Diff, spans: Sequence[LineSpan]) -> list[dict[str, Any]]:
    """Return the locations of spans, each once, the most informative first.

    Args:
        diff: The change.
        spans: Spans; the new version comes first. A span of the old version is mapped to the
            line that replaced it; without spans, the location is the first remaining file.

    Returns:
        Locations with a file, at most `MAX_RELATED` + 1; empty when the change names no file.
    """
    ordered = sorted(spans, key=lambda span: span.side is not Side.NEW)
    new_spans = [_in_new_version(diff, span) for span in ordered] or [_whole(diff)]
    locations = dict.fromkeys(span for span in new_spans if span.path)
    return [_location(span) for span in list(locations)[: MAX_RELATED + 1]]


def _whole(diff: Diff) -> LineSpan:
    left = [file.path for file in diff.files if file.status is not FileStatus.DELETED]
    path = next(iter([*left, *(file.path for file in diff.files)]), "")
    return LineSpan(path=path, side=Side.NEW, start=0, end=0)


def _in_new_version(diff: Diff, span: LineSpan) -> LineSpan:
    if span.side is Side.NEW:
        return span
    for file in diff.files:
        if span.path == file.path_on(Side.OLD):
            line = 0 if file.status is FileStatus.DELETED else _successor(file, span.start)
            return LineSpan(path=file.path, side=Side.NEW, start=line, end=line)
    return LineSpan(path=span.path, side=Side.NEW, start=0, end=0)


def _successor(file: ChangedFile, old: int) -> int:
    """Return the line that replaced an old line, or the last one before it.

    Returns:
        A line of the new version; 0 when the diff shows none.
    """
    for hunk in file.hunks:
        if not old or old >= hunk.old_start + hunk.old_length:
            continue
        before = 0
        passed = False
        for line in hunk.lines:
            passed = passed or (line.old is not None and line.old >= old)
            if line.new is not None:
                if passed:
                    return line.new
                before = line.new
        return before
    return 0


def _location(span: LineSpan) -> dict[str, Any]:
    # Bytes that are not UTF-8 are decoded as lone surrogates; every byte can be written.
    # RFC 3986 allows no space and no `#` in a path; GitHub shows no alert for such an address.
    uri = quote(span.path.lstrip("/").encode("utf-8", "surrogatepass"))
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri, "uriBaseId": ROOT}}
    if span.start > 0:
        physical["region"] = {"startLine": span.start, "endLine": max(span.start, span.end)}
    return {"physicalLocation": physical}
