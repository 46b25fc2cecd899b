"""Conversion of a clone of atharva-naik/CRScore into a file of the study format.

Two people judged the claims (phase 1) and rated the reviews (phase 2), each in a separate sheet for
each language. Every row counts once, from one of the two sheets; where both filled a row, the
second judgement is kept for measuring agreement.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crscore import io as output
from crscore.errors import InputError, OutputError
from crscore.lab.study import sheets
from crscore.lab.study.sheets import Block, SheetRow
from crscore.lab.study.study import DIMENSIONS, GROUND_TRUTH, LIKERT

Json = dict[str, Any]
Codes = Mapping[str, Mapping[tuple[int, str], str | None]]
Marks = Mapping[str, Mapping[tuple[int, str], Sequence[float | None]]]

LANGUAGES = {"py": "python", "java": "java", "js": "javascript"}
"""Suffix in the file names -> language."""
GPT4O = "experiments/code_change_summ_finetune_impl/gpt-4o.jsonl"
"""Path of GPT-4o's answers in a clone."""
CLAIMS_FROM_A = {"py": 246, "java": 248, "js": 245}
"""First row, from 0, on which annotator a counts; before it, annotator b counts."""

_ADDED_CLAIMS = "additional claims"
_CLAIM_COLUMNS = (sheets.INDEX, "diff", "claim", "correctness", _ADDED_CLAIMS)
_CORRECTNESS = {
    "1": "correct",
    "0": "incorrect",
    "-1": "unverifiable",
    "-2": "incomplete",
    "2": "incomplete",
}
REVIEWS_FROM_A = {"py": 500, "java": 500, "js": 504}
"""First row, from 0, on which annotator a counts; before it, annotator b counts."""
HUMAN = "msg"
"""Name of the original human comment in the sheets."""

