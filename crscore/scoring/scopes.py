"""Part of a diff to which a comment is attached: a hunk, a file, or the whole diff."""

import re

from crscore.records import ChangedFile, Comment, Diff, Hunk, LineKind, Scope, ScopeKind, Side

# `@@ -1,2 +3,4 @@` and the short forms `@@ -1 +3 @@`.
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
        return _by_hunk_text(comment, diff) or Scope(kind=ScopeKind.DIFF)
    file = file_at(diff, comment.path, comment.side)
    if file is None:
        return None
    index = _hunk_at(file, comment)
    if index is None:
        return Scope(kind=ScopeKind.FILE, path=file.path)
    return Scope(kind=ScopeKind.HUNK, path=file.path, hunk=index)


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


def _hunk_at(file: ChangedFile, comment: Comment) -> int | None:
    by_text = _same_hunk(file, comment.diff_hunk) if comment.diff_hunk else None
    if comment.line is None or comment.outdated:
        # An outdated line number belongs to another version, so only the stored hunk identifies it.
        return by_text
    for index, hunk in enumerate(file.hunks):
        start, length = lines_of(hunk, comment.side)
        if start <= comment.line < start + length:
            return index
    return by_text


def lines_of(hunk: Hunk, side: Side) -> tuple[int, int]:
    """Return the first line and the number of lines of a hunk on one side."""
    if side is Side.OLD:
        return hunk.old_start, hunk.old_length
    return hunk.new_start, hunk.new_length


def _by_hunk_text(comment: Comment, diff: Diff) -> Scope | None:
    if not comment.diff_hunk:
        return None
    for file in diff.files:
        index = _same_hunk(file, comment.diff_hunk)
        if index is not None:
            return Scope(kind=ScopeKind.HUNK, path=file.path, hunk=index)
    return None


def starts_of(header: str) -> tuple[int, int] | None:
    """Parse a hunk's header.

    Args:
        header: Line of the header.

    Returns:
        First line in the old and in the new file; None if the line is not a header.

    Example:
        >>> starts_of("@@ -3,2 +4 @@ def run():"), starts_of("x = 1")
        ((3, 4), None)
    """
    match = _HEADER.match(header)
    return None if match is None else (int(match[1]), int(match[2]))


def _same_hunk(file: ChangedFile, text: str) -> int | None:
    """Find the hunk with this header and these first lines.

    GitHub keeps a hunk from its header down to the commented line, so the kept lines are a
    prefix of the hunk's. A header alone is not enough: two files can share it.
    """
    # Not `splitlines`: a form feed in code does not end a line of a diff.
    header, *body = text.rstrip("\n").split("\n")
    start = starts_of(header)
    if start is None:
        return None
    lines = [line for line in body if not line.startswith("\\")]
    for index, hunk in enumerate(file.hunks):
        if (hunk.old_start, hunk.new_start) == start and _starts_with(hunk, lines):
            return index
    return None


_SIGNS = {LineKind.ADDED: "+", LineKind.REMOVED: "-", LineKind.CONTEXT: " "}


def _starts_with(hunk: Hunk, lines: list[str]) -> bool:
    pairs = zip(lines, hunk.lines, strict=False)
    return len(lines) <= len(hunk.lines) and all(
        text.rstrip("\r") == _SIGNS[line.kind] + line.text for text, line in pairs
    )
