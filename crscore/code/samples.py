"""Samples: pieces of code to judge, each with its references."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from crscore import jsonl
from crscore.diff.languages import canonical_name, language_of
from crscore.errors import InputError
from crscore.text import decode_text

MAX_FILE_BYTES: Final = 10_000_000
"""Maximum number of bytes of a file of code."""
_JSON_LINES_SUFFIXES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Candidate with the references that it is compared with."""

    candidate: str
    """Code to judge; may be empty."""
    references: tuple[str, ...]
    """Code to compare it with, at least one text; texts may be empty."""
    context: str = ""
    """Text before the code that both sides share: an intent in prose, or the prompt."""
    language: str | None = None
    """Name of the language (`javascript`, `js`); None when unknown."""
    id: str | None = None
    """Name of the problem; several samples may answer one."""

    def __post_init__(self) -> None:
        """Use the usual name of the language: `js` becomes `javascript`."""
        if self.language:
            # Frozen: https://docs.python.org/3/library/dataclasses.html#frozen-instances
            object.__setattr__(self, "language", canonical_name(self.language))


class SampleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a JSON Lines file of samples; other fields are ignored."""

    candidate: str | None = None
    references: Sequence[str] = ()
    context: str = ""
    language: str | None = None
    id: str | int | None = None


def read_samples(
    candidates: Path,
    references: Sequence[Path] = (),
    *,
    context: str = "",
    language: str | None = None,
) -> tuple[Sample, ...]:
    """Read samples.

    Args:
        candidates: A file of code, a folder of such files, or JSON Lines (`.jsonl`, `.jsonl.gz`).
        references: If `candidates` is a file, files with its references. If it is a folder, folders
            in which the references of a candidate have the same relative path; hidden files are not
            read. If it is JSON Lines, nothing, or JSON Lines with the same ids, whose references
            are added to those in the rows of `candidates`.
        context: Context of samples that have none.
        language: Language of samples that name none; None to infer it from the file name.

    Returns:
        At least one sample, in the order of the rows, or of the paths.

    Raises:
        InputError: Something cannot be read, or a candidate has no reference; the message names
            it.
    """
    if candidates.name.endswith(_JSON_LINES_SUFFIXES):
        samples = list(_read_rows(candidates, references))
    elif candidates.is_dir():
        samples = []
        for path in sorted(entry for entry in candidates.rglob("*") if entry.is_file()):
            name = path.relative_to(candidates)
            # Hidden files and folders, such as `.git` and `.DS_Store`, are left out.
            if not any(part.startswith(".") for part in name.parts):
                files = [folder / name for folder in references if (folder / name).is_file()]
                samples.append(_sample(path, files, name.as_posix()))
    else:
        samples = [_sample(candidates, references, candidates.name)]
    incomplete = next((sample for sample in samples if not sample.references), None)
    if incomplete is not None:
        name = candidates / (incomplete.id or "") if candidates.is_dir() else candidates
        raise InputError(f"{name} has no reference: crscore code CANDIDATE REFERENCE")
    if not samples:
        raise InputError(f"{candidates} contains no code to judge")
    return tuple(
        replace(sample, context=sample.context or context, language=sample.language or language)
        for sample in samples
    )


def _read_rows(path: Path, reference_paths: Sequence[Path]) -> Iterator[Sample]:
    """Yield the samples of a JSON Lines file, with the references of other files by id."""
    references_by_id: defaultdict[str, list[str]] = defaultdict(list)
    for reference_path in reference_paths:
        for position, row in _rows(reference_path):
            if row.id is None:
                raise InputError(f"{position}: `id` is missing; it identifies the references")
            if not row.references and row.candidate is None:
                raise InputError(f"{position}: `references` is missing")
            # A file of references may have the form of a file of candidates.
            references_by_id[str(row.id)] += row.references or [row.candidate or ""]
    for position, row in _rows(path):
        if row.candidate is None:
            raise InputError(f"{position}: `candidate` is missing")
        references = [*row.references, *references_by_id.get(str(row.id), ())]
        if not references:
            files = " or ".join(map(str, reference_paths))
            hint = f"; no row of {files} has the id {row.id}" if files else ""
            raise InputError(f"{position}: `references` is missing{hint}")
        yield Sample(
            candidate=row.candidate,
            references=tuple(references),
            context=row.context,
            language=row.language,
            id=None if row.id is None else str(row.id),
        )


def _rows(path: Path) -> Iterator[tuple[str, SampleRow]]:
    return jsonl.read_rows(jsonl.read_bytes(path, "samples"), SampleRow, path, "samples")


def _sample(candidate: Path, references: Sequence[Path], name: str) -> Sample:
    return Sample(
        candidate=_read_text(candidate),
        references=tuple(map(_read_text, references)),
        language=language_of(candidate.name),
        id=name,
    )


def _read_text(path: Path) -> str:
    """Read a file of code; lines end with LF."""
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise InputError(f"{path} has {size:,} bytes; at most {MAX_FILE_BYTES:,} are read")
        text = decode_text(path.read_bytes()).replace("\r\n", "\n").replace("\r", "\n")
    except OSError as exc:
        raise InputError(f"{path} cannot be read: {exc.strerror or exc}") from exc
    if "\0" in text:
        raise InputError(f"{path} is not a text file")
    return text
