"""Programs run with their tests, each in a sandbox of its own."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from crscore import plugins
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
    on_outcome: Callable[[], None] = lambda: None,
) -> tuple[Outcome, ...]:
    """Judge programs by their tests; equal programs of a problem are run once.

    Args:
        problems: Problems by name.
        completions: Programs to judge.
        allowed: Whether the caller consents to running untrusted code.
        timeout: Maximum seconds for the tests of a program, above 0.
        workers: Number of programs to run at the same time; None for the number of cores.
        on_outcome: Called after each program.

    Returns:
        One outcome for each completion, in order.

    Raises:
        ConfigError: There is no consent, or this is a job with the secrets of a repository.
        InputError: A language cannot be run.
        ToolNotFoundError: A compiler or an interpreter is missing.
    """
    _check(allowed=allowed)
    languages = {problem.language for problem in problems.values()}
    judges = {language: _judge_of(language) for language in languages}
    programs = list(dict.fromkeys((row.problem, row.code) for row in completions))

    def judge(program: tuple[str, str]) -> str:
        name, code = program
        return _run_one(judges[problems[name].language], problems[name], code, timeout)

    results: dict[tuple[str, str], str] = {}
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as threads:
        for program, result in zip(programs, threads.map(judge, programs), strict=True):
            results[program] = result
            on_outcome()
    return tuple(Outcome(row, results[row.problem, row.code]) for row in completions)


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
