"""Phase 2 of the published human study: the edited list of each change, and rated reviews."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crscore.study import _sheets
from crscore.study.study import DIMENSIONS, GROUND_TRUTH, LIKERT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from crscore.study._sheets import Block, SheetRow

    Json = dict[str, Any]
    Marks = Mapping[str, Mapping[tuple[int, str], Sequence[float | None]]]

FROM_A = {"py": 500, "java": 500, "js": 504}
"""First row, from 0, on which annotator a counts; before it b does."""
HUMAN = "msg"
"""What the sheets call the original human comment."""

_ADDRESSED = "claims addressed"
_MARKS = ("con", "comp", "rel")
_COLUMNS = (
    *(_sheets.INDEX, "diff", "claim", "necessary", "type"),
    *("review", "system", _ADDRESSED, *_MARKS),
)
_KINDS = {"claim": "claim", "implication": "claim", "issue": "issue", "smell": "issue"}
_NECESSARY = {
    **dict.fromkeys(("1", "true", "yes", "y"), True),
    **dict.fromkeys(("0", "false", "no", "n"), False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """What is known of one change after phase 2."""

    place: str
    """Where it stands."""
    diff: str
    """The change; some have their tabs expanded."""
    references: tuple[Json, ...]
    """`pseudo_references` of the study format."""
    reviews: tuple[Json, ...]
    """`reviews` of the study format."""


def read_phase2(folder: Path, suffix: str, notes: list[str]) -> dict[int, Rated]:
    """Read one language.

    Args:
        folder: `phase2`.
        suffix: `py`, `java` or `js`.
        notes: Receives what cannot be read or is left out.

    Returns:
        Index -> what is known of the change.

    Raises:
        InputError: A sheet is missing or cannot be read, or a mark that counts is no rating.
    """
    sheets = {
        short: _sheets.read_sheet(
            folder / f"{suffix}_{name}_review_qual_final.csv", _COLUMNS, short
        )
        for short, name in _sheets.ANNOTATORS.items()
    }
    marks = {
        short: {
            (index, row.value("system")): [_rating(row.value(column)) for column in _MARKS]
            for index, block in _sheets.blocks(rows).items()
            for row in block.rows
        }
        for short, rows in sheets.items()
    }
    found = {}
    for index, block in _sheets.counted(sheets, FROM_A[suffix]).items():
        references = tuple(_reference(row, notes) for row in block.rows if row.value("claim"))
        found[index] = Rated(
            place=block.place,
            diff=block.first("diff"),
            references=references,
            reviews=_reviews(block, marks, len(references), notes),
        )
    return found


def _reference(row: SheetRow, notes: list[str]) -> Json:
    return {
        "text": row.value("claim"),
        "kind": _word(row, "type", _KINDS, notes),
        "necessary": _word(row, "necessary", _NECESSARY, notes),
    }


def _word(row: SheetRow, column: str, known: Mapping[str, Any], notes: list[str]) -> Any:
    text = row.value(column).casefold().removesuffix(".0")
    if text not in known and text not in _sheets.NOTHING:
        notes.append(row.note(column, "that is unknown, so it is left open"))
    return known.get(text)


def _reviews(block: Block, marks: Marks, references: int, notes: list[str]) -> tuple[Json, ...]:
    made = []
    unmarked = []
    for row in block.rows:
        system = row.value("system")
        empty = [column for column in _MARKS if row.value(column) in _sheets.NOTHING]
        if system and empty:
            unmarked.append(row.note(empty[0], f"so the review of {system} is left out"))
        if not system or empty:
            continue
        review: Json = {
            "system": GROUND_TRUTH if system == HUMAN else system.removesuffix("_pred"),
            "text": row.cells["review"],
            **_ratings([_mark(row, column) for column in _MARKS]),
            "addressed": _addressed(row, references, notes),
            "annotator": row.annotator,
        }
        others = [
            {"annotator": short, **_ratings(theirs[block.index, system])}
            for short, theirs in marks.items()
            if short != row.annotator and None not in theirs.get((block.index, system), (None,))
        ]
        if others:
            review["other_ratings"] = others
        made.append(review)
    # A change nobody got to is one thing to say, not ten.
    notes += unmarked if made else []
    return tuple(made)


def _ratings(marks: Sequence[float | None]) -> Json:
    return dict(zip(DIMENSIONS, marks, strict=True))


def _mark(row: SheetRow, column: str) -> float:
    value = _rating(row.value(column))
    if value is None:
        raise row.fault(column, f"a number from {LIKERT[0]} to {LIKERT[1]}, or empty")
    return value


def _rating(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    if not LIKERT[0] <= value <= LIKERT[1]:
        return None
    return int(value) if value.is_integer() else value


def _addressed(row: SheetRow, references: int, notes: list[str]) -> list[int]:
    """Read the numbers of the addressed rows, which count from 1, into indices from 0."""
    found = []
    for text in row.value(_ADDRESSED).split(","):
        if text.strip() in _sheets.NOTHING:
            continue
        number = _sheets.whole(text.strip())
        if not number:
            notes.append(row.note(_ADDRESSED, "a part is no number of a claim and is left out"))
            continue
        if number > references:
            notes.append(row.note(_ADDRESSED, f"the change has {references} claims"))
        found.append(number - 1)
    return found
