"""Reads samples, which are pieces of code to judge, each with its references."""

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
"""Maximum size in bytes of a file of code."""
_JSON_LINES_SUFFIXES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Candidate with the references that it is compared with."""

    candidate: str
    """Code to judge; may be empty."""
    references: tuple[str, ...]
    """Code to compare the candidate with, at least one text; texts may be empty."""
    context: str = ""
    """Text before the candidate and the references: a prompt, or an intent in prose."""
    language: str | None = None
    """Name of the language (`javascript`, `js`); None if it is unknown."""
    id: str | None = None
    """Name of the problem; several samples may have the same problem."""

    def __post_init__(self) -> None:
        """Use the usual name of the language: `js` becomes `javascript`."""
        if self.language:
            # Instances are frozen, so a plain assignment would raise an error:
            # https://docs.python.org/3/library/dataclasses.html#frozen-instances
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
    """Read samples from files.

    Args:
        candidates: A file of code, a folder of such files (hidden files are not read), or a file of
            JSON Lines (`.jsonl`, `.jsonl.gz`).
        references: For a file of code, the files with its references. For a folder, folders in
            which the references of a candidate have the candidate's relative path. For JSON Lines,
            further files of JSON Lines, whose references are added to the rows of `candidates` with
            the same id; may be empty if the rows have references.
        context: Context of the samples that have no context.
        language: Language of the samples whose row or file name does not show the language.

    Returns:
        At least one sample, in the order of the rows or of the sorted paths.

    Raises:
        InputError: A file cannot be read, there are no candidates, or a candidate has no reference;
            the message names the file.
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
                samples.append(_read_sample(path, files, name.as_posix()))
    else:
        samples = [_read_sample(candidates, references, candidates.name)]
    incomplete = next((sample for sample in samples if not sample.references), None)
    if incomplete is not None:
        name = candidates / (incomplete.id or "") if candidates.is_dir() else candidates
        raise InputError(f"{name} has no reference; give one: crscore code CANDIDATE REFERENCE")
    if not samples:
        raise InputError(f"{candidates} contains no code to judge")
    return tuple(
        replace(sample, context=sample.context or context, language=sample.language or language)
        for sample in samples
    )


def _read_rows(path: Path, reference_paths: Sequence[Path]) -> Iterator[Sample]:
    """Yield the samples of a JSON Lines file, with the references that other files have by id."""
    references_by_id: defaultdict[str, list[str]] = defaultdict(list)
    for reference_path in reference_paths:
        for position, row in _parse_rows(reference_path):
            if row.id is None:
                raise InputError(f"{position}: `id` is missing; it identifies the references")
            if not row.references and row.candidate is None:
                raise InputError(f"{position}: `references` is missing")
            # In a file of references, the field `candidate` may hold the reference.
            references_by_id[str(row.id)] += row.references or [row.candidate or ""]
    for position, row in _parse_rows(path):
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


def _parse_rows(path: Path) -> Iterator[tuple[str, SampleRow]]:
    return jsonl.read_rows(jsonl.read_bytes(path, "samples"), SampleRow, path, "samples")


def _read_sample(candidate: Path, references: Sequence[Path], name: str) -> Sample:
    return Sample(
        candidate=_read_text(candidate),
        references=tuple(map(_read_text, references)),
        language=language_of(candidate.name),
        id=name,
    )


def _read_text(path: Path) -> str:
    """Read a file of code, with LF at the end of each line."""
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
