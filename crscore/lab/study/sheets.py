"""Reader of the annotation sheets of the published human study.

A sheet is a CSV file with one row for each claim or review. Values of the whole change (its index,
its diff) appear on its first row only.
"""

from __future__ import annotations

import csv
import io
import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crscore.errors import InputError

ANNOTATORS = {"a": "atharva", "b": "marcus"}
"""Short name -> name in the file names."""
NOTHING = ("", "-")
"""Values of an empty cell."""
INDEX = "index"
"""Column that marks the start of a change."""

_WHOLE = re.compile(r"(\d{1,9})(?:\.0+)?")  # "12", and "12.0" as a spreadsheet may write it


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow:
    """Row of a sheet."""

    place: str
    """File and row number as in a spreadsheet: the header is row 1."""
    annotator: str
    """Annotator of the sheet; "" for none."""
    cells: Mapping[str, str]
    """Column as named by the caller -> content, verbatim."""

    def value(self, column: str) -> str:
        """Return a cell without surrounding whitespace."""
        return self.cells[column].strip()

    def fault(self, column: str, expected: str) -> InputError:
        """Return an error about a cell."""
        found = reprlib.repr(self.cells[column])
        return InputError(f"{self.place}: `{column}` must be {expected}, not {found}")

    def note(self, column: str, outcome: str) -> str:
        """Return a note that a cell cannot be read, with the outcome."""
        return f"{self.place}: `{column}` is {reprlib.repr(self.cells[column])}; {outcome}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows of one change."""

    index: int
    """Index of the change within its language."""
    rows: tuple[SheetRow, ...]
    """At least one row."""

    @property
    def place(self) -> str:
        """Position of the first row."""
        return self.rows[0].place

    def first(self, column: str) -> str:
        """Return a cell of the first row, verbatim."""
        return self.rows[0].cells[column]


def read_sheet(path: Path, columns: Sequence[str], annotator: str = "") -> tuple[SheetRow, ...]:
    """Read a sheet.

    Headers are compared by the letters and digits of their first line, so that `Correctness` with a
    legend below it, `necessary?` and `Con (P)` are `correctness`, `necessary` and `con`.

    Args:
        path: The CSV file, UTF-8 with or without a byte order mark.
        columns: Required columns, in lower case.
        annotator: Annotator of the sheet.

    Returns:
        The rows below the header. Lines without any cell are skipped, as in pandas.

    Raises:
        InputError: The file is missing, is not CSV in UTF-8, or lacks or repeats a column.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        # `newline=""` preserves the line breaks inside quoted cells.
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
        rows: Rows with the column `index`.

    Returns:
        Index -> rows of that change, in sheet order.

    Raises:
        InputError: An index is not a number or is repeated, or a filled row precedes the first
            change.
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
    """Combine b's rows before the hand-over with a's rows from there.

    Args:
        sheets: Annotator -> rows of that annotator's sheet.
        from_a: First row, from 0, on which a counts.

    Returns:
        As `blocks`.
    """
    return blocks((*sheets["b"][:from_a], *sheets["a"][from_a:]))


def whole(text: str) -> int | None:
    """Parse a whole number of 0 or more; return None for other text.

    Example:
        >>> whole("12"), whole("12.0"), whole("1.5"), whole("-1")
        (12, 12, None, None)
    """
    match = _WHOLE.fullmatch(text)
    return int(match[1]) if match else None
