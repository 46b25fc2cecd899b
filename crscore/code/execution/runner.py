"""Programs run with their tests, each in a sandbox of its own."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from crscore import plugins
from crscore.code.execution import apart
from crscore.code.execution.estimator import pass_at_k
from crscore.code.execution.programs import Completion, Problem
from crscore.errors import ConfigError, InputError, ToolFailedError
from crscore.sandbox.run import Completed, Limits, network_denied, run

PASSED: Final = "passed"
TIMED_OUT: Final = "timed out"
MEMORY_BYTES: Final = 1 << 30
OUTPUT_BYTES: Final = 1 << 22
PROCESSES: Final = 64
RESULT_CHARACTERS: Final = 200
_BOX_PATH: Final = re.compile(r"/[^\s:]*/crscore-\w{8}/\w+/")
_SYSTEM_FOLDERS: Final = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
_SYSTEM_FILES: Final = ("ld.so.cache", "ld.so.conf*", "localtime", "java*", "ssl/openssl.cnf")
"""Patterns below `/etc`."""
_DEVICES: Final = ("/dev/zero", "/dev/random", "/dev/urandom")
_PRIVILEGED: Final = frozenset({"pull_request_target", "workflow_run", "issue_comment"})
"""Events whose workflows run with the repository's secrets on code of anybody."""


class Outcome(NamedTuple):
    """Judgement of one program."""

    completion: Completion
    result: str
    """`passed`, `timed out`, or `failed: ...`."""

    @property
    def passed(self) -> bool:
        """Whether all tests passed."""
        return self.result == PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Sandbox of one program: a private folder, the time and the memory that it may take."""

    folder: Path
    seconds: float

    def start(
        self,
        *command: str,
        tool: str,
        seconds: float | None = None,
        launcher: Path | None = None,
        secret: bytes = b"",
    ) -> Completed:
        """Run a command in the sandbox.

        Args:
            *command: The program and its arguments.
            tool: Its name, for errors.
            seconds: Wall time; None for the program's.
            launcher: As `crscore.sandbox.run.run` takes it.
            secret: As there.

        Raises:
            ToolNotFoundError: The program is missing.
            ToolFailedError: It broke a limit, or was killed.
        """
        limits = Limits(
            seconds=seconds or self.seconds,
            memory_bytes=MEMORY_BYTES,
            output_bytes=OUTPUT_BYTES,
            processes=PROCESSES,
            readable=_readable(),
        )
        home = str(self.folder)
        names = ("PATH", "LANG", "LC_ALL", "JAVA_HOME")
        kept = {name: os.environ[name] for name in names if name in os.environ}
        environment = {**kept, "HOME": home, "TMPDIR": home, "OMP_NUM_THREADS": "1"}
        return run(
            command,
            tool=tool,
            folder=self.folder,
            environment=environment,
            limits=limits,
            launcher=launcher,
            secret=secret,
        )


@cache
def _readable() -> tuple[str, ...]:
    """List what compilers, interpreters and programs may read besides their own folders."""
    programs = (shutil.which(name) for name in ("g++", "java", "javac", "node"))
    installed = {str(Path(program).resolve().parents[1]) for program in programs if program}
    interpreter = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    files = (str(path) for pattern in _SYSTEM_FILES for path in Path("/etc").glob(pattern))
    return (*_SYSTEM_FOLDERS, *sorted(installed | interpreter), *_DEVICES, *files)


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
        allowed: Whether the caller consents to running code that nobody has read.
        timeout: Seconds that the tests of a program may take, above 0.
        workers: Programs at the same time; None for the number of cores.
        on_outcome: Called after each program, from any thread.

    Returns:
        One outcome for each completion, in order.

    Raises:
        ConfigError: There is no consent, or this is a job with the secrets of a repository.
        InputError: A language cannot be run.
        ToolNotFoundError: A compiler or an interpreter is missing.
    """
    _check(allowed=allowed)
    judges = {one.language: _judge_of(one.language) for one in problems.values()}
    distinct = list(dict.fromkeys((one.problem, one.code) for one in completions))

    def judge(one: tuple[str, str]) -> str:
        problem, code = problems[one[0]], one[1]
        try:
            return _run_one(judges[problem.language], problem, code, timeout)
        finally:
            on_outcome()

    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as threads:
        results = dict(zip(distinct, threads.map(judge, distinct), strict=True))
    return tuple(Outcome(one, results[one.problem, one.code]) for one in completions)


