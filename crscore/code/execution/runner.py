"""Programs run with their tests, each in a sandbox of its own."""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple, TextIO

import msgspec

from crscore import jsonl, plugins
from crscore.code.execution import apart
from crscore.code.execution.box import Box, private_folder
from crscore.code.execution.programs import Completion, Problem
from crscore.errors import COMMAND_LINE, ConfigError, InputError, ToolFailedError
from crscore.sandbox.run import network_denied

PASSED: Final = "passed"
TIMED_OUT: Final = "timed out"
MORE_LANGUAGES: Final = "pip install 'crscore[validate]'"
RESULT_CHARACTERS: Final = 200
_MAX_CHARACTERS: Final = 1_000
"""Maximum length of a result before paths are removed from it."""
# Matches `/tmp/crscore-abcd1234/program/`, which differs in every run.
_BOX_PATH: Final = re.compile(r"/[^\s:]{0,200}/crscore-\w{8}/\w+/")
_PRIVILEGED: Final = frozenset({"pull_request_target", "workflow_run", "issue_comment"})
"""Events whose workflows run with the repository's secrets on untrusted code."""


class _ResultRow(msgspec.Struct, frozen=True, kw_only=True):
    task_id: str
    result: str
    key: str
    """Hash of the problem, the program and its time limit."""


class Outcome(NamedTuple):
    """Judgement of one program."""

    completion: Completion
    result: str
    """`passed`, `timed out`, or `failed: ...`."""

    @property
    def passed(self) -> bool:
        """Whether all tests passed."""
        return self.result == PASSED


def run_programs(
    problems: Mapping[str, Problem],
    completions: Sequence[Completion],
    *,
    allowed: bool,
    timeout: float = 3.0,
    workers: int | None = None,
    results: Path | None = None,
    on_outcome: Callable[[], None] = lambda: None,
) -> tuple[Outcome, ...]:
    """Judge programs by their tests; equal programs of a problem are run once.

    Args:
        problems: Problems by name.
        completions: Programs to judge.
        allowed: Whether the caller consents to running untrusted code.
        timeout: Maximum seconds for the tests of a program, above 0.
        workers: Number of programs to run at the same time; None for the number of cores.
        results: JSON Lines to which each result is appended, in the order of the programs; results
            that it already has are not computed again.
        on_outcome: Called after each program.

    Returns:
        One outcome for each completion, in order.

    Raises:
        ConfigError: There is no consent, or this is a job with the secrets of a repository.
        InputError: A language cannot be run, or `results` cannot be used.
        ToolNotFoundError: A compiler or an interpreter is missing.
    """
    _check(allowed=allowed)
    languages = {problem.language for problem in problems.values()}
    judges = {language: _judge_of(language) for language in languages}
    programs = list(dict.fromkeys((row.problem, row.code) for row in completions))
    keys = [_key_of(problems[name], code, timeout) for name, code in programs]
    earlier_results: dict[str, str] = {}
    if results is not None and results.exists():
        content = jsonl.read_bytes(results, "results")
        rows = jsonl.read_rows(content, _ResultRow, results, "results")
        earlier_results = {row.key: row.result for _, row in rows}
    judged: dict[tuple[str, str], str] = {}

    def judge(program: tuple[str, str], key: str) -> str:
        problem = problems[program[0]]
        return earlier_results.get(key) or _run_one(
            judges[problem.language], problem, program[1], timeout
        )

    with (
        _opened(results) as file,
        ThreadPoolExecutor(workers or os.cpu_count() or 1) as threads,
    ):
        outcomes = threads.map(judge, programs, keys)
        for program, key, result in zip(programs, keys, outcomes, strict=True):
            judged[program] = result
            if file is not None and key not in earlier_results:
                row = {"task_id": problems[program[0]].id, "result": result, "key": key}
                file.write(json.dumps(row) + "\n")
            on_outcome()
    return tuple(Outcome(row, judged[row.problem, row.code]) for row in completions)


def _key_of(problem: Problem, code: str, timeout: float) -> str:
    fields = (problem.language, problem.prompt, problem.tests, problem.entry_point)
    text = json.dumps([*fields, problem.solution, code, timeout])
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def _opened(path: Path | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
        return
    try:
        # Line-buffered, so that an interrupted run leaves complete lines.
        file = path.open("a", encoding="utf-8", buffering=1)
    except OSError as exc:
        raise InputError(f"{path} cannot be written: {exc.strerror}") from exc
    with file:
        yield file


def count(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Count the judged and the passed programs of each problem."""
    counts: dict[str, tuple[int, int]] = {}
    for outcome in outcomes:
        judged, passed = counts.get(outcome.completion.problem, (0, 0))
        counts[outcome.completion.problem] = judged + 1, passed + outcome.passed
    return counts


def _check(*, allowed: bool) -> None:
    if not allowed:
        raise ConfigError(
            "--allow-code-execution",
            COMMAND_LINE,
            "must be given: this runs programs that may be hostile",
        )
    if os.environ.get("GITHUB_EVENT_NAME") in _PRIVILEGED:
        expected = f"is not possible in a workflow of {os.environ['GITHUB_EVENT_NAME']}"
        raise ConfigError("--allow-code-execution", "environment", expected)
    if not network_denied():
        raise ConfigError(
            "--allow-code-execution",
            "environment",
            "is not possible here: this system cannot keep a program off the network",
        )


def _judge_of(language: str) -> Callable[[Box, Problem, str], str]:
    languages = plugins.names("languages")
    if language not in languages:
        raise InputError(
            f"{language} cannot be run; there are: {', '.join(languages)} "
            f"(more languages: {MORE_LANGUAGES})"
        )
    judge: Callable[[Box, Problem, str], str] = plugins.load("languages", language).create()
    return judge


def _run_one(
    judge: Callable[[Box, Problem, str], str], problem: Problem, code: str, timeout: float
) -> str:
    with private_folder() as folder:
        try:
            result = judge(Box(folder=folder, seconds=timeout), problem, code)
        except apart.RejectedError as exc:
            result = f"failed: {exc}"
        except ToolFailedError as exc:
            result = TIMED_OUT if exc.reason.startswith("took longer") else f"failed: {exc.reason}"
    return _shortened(result)


def _shortened(result: str) -> str:
    """Return a result as one short, printable line, because its text comes from the program."""
    short = result[:_MAX_CHARACTERS]
    line = " ".join(_BOX_PATH.sub("", short).split())[:RESULT_CHARACTERS]
    escaped = (sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)
    # Cut again, because an escape is longer than its character.
    return "".join(escaped)[:RESULT_CHARACTERS]
