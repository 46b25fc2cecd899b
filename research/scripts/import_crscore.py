"""Convert a clone of atharva-naik/CRScore to a file that `crscore validate` reads.

    python research/scripts/import_crscore.py CLONE OUT

Two people judged the claims (phase 1) and rated the reviews (phase 2); both have a sheet for each
phase and language. Each row is taken from one of the two sheets; if both people filled it in, the
other judgement is kept to measure their agreement. Values that belong to a change, not to one of
its rows, are only in the change's first row.
"""

import argparse
import csv
import gzip
import json
import re
import reprlib
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from crscore import io, jsonl
from crscore.errors import CRScoreError, InputError
from crscore_lab.study.data.study import DIMENSIONS, GROUND_TRUTH, LIKERT, Rating

Json = dict[str, Any]
Note = Callable[[str], None]

LANGUAGES: Final = {"py": "python", "java": "java", "js": "javascript"}
"""Suffix in the file names -> language."""
ANNOTATORS: Final = {"a": "atharva", "b": "marcus"}
"""Annotator -> name in the file names."""
# Index of the first row that is taken from annotator a's sheet; earlier rows are taken from b's.
CLAIMS_FROM_A: Final = {"py": 246, "java": 248, "js": 245}
REVIEWS_FROM_A: Final = {"py": 500, "java": 500, "js": 504}
GPT4O: Final = "experiments/code_change_summ_finetune_impl/gpt-4o.jsonl"
"""Path of GPT-4o's answers in a clone."""
HUMAN: Final = "msg"
"""Name of the original human comment in the sheets."""
EMPTY: Final = ("", "-")
"""Values of an empty cell."""

_ADDED, _ADDRESSED = "additional claims", "claims addressed"
_MARKS: Final = ("con", "comp", "rel")
_CLAIM_COLUMNS: Final = ("index", "diff", "claim", "correctness", _ADDED)
_REVIEW_COLUMNS: Final = (
    *("index", "diff", "claim", "type", "review", "system", _ADDRESSED),
    *_MARKS,
)
_CORRECTNESS: Final = {
    "1": "correct",
    "0": "incorrect",
    "-1": "unverifiable",
    "-2": "incomplete",
    "2": "incomplete",
}
_KINDS: Final = {"claim": "claim", "implication": "claim", "issue": "issue", "smell": "issue"}
# Matches "12", and "12.0", as a spreadsheet may write it.
_INTEGER: Final = re.compile(r"(\d{1,9})(?:\.0+)?")


class _Answer(Struct):
    code_change: str
    response: str


class SheetRow(NamedTuple):
    """Row of a sheet."""

    location: str
    """File and row number as in a spreadsheet, where the header is row 1."""
    annotator: str
    cells: Mapping[str, str]
    """Column -> unchanged content of the cell."""

    def value(self, column: str) -> str:
        """Return the content of a cell without surrounding whitespace."""
        return self.cells[column].strip()

    def code(self, column: str) -> str:
        """Return the content of a cell in lower case and, for a number, without `.0`."""
        return self.value(column).casefold().removesuffix(".0")

    def note(self, column: str, outcome: str) -> str:
        """Return a sentence that quotes a cell and says how it was handled."""
        return f"{self.location}: `{column}` is {reprlib.repr(self.cells[column])}; {outcome}"


Phase = tuple[dict[int, list[SheetRow]], Mapping[tuple[int, str], Mapping[str, SheetRow]]]
"""Sheets of one phase and language:

- index of a change -> the rows taken from b's or a's sheet, in the order of the sheets;
- index of a change, and claim or system -> annotator -> row.
"""


class Imported(NamedTuple):
    """Study made from a clone."""

    rows: tuple[Json, ...]
    """One object per change, in the format of `StudyChange`."""
    notes: tuple[str, ...]
    """Which data were left out or could not be read, one sentence each."""


