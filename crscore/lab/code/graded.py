"""Reading of code that people graded, or that tests judged."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from crscore import jsonl
from crscore.code import libraries
from crscore.code.samples import Sample
from crscore.errors import InputError

Floats = npt.NDArray[np.float64]

_Row = TypeVar("_Row")
GradeKind = Literal["mean", "aggregated", "mmsr"]
"""How several people's grades become one: their mean, the file's field `aggregated`, or M-MSR by
crowd-kit."""
PASSED: Final = "OK"
"""Status of a program that passed its tests."""
_EVALUATED: Final = range(1, 100)
_WHAT: Final = "graded code"


class GradedRow(Struct, frozen=True, kw_only=True):
    """Line of a file of grades: one problem, the code of several systems, and people's grades."""

    id: str
    """Name of the problem; no two lines share it."""
    references: Annotated[tuple[str, ...], Meta(min_length=1)]
    """Code to compare with."""
    outputs: Annotated[dict[str, str], Meta(min_length=1)]
    """Code by system."""
    grades: dict[str, dict[str, float]]
    """Grades by system and grader; higher is better. A system's may be missing."""
    intent: str = ""
    """The task in prose."""
    language: str = "python"
    """Language of the code."""
    grades_of_reference: dict[str, float] = {}
    """Grades of the first reference, by grader."""
    aggregated: dict[str, float] = {}
    """One grade for each system, made of its grades beforehand."""
    published: dict[str, dict[str, float]] = {}
    """Scores by system and metric that others computed, in [0, 1]."""


class ProgramsRow(Struct, frozen=True, kw_only=True):
    """Line of a file of programs: one task, and what tests said of many programs."""

    task: str | int
    """Name of the task; no two lines share it."""
    reference: str
    """Program to compare with."""
    completions: Annotated[tuple[tuple[int, str, str], ...], Meta(min_length=1)]
    """Index, code, and status, `OK` for a program that passed its tests."""
    language: str
    """Language of the code."""
    prompt: str = ""
    """Text before the code."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class GradedCode:
    """Candidates with their grades."""

    sha256: str
    """Hash of the file's content."""
    kind: Literal["people", "tests"]
    """Who judged."""
    samples: tuple[Sample, ...]
    """N candidates with references."""
    problems: tuple[str, ...]
    """Problem of each candidate."""
    systems: tuple[str, ...]
    """Author of each candidate; of a program its index."""
    grades: Floats
    """Shape (N,): people's grade, or 1 and 0 for passed and failed."""
    published: tuple[Mapping[str, float], ...]
    """Scores of each candidate that others computed, by metric."""


def read_graded(
    path: Path, *, grades: GradeKind = "mean", all_completions: bool = False
) -> GradedCode:
    """Read graded code, or programs with the status of their tests.

    The file is JSON Lines in UTF-8, plain or gzip, all lines of one kind: `GradedRow` or
    `ProgramsRow`. Further fields are allowed and not read. Ungraded code is left out.

    Args:
        path: The file.
        grades: How the grades of several people become one; programs have none.
        all_completions: Whether programs of any index are read; else those of 1 to 99, which the
            published correlations are about. Equal programs stay as the file has them.

    Raises:
        InputError: The file cannot be read, a line or a field is wrong, a problem is there twice,
            or nothing is graded.
        DependencyError: `mmsr` without crowd-kit.
    """
    content = jsonl.read_bytes(path, _WHAT)
    people: dict[str, GradedRow] = {}
    tests: dict[str, ProgramsRow] = {}
    for place, row in jsonl.read_rows(content, dict[str, Any], path, _WHAT):
        if "outputs" in row:
            graded = jsonl.convert(row, GradedRow, place)
            _add(people, graded.id, graded, place)
        elif "completions" in row:
            tested = jsonl.convert(row, ProgramsRow, place)
            _add(tests, str(tested.task), tested, place)
        else:
            raise InputError(
                f"{place}: neither `outputs` (code with grades) nor `completions` (programs with "
                "the status of their tests)"
            )
    digest = hashlib.sha256(content).hexdigest()
    if people and tests:
        raise InputError(f"{path} has both grades of people and results of tests; study one each")
    if tests:
        return _tested(tests.values(), digest, all_completions=all_completions, path=path)
    return _graded(tuple(people.values()), digest, kind=grades, path=path)


