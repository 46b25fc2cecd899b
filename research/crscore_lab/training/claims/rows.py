"""Reads files of code changes: training rows with claims, and changes that have no claims yet."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import msgspec

from crscore import jsonl
from crscore.claims.answer import read_answer
from crscore.claims.chunks import Chunk, chunk_diff
from crscore.diff import parse
from crscore.errors import InputError
from crscore.records import Diff, LineKind


class ChangeRow(msgspec.Struct, frozen=True):
    """Line of a file of changes.

    The change is a unified diff or a bare hunk, in `patch` or in `diff`. A training row also needs
    claims, in a model's answer (`completion`) or as lists.
    """

    patch: str = ""
    diff: str = ""
    completion: str | None = None
    claims: tuple[str, ...] = ()
    implications: tuple[str, ...] = ()

    def parse(self, location: str) -> Diff:
        """Parse the patch.

        Raises:
            InputError: The line has no patch, or the patch cannot be read.
        """
        return parse.parse_diff(self.patch or self.diff, source=location)


class TrainingRow(NamedTuple):
    """Change with its claims."""

    change: Diff
    claims: tuple[str, ...]
    implications: tuple[str, ...]

    @property
    def group(self) -> str:
        """The added and removed lines. Rows with equal lines are on the same side of a split."""
        lines = self.change.lines(LineKind.ADDED, LineKind.REMOVED)
        return "\n".join(f"{line.kind} {text}" for line in lines if (text := line.text.strip()))


def read_rows(path: Path) -> tuple[list[TrainingRow], str]:
    """Read training rows.

    Args:
        path: JSON Lines, plain or gzip, with `patch` or `diff`, and with either `completion` or
            both `claims` and `implications`.

    Returns:
        The rows, and the SHA-256 of the file's unpacked content.

    Raises:
        InputError: The file cannot be read, has no row, or has a line in another format.
    """
    content = jsonl.read_bytes(path, "training rows")
    rows = []
    for location, row in jsonl.read_rows(content, ChangeRow, path, "training rows"):
        claims, implications = row.claims, row.implications
        if row.completion is not None:
            answer = read_answer(row.completion)
            claims, implications = answer.claims, answer.implications
        if not claims:
            raise InputError(f"{location}: the row has no claim about its change")
        rows.append(TrainingRow(row.parse(location), claims, implications))
    if not rows:
        raise InputError(f"{path} has no row to learn from")
    return rows, hashlib.sha256(content).hexdigest()


def single_chunk(change: Diff) -> Chunk | None:
    """Return the whole change as one chunk; None if it does not fit into one request."""
    parts = chunk_diff(change)
    return parts.chunks[0] if len(parts.chunks) == 1 and not parts.notes else None