def convert(clone: Path) -> Imported:
    """Read the sheets of the human study.

    Changes without rated reviews are left out. The others are in the order of the sheets, first
    Python, then Java, then JavaScript.

    Args:
        clone: The root of a clone of atharva-naik/CRScore.

    Returns:
        The changes; 291 with 2,909 reviews in the published study.

    Raises:
        InputError: A sheet is missing, or a required cell cannot be read; the message names the
            file, and the row as a spreadsheet counts it.
    """
    study = clone / "human_study"
    if not study.is_dir():
        raise InputError(f"{clone} is not a clone of atharva-naik/CRScore: it has no human_study")
    notes: list[str] = []
    answers = _answers(clone / GPT4O, notes.append)
    rows = [row for suffix in LANGUAGES for row in _changes(study, suffix, answers, notes.append)]
    return Imported(rows=tuple(rows), notes=tuple(notes))


def write_study(rows: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Write a study as JSON Lines, compressed by gzip if the name ends in `.gz`.

    The same rows give the same bytes.

    Args:
        rows: Objects of the study format.
        out: The file to write.

    Raises:
        OutputError: The file cannot be written.
    """
    io.check_output(str(out))
    content = "".join(json.dumps(row) + "\n" for row in rows).encode("ascii")
    # With `mtime`, gzip stores no time, which would differ between runs.
    packed = gzip.compress(content, mtime=0) if out.suffix == ".gz" else content
    io.write_bytes(packed, str(out))


def _answers(path: Path, note: Note) -> dict[str, str]:
    """Return diff without whitespace -> first of GPT-4o's answers; empty if there is no file.

    The file may be missing, because no measurement needs these answers.
    """
    if not path.exists():
        note(f"{path} is missing; no answer of GPT-4o is included")
        return {}
    rows = list(jsonl.read_rows(jsonl.read_bytes(path, "answers"), _Answer, path, "answers"))
    # Without whitespace, because tabs were expanded in some copies of the diffs. The rows are
    # reversed, so that the first answer to a diff replaces later ones.
    return {"".join(row.code_change.split()): row.response for _, row in reversed(rows)}


def _changes(study: Path, suffix: str, answers: Mapping[str, str], note: Note) -> list[Json]:
    claims = _read_claims(study / "phase1", suffix, note)
    changes = []
    for index, rated in _read_reviews(study / "phase2", suffix, note).items():
        change = claims.pop(index, None)
        if not rated["reviews"]:
            location = rated["location"]
            note(f"{location}: change {index} is left out; none of its reviews is rated")
            continue
        if change is None:
            note(f"{rated['location']}: phase 1 has no claims of change {index}")
            change = {"patch": rated["patch"], "llm_claims": [], "added_claims": []}
        changes.append(
            {
                "id": f"{suffix}:{index}",
                "language": LANGUAGES[suffix],
                "patch": change["patch"],
                "old_source": _source(study, f"test{index}_old.{suffix}", note),
                "new_source": _source(study, f"test{index}_new.{suffix}", note),
                "llm_claims": change["llm_claims"],
                "added_claims": change["added_claims"],
                "gpt4o_claims_raw": answers.get("".join(change["patch"].split())),
                "pseudo_references": rated["pseudo_references"],
                "reviews": rated["reviews"],
            }
        )
    for index in claims:
        note(f"{suffix}:{index} is left out; phase 2 has no reviews of it")
    return changes


def _source(study: Path, name: str, note: Note) -> str | None:
    """Return the text of a source file; None, with a note, if it cannot be read."""
    path = study / "phase1" / "context_files" / name
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        note(f"{path} cannot be read and is left out: {exc}")
        return None


def _read_claims(folder: Path, suffix: str, note: Note) -> dict[int, Json]:
    """Return index of a change -> its judged claims, and the claims that annotators added."""
    original = _by_change(_read_sheet(folder / f"{suffix}_claim_acc_annot.csv", ("index", "diff")))
    name = f"{suffix}_claim_acc_annot_{{}}.csv"
    counted, judgements = _read_phase(
        folder, name, _CLAIM_COLUMNS, CLAIMS_FROM_A[suffix], key="claim"
    )

    def judged(index: int, row: SheetRow) -> Json:
        code, text = row.code("correctness"), row.value("claim")
        if code and code not in _CORRECTNESS:
            note(row.note("correctness", "that is not a known code, so it is left open"))
        claim = {"text": text, "correctness": _CORRECTNESS.get(code), "annotator": row.annotator}
        verdicts = {
            annotator: _CORRECTNESS.get(judgement.code("correctness"))
            for annotator, judgement in judgements[index, text].items()
        }
        is_judged_twice = len(verdicts) == len(ANNOTATORS) and None not in verdicts.values()
        return claim | ({"by_annotator": verdicts} if is_judged_twice else {})

    claims = {}
    for index, rows in counted.items():
        added = [line.strip() for row in rows for line in row.value(_ADDED).splitlines()]
        claims[index] = {
            # Tabs of the diffs are preserved only in the sheet without annotations.
            "patch": original.get(index, rows)[0].cells["diff"],
            "llm_claims": [judged(index, row) for row in rows if row.value("claim")],
            "added_claims": [line for line in added if line not in EMPTY],
        }
    return claims


def _read_reviews(folder: Path, suffix: str, note: Note) -> dict[int, Json]:
    """Return index of a change -> its edited list of pseudo-references, and its rated reviews."""
    name = f"{suffix}_{{}}_review_qual_final.csv"
    counted, judgements = _read_phase(
        folder, name, _REVIEW_COLUMNS, REVIEWS_FROM_A[suffix], key="system"
    )

    def other_ratings(index: int, row: SheetRow) -> Json:
        ratings = [
            {"annotator": annotator, **_ratings(other_row)}
            for annotator, other_row in judgements[index, row.value("system")].items()
            if annotator != row.annotator and None not in _ratings(other_row).values()
        ]
        return {"other_ratings": ratings} if ratings else {}

    changes = {}
    for index, rows in counted.items():
        references = [_reference(row, note) for row in rows if row.value("claim")]
        reviews, unrated = [], []
        for row in rows:
            system = row.value("system")
            blank = next((column for column in _MARKS if row.value(column) in EMPTY), None)
            if system and blank:
                unrated.append(row.note(blank, f"so the review of {system} is left out"))
            elif system:
                reviews.append(_review(row, len(references), note) | other_ratings(index, row))
        if reviews:  # Without any rated review, the caller makes one note for the whole change.
            for text in unrated:
                note(text)
        changes[index] = {
            "location": rows[0].location,
            "patch": rows[0].cells["diff"],
            "pseudo_references": references,
            "reviews": reviews,
        }
    return changes


def _reference(row: SheetRow, note: Note) -> Json:
    kind = row.code("type")
    if kind not in _KINDS and kind not in EMPTY:
        note(row.note("type", "that is unknown, so it is left open"))
    return {"text": row.value("claim"), "kind": _KINDS.get(kind)}


def _review(row: SheetRow, references: int, note: Note) -> Json:
    system, ratings = row.value("system"), _ratings(row)
    for column, rating in zip(_MARKS, ratings.values(), strict=True):
        if rating is None:
            expected = f"it must be a number from {LIKERT[0]} to {LIKERT[1]}, or empty"
            raise InputError(row.note(column, expected))
    return {
        "system": GROUND_TRUTH if system == HUMAN else system.removesuffix("_pred"),
        "text": row.cells["review"],
        **ratings,
        "addressed": _addressed(row, references, note),
        "annotator": row.annotator,
    }


def _ratings(row: SheetRow) -> dict[str, float | None]:
    return dict(zip(DIMENSIONS, (_rating(row.value(column)) for column in _MARKS), strict=True))


def _rating(text: str) -> float | None:
    try:
        value = msgspec.convert(text, Rating, strict=False)
    except msgspec.ValidationError:
        return None
    return int(value) if value.is_integer() else value


def _addressed(row: SheetRow, references: int, note: Note) -> list[int]:
    """Return the indices, from 0, of the pseudo-references that a review addresses.

    The sheets have numbers from 1.
    """
    indices = []
    for text in row.value(_ADDRESSED).split(","):
        if text.strip() in EMPTY:
            continue
        if not (position := _integer(text.strip())):
            note(row.note(_ADDRESSED, "a part is not a number of a claim and is left out"))
            continue
        # The number is kept as published; `read_study` ignores it.
        if position > references:
            note(row.note(_ADDRESSED, f"the change has {references} claims"))
        indices.append(position - 1)
    return indices


def _read_phase(folder: Path, name: str, columns: Sequence[str], from_a: int, *, key: str) -> Phase:
    sheets = {
        annotator: _read_sheet(folder / name.format(person), columns, annotator)
        for annotator, person in ANNOTATORS.items()
    }
    judgements: dict[tuple[int, str], dict[str, SheetRow]] = defaultdict(dict)
    for annotator, sheet in sheets.items():
        for index, rows in _by_change(sheet).items():
            for row in rows:
                judgements[index, row.value(key)][annotator] = row
    return _by_change([*sheets["b"][:from_a], *sheets["a"][from_a:]]), judgements


def _read_sheet(path: Path, columns: Sequence[str], annotator: str = "") -> list[SheetRow]:
    """Read the rows below the header of a sheet; empty lines are skipped.

    Headers are found by the letters and digits of their first line: `Correctness`, with a legend on
    further lines, is `correctness`, and `Con (P)` is `con`.
    """
    try:
        # `newline=""` preserves line breaks inside of quoted cells; `utf-8-sig` skips the byte
        # order mark that spreadsheets may write.
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *table = csv.reader(file)
    except (OSError, csv.Error, ValueError) as exc:
        raise InputError(f"{path} cannot be read as a sheet: {exc}") from exc
    lines = [cell.strip().lower().partition("\n")[0] for cell in header]
    titles = [" ".join(re.findall(r"[a-z0-9]+", line)) for line in lines]
    positions = {}
    for column in columns:
        # A header that equals the name of the column is preferred to one that begins with it.
        named = [(title != column, i) for i, title in enumerate(titles)
                 if f"{title} ".startswith(f"{column} ")]  # fmt: skip
        if not named:
            raise InputError(f"{path}: no column is headed `{column}`")
        positions[column] = min(named)[1]
    return [
        SheetRow(
            f"{path}, row {row_number}",
            annotator,
            {column: cells[i] if i < len(cells) else "" for column, i in positions.items()},
        )
        for row_number, cells in enumerate(table, 2)
        if cells
    ]


def _by_change(rows: Sequence[SheetRow]) -> dict[int, list[SheetRow]]:
    """Return index of a change -> its rows; rows before the first index are left out.

    Raises:
        InputError: An index is not a number.
    """
    grouped: dict[int, list[SheetRow]] = {}
    current: int | None = None
    for row in rows:
        if row.value("index"):
            current = _integer(row.value("index"))
            if current is None:
                raise InputError(row.note("index", "it must be a whole number"))
        if current is not None:
            grouped.setdefault(current, []).append(row)
    return grouped


def _integer(text: str) -> int | None:
    match = _INTEGER.fullmatch(text)
    return int(match[1]) if match else None


def main() -> None:
    """Convert a clone, and print the number of changes and reviews."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    try:
        study = convert(options.clone)
        write_study(study.rows, options.out)
    except CRScoreError as exc:
        sys.exit(str(exc))
    print(*study.notes, sep="\n", file=sys.stderr)
    reviews = sum(len(row["reviews"]) for row in study.rows)
    print(f"{options.out}: {len(study.rows):,} changes with {reviews:,} reviews")


if __name__ == "__main__":
    main()
