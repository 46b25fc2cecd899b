"""Reading the annotation sheets of the published human study.

A sheet is a CSV file with one row for each claim or review. What belongs to the change as a
whole (its index, its diff) stands on its first row only.
"""

from __future__ import annotations

import csv
import io
import re
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ANNOTATORS = {"a": "atharva", "b": "marcus"}
"""Short name -> the name in the file names."""
NOTHING = ("", "-")
"""Cells in which an annotator wrote nothing."""
INDEX = "index"
"""The column that starts a change."""

_WHOLE = re.compile(r"(\d{1,9})(?:\.0+)?")  # "12", and "12.0" as a spreadsheet may write it


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow:
    """One row of a sheet."""

    place: str
    """File and row as a spreadsheet counts them: the header is row 1."""
    annotator: str
    """Whose sheet it is; "" for nobody's."""
    cells: Mapping[str, str]
    """Column as the caller named it -> content, as written."""

    def value(self, column: str) -> str:
        """Read a cell without the blanks around it."""
        return self.cells[column].strip()

    def fault(self, column: str, expected: str) -> InputError:
        """Make the error of a cell."""
        found = reprlib.repr(self.cells[column])
        return InputError(f"{self.place}: `{column}` must be {expected}, not {found}")

    def note(self, column: str, outcome: str) -> str:
        """Say that a cell cannot be read, and what comes of it."""
        return f"{self.place}: `{column}` is {reprlib.repr(self.cells[column])}; {outcome}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The rows of one change."""

    index: int
    """Names the change in its language."""
    rows: tuple[SheetRow, ...]
    """At least one."""

    @property
    def place(self) -> str:
        """Where it starts."""
        return self.rows[0].place

    def first(self, column: str) -> str:
        """Read what stands on the first row only, as written."""
        return self.rows[0].cells[column]


def read_sheet(path: Path, columns: Sequence[str], annotator: str = "") -> tuple[SheetRow, ...]:
    """Read a sheet.

    A header is compared by the letters and digits of its first line, so that `Correctness` with
    a legend below it, `necessary?` and `Con (P)` are `correctness`, `necessary` and `con`.

    Args:
        path: The CSV file, UTF-8 with or without a byte order mark.
        columns: The columns wanted, in lower case.
        annotator: Whose sheet it is.

    Returns:
        Its rows below the header. Lines without any cell are none, as in pandas.

    Raises:
        InputError: The file is missing, is no CSV in UTF-8, or has not one column of a name.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        # `newline=""` keeps the line breaks inside quoted cells as they are.
        header, *table = csv.reader(io.StringIO(text, newline=""))
    except (OSError, UnicodeDecodeError, csv.Error) as exc:
        raise InputError(f"{path} cannot be read as a sheet: {exc}") from exc
    except ValueError as exc:
        raise InputError(f"{path} is an empty sheet") from exc
    places = {column: _find(column, header, path) for column in columns}
    return tuple(
        SheetRow(
            place=f"{path}, row {number}",
            annotator=annotator,
            cells={name: cells[at] if at < len(cells) else "" for name, at in places.items()},
        )
        for number, cells in enumerate(table, 2)
        if cells
    )


def _find(column: str, header: Sequence[str], path: Path) -> int:
    lines = [cell.strip().lower().partition("\n")[0] for cell in header]
    names = [" ".join(re.findall(r"[a-z0-9]+", line)) for line in lines]
    found = [at for at, name in enumerate(names) if name == column]
    found = found or [at for at, name in enumerate(names) if name.startswith(f"{column} ")]
    if len(found) != 1:
        raise InputError(f"{path}: {len(found)} columns are headed `{column}`; there must be one")
    return found[0]


def blocks(rows: Sequence[SheetRow]) -> dict[int, Block]:
    """Split rows into changes.

    Args:
        rows: With the column `index`.

    Returns:
        Index -> the rows of that change, in the order of the sheet.

    Raises:
        InputError: An index is no number or comes again later, or a filled row stands before
            the first change.
    """
    grouped: dict[int, list[SheetRow]] = {}
    current: int | None = None
    for row in rows:
        if row.value(INDEX):
            index = whole(row.value(INDEX))
            if index is None:
                raise row.fault(INDEX, "a whole number")
            if index != current and index in grouped:
                raise InputError(f"{row.place}: change {index} stands in the sheet twice")
            current = index
            grouped.setdefault(index, [])
        if current is not None:
            grouped[current].append(row)
        elif any(cell.strip() for cell in row.cells.values()):
            raise InputError(f"{row.place}: the row belongs to no change; no `{INDEX}` is above it")
    return {index: Block(index=index, rows=tuple(its)) for index, its in grouped.items()}


def counted(sheets: Mapping[str, Sequence[SheetRow]], from_a: int) -> dict[int, Block]:
    """Take b's rows before the hand-over and a's from there.

    Args:
        sheets: Annotator -> all rows of that annotator's sheet.
        from_a: First row, from 0, on which a counts.

    Returns:
        As `blocks`.
    """
    return blocks((*sheets["b"][:from_a], *sheets["a"][from_a:]))


def whole(text: str) -> int | None:
    """Read a whole number of 0 or more; None when it is none.

    Example:
        >>> whole("12"), whole("12.0"), whole("1.5"), whole("-1")
        (12, 12, None, None)
    """
    match = _WHOLE.fullmatch(text)
    return int(match[1]) if match else None
