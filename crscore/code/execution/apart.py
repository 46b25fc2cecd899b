"""Runs tests and their program in one sandbox, each in a separate process.

`_supervisor.py` starts both processes, connected by two pipes. Values are passed as text: those of
Python by `_peer.py`, those of other languages by their harness in crscore-lab. If a test needs a
value that cannot be passed, the test fails, and the result says why.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from crscore.code.execution._supervisor import UNCONFINED
from crscore.code.execution.box import Box
from crscore.errors import ConfigError
from crscore.sandbox import run

TESTS: Final = "tests"
PROGRAM: Final = "program"
START_S: Final = 30.0
"""Maximum seconds for a compiler or an interpreter to start; the tests have their own limit."""

_SUPERVISOR: Final = Path(__file__).with_name("_supervisor.py")


class RejectedError(Exception):
    """Raised for a program whose tests cannot begin; the text is the reason."""


def run_apart(
    box: Box,
    tests: Sequence[str] = (),
    program: Sequence[str] = (),
    *,
    tool: str,
    packages: Sequence[str] = (),
    python: Mapping[str, Any] | None = None,
) -> str:
    """Run tests and a program, each in its folder of the box (`TESTS`, `PROGRAM`).

    Args:
        box: The sandbox.
        tests: Command of the tests; empty for Python.
        program: Command of the program; empty for Python.
        tool: Name of the command in errors.
        packages: Folders of packages for programs and tests in Python.
        python: Arguments of `_python_tester.run_tests`; None for other languages.

    Returns:
        `passed`, `timed out`, or `failed: ...`.

    Raises:
        ConfigError: The kernel cannot separate a program from its tests.
    """
    folders = (box.folder / TESTS, box.folder / PROGRAM)
    for folder in folders:
        folder.mkdir(exist_ok=True)
    job = {
        "sandbox": str(Path(run.__file__).parent),
        "start_s": START_S,
        "seconds": box.seconds,
        "packages": packages,
        "folders": [str(folder) for folder in folders],
        "commands": [tests, program],
    }
    # Only the process of the tests can read the token, so no other process can write the result.
    token = secrets.token_hex()
    completed = box.run(
        json.dumps(job),
        tool=tool,
        # This is longer than the supervisor's own limits, so that the supervisor can report which
        # of them was exceeded.
        seconds=2 * START_S + box.seconds + 1,
        launcher=_SUPERVISOR,
        secret=json.dumps({"token": token, "python": python}).encode(),
    )
    try:
        verdict = json.loads(completed.stdout)
        # The program may have written any text to standard output, also JSON of another form.
        result, returned_token = str(verdict["result"]), str(verdict["token"])
    except (ValueError, TypeError, KeyError):
        return "failed: the program ended its tests"
    if result == UNCONFINED:
        expected = "is not possible here: without Landlock, a program could read its tests"
        raise ConfigError("--allow-code-execution", "environment", expected)
    if not secrets.compare_digest(returned_token, token):
        return "failed: the program forged its result"
    return result
