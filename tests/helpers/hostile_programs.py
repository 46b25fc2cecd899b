"""Programs that try to pass tests that they do not solve, or to leave the sandbox.

Each should add two numbers, none does. `@OUTSIDE@` is a folder that it must not change, `@PORT@` a
port of this machine that it must not reach.
"""

from __future__ import annotations

import re
from pathlib import Path

from crscore.code.execution.programs import Completion, Problem

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


def problem(language: str) -> Problem:
    """Return the problem of a language."""
    return _PROBLEMS[language]


def hostile(language: str, outside: Path, port: int) -> dict[str, Completion]:
    """Read the programs of a language, by their names."""
    text = (_FOLDER / f"{language}.txt").read_text("utf-8")
    text = text.replace("@OUTSIDE@", str(outside)).replace("@PORT@", str(port))
    parts = re.split(r"^=== (\w+)\n", text, flags=re.MULTILINE)[1:]
    return {
        name: Completion(problem=language, code=code, index=at)
        for at, (name, code) in enumerate(zip(parts[::2], parts[1::2], strict=True))
    }
