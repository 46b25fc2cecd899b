"""Runs programs in JavaScript with Node.js.

Tests can call the functions that the program defines at its top level or in `module.exports`; the
calls run in the program's process. Arguments and results can be primitives, arrays, plain objects,
Map, Set, Date, and promises of these. Tests that pass functions, or objects of the program's
classes, fail, and the message says so.
"""

import json
import re
from collections.abc import Callable
from typing import Final

from crscore.code.execution import apart
from crscore.code.execution.box import Box
from crscore.code.execution.programs import Problem
from crscore_lab.languages import stubs

_NODE: Final = "node"
# Matches names but not members: `f` and `x` in `f(x).y`.
_NAME: Final = re.compile(r"(?<![\w$.])[A-Za-z_$][\w$]*")
# Matches `const f =`, `let {f} =` (the first name), `class A`, `function f(`.
_DECLARED: Final = re.compile(r"\b(?:const|let|var|class|function)\s++(?:\{\s*+)?([\w$]+)")


def judge(box: Box, problem: Problem, code: str) -> str:
    """Run a program with its tests and return the result."""
    tests, prompt, solution = problem.tests, problem.prompt, problem.solution
    program = prompt + code
    # If a problem has a prompt, its tests may begin with the brace that closes the function.
    if tests.lstrip().startswith("}"):
        tests = tests.lstrip()[1:]
        program += "\n}" if stubs.open_braces(program) > 0 else ""
    used = dict.fromkeys(_NAME.findall(stubs.keep_only_code(tests)))
    shared = _DECLARED.findall(stubs.keep_only_code(prompt))
    entry = problem.entry_point or (shared[-1] if shared else "")
    solution_names = None if solution is None else _DECLARED.findall(prompt + solution)
    declared = {*_DECLARED.findall(tests), *shared} - {entry}
    task = {
        "tests": tests,
        "names": [name for name in used if name not in declared],
        "entry": entry,
        "solution": solution_names,
        "prompt": prompt + "\n}" * stubs.open_braces(prompt),
        "shared": [name for name in shared if name != entry],
    }
    channel = stubs.read_support("channel.js").encode()
    content = json.dumps(task).encode()
    stubs.write(
        box.folder / apart.TESTS,
        {
            "channel.js": channel,
            "run.js": stubs.read_support("tests.js").encode(),
            "tests.json": content,
        },
    )
    stubs.write(
        box.folder / apart.PROGRAM,
        {
            "channel.js": channel,
            "run.js": stubs.read_support("program.js").encode(),
            "program.code.js": program.encode("utf-8", "surrogatepass"),
        },
    )
    command = (_NODE, "--max-old-space-size=256", "run.js")
    return apart.run_apart(box, command, command, tool=_NODE)


def create() -> Callable[[Box, Problem, str], str]:
    """Return `judge`, which runs a program with its tests.

    Raises:
        ToolNotFoundError: Node.js is not installed.
    """
    stubs.require_program(_NODE, package="nodejs")
    return judge
