"""Reads problems, with their tests, and programs from files in the format of HumanEval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from crscore import jsonl
from crscore.errors import InputError

_LANGUAGES: Final = {"c++": "cpp", "js": "javascript", "py": "python"}
"""Names of languages in crscore by their names in a file."""


class Problem(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"id": "task_id", "tests": "test", "solution": "canonical_solution"},
):
    """Task with its tests; in a file, one row in the format of HumanEval's problems."""

    id: str | int
    """Name of the task; in a row, it may be a number."""
    tests: str
    """Code that is run after a program; it fails with an exception or an exit code."""
    language: str = "python"
    """Language of the program and the tests."""
    prompt: str = ""
    """Code that comes before every completion; trusted like the tests."""
    entry_point: str = ""
    """Function to test; if empty, the last function of the prompt."""
    solution: str | None = None
    """Completion that solves the task; None if it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Program to judge, or the rest of a program that a prompt begins."""

    problem: str
    """Name of the task."""
    code: str
    index: int
    """Number of the completion among those of its problem, from 0."""


class CompletionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One completion, as in HumanEval's samples."""

    task_id: str | int
    completion: str


def read_problems(path: Path) -> dict[str, Problem]:
    """Read problems.

    Args:
        path: File of JSON Lines, plain or gzip.

    Returns:
        Problems by name, in the order of the file.

    Raises:
        InputError: The file cannot be read, a row is wrong, or a name occurs twice.
    """
    problems: dict[str, Problem] = {}
    content = jsonl.read_bytes(path, "problems")
    for location, row in jsonl.read_rows(content, Problem, path, "problems"):
        name, tests = _name_task(row.id), row.tests
        if name in problems:
            raise InputError(f"{location}: an earlier line has the task {name}")
        # HumanEval's tests define `check` and leave the call to the harness. BigCodeBench's tests
        # are cases of unittest, which `_python_tester.py` runs. See
        # https://github.com/openai/human-eval, https://github.com/bigcode-project/bigcodebench
        if row.entry_point and ("def check" in tests or "unittest" not in tests):
            tests = f"{tests}\ncheck({row.entry_point})\n"
        language = row.language.lower()
        language = _LANGUAGES.get(language, language)
        problems[name] = replace(row, id=name, tests=tests, language=language)
    if not problems:
        raise InputError(f"{path} contains no problems")
    return problems


def _name_task(task: str | int) -> str:
    """Return a task's name as text that can be encoded: JSON may contain a lone surrogate."""
    return str(task).encode("utf-8", "backslashreplace").decode()


def read_completions(path: Path, problems: Sequence[str]) -> tuple[Completion, ...]:
    """Read completions, and number them within their problem.

    Args:
        path: File of JSON Lines with `task_id` and `completion`, plain or gzip.
        problems: Names of the problems.

    Raises:
        InputError: The file cannot be read, is empty, or has a row that is wrong or names no
            problem.
    """
    counts = dict.fromkeys(problems, 0)
    completions: list[Completion] = []
    content = jsonl.read_bytes(path, "samples")
    for location, row in jsonl.read_rows(content, CompletionRow, path, "samples"):
        name = _name_task(row.task_id)
        if name not in counts:
            raise InputError(f"{location}: the tests have no task {name}")
        completions.append(Completion(problem=name, code=row.completion, index=counts[name]))
        counts[name] += 1
    if not completions:
        raise InputError(f"{path} contains no samples")
    return tuple(completions)


def solutions(problems: Mapping[str, Problem]) -> tuple[Completion, ...]:
    """Return the solution of each problem that has one, as a completion."""
    return tuple(
        Completion(problem=name, code=problem.solution, index=0)
        for name, problem in problems.items()
        if problem.solution is not None
    )