def _add(rows: dict[str, _Row], key: str, row: _Row, place: str) -> None:
    if key in rows:
        raise InputError(f"{place}: {key} is there twice")
    rows[key] = row


def _tested(
    rows: Iterable[ProgramsRow], digest: str, *, all_completions: bool, path: Path
) -> GradedCode:
    kept = [
        (row, *completion)
        for row in rows
        for completion in row.completions
        if all_completions or completion[0] in _EVALUATED
    ]
    if not kept:
        raise InputError(f"{path} has no program of index 1 to 99; read all completions instead")
    return GradedCode(
        sha256=digest,
        kind="tests",
        samples=tuple(
            Sample(
                candidate=code,
                references=(row.reference,),
                context=row.prompt,
                language=row.language,
                id=str(row.task),
            )
            for row, _, code, _ in kept
        ),
        problems=tuple(str(row.task) for row, *_ in kept),
        systems=tuple(str(index) for _, index, *_ in kept),
        grades=np.array([float(status == PASSED) for *_, status in kept]),
        published=tuple({} for _ in kept),
    )


def _graded(rows: Sequence[GradedRow], digest: str, *, kind: GradeKind, path: Path) -> GradedCode:
    if kind not in get_args(GradeKind):
        raise InputError(f"no such grades: {kind}; there are {', '.join(get_args(GradeKind))}")
    by_kind = {"mean": _means, "aggregated": _aggregated, "mmsr": _mmsr}
    found = by_kind[kind](rows)
    kept = [
        (row, system, found[row.id, system])
        for row in rows
        for system in row.outputs
        if (row.id, system) in found
    ]
    if not kept:
        raise InputError(
            f"{path} has no code with grades: {kind} is made of the field "
            f"`{'aggregated' if kind == 'aggregated' else 'grades'}`"
        )
    return GradedCode(
        sha256=digest,
        kind="people",
        samples=tuple(
            Sample(
                candidate=row.outputs[system],
                references=row.references,
                context=row.intent,
                language=row.language,
                id=row.id,
            )
            for row, system, _ in kept
        ),
        problems=tuple(row.id for row, *_ in kept),
        systems=tuple(system for _, system, _ in kept),
        grades=np.array([grade for *_, grade in kept], dtype=np.float64),
        published=tuple(row.published.get(system, {}) for row, system, _ in kept),
    )


def _means(rows: Sequence[GradedRow]) -> dict[tuple[str, str], float]:
    return {
        (row.id, system): float(np.mean(list(grades.values())))
        for row in rows
        for system, grades in row.grades.items()
        if grades
    }


def _aggregated(rows: Sequence[GradedRow]) -> dict[tuple[str, str], float]:
    return {(row.id, system): grade for row in rows for system, grade in row.aggregated.items()}


def _mmsr(rows: Sequence[GradedRow]) -> dict[tuple[str, str], float]:
    """Aggregate with the graders' reliability, learned from outputs and references together.

    Source:
        Ma and Olshevsky, NeurIPS 2020 (M-MSR), as "Out of the BLEU", section 3, uses it.
    """
    install = "pip install 'crscore[grades]'"
    model = libraries.load("crowdkit.aggregation", "crowd-kit", install).MMSR
    table = libraries.load("pandas", "pandas", install).DataFrame
    marks = [
        (grader, (row.id, system), grade)
        for row in rows
        for system, grades in (*row.grades.items(), (None, row.grades_of_reference))
        for grader, grade in grades.items()
    ]
    if not marks:
        return {}
    # crowd-kit wants texts or numbers as tasks.
    names = {key: number for number, key in enumerate(dict.fromkeys(key for _, key, _ in marks))}
    given = table(
        [(grader, names[key], grade) for grader, key, grade in marks],
        columns=["worker", "task", "label"],
    )
    with warnings.catch_warnings():
        # Of scipy for few graders, and of pandas for how crowd-kit calls it.
        warnings.simplefilter("ignore")
        merged = model().fit_predict(given)
    return {
        (problem, system): float(merged[number])
        for (problem, system), number in names.items()
        if system is not None
    }