_ADDRESSED = "claims addressed"
_MARKS = ("con", "comp", "rel")
_REVIEW_COLUMNS = (
    *(sheets.INDEX, "diff", "claim", "necessary", "type"),
    *("review", "system", _ADDRESSED, *_MARKS),
)
_KINDS = {"claim": "claim", "implication": "claim", "issue": "issue", "smell": "issue"}
_NECESSARY = {
    **dict.fromkeys(("1", "true", "yes", "y"), True),
    **dict.fromkeys(("0", "false", "no", "n"), False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Contents of a clone."""

    rows: tuple[Json, ...]
    """One object of the study format per change."""
    notes: tuple[str, ...]
    """Notes on omitted or unresolved data, one sentence each."""


def convert(clone: Path) -> Imported:
    """Read the sheets of the human study.

    The changes are those whose reviews were rated, in the order Python, Java, JavaScript and
    then of the sheets. The hand-over rows decide which annotator's row counts.

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
        raise InputError(f"{clone} is no clone of atharva-naik/CRScore: it has no human_study")
    rows: list[Json] = []
    notes: list[str] = []
    answers = _answers(clone, notes)
    for suffix in LANGUAGES:
        rows += _language(study, suffix, answers, notes)
    return Imported(rows=tuple(rows), notes=tuple(notes))


def write_study(rows: Sequence[Mapping[str, Any]], out: Path) -> None:
    """Write a study: one JSON object per line, gzip-compressed when the name ends in `.gz`.

    The output is deterministic.

    Args:
        rows: Objects of the study format.
        out: The file to write.

    Raises:
        OutputError: The file cannot be written.
    """
    output.check_output(str(out))
    content = "".join(json.dumps(row) + "\n" for row in rows).encode("ascii")
    if out.suffix == ".gz":
        packed = io.BytesIO()
        # Neither a name nor a time, so that the bytes depend only on the rows.
        with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as stream:
            stream.write(content)
        content = packed.getvalue()
    try:
        out.write_bytes(content)
    except OSError as exc:
        raise OutputError(str(out), exc.strerror or str(exc)) from exc


def _answers(clone: Path, notes: list[str]) -> dict[str, str]:
    """Read GPT-4o's answers: diff without whitespace -> first answer.

    No measurement needs them, so a clone may lack them.
    """
    path = clone / GPT4O
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except FileNotFoundError:
        notes.append(f"{path} is missing; no answer of GPT-4o is taken over")
        return {}
    except (OSError, UnicodeDecodeError) as exc:
        raise InputError(f"{path} cannot be read: {exc}") from exc
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            found.setdefault(_bare(row["code_change"]), row["response"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
            raise InputError(f"{path}:{number}: no code_change with its response") from exc
    return found


def _bare(diff: str) -> str:
    """Remove all whitespace: some copies of a diff have their tabs expanded."""
    return "".join(diff.split())


def _language(study: Path, suffix: str, answers: dict[str, str], notes: list[str]) -> list[Json]:
    claims = read_phase1(study / "phase1", suffix, notes)
    made = []
    for index, rated in read_phase2(study / "phase2", suffix, notes).items():
        known = claims.pop(index, None)
        if not rated.reviews:
            notes.append(f"{rated.place}: change {index} is left out; none of its reviews is rated")
            continue
        if known is None:
            notes.append(f"{rated.place}: phase 1 has no claims of change {index}")
            known = ChangeClaims(diff=rated.diff)
        made.append(
            {
                "id": f"{suffix}:{index}",
                "language": LANGUAGES[suffix],
                "patch": known.diff,
                "old_source": _source(study, f"test{index}_old.{suffix}", notes),
                "new_source": _source(study, f"test{index}_new.{suffix}", notes),
                "llm_claims": list(known.judged),
                "added_claims": list(known.added),
                "gpt4o_claims_raw": answers.get(_bare(known.diff)),
                "pseudo_references": list(rated.references),
                "reviews": list(rated.reviews),
            }
        )
    notes += [f"{suffix}:{index} is left out; phase 2 has no reviews of it" for index in claims]
    return made


def _source(study: Path, name: str, notes: list[str]) -> str | None:
    """Read a whole file; return None when the study lacks it, as the score does not require it."""
    folder = study / "phase1" / "context_files"
    if not folder.is_dir():
        raise InputError(f"{folder} is missing; the sources of the changes stand there")
    path = folder / name
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        notes.append(f"{path} cannot be read and is left out: {exc}")
        return None


# Phase 1: claims, whether they are true, and what they miss.


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeClaims:
    """Claims of one change, from phase 1."""

    diff: str
    """The change, with tabs."""
    judged: tuple[Json, ...] = ()
    """`llm_claims` of the study format."""
    added: tuple[str, ...] = ()
    """`added_claims` of the study format."""


def read_phase1(folder: Path, suffix: str, notes: list[str]) -> dict[int, ChangeClaims]:
    """Read the claims of one language.

    Args:
        folder: `phase1`.
        suffix: `py`, `java` or `js`.
        notes: Receives notes on unreadable cells.

    Returns:
        Index -> claims of the change.

    Raises:
        InputError: A sheet is missing or cannot be read.
    """
    base = folder / f"{suffix}_claim_acc_annot.csv"
    blank = sheets.blocks(sheets.read_sheet(base, (sheets.INDEX, "diff")))
    tables = {
        short: sheets.read_sheet(
            folder / f"{suffix}_claim_acc_annot_{name}.csv", _CLAIM_COLUMNS, short
        )
        for short, name in sheets.ANNOTATORS.items()
    }
    codes = {
        short: {
            (index, row.value("claim")): _CORRECTNESS.get(_correctness_code(row))
            for index, block in sheets.blocks(rows).items()
            for row in block.rows
        }
        for short, rows in tables.items()
    }
    found = {}
    for index, block in sheets.counted(tables, CLAIMS_FROM_A[suffix]).items():
        # The sheet without annotations has the original diffs.
        diff = blank[index].first("diff") if index in blank else block.first("diff")
        # One cell may hold several, one per line.
        lines = [
            line.strip() for row in block.rows for line in row.value(_ADDED_CLAIMS).splitlines()
        ]
        found[index] = ChangeClaims(
            diff=diff,
            judged=tuple(
                _judged(row, index, codes, notes) for row in block.rows if row.value("claim")
            ),
            added=tuple(line for line in lines if line not in sheets.NOTHING),
        )
    return found


def _correctness_code(row: SheetRow) -> str:
    return row.value("correctness").removesuffix(".0")


def _judged(row: SheetRow, index: int, codes: Codes, notes: list[str]) -> Json:
    code, text = _correctness_code(row), row.value("claim")
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


# Phase 2: the edited list of each change, and rated reviews.


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedChange:
    """Edited list and rated reviews of one change, from phase 2."""

    place: str
    """Location in the sheet."""
    diff: str
    """The change; some have their tabs expanded."""
    references: tuple[Json, ...]
    """`pseudo_references` of the study format."""
    reviews: tuple[Json, ...]
    """`reviews` of the study format."""


def read_phase2(folder: Path, suffix: str, notes: list[str]) -> dict[int, RatedChange]:
    """Read the ratings of one language.

    Args:
        folder: `phase2`.
        suffix: `py`, `java` or `js`.
        notes: Receives notes on unreadable and omitted cells.

    Returns:
        Index -> ratings of the change.

    Raises:
        InputError: A sheet is missing or cannot be read, or a mark that counts is not a rating.
    """
    tables = {
        short: sheets.read_sheet(
            folder / f"{suffix}_{name}_review_qual_final.csv", _REVIEW_COLUMNS, short
        )
        for short, name in sheets.ANNOTATORS.items()
    }
    marks = {
        short: {
            (index, row.value("system")): [_rating(row.value(column)) for column in _MARKS]
            for index, block in sheets.blocks(rows).items()
            for row in block.rows
        }
        for short, rows in tables.items()
    }
    found = {}
    for index, block in sheets.counted(tables, REVIEWS_FROM_A[suffix]).items():
        references = tuple(_reference(row, notes) for row in block.rows if row.value("claim"))
        found[index] = RatedChange(
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
    if text not in known and text not in sheets.NOTHING:
        notes.append(row.note(column, "that is unknown, so it is left open"))
    return known.get(text)


def _reviews(block: Block, marks: Marks, references: int, notes: list[str]) -> tuple[Json, ...]:
    made = []
    unmarked = []
    for row in block.rows:
        system = row.value("system")
        empty = [column for column in _MARKS if row.value(column) in sheets.NOTHING]
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
    # A change without any ratings yields one note, not ten.
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
    """Convert the numbers of the addressed rows, which count from 1, to indices from 0."""
    found = []
    for text in row.value(_ADDRESSED).split(","):
        if text.strip() in sheets.NOTHING:
            continue
        number = sheets.whole(text.strip())
        if not number:
            notes.append(row.note(_ADDRESSED, "a part is no number of a claim and is left out"))
            continue
        if number > references:
            notes.append(row.note(_ADDRESSED, f"the change has {references} claims"))
        found.append(number - 1)
    return found
