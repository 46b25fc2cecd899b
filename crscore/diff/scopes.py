"""Part of a diff to which a comment is attached: a hunk, a file, or the whole diff."""

import re

from crscore.diff.sections import SIGNS
from crscore.records import ChangedFile, Comment, Diff, Scope, ScopeKind, Side

# `@@ -1,2 +3,4 @@` and the short form `@@ -1 +3 @@`, as hosts store it with a comment
_HEADER = re.compile(r"^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")


def attach(comment: Comment, diff: Diff) -> Scope | None:
    """Find the part of the diff to which a comment is attached.

    Args:
        comment: Comment, with or without path, line and hunk.
        diff: The change.

    Returns:
        The hunk that contains the comment's line; the file if the line is not in a hunk; the whole
        diff if the comment does not name a file. None if it names a file that the diff does not
        change.
    """
    if comment.path is None:
        for file in diff.files if comment.diff_hunk else ():
            index = _same_hunk(file, comment.diff_hunk or "")
            if index is not None:
                return Scope(kind=ScopeKind.HUNK, path=file.path, hunk=index)
        return Scope(kind=ScopeKind.DIFF)
    commented = file_at(diff, comment.path, comment.side)
    if commented is None:
        return None
    index = None
    # An outdated line number belongs to another version, so only the stored hunk identifies it.
    if comment.line is not None and not comment.outdated:
        index = hunk_at(commented, comment.side, comment.line)
    if index is None and comment.diff_hunk:
        index = _same_hunk(commented, comment.diff_hunk)
    if index is None:
        return Scope(kind=ScopeKind.FILE, path=commented.path)
    return Scope(kind=ScopeKind.HUNK, path=commented.path, hunk=index)


def file_of(comment: Comment, diff: Diff) -> ChangedFile | None:
    """Find the changed file that a comment is on; without a path, the only file of the diff."""
    if comment.path is not None:
        return file_at(diff, comment.path, comment.side)
    return diff.files[0] if len(diff.files) == 1 else None


def file_at(diff: Diff, path: str, side: Side = Side.NEW) -> ChangedFile | None:
    """Find a changed file by its path.

    A new file can take the old name of a renamed one, so the side decides which of the two names is
    tried first. A diff that is one bare hunk has no path: its only file matches any.

    Args:
        diff: The change.
        path: A new or old path.
        side: The side whose names are tried first.

    Returns:
        The file, or None if the diff does not change it.
    """
    path = path.removeprefix("./")
    # If a series changes a file several times, comments are on its last version.
    new = next((file for file in reversed(diff.files) if file.path == path), None)
    old = next((file for file in diff.files if file.old_path == path), None)
    file = (new or old) if side is Side.NEW else (old or new)
    if file is None and len(diff.files) == 1 and diff.files[0].path == "":
        return diff.files[0]
    return file


def hunk_at(file: ChangedFile, side: Side, line: int) -> int | None:
    """Return the index of the hunk that contains a line of one side."""
    for index, hunk in enumerate(file.hunks):
        start, length = hunk.range_of(side)
        if start <= line < start + length:
            return index
    return None


def _same_hunk(file: ChangedFile, text: str) -> int | None:
    """Find the hunk with this header and these first lines.

    GitHub keeps a hunk from its header down to the commented line, so the kept lines are a
    prefix of the hunk's. A header alone is not enough: two files can share it.
    """
    # Not `splitlines`: a form feed in code does not end a line of a diff.
    header, *body = text.rstrip("\n").split("\n")
    match = _HEADER.match(header)
    if match is None:
        return None
    start = int(match[1]), int(match[2])
    lines = [line for line in body if not line.startswith("\\")]
    for index, hunk in enumerate(file.hunks):
        if (hunk.old_start, hunk.new_start) != start or len(lines) > len(hunk.lines):
            continue
        pairs = zip(lines, hunk.lines, strict=False)
        if all(text.rstrip("\r") == SIGNS[line.kind] + line.text for text, line in pairs):
            return index
    return None
