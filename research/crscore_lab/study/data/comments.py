"""Reads files of comments: each line has a comment's text, its change and any other fields."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from crscore import jsonl
from crscore.errors import InputError
from crscore.records import Diff
from crscore.scorer import Scorer

TEXTS: Final = ("comment", "subject", "body")
"""Fields that may hold the text; the first of them that is not null is used."""
PATCHES: Final = ("patch", "diff_hunk", "diff")
"""Fields that may hold the change; the first of them that is not null is used."""
RATED: Final = "reviews"
"""Field that only files of rated reviews have."""
_KIND: Final = "a study"
"""Name of this kind of file in messages."""


class _Row(Struct, frozen=True, kw_only=True):
    comment: str | None = None
    subject: str | None = None
    body: str | None = None
    patch: str | None = None
    diff_hunk: str | None = None
    diff: str | None = None
    language: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommentRow:
    """Comment with the change that it was written on."""

    location: str
    """File and line, such as `comments.jsonl:3`."""
    text: str
    """Text of the comment; may be blank."""
    patch: str
    """The change as a unified diff."""
    diff: Diff
    """The parsed patch; rows with the same patch, language and path share one object."""
    fields: dict[str, Any]
    """All fields of the line."""

    def value(self, field: str) -> str:
        """Return the value of a field as text, for grouping; "" for null.

        Raises:
            InputError: The row has no such field, or its value is a list, an object or a fraction.
        """
        if field not in self.fields:
            raise InputError(f"{self.location}: {field}: missing")
        value = self.fields[field]
        if not isinstance(value, str | int | None):
            raise InputError(f"{self.location}: {field}: expected a text, a whole number or null")
        return "" if value is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comments:
    """File of comments."""

    rows: tuple[CommentRow, ...]
    """Comments in file order, at least one."""
    sha256: str
    """Hash of the file after decompression."""


def is_comments(path: Path) -> bool:
    """Return whether a file has comments, not rated reviews, judging by the first row's fields.

    Args:
        path: A file; if it cannot be read, the result is False.
    """
    try:
        # Only the first row is decoded, because a file may be large.
        row = json.loads(jsonl.read_bytes(path, _KIND).lstrip().partition(b"\n")[0])
    except (InputError, ValueError, RecursionError):
        return False
    return isinstance(row, dict) and RATED not in row and any(key in row for key in TEXTS + PATCHES)


def read_comments(path: Path, scorer: Scorer) -> Comments:
    """Read a file of comments: JSON Lines, plain or gzip.

    Args:
        path: The file.
        scorer: Scorer whose limits apply to the changes.

    Raises:
        InputError: The file has no comments, the file or a change cannot be read, or a field is
            missing or wrong; the message names the line and the field.
    """
    content = jsonl.read_bytes(path, _KIND)
    diffs: dict[tuple[str, str | None, str | None], Diff] = {}
    rows = []
    for location, fields in jsonl.read_rows(content, dict[str, Any], path, _KIND):
        row = jsonl.convert(fields, _Row, location)
        _, text = _first_field(row, TEXTS, location)
        patch_field, patch = _first_field(row, PATCHES, location)
        # Cached, because many comments may be on one change.
        key = patch, row.language, row.path
        if key not in diffs:
            diffs[key] = scorer.read_diff(
                patch, source=f"{location}: {patch_field}", language=row.language, path=row.path
            )
        rows.append(
            CommentRow(location=location, text=text, patch=patch, diff=diffs[key], fields=fields)
        )
    if not rows:
        raise InputError(f"{path} has no comments; it needs one JSON object per line")
    return Comments(rows=tuple(rows), sha256=hashlib.sha256(content).hexdigest())


def _first_field(row: _Row, names: Sequence[str], location: str) -> tuple[str, str]:
    """Return the name and the value of the first field that is not null."""
    for name in names:
        if (value := getattr(row, name)) is not None:
            return name, value
    raise InputError(f"{location}: {names[0]}: missing, and so are {' and '.join(names[1:])}")
