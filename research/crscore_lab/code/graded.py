"""Reads files of code with people's grades or with the results of tests."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
from msgspec import Meta, Struct

from crscore import jsonl
from crscore.code.samples import Sample
from crscore.errors import InputError
from crscore.statistics.intervals import Doubles

GradeKind = Literal["mean", "aggregated"]
"""How to combine the grades of several people: by their mean, or as in the field `aggregated`."""
PASSED: Final = "OK"
"""Status of a program that passed its tests."""
# Indices of the programs over which the published correlations were computed.
_EVALUATED: Final = range(1, 100)
_CONTENT: Final = "graded code"


class GradedRow(Struct, frozen=True, kw_only=True):
    """Line of a file of grades: one problem, the code of several systems, and people's grades."""

    id: str
    """Name of the problem; no two lines have the same."""
    references: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Code that the systems' code is compared with."""
    outputs: Annotated[dict[str, str], Meta(min_length=1)]
    """System -> its code."""
    grades: dict[str, dict[str, float]]
    """System -> grader -> grade; a higher grade is better. A system may have no grades."""
    intent: str = ""
    """The task in prose."""
    language: str = "python"
    """Programming language of the code."""
    aggregated: dict[str, float] = {}
    """System -> one grade that combines its grades."""
    published: dict[str, dict[str, float]] = {}
    """System -> metric -> published score, in [0, 1]."""


class ProgramsRow(Struct, frozen=True, kw_only=True):
    """Line of a file of programs: one task, and the test results of many programs."""

    task: str | int
    """Name of the task; no two lines have the same."""
    reference: str
    """Program that the others are compared with."""
    completions: Annotated[tuple[tuple[int, str, str], ...], Meta(min_length=1)]
    """Index, code and status of each program; the status is `OK` if it passed its tests."""
    language: str
    """Programming language of the code."""
    prompt: str = ""
    """Text that precedes the code of each program."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GradedCode:
    """Candidates with their grades."""

    sha256: str
    """Hash of the file after decompression."""
    kind: Literal["people", "tests"]
    """Source of the grades."""
    samples: tuple[Sample, ...]
    """N candidates with references."""
    problems: tuple[str, ...]
    """Problem of each candidate."""
    systems: tuple[str, ...]
    """System that wrote each candidate; for a program, its index."""
    grades: Doubles
    """Grade by people, or 1 for passed and 0 for failed tests, shape (N,)."""
    published: tuple[Mapping[str, float], ...]
    """Published scores of each candidate: metric -> score."""


def read_graded(path: Path, *, grades: GradeKind = "mean") -> GradedCode:
    """Read code with grades, or programs with the results of their tests.

    The file is JSON Lines in UTF-8, plain or gzip. Its lines are either all `GradedRow` or all
    `ProgramsRow`; other fields are ignored. Code without grades is left out. Of the programs, only
    those with an index from 1 to 99 are used, as in the published correlations.

    Args:
        path: The file.
        grades: How to combine the grades of several people; ignored for programs.

    Raises:
        InputError: The file cannot be read, a line or a field is wrong, a problem is repeated,
            or nothing is graded.
    """
    content = jsonl.read_bytes(path, _CONTENT)
    people: list[GradedRow] = []
    tests: list[ProgramsRow] = []
    names: set[str] = set()
    for position, row in jsonl.read_rows(content, dict[str, Any], path, _CONTENT):
        if "outputs" in row:
            people.append(jsonl.convert(row, GradedRow, position))
            name = people[-1].id
        elif "completions" in row:
            tests.append(jsonl.convert(row, ProgramsRow, position))
            name = str(tests[-1].task)
        else:
            raise InputError(
                f"{position}: expected the field `outputs` (code with grades) or `completions` "
                "(programs with the results of their tests)"
            )
        if name in names:
            raise InputError(f"{position}: {name} is repeated")
        names.add(name)
    if people and tests:
        raise InputError(f"{path} has both grades and test results; split it into two files")
    if tests:
        candidates = list(_programs(tests))
        missing = "program of index 1 to 99"
    else:
        candidates = list(_graded(people, grades))
        field = "aggregated" if grades == "aggregated" else "grades"
        missing = f"code with grades: --grades {grades} reads the field `{field}`"
    if not candidates:
        raise InputError(f"{path} has no {missing}")
    return GradedCode(
        sha256=hashlib.sha256(content).hexdigest(),
        kind="tests" if tests else "people",
        samples=tuple(candidate.sample for candidate in candidates),
        problems=tuple(candidate.sample.id or "" for candidate in candidates),
        systems=tuple(candidate.system for candidate in candidates),
        grades=np.array([candidate.grade for candidate in candidates], dtype=np.float64),
        published=tuple(candidate.published for candidate in candidates),
    )


class _Candidate(NamedTuple):
    sample: Sample
    system: str
    grade: float
    published: Mapping[str, float]


def _programs(rows: Iterable[ProgramsRow]) -> Iterator[_Candidate]:
    for row in rows:
        for index, code, status in row.completions:
            if index in _EVALUATED:
                sample = Sample(
                    candidate=code,
                    references=(row.reference,),
                    context=row.prompt,
                    language=row.language,
                    id=str(row.task),
                )
                yield _Candidate(sample, str(index), float(status == PASSED), {})


def _graded(rows: Sequence[GradedRow], kind: GradeKind) -> Iterator[_Candidate]:
    for row in rows:
        means = {system: fmean(marks.values()) for system, marks in row.grades.items() if marks}
        grades = means if kind == "mean" else row.aggregated
        for system, code in row.outputs.items():
            if system in grades:
                sample = Sample(
                    candidate=code,
                    references=row.references,
                    context=row.intent,
                    language=row.language,
                    id=row.id,
                )
                yield _Candidate(sample, system, grades[system], row.published.get(system, {}))
