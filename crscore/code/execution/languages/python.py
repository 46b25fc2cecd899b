"""Python, by the interpreter that runs crscore, without its packages.

The tests run in a process of their own (`_python_tester.py`); a program cannot reach them.
"""

from __future__ import annotations

import ast
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crscore.code.execution import _python_tester
from crscore.code.execution.programs import Problem

if TYPE_CHECKING:
    from crscore.code.execution.runner import Box

# Imported, not run by its path, as only an imported module is compiled once.
_START: Final = (
    "import sys; sys.path.append(sys.argv[1]); from _python_tester import main; main(sys.argv[2:])"
)
_FOLDER: Final = str(Path(_python_tester.__file__).parent)
_SPARE_S: Final = 1.0
"""Seconds for starting, and after which a run that does not end itself is killed."""


def judge(box: Box, problem: Problem, code: str) -> str:
    """Run a program with its tests and return the result."""
    texts = {"program": _joined(problem.prompt, code), "tests": problem.tests}
    texts["prompt"] = problem.prompt
    for name, text in texts.items():
        (box.folder / name).write_text(text, "utf-8", errors="surrogatepass")
    done = box.start(
        *(sys.executable, "-I", "-S", "-c", _START, _FOLDER, *texts, problem.entry_point),
        str(box.seconds),
        tool="python",
        seconds=box.seconds + _SPARE_S,
    )
    try:
        result: str = json.loads(done.stdout)["result"]
    except ValueError:
        return "failed: the tester was killed"
    return result


def _joined(prompt: str, code: str) -> str:
    """Put code behind its prompt, with the indentation that its first line may have lost."""
    last = prompt.rstrip().rpartition("\n")[2]
    margin = last[: len(last) - len(last.lstrip())]
    if margin and code[:1].strip():
        indented = prompt + margin + code
        if _parses(indented) or not _parses(prompt + code):
            return indented
    return prompt + code


def _parses(code: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def create() -> Callable[[Box, Problem, str], str]:
    """Create the judge."""
    return judge