def compute(
    *,
    predictions: Sequence[Sequence[str]],
    references: Sequence[str],
    k: Sequence[int] = (1, 10, 100),
    num_workers: int | None = None,
    timeout: float = 3.0,
    language: str = "python",
    allow_code_execution: bool = False,
) -> tuple[Mapping[str, float], Mapping[int, list[tuple[int, dict[str, Any]]]]]:
    """Compute pass@k as the module `code_eval` of Hugging Face's `evaluate` does.

    Args:
        predictions: For each problem its programs.
        references: For each problem its tests.
        k: Values of k.
        num_workers: Programs at the same time.
        timeout: Seconds for one program.
        language: Language of all of them.
        allow_code_execution: The consent, `HF_ALLOW_CODE_EVAL` there.

    Returns:
        pass@k, and for each problem pairs of a program's number and its result.

    Raises:
        ConfigError: As `run_programs`.
        InputError: The lists differ in length, or `run_programs` raises it.
        ToolNotFoundError: As `run_programs`.
    """
    if len(predictions) != len(references):
        raise InputError(f"{len(predictions)} predictions for {len(references)} references")
    problems = {
        str(at): Problem(id=str(at), tests=tests, language=language)
        for at, tests in enumerate(references)
    }
    completions = [
        Completion(problem=str(at), code=code, index=index)
        for at, programs in enumerate(predictions)
        for index, code in enumerate(programs)
    ]
    outcomes = run_programs(
        problems, completions, allowed=allow_code_execution, timeout=timeout, workers=num_workers
    )
    results: dict[int, list[tuple[int, dict[str, Any]]]] = {at: [] for at in range(len(problems))}
    for one in outcomes:
        at, index = int(one.completion.problem), one.completion.index
        about = {"task_id": at, "passed": one.passed, "result": one.result, "completion_id": index}
        results[at].append((index, about))
    return pass_at_k(list(count(outcomes).values()), k), results


def count(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Count the programs of each problem, and those that passed."""
    found: dict[str, tuple[int, int]] = {}
    for one in outcomes:
        judged, passed = found.get(one.completion.problem, (0, 0))
        found[one.completion.problem] = judged + 1, passed + one.passed
    return found


def _check(*, allowed: bool) -> None:
    if not allowed:
        raise ConfigError(
            "--allow-code-execution",
            "command line",
            "must be given: this runs programs that nobody may have read",
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
    known = plugins.names("languages")
    if language not in known:
        raise InputError(f"{language} cannot be run; there are: {', '.join(known)}")
    judge: Callable[[Box, Problem, str], str] = plugins.load("languages", language).create()
    return judge


def _run_one(
    judge: Callable[[Box, Problem, str], str], problem: Problem, code: str, timeout: float
) -> str:
    with tempfile.TemporaryDirectory(prefix="crscore-") as folder:
        try:
            result = judge(Box(folder=Path(folder), seconds=timeout), problem, code)
        except apart.UnclearError as exc:
            result = f"failed: {exc}"
        except ToolFailedError as exc:
            result = TIMED_OUT if exc.reason.startswith("took longer") else f"failed: {exc.reason}"
    return _shortened(result)


def _shortened(result: str) -> str:
    """Return a result on one line, short and printable: a program decides about its text."""
    line = " ".join(_BOX_PATH.sub("", result).split())[:RESULT_CHARACTERS]
    escaped = (sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)
    return "".join(escaped)[:RESULT_CHARACTERS]
