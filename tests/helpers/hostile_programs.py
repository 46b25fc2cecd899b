"""Programs that try to pass tests that they do not solve, or to leave the sandbox.

Each should add two numbers, or solve the tests behind its line `--- tests` as the code behind
`--- solution` does, after the code behind `--- prompt`; none does. `@OUTSIDE@` is a folder that it
must not change or read, `@PORT@` a
port of this machine that it must not reach.

python -m tests.helpers.hostile_programs LANGUAGE [NAME...]   # the attack as JSON
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crscore.code.execution.programs import Completion, Problem
from crscore.code.execution.runner import run_programs
from tests.helpers import ordinary_user

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SECRET = "kept-from-hostile-programs"
"""Content of a file outside, of this process's environment, and of its command line."""
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
    solutions: list[str]
    """Results of programs that solve the problem, beside the hostile ones."""
    escapes: list[str]
    """What was changed, reached or left running outside of the sandbox."""

    @property
    def passed(self) -> list[str]:
        """Names of the programs that passed."""
        return [name for name, result in self.results.items() if result == "passed"]

    @property
    def reads(self) -> list[str]:
        """Names of the programs that read what they must not."""
        return [name for name, result in self.results.items() if SECRET in result]


def attack_as_user(language: str, *options: str, names: Sequence[str] = ()) -> Attack:
    """Run the hostile programs of a language as an ordinary user: all, or those named."""
    module = "tests.helpers.hostile_programs"
    completed = ordinary_user.run_module(*options, module, language, *names)
    if completed.returncode != 0:
        raise RuntimeError(completed.stderr)
    return Attack(**json.loads(completed.stdout))


def attack(language: str, names: Sequence[str] = ()) -> Attack:
    """Run the hostile programs of a language as the user of this process: all, or those named."""
    os.environ["CRSCORE_HOSTILE"] = SECRET
    with (
        _temporary_folder() as boxes,
        tempfile.TemporaryDirectory(prefix="outside-", dir="/var/tmp") as outside_name,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        server.setblocking(False)
        outside = Path(outside_name)
        (outside / "kept").write_text(SECRET)
        problems, programs = _read(language, outside, server.getsockname()[1])
        programs = {name: programs[name] for name in names or programs}
        solution = Completion(problem=language, code=SOLUTIONS[language], index=-1)
        second_solution = Completion(problem=language, code=SOLUTIONS[language] + "\n", index=-2)
        outcomes = run_programs(
            problems, [solution, *programs.values(), second_solution], allowed=True
        )
        escapes = [f"{path} was written" for path in _OUTSIDE if Path(path).exists()]
        with contextlib.suppress(BlockingIOError):
            server.accept()
            escapes.append("a socket was opened")
        time.sleep(2)  # for what is left behind
        if [path.read_text() for path in outside.iterdir()] != [SECRET]:
            escapes.append("the folder outside was changed")
        escapes += (f"process {process} is left" for process in _processes(boxes))
    results = [outcome.result for outcome in outcomes]
    return Attack(
        dict(zip(programs, results[1:-1], strict=True)), [results[0], results[-1]], escapes
    )


@contextlib.contextmanager
def _temporary_folder() -> Iterator[str]:
    """Make the folder in which all sandboxes are, which identifies their processes."""
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        try:
            yield folder
        finally:
            tempfile.tempdir = None


def _processes(folder: str) -> list[str]:
    """List the processes whose environment names a folder."""
    processes = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and folder.encode() in (process / "environ").read_bytes():
                processes.append(f"{process.name} {(process / 'comm').read_text().strip()}")
    return processes


def _read(
    language: str, outside: Path, port: int
) -> tuple[dict[str, Problem], dict[str, Completion]]:
    """Read the programs of a language, by their names, and their problems."""
    text = (_FOLDER / f"{language}.txt").read_text("utf-8")
    text = text.replace("@OUTSIDE@", str(outside)).replace("@PORT@", str(port))
    parts = re.split(r"^=== (\w+)\n", text, flags=re.MULTILINE)[1:]
    problems, programs = {language: _PROBLEMS[language]}, {}
    for index, (name, content) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        code, *sections = re.split(r"^--- (\w+)\n", content, flags=re.MULTILINE)
        fields = dict(zip(sections[::2], sections[1::2], strict=True))
        if fields:
            problems[name] = Problem(id=name, language=language, **fields)
        programs[name] = Completion(problem=name if fields else language, code=code, index=index)
    return problems, programs


if __name__ == "__main__":
    sys.stdout.write(json.dumps(attack(sys.argv[1], sys.argv[2:])._asdict()))
