"""Turning a clone of atharva-naik/CRScore into a file of the study format.

Two people judged the claims (phase 1) and rated the reviews (phase 2), each in a sheet of their
own for each language. Every row counts once, by the one or by the other; where both filled a
row, the second judgement is kept for measuring agreement.
"""

from __future__ import annotations

import gzip
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crscore import io as output
from crscore.errors import InputError, OutputError
from crscore.study import _phase1, _phase2

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Json = dict[str, Any]

LANGUAGES = {"py": "python", "java": "java", "js": "javascript"}
"""Suffix in the file names -> language."""
GPT4O = "experiments/code_change_summ_finetune_impl/gpt-4o.jsonl"
"""Where a clone has GPT-4o's answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a clone holds."""

    rows: tuple[Json, ...]
    """One object of the study format for each change."""
    notes: tuple[str, ...]
    """What was left out or left open, one sentence each."""


def convert(clone: Path) -> Imported:
    """Read the sheets of the human study.

    The changes are those whose reviews were rated, in the order Python, Java, JavaScript and
    then of the sheets. Which annotator's row counts follows the rows at which they handed over.

    Args:
        clone: The root of a clone of atharva-naik/CRScore.

    Returns:
        The changes; 291 with 2,909 reviews in the published study.

    Raises:
        InputError: A sheet is missing, or a cell that must be read cannot; the message names the
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
    """Write a study: one JSON object a line, packed with gzip when the name ends in `.gz`.

    The same rows give the same bytes.

    Args:
        rows: Objects of the study format.
        out: The file to be made.

    Raises:
        OutputError: It cannot be written there.
    """
    output.check_output(str(out))
    content = "".join(json.dumps(row) + "\n" for row in rows).encode("ascii")
    if out.suffix == ".gz":
        packed = io.BytesIO()
        # Neither a name nor a time, so that the bytes tell of the rows alone.
        with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as stream:
            stream.write(content)
        content = packed.getvalue()
    try:
        out.write_bytes(content)
    except OSError as exc:
        raise OutputError(str(out), exc.strerror or str(exc)) from exc


def _answers(clone: Path, notes: list[str]) -> dict[str, str]:
    """Read GPT-4o's answers: diff without blanks -> answer, the first one where it has several.

    Nothing that is measured needs them, so a clone may lack them.
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
    """Leave out all blanks: some copies of a diff have their tabs expanded."""
    return "".join(diff.split())


def _language(study: Path, suffix: str, answers: dict[str, str], notes: list[str]) -> list[Json]:
    claims = _phase1.read_phase1(study / "phase1", suffix, notes)
    made = []
    for index, rated in _phase2.read_phase2(study / "phase2", suffix, notes).items():
        known = claims.pop(index, None)
        if not rated.reviews:
            notes.append(f"{rated.place}: change {index} is left out; none of its reviews is rated")
            continue
        if known is None:
            notes.append(f"{rated.place}: phase 1 has no claims of change {index}")
            known = _phase1.Claims(diff=rated.diff)
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
    """Read a whole file; None when the study lacks it, which the score can do with."""
    folder = study / "phase1" / "context_files"
    if not folder.is_dir():
        raise InputError(f"{folder} is missing; the sources of the changes stand there")
    path = folder / name
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        notes.append(f"{path} cannot be read and is left out: {exc}")
        return None
