"""Programs of a compiled or dynamic language, tested from another process of the same sandbox.

The tests are built without the program: in place of its functions stand calls to the other process
(`_supervisor.py`), with values as text. Only plain values cross: numbers, strings, and the usual
containers of them. A test that needs more, such as an object of the program's own class or a
function as an argument, fails with that reason; it never passes for it.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

from crscore.code.execution._supervisor import UNCONFINED
from crscore.code.execution.box import Box
from crscore.code.execution.programs import Problem
from crscore.errors import ConfigError, ToolNotFoundError
from crscore.sandbox import run

TESTS: Final = "tests"
PROGRAM: Final = "program"
START_S: Final = 30.0
"""Seconds in which a compiler or an interpreter has to have started; the tests have their own."""

_SUPERVISOR: Final = Path(__file__).with_name("_supervisor.py")
_TYPE: Final = r"[\w:<>,&*\[\].? \t\n]"
# Bounded: a type may go over lines, and each line would be read up to the end of the code.
_FUNCTION: Final = (
    rf"^[ \t]*+(?P<type>[\w<]{_TYPE}{{0,300}}?[\s>\]&*])(?P<name>[A-Za-z_]\w*+)\s*+"
    rf"\((?P<parameters>(?:{_TYPE}|=)*+)\)\s*+(?:throws[\w\s,.]++)?\{{"
)
_LAST_FUNCTION: Final = re.compile(_FUNCTION + r"\s*\Z", re.MULTILINE)
_ANY_FUNCTION: Final = re.compile(_FUNCTION, re.MULTILINE)
_NO_TYPES: Final = frozenset({"else", "new", "return", "case", "throw", "class", "using"})
_NO_NAMES: Final = frozenset({"if", "for", "while", "switch", "catch", "main"})
_MODIFIERS: Final = re.compile(
    r"\b(?:public|protected|private|static|final|inline|constexpr|extern|synchronized)\s+"
)
_NO_CODE: Final = re.compile(
    # An escaped quotation mark opens nothing; an open comment goes to the end.
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|\\.",
    re.DOTALL,
)
_LAST_NAME: Final = re.compile(r"(?<!\w)\w+$")


class Function(NamedTuple):
    """Signature of a function, in text that can name types but do nothing."""

    returned: str
    """Its type, without modifiers."""
    name: str
    types: tuple[str, ...]
    parameters: tuple[str, ...]
    """Names of the parameters."""
    head: str
    """All of it up to its brace."""


def last_function(prompt: str) -> Function | None:
    """Find the function with whose opening brace a prompt ends."""
    found = _LAST_FUNCTION.search(prompt)
    return _function(found) if found is not None else None


def functions(code: str) -> tuple[Function, ...]:
    """Find the functions that code defines, without `main`."""
    return tuple(filter(None, map(_function, _ANY_FUNCTION.finditer(without_text(code)))))


class UnclearError(Exception):
    """Raised for a program of which nothing says what its tests test."""


def tested(problem: Problem, code: str) -> tuple[Function, ...]:
    """Return the functions of a program without a prompt that its tests call.

    Raises:
        UnclearError: There is none, or several and neither an entry point nor a solution. All but
            one could be helpers of the tests, by which the program would judge itself.
    """
    words = set(re.findall(r"\w+", without_text(problem.tests)))
    if problem.entry_point:
        words &= {problem.entry_point}
    elif problem.solution is not None:
        words &= {function.name for function in functions(problem.solution)}
    used = {function.head: function for function in functions(code) if function.name in words}
    names = sorted({function.name for function in used.values()})
    if not names:
        raise UnclearError("no function to test was found")
    if len(names) > 1 and not problem.entry_point and problem.solution is None:
        listed = " and ".join(names)
        raise UnclearError(f"the program defines {listed}; give an entry_point or a solution")
    return tuple(used.values())


def _function(found: re.Match[str]) -> Function | None:
    returned = _MODIFIERS.sub("", found["type"]).strip()
    if found["name"] in _NO_NAMES or not returned or returned.split()[0] in _NO_TYPES:
        return None
    parameters = [one.partition("=")[0].strip() for one in _split(found["parameters"])]
    names = [_LAST_NAME.search(one) for one in parameters]
    if not all(names):
        return None
    return Function(
        returned,
        found["name"],
        tuple(_LAST_NAME.sub("", one).strip() for one in parameters),
        tuple(one[0] for one in names if one),
        found[0].rstrip("{ \t\n").strip(),
    )


def _split(parameters: str) -> Iterator[str]:
    """Split at the commas that are in no angle brackets."""
    depth, start = 0, 0
    for at, sign in enumerate(parameters):
        depth += (sign == "<") - (sign == ">")
        if sign == "," and depth == 0:
            yield parameters[start:at]
            start = at + 1
    if parameters.strip():
        yield parameters[start:]


def without_text(code: str) -> str:
    """Replace the comments and the literal strings of code by blanks."""
    return _NO_CODE.sub(" ", code)


def open_braces(code: str) -> int:
    """Count the braces that code leaves open, outside of comments and strings."""
    text = without_text(code)
    return text.count("{") - text.count("}")


def closed(prompt: str, code: str) -> str:
    """Join a prompt and a completion, and close what the prompt opened, if that is still open."""
    closing = "\n}" * open_braces(prompt) if open_braces(prompt + code) > 0 else ""
    return f"{prompt}{code}{closing}\n"


def need(program: str, *, package: str) -> None:
    """Check that a program is installed.

    Args:
        program: Its name, searched on the PATH.
        package: Package of Debian and Ubuntu that has it.

    Raises:
        ToolNotFoundError: It is missing.
    """
    if shutil.which(program) is None:
        raise ToolNotFoundError(program, f"apt-get install {package}")


def support(name: str) -> str:
    """Read a source file of this folder's `support`."""
    return (files("crscore.code.execution") / "support" / name).read_text("utf-8")


def write(folder: Path, content: Mapping[str, bytes]) -> None:
    """Write files by their names, relative to a folder."""
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def read(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder, by their names."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def run_apart(
    box: Box,
    tests: Sequence[str] = (),
    program: Sequence[str] = (),
    *,
    tool: str,
    packages: Sequence[str] = (),
    python: Mapping[str, Any] | None = None,
) -> str:
    """Run tests and program, each in its folder of the box (`TESTS`, `PROGRAM`).

    Args:
        box: The sandbox.
        tests: Command of the tests; none for Python.
        program: Command of the program; none for Python.
        tool: Name for errors.
        packages: Folders of packages for programs and tests in Python.
        python: Arguments of `_python_tester.run_tests`.

    Returns:
        `passed`, `timed out`, or `failed: ...`.

    Raises:
        ConfigError: The kernel does not keep a program from its tests.
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
    # Only the process of the tests can read the token, so nobody else can write the result.
    token = secrets.token_hex()
    completed = box.start(
        json.dumps(job),
        tool=tool,
        seconds=2 * START_S + box.seconds + 1,
        launcher=_SUPERVISOR,
        secret=json.dumps({"token": token, "python": python}).encode(),
    )
    try:
        verdict = json.loads(completed.stdout)
        result, returned_token = str(verdict["result"]), str(verdict["token"])
    except (ValueError, TypeError, KeyError):
        return "failed: the program ended its tests"
    if result == UNCONFINED:
        expected = "is not possible here: this kernel cannot keep a program from its tests"
        raise ConfigError("--allow-code-execution", "environment", f"{expected} (Landlock)")
    if not secrets.compare_digest(returned_token, token):
        return "failed: the program forged its result"
    return result
