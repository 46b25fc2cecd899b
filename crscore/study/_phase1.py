"""Phase 1 of the published human study: claims, whether they are true, and what they miss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crscore.study import _sheets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crscore.study._sheets import SheetRow

    Json = dict[str, Any]
    Codes = Mapping[str, Mapping[tuple[int, str], str | None]]

FROM_A = {"py": 246, "java": 248, "js": 245}
"""First row, from 0, on which annotator a counts; before it b does."""

_ADDED = "additional claims"
_COLUMNS = (_sheets.INDEX, "diff", "claim", "correctness", _ADDED)
_CORRECTNESS = {
    "1": "correct",
    "0": "incorrect",
    "-1": "unverifiable",
    "-2": "incomplete",
    "2": "incomplete",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What is known of one change after phase 1."""

    diff: str
    """The change, tabs and all."""
    judged: tuple[Json, ...] = ()
    """`llm_claims` of the study format."""
    added: tuple[str, ...] = ()
    """`added_claims` of the study format."""


def read_phase1(folder: Path, suffix: str, notes: list[str]) -> dict[int, Claims]:
    """Read one language.

    Args:
        folder: `phase1`.
        suffix: `py`, `java` or `js`.
        notes: Receives what cannot be read.

    Returns:
        Index -> what is known of the change.

    Raises:
        InputError: A sheet is missing or cannot be read.
    """
    base = folder / f"{suffix}_claim_acc_annot.csv"
    blank = _sheets.blocks(_sheets.read_sheet(base, (_sheets.INDEX, "diff")))
    sheets = {
        short: _sheets.read_sheet(folder / f"{suffix}_claim_acc_annot_{name}.csv", _COLUMNS, short)
        for short, name in _sheets.ANNOTATORS.items()
    }
    codes = {
        short: {
            (index, row.value("claim")): _CORRECTNESS.get(_code(row))
            for index, block in _sheets.blocks(rows).items()
            for row in block.rows
        }
        for short, rows in sheets.items()
    }
    found = {}
    for index, block in _sheets.counted(sheets, FROM_A[suffix]).items():
        # The sheet that nobody wrote in has the diffs as they were.
        diff = blank[index].first("diff") if index in blank else block.first("diff")
        # One cell may hold several, a line each.
        lines = [line.strip() for row in block.rows for line in row.value(_ADDED).splitlines()]
        found[index] = Claims(
            diff=diff,
            judged=tuple(
                _judged(row, index, codes, notes) for row in block.rows if row.value("claim")
            ),
            added=tuple(line for line in lines if line not in _sheets.NOTHING),
        )
    return found


def _code(row: SheetRow) -> str:
    return row.value("correctness").removesuffix(".0")


def _judged(row: SheetRow, index: int, codes: Codes, notes: list[str]) -> Json:
    code, text = _code(row), row.value("claim")
    if code and code not in _CORRECTNESS:
        notes.append(row.note("correctness", "that is no code, so it is left open"))
    claim: Json = {
        "text": text,
        "correctness": _CORRECTNESS.get(code),
        "annotator": row.annotator,
    }
    each = {short: theirs.get((index, text)) for short, theirs in codes.items()}
    if None not in each.values():
        claim["by_annotator"] = each
    return claim
