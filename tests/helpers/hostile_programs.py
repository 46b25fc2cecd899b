"""Programs that try to pass tests that they do not solve, or to leave the sandbox.

Each should add two numbers, none does. `@OUTSIDE@` is a folder that it must not change, `@PORT@` a
port of this machine that it must not reach.
"""

from __future__ import annotations

import contextlib
import re
import socket
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crscore.code.execution.programs import Completion, Problem
from crscore.code.execution.runner import run_programs

if TYPE_CHECKING:
    from collections.abc import Iterator

_OUTSIDE = ("/escaped-crscore", "/dev/shm/escaped-crscore")
_FOLDER = Path(__file__).parents[1] / "data" / "hostile_programs"
_PROBLEMS = {
    "python": Problem(id="python", tests="assert add(2, 3) == 5\nassert not add(3, 4) != 7\n"),
    "java": Problem(
        id="java",
        language="java",
        prompt="import java.io.*;\nimport java.util.*;\nclass Problem {\n"
        "    public static int add(int a, int b) {\n",
        tests="    }\n    public static void main(String[] args) {\n"
        "    assert(add(2, 3) == (5));\n    assert(add(3, 4) == (7));\n    }\n}\n",
    ),
    "javascript": Problem(
        id="javascript",
        language="javascript",
        tests="const assert = require('node:assert');\nassert.deepEqual(add(2, 3), 5);\n"
        "assert.equal(add(3, 4), 7);\nassert.strictEqual(add(5, 6), 11);\n",
    ),
    "cpp": Problem(
        id="cpp",
        language="cpp",
        prompt="#include <assert.h>\n#include <bits/stdc++.h>\n#include <fcntl.h>\n"
        "#include <signal.h>\n#include <unistd.h>\n#include <sched.h>\n"
        "#include <sys/syscall.h>\nusing namespace std;\nint add(int a, int b) {\n",
        tests="int main() {\n    assert(add(2, 3) == 5);\n    assert(add(3, 4) == 7);\n}\n",
    ),
}
SOLUTIONS = {
    "python": "def add(a, b): return a + b",
    "java": "return a + b;",
    "javascript": "function add(a, b) { return a + b; }",
    "cpp": "return a + b; }",
}
LANGUAGES = tuple(_PROBLEMS)


class Attack(NamedTuple):
    """Result of all hostile programs of a language."""

    results: dict[str, str]
    """Result of each program, by its name."""
    solution: str
    """Result of a program that solves the problem."""
    escapes: list[str]
    """What was changed, reached or left running outside of the sandbox."""

    @property
    def passed(self) -> list[str]:
        """Names of the programs that passed."""
        return [name for name, result in self.results.items() if result == "passed"]


def attack(language: str, outside: Path) -> Attack:
    """Run all hostile programs of a language.

    Args:
        language: One of `LANGUAGES`.
        outside: An empty folder.
    """
    (outside / "kept").write_text("kept")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        programs = _read(language, outside, server.getsockname()[1])
        good = Completion(problem=language, code=SOLUTIONS[language], index=-1)
        with _temporary_folder() as boxes:
            first, *outcomes = run_programs(
                {language: _PROBLEMS[language]}, [good, *programs.values()], allowed=True
            )
        escapes = [f"{place} was written" for place in _OUTSIDE if Path(place).exists()]
        with contextlib.suppress(BlockingIOError):
            server.accept()
            escapes.append("a socket was opened")
    time.sleep(2)  # for what is left behind
    if [path.name for path in outside.iterdir()] != ["kept"]:
        escapes.append("the folder outside was changed")
    escapes += (f"process {one} is left" for one in _processes(boxes))
    results = {name: one.result for name, one in zip(programs, outcomes, strict=True)}
    return Attack(results, first.result, escapes)


@contextlib.contextmanager
def _temporary_folder() -> Iterator[str]:
    """Make the folder in which all sandboxes are, so that their processes can be told by it."""
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        try:
            yield folder
        finally:
            tempfile.tempdir = None


def _processes(folder: str) -> list[str]:
    """List the processes whose environment names a folder."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and folder.encode() in (process / "environ").read_bytes():
                found.append(f"{process.name} {(process / 'comm').read_text().strip()}")
    return found


def _read(language: str, outside: Path, port: int) -> dict[str, Completion]:
    """Read the programs of a language, by their names."""
    text = (_FOLDER / f"{language}.txt").read_text("utf-8")
    text = text.replace("@OUTSIDE@", str(outside)).replace("@PORT@", str(port))
    parts = re.split(r"^=== (\w+)\n", text, flags=re.MULTILINE)[1:]
    return {
        name: Completion(problem=language, code=code, index=at)
        for at, (name, code) in enumerate(zip(parts[::2], parts[1::2], strict=True))
    }
