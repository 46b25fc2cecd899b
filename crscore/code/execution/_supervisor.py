"""Starts two processes that are connected by pipes: the tests, and the program under test.

    the tests <- values as text -> the program (own Landlock domain, own namespaces)
        report -> this process: the result as one line of JSON on stdout

`run.py` runs this file by its path, in place of `_launch.py`. So this file imports nothing of the
package but `_launch.py` and `_python_tester.py`, as modules without a package. The tests never
share a process with the program: what the program changes, prints or ends affects only its own
process, and the tests pass if their process exits with 0.

The program's process is forked before this process reads its standard input, which holds the tests
and a token that authenticates the result. The program has no open file but its ends of the pipes.
It can read only its own folder, the interpreter and the system's libraries, and it sees only its
own processes: Landlock refuses `/proc`, and if the kernel allows it, the program has its own
namespaces of processes, mounts and IPC. Without Landlock, nothing is run.

The command is one JSON object, as `apart.run_apart` writes it. Standard input is one JSON object
with the `token` and, for Python, the arguments of `_python_tester.run_tests`. The tests report on a
pipe: first `started`, when the program answers or, in Python, when the tests begin; then, if they
fail, the reason. The time limit of the tests begins with `started`.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time

TYPE_CHECKING = False  # importing typing would be among the slowest imports here
if TYPE_CHECKING:
    from typing import Any, NoReturn

UNCONFINED = "unconfined"
"""Result if the kernel cannot separate a program from its tests."""

_IN, _OUT, _REPORT = 3, 4, 5
"""Descriptors in both processes: two for the messages between them, and one for a report to this
process: the tests report their result, the program whether it is confined."""
_REPORT_BYTES = 4_000
"""Maximum number of bytes of the report that are kept."""
_STARTED = b"started\n"
"""Start of the report, with which the time limit of the tests begins."""


def main(arguments: list[str]) -> None:
    """Run the tests of one program."""
    sys.path.append(os.path.dirname(__file__))  # noqa: PTH120  (pathlib would be slow to import)
    sys.path.append(json.loads(arguments[-1])["sandbox"])
    import _launch  # type: ignore[import-not-found]  # noqa: PLC0415

    status, _, readable, command = _launch.prepare(arguments)
    job: dict[str, Any] = json.loads(command[0])
    to_tests, to_program, confined = os.pipe(), os.pipe(), os.pipe()
    # The program is forked before the tests and the token are read, so that its memory has no
    # trace of them.
    if os.fork() == 0:
        _run_program(job, readable, to_program[0], to_tests[1], confined[1])
    for end in (to_program[0], to_tests[1], confined[1]):
        os.close(end)
    secret: dict[str, Any] = {"token": ""}
    # A confined program writes `+`, a program that can read `/proc` writes `-`, and a program that
    # ended writes nothing.
    confinement = os.read(confined[0], 1)
    if confinement != b"+":
        result = UNCONFINED if confinement else "failed: the program could not be started"
    else:
        with os.fdopen(0, "rb") as stream:
            secret = json.load(stream)
        result = _run_tests(job, readable, to_tests[0], to_program[1], secret)
    os.write(1, json.dumps({"token": secret["token"], "result": result}).encode() + b"\n")
    os.write(status, b"ended 0\n")
    os._exit(0)


def _run_tests(
    job: dict[str, Any], readable: list[str], source: int, sink: int, secret: dict[str, Any]
) -> str:
    """Run the tests in a child process, and return the result."""
    reading, writing = os.pipe()
    tests = os.fork()
    if tests == 0:
        _keep_open(source, sink, writing)
        _become_tests(job, readable, secret)
    os.close(writing)
    report, started = b"", False
    deadline = time.monotonic() + job["start_s"]
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            return "timed out"
        chunk = os.read(reading, 1 << 16)
        if not chunk:
            break
        report = (report + chunk)[:_REPORT_BYTES]
        if not started and report.startswith(_STARTED):
            started, report = True, report.removeprefix(_STARTED)
            deadline = time.monotonic() + job["seconds"]
    code = os.waitstatus_to_exitcode(os.waitpid(tests, 0)[1])
    if started and code == 0:
        return "passed"
    text = report.decode("utf-8", "backslashreplace").strip()
    return f"failed: {text or 'the tests ended without a report'}"


def _become_tests(job: dict[str, Any], readable: list[str], secret: dict[str, Any]) -> NoReturn:
    """Become the process of the tests."""
    import _launch  # noqa: PLC0415
    import _python_tester  # type: ignore[import-not-found]  # noqa: PLC0415

    tests, program = job["folders"]
    if not job["commands"][0]:
        # Tests in Python read and write the program's files, but HOME is the tests' own folder.
        _launch.confine([tests, program], readable)
        _enter(program, home=tests)
    else:
        _launch.confine([tests], readable)
        _enter(tests)
        # Tests in a compiled language print their report: `started`, then the failure.
        for stream in (1, 2):
            os.dup2(_REPORT, stream)
        os.close(_REPORT)
        _launch.execute(job["commands"][0])
    # These replace the two folders that `main` added for its own imports.
    sys.path[-2:] = job["packages"]
    os.write(_REPORT, _STARTED)
    failure = _python_tester.run_tests(_IN, _OUT, **secret["python"])
    if failure is not None:
        os.write(_REPORT, failure.encode("utf-8", "backslashreplace")[:_REPORT_BYTES])
    os._exit(0 if failure is None else 1)


def _run_program(job: dict[str, Any], readable: list[str], *ends: int) -> NoReturn:
    """Become the process of the program: in its own namespaces if possible, always confined."""
    import _launch  # noqa: PLC0415

    _keep_open(*ends)
    if _launch.enter_namespaces():
        # A new namespace of processes begins with the next child.
        program = os.fork()
        if program != 0:
            os.closerange(0, _REPORT + 1)
            os.waitpid(program, 0)
            os._exit(0)
        _launch.mount_own_proc()
    # This is imported before `confine`, which may hide the folder of this file.
    import _python_tester  # noqa: PLC0415

    _launch.confine([job["folders"][1]], readable)
    try:
        # A failure proves that Landlock works: without Landlock, this call succeeds.
        os.listdir("/proc")  # noqa: PTH208
    except PermissionError:
        os.write(_REPORT, b"+")
    else:
        os.write(_REPORT, b"-")
        os._exit(1)
    os.close(_REPORT)
    _enter(job["folders"][1])
    if job["commands"][1]:
        _launch.execute(job["commands"][1])
    sys.path[-2:] = job["packages"]
    _python_tester.serve(_IN, _OUT)
    os._exit(0)


def _keep_open(*ends: int) -> None:
    """Keep these files open as `_IN`, `_OUT` and `_REPORT`, with the null device as 0 to 2.

    All other files are closed.
    """
    # Descriptors are first moved to high numbers, so that none overwrites another.
    moved = [os.dup2(end, 100 + index) for index, end in enumerate(ends)]
    null_device = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null_device, stream)
    for number, end in zip((_IN, _OUT, _REPORT), moved, strict=True):
        os.dup2(end, number)
    os.closerange(_REPORT + 1, 1024)


def _enter(folder: str, *, home: str = "") -> None:
    os.chdir(folder)
    os.environ.update(HOME=home or folder, TMPDIR=folder)


if __name__ == "__main__":
    main(sys.argv[1:])
