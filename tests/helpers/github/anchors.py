"""Where a comment on the diff stands now: GitHub moves it along, or lets it go out of date."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.helpers.github.history import Change
    from tests.helpers.github.state import LineComment, Pull, Repository

_HEADER = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class Anchor(NamedTuple):
    """A place in the current diff."""

    line: int | None
    start_line: int | None
    position: int | None


class Row(NamedTuple):
    """One line of a patch: its position and its numbers on the two sides."""

    position: int
    old: int | None
    new: int | None
    hunk: int
    """Index of its hunk's header among the lines of the patch."""


def current(repository: Repository, pull: Pull, comment: LineComment) -> Anchor | None:
    """The comment's place at the head; None when it is out of date."""
    change = _change(repository, pull, pull.head, comment.path)
    if change is None:
        return None
    if comment.line is None:
        return Anchor(None, None, 1)
    line = _moved(repository, pull, comment, comment.line)
    row = None if line is None else _find(change.patch or "", comment.side, line)
    if row is None:
        return None
    start = comment.start_line and _moved(repository, pull, comment, comment.start_line)
    return Anchor(line, start, row.position)


def original_position(repository: Repository, pull: Pull, comment: LineComment) -> int | None:
    """Position in the diff that the comment was written on."""
    change = _change(repository, pull, comment.commit, comment.path)
    if comment.line is None or change is None:
        return 1
    row = _find(change.patch or "", comment.side, comment.line)
    return row and row.position


def hunk(repository: Repository, pull: Pull, comment: LineComment) -> str:
    """The hunk the comment was written on, from its header down to the line."""
    change = _change(repository, pull, comment.commit, comment.path)
    patch = (change.patch if change else None) or ""
    if comment.line is None:
        return ""
    row = _find(patch, comment.side, comment.line)
    return "" if row is None else "\n".join(patch.split("\n")[row.hunk : row.position + 1])


def rows(patch: str) -> Iterator[Row]:
    """The lines of a patch; a position counts the lines below the first header."""
    old = new = header = 0
    for position, line in enumerate(patch.split("\n")):
        if match := _HEADER.match(line):
            old, new, header = int(match[1]), int(match[2]), position
        elif line.startswith("+"):
            yield Row(position, None, new, header)
            new += 1
        elif line.startswith("-"):
            yield Row(position, old, None, header)
            old += 1
        elif line.startswith(" "):
            yield Row(position, old, new, header)
            old, new = old + 1, new + 1


@lru_cache(maxsize=1_000)
def _steps(old: str, new: str) -> list[tuple[str, int, int, int, int]]:
    matcher = SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    return matcher.get_opcodes()


def _find(patch: str, side: str, line: int) -> Row | None:
    wanted = (row for row in rows(patch) if (row.old if side == "LEFT" else row.new) == line)
    return next(wanted, None)


def _change(repository: Repository, pull: Pull, head: str, path: str) -> Change | None:
    base = repository.history.merge_base(pull.base, head)
    changes = repository.history.changes(base, head)
    return next((change for change in changes if change.path == path), None)


def _moved(repository: Repository, pull: Pull, comment: LineComment, line: int) -> int | None:
    """Where a line of the commented version is at the head; None when it changed."""
    history = repository.history
    then, now = comment.commit, pull.head
    if comment.side == "LEFT":
        then, now = history.merge_base(pull.base, then), history.merge_base(pull.base, now)
    if then == now:
        return line
    old, new = history.text(then, comment.path), history.text(now, comment.path)
    if old is None or new is None:
        return None
    for tag, start, end, target, _ in _steps(old, new):
        if tag == "equal" and start < line <= end:
            return target + line - start
    return None
