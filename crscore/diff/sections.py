"""Where each file and each hunk of a diff begins and ends.

unidiff reads hunks well, but not every header that git, GNU diff and GitHub print:
quoted paths, renames without hunks, submodule summaries, mail signatures after the
last hunk. So the text is cut up here, and unidiff gets one hunk at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from crscore.diff.headers import BINARY_LINE, SUBMODULE_LINE
from crscore.errors import DiffParseError, LimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

# "@@ -1,2 +3,4 @@ def f():", "@@ -1 +1,2 @@"; nine digits, so that int() stays cheap
_HUNK: Final = re.compile(r"@@ -[0-9]{1,9}(?:,([0-9]{1,9}))? \+[0-9]{1,9}(?:,([0-9]{1,9}))? @@")
# "@@@ -1,2 -1,2 +1,3 @@@", "diff --cc path", "diff --combined path"
_COMBINED: Final = re.compile(r"@@@+ -|diff --(?:cc|combined) ")
# "diff -ru a b", "Only in a: x", "From <commit> Mon Sep 17", "commit <id>", "-- "
_CLOSES: Final = re.compile(r"diff |Only in |From [0-9a-f]{40} |commit [0-9a-f]{7,64}\b|-- ?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawHunk:
    """One hunk, not yet read."""

    line: int
    """1-based line of its header in the diff."""
    header: str
    """The `@@` line."""
    body: tuple[str, ...]
    """The lines after it, without line feeds, as far as the header's counts reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One file of a diff, not yet read."""

    line: int
    """1-based line where it starts in the diff."""
    header: tuple[str, ...]
    """The lines before its first hunk; empty for a bare hunk."""
    hunks: tuple[RawHunk, ...]
    """In the order of the diff."""


@dataclass(slots=True)
class _Open:
    line: int
    header: list[str] = field(default_factory=list)
    hunks: list[RawHunk] = field(default_factory=list)

    def awaits_names(self) -> bool:
        return (
            not self.hunks
            and self.header[0].startswith("diff --git ")
            and not any(line.startswith("--- ") for line in self.header)
        )


def split_sections(
    lines: Sequence[str], *, source: str, max_files: int, max_hunks: int
) -> tuple[Section, ...]:
    """Cut a diff into files and hunks; lines that belong to none are passed over.

    Args:
        lines: The diff's lines without line feeds.
        source: Where they came from, for messages.
        max_files: Files let through.
        max_hunks: Hunks let through, of all files together.

    Returns:
        The files in the order of the diff; none when the lines are not a diff.

    Raises:
        DiffParseError: A hunk header cannot be read, lines follow a hunk that its header
            did not count, or the diff is a combined one, as git shows merges.
        LimitError: There are more files or hunks than let through.
    """
    opened: list[_Open] = []
    current: _Open | None = None
    hunks = index = 0
    while index < len(lines):
        if (taken := _section_start(lines, index, current)) > 0:
            current = _open(opened, index, source, max_files)
            current.header.extend(lines[index : index + taken])
            index += taken
        elif lines[index].startswith("@@ -" if current is None else "@@"):
            if current is None:
                current = _open(opened, index, source, max_files)
            hunks += 1
            if hunks > max_hunks:
                raise LimitError("max_hunks", max_hunks, hunks, source)
            hunk = _take_hunk(lines, index, source)
            current.hunks.append(hunk)
            index += 1 + len(hunk.body)
            _check_end(lines, index, source)
        else:
            current = _pass_line(lines[index], index, current, source)
            index += 1
    return tuple(
        Section(line=one.line, header=tuple(one.header), hunks=tuple(one.hunks)) for one in opened
    )


def _open(opened: list[_Open], index: int, source: str, max_files: int) -> _Open:
    if len(opened) == max_files:
        raise LimitError("max_files", max_files, len(opened) + 1, source)
    opened.append(_Open(index + 1))
    return opened[-1]


def _section_start(lines: Sequence[str], index: int, current: _Open | None) -> int:
    """Count the lines at `index` that open a new file: 0, 1 or 2."""
    line = lines[index]
    if line.startswith("diff --git ") or SUBMODULE_LINE.match(line):
        return 1
    awaited = current is not None and current.awaits_names()
    if line.startswith("--- "):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        return 2 if following.startswith("+++ ") and not awaited else 0
    return 1 if BINARY_LINE.match(line) and not awaited else 0


def _take_hunk(lines: Sequence[str], index: int, source: str) -> RawHunk:
    """Take as many lines as the header counts, fewer when the diff ends before."""
    header = lines[index]
    match = _HUNK.match(header)
    if match is None:
        _refuse_combined(header, index, source)
        raise DiffParseError(
            source,
            index + 1,
            "this hunk header cannot be read; it should look like '@@ -1,4 +1,6 @@'",
        )
    old, new = (1 if count is None else int(count) for count in match.groups())
    body: list[str] = []
    # an index, not a slice: thousands of hunks would each copy the rest of the diff
    for at in range(index + 1, len(lines)):
        sign = lines[at][:1]
        if (old <= 0 and new <= 0 and sign != "\\") or sign not in " +-\\\r":
            break
        body.append(lines[at])
        old -= sign in "- \r"
        new -= sign in "+ \r"
    return RawHunk(line=index + 1, header=header, body=tuple(body))


def _check_end(lines: Sequence[str], index: int, source: str) -> None:
    """Refuse a diff whose hunk goes on after the lines that its header counts."""
    line = lines[index] if index < len(lines) else ""
    if line[:1] not in ("+", "-", " ") or not line.strip() or line.rstrip() == "--":
        return
    if _section_start(lines, index, None):
        return
    raise DiffParseError(
        source,
        index + 1,
        "this line belongs to no hunk: the hunk before it is longer than its header says; "
        "the diff was edited or damaged, make it again with git diff",
    )


def _pass_line(line: str, index: int, current: _Open | None, source: str) -> _Open | None:
    """Keep a header line with its file; tell whether the file goes on."""
    _refuse_combined(line, index, source)
    if _CLOSES.match(line):
        return None
    if current is not None and not current.hunks:
        current.header.append(line)
    return current


def _refuse_combined(line: str, index: int, source: str) -> None:
    if _COMBINED.match(line):
        raise DiffParseError(
            source,
            index + 1,
            "this is a combined diff of a merge, which has no single old version; "
            "compare with one parent: git diff HEAD^1 HEAD",
        )
