"""Comments on changes of their own, one a line: a text, its change, and perhaps labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from crscore import jsonl
from crscore.errors import InputError
from crscore.records import Diff
from crscore.scorer import Scorer

if TYPE_CHECKING:
    import numpy as np

TEXTS: Final = ("comment", "subject", "body")
"""Fields of the text; a row's first one that is not null is taken."""
PATCHES: Final = ("patch", "diff_hunk", "diff")
"""Fields of the change; a row's first one that is not null is taken."""
RATED: Final = "reviews"
"""Field of a study of rated reviews."""
_WHAT: Final = "a study"


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

    place: str
    """Place in the file: `comments.jsonl:3`."""
    text: str
    """Text of the comment; may be blank."""
    patch: str
    """Text of the change."""
    diff: Diff
    """The change, parsed; rows with the same patch, language and path share it."""
    fields: dict[str, Any]
    """All fields of the line."""

    def value(self, field: str) -> str:
        """Return a field's value as the name of a group; null is a group, too.

        Raises:
            InputError: The row has no such field, or it holds a list, an object or a fraction.
        """
        if field not in self.fields:
            raise InputError(f"{self.place}: {field}: missing")
        found = self.fields[field]
        if not isinstance(found, str | int | None):
            raise InputError(f"{self.place}: {field}: expected a text, a whole number or null")
        return "" if found is None else str(found)

    @property
    def language(self) -> str:
        """Language as given, or else that of the change's file with the most lines."""
        given = self.fields.get("language")
        largest = max(self.diff.files, key=lambda file: len(file.lines()), default=None)
        return given or (largest.language if largest else None) or ""

    def label(self, field: str) -> bool | None:
        """Return a label; None for a missing or null one.

        Raises:
            InputError: It is something else.
        """
        found = self.fields.get(field)
        if found is None or isinstance(found, bool):
            return found
        raise InputError(f"{self.place}: {field}: expected true, false or null, as in other rows")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comments:
    """File of comments."""

    rows: tuple[CommentRow, ...]
    """Comments in file order, at least one."""
    sha256: str
    """Hash of the unpacked file."""

    def kinds(self, within: str | None) -> list[str]:
        """Return each comment's value of a field; without one, its language."""
        return [row.value(within) if within else row.language for row in self.rows]

    @property
    def labels(self) -> tuple[str, ...]:
        """Fields whose first value that is not null is true or false, in order of appearance."""
        first: dict[str, Any] = {}
        for row in self.rows:
            for name, value in row.fields.items():
                if value is not None:
                    first.setdefault(name, value)
        return tuple(name for name, value in first.items() if isinstance(value, bool))


def is_comments(path: Path) -> bool:
    """Return whether a file has comments rather than rated reviews, by the fields of its first row.

    Args:
        path: A file; one that cannot be read has no comments.
    """
    try:
        head = jsonl.read_bytes(path, _WHAT).lstrip().partition(b"\n")[0]
        row = json.loads(head)
    except (InputError, ValueError, RecursionError):
        return False
    return isinstance(row, dict) and RATED not in row and any(key in row for key in TEXTS + PATCHES)


def read_comments(path: Path, scorer: Scorer) -> Comments:
    """Read comments: one JSON object per line, gzip or plain.

    Args:
        path: The file.
        scorer: Scorer whose limits the changes keep to.

    Raises:
        InputError: The file or a change cannot be read, or a field of a line is missing or wrong;
            the message names line and field.
    """
    content = jsonl.read_bytes(path, _WHAT)
    diffs: dict[tuple[str, str | None, str | None], Diff] = {}
    rows = []
    for place, fields in jsonl.read_rows(content, dict[str, Any], path, _WHAT):
        row = jsonl.convert(fields, _Row, place)
        text, patch = _first(row, TEXTS, place), _first(row, PATCHES, place)
        given = getattr(row, text), getattr(row, patch)
        key = given[1], row.language, row.path
        if key not in diffs:
            diffs[key] = scorer.read_diff(
                given[1],
                source=f"{place}: {patch}",
                language=row.language,
                path=row.path,
            )
        made = CommentRow(
            place=place, text=given[0], patch=given[1], diff=diffs[key], fields=fields
        )
        rows.append(made)
    if not rows:
        raise InputError(f"{path} holds no comment; it has one JSON object a line")
    return Comments(rows=tuple(rows), sha256=hashlib.sha256(content).hexdigest())


def _first(row: _Row, names: Sequence[str], place: str) -> str:
    found = next((name for name in names if getattr(row, name) is not None), None)
    if found is None:
        raise InputError(f"{place}: {names[0]}: missing, and so are {' and '.join(names[1:])}")
    return found


def limit_rows(
    data: Comments, within: str | None, most: int | None, rng: np.random.Generator
) -> Comments:
    """Draw comments of each kind without replacement, and keep them in file order.

    Args:
        data: The comments.
        within: As for `Comments.kinds`.
        most: Number of comments to keep of a kind; None for all.
        rng: Source of randomness.
    """
    if most is None:
        return data
    by_kind: dict[str, list[int]] = {}
    for index, kind in enumerate(data.kinds(within)):
        by_kind.setdefault(kind, []).append(index)
    kept = sorted(index for one in by_kind.values() for index in rng.permutation(one)[:most])
    return replace(data, rows=tuple(data.rows[index] for index in kept))


def draw_others(
    patches: Sequence[str], kinds: Sequence[str], count: int, rng: np.random.Generator
) -> list[list[int]]:
    """Draw for each row other patches of its kind.

    Args:
        patches: Patch of each of N rows.
        kinds: Kind of each row.
        count: Patches to draw for a row.
        rng: Source of randomness.

    Returns:
        For each row, the indices of rows with distinct patches, none of them its own; fewer than
        `count` where its kind has no more.

    Example:
        >>> import numpy as np
        >>> draw_others(["a", "a", "b", "c"], ["x", "x", "x", "y"], 2, np.random.default_rng(0))
        [[2], [2], [0], []]
    """
    by_kind: dict[str, dict[str, int]] = {}
    for index, (patch, kind) in enumerate(zip(patches, kinds, strict=True)):
        by_kind.setdefault(kind, {}).setdefault(patch, index)
    listed = {kind: list(rows.values()) for kind, rows in by_kind.items()}
    places = {kind: {patch: at for at, patch in enumerate(rows)} for kind, rows in by_kind.items()}
    drawn = []
    for patch, kind in zip(patches, kinds, strict=True):
        rows, own = listed[kind], places[kind][patch]
        chosen = rng.choice(len(rows) - 1, min(count, len(rows) - 1), replace=False)
        drawn.append([rows[at + (at >= own)] for at in chosen])
    return drawn
