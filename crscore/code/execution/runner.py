"""Runs programs with their tests, each in its own sandbox."""

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
"""Maximum number of characters of a result."""
_MAX_CHARACTERS: Final = 1_000
"""Maximum number of characters of a result before paths are removed from it."""
# Matches `/tmp/crscore-abcd1234/program/`, which differs in every run.
_BOX_PATH: Final = re.compile(r"/[^\s:]{0,200}/crscore-\w{8}/\w+/")
# https://securitylab.github.com/resources/github-actions-preventing-pwn-requests/
_PRIVILEGED: Final = frozenset({"pull_request_target", "workflow_run", "issue_comment"})
"""Events of GitHub whose workflows have the repository's secrets and may run untrusted code."""


class Outcome(NamedTuple):
    """Result of one program."""

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
    """Run programs with their tests; equal programs of a problem are run only once.

    Args:
        problems: Problems by name.
        completions: Programs to run.
        allowed: Whether the caller consents to running untrusted code.
        timeout: Maximum seconds for the tests of a program, above 0.
        workers: Number of programs to run at the same time; None for the number of cores.
        on_outcome: Called after each program.

    Returns:
        One outcome for each completion, in order.

    Raises:
        ConfigError: The caller does not consent, this is a workflow with the repository's secrets,
            or this system cannot isolate a program from the network or from its tests.
        InputError: There is no judge for a language.
        ToolNotFoundError: A compiler or an interpreter is missing.
    """
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
    judges: dict[str, Callable[[Box, Problem, str], str]] = {}
    installed = plugins.names("languages")
    for language in {problem.language for problem in problems.values()}:
        if language not in installed:
            raise InputError(
                f"{language} cannot be run; available: {', '.join(installed)} "
                f"(more languages: {MORE_LANGUAGES})"
            )
        judges[language] = plugins.load("languages", language).create()
    programs = list(dict.fromkeys((row.problem, row.code) for row in completions))

    def judge(program: tuple[str, str]) -> str:
        problem, code = problems[program[0]], program[1]
        with private_folder() as folder:
            try:
                box = Box(folder=folder, seconds=timeout)
                result = judges[problem.language](box, problem, code)
            except apart.RejectedError as exc:
                result = f"failed: {exc}"
            except ToolFailedError as exc:
                is_late = exc.reason.startswith("took longer")
                result = TIMED_OUT if is_late else f"failed: {exc.reason}"
        # The result becomes one short, printable line, because its text may be the program's.
        line = " ".join(_BOX_PATH.sub("", result[:_MAX_CHARACTERS]).split())[:RESULT_CHARACTERS]
        escaped = (char if char.isprintable() else ascii(char)[1:-1] for char in line)
        # The line is cut again, because an escape is longer than the character that it replaces.
        return "".join(escaped)[:RESULT_CHARACTERS]

    results: dict[tuple[str, str], str] = {}
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as threads:
        for program, result in zip(programs, threads.map(judge, programs), strict=True):
            results[program] = result
            on_outcome()
    return tuple(Outcome(row, results[row.problem, row.code]) for row in completions)


def count_passed(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Return the numbers of judged and of passed programs of each problem, by its name."""
    counts: dict[str, tuple[int, int]] = {}
    for outcome in outcomes:
        judged, passed = counts.get(outcome.completion.problem, (0, 0))
        counts[outcome.completion.problem] = judged + 1, passed + outcome.passed
    return counts
