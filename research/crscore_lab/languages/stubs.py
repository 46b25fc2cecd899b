"""Tests of a compiled or dynamic language, built without the program.

Calls to the program's process replace its functions (`crscore.code.execution.apart`), by their
signatures alone.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from crscore.code.execution.apart import START_S, RejectedError
from crscore.code.execution.box import Box, private_folder
from crscore.code.execution.programs import Problem
from crscore.errors import ToolNotFoundError

# Matches `unsigned int`, `std::vector<int>&`, `Map<String, int[]>`; nothing that could execute.
_TYPE: Final = r"[\w:<>,&*\[\].? \t\n]"
# Bounded: a type may go over lines, and each line would be read up to the end of the code.
# Matches `vector<int> f(int a, int b = 1) {` and `static List<Integer> f(int[] a) throws E {`.
_FUNCTION: Final = (
    rf"^[ \t]*+(?P<type>[\w<]{_TYPE}{{0,300}}?[\s>\]&*])(?P<name>[A-Za-z_]\w*+)\s*+"
    rf"\((?P<parameters>(?:{_TYPE}|=)*+)\)\s*+(?:throws[\w\s,.]++)?\{{"
)
_LAST_FUNCTION: Final = re.compile(_FUNCTION + r"\s*\Z", re.MULTILINE)
_ANY_FUNCTION: Final = re.compile(_FUNCTION, re.MULTILINE)
# First words of text that only looks like a function: `else if (a) {`, `new A() {`, `return f(a)
# {`.
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
# A default value would be computed by the tests; only a literal or a name does nothing there.
_EXPRESSION: Final = re.compile(r"=(?!\s*+[\w.:]++\s*+(?:,|\Z))")
# The name of a parameter: `a` of `const int& a`; `int*` has no name.
_LAST_NAME: Final = re.compile(r"(?<!\w)\w+$")


class Function(NamedTuple):
    """Signature of a function, in text that can name types but do nothing."""

    returned: str
    """Type of its result, without modifiers."""
    name: str
    types: tuple[str, ...]
    parameters: tuple[str, ...]
    """Names of the parameters."""
    head: str
    """Text of the function up to its brace."""


def last_function(prompt: str) -> Function | None:
    """Find the function whose opening brace ends a prompt."""
    match = _LAST_FUNCTION.search(prompt)
    return _function(match) if match is not None else None


def functions(code: str) -> tuple[Function, ...]:
    """Find the functions that code defines, without `main`."""
    return tuple(filter(None, map(_function, _ANY_FUNCTION.finditer(without_text(code)))))


def _outermost_names(code: str) -> set[str]:
    """Return the names of functions; if any are outside of classes, leave out methods."""
    text = without_text(code)
    names_by_depth: dict[int, set[str]] = {}
    for match in _ANY_FUNCTION.finditer(text):
        if (function := _function(match)) is not None:
            depth = open_braces(text[: match.start()])
            names_by_depth.setdefault(depth, set()).add(function.name)
    return names_by_depth[min(names_by_depth)] if names_by_depth else set()


def tested(problem: Problem, code: str) -> tuple[Function, ...]:
    """Return the functions that tests call in the program.

    Raises:
        RejectedError: There is no such function, or several without a prompt, an entry point or a
            solution: all but one could be helpers, with which the program would judge itself.
    """
    last = last_function(problem.prompt)
    if last is not None:
        return (last,)
    words = set(re.findall(r"\w+", without_text(problem.tests)))
    if problem.entry_point:
        words &= {problem.entry_point}
    elif problem.solution is not None:
        words &= _outermost_names(problem.solution)
    # By head, because functions of one name may differ in their parameters.
    called = {function.head: function for function in functions(code) if function.name in words}
    names = sorted({function.name for function in called.values()})
    if not names:
        raise RejectedError("no function to test was found")
    if len(names) > 1 and not problem.entry_point and problem.solution is None:
        listed = " and ".join(names)
        raise RejectedError(f"the program defines {listed}; give an entry_point or a solution")
    return tuple(called.values())


def _function(match: re.Match[str]) -> Function | None:
    returned = _MODIFIERS.sub("", match["type"]).strip()
    if match["name"] in _NO_NAMES or not returned or returned.split()[0] in _NO_TYPES:
        return None
    parameters = [text.partition("=")[0].strip() for text in _split(match["parameters"])]
    names = [name[0] for text in parameters if (name := _LAST_NAME.search(text))]
    if len(names) < len(parameters) or _EXPRESSION.search(match["parameters"]):
        return None
    types = tuple(_LAST_NAME.sub("", text).strip() for text in parameters)
    head = match[0].rstrip("{ \t\n").strip()
    return Function(returned, match["name"], types, tuple(names), head)


def _split(parameters: str) -> Iterator[str]:
    """Split at the commas outside of angle brackets."""
    depth, start = 0, 0
    for index, sign in enumerate(parameters):
        depth += (sign == "<") - (sign == ">")
        if sign == "," and depth == 0:
            yield parameters[start:index]
            start = index + 1
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
    """Join a prompt and a completion, and close braces of the prompt that are still open."""
    closing = "\n}" * open_braces(prompt) if open_braces(prompt + code) > 0 else ""
    return f"{prompt}{code}{closing}\n"


def stubbed(problem: Problem, body: str) -> str:
    """Return the prompt with a body for its last function, and the tests."""
    # The tests of MultiPL-E begin with the brace that closes the function of the prompt.
    is_closed = problem.tests.lstrip().startswith("}")
    closing = "" if is_closed else "\n}" * open_braces(problem.prompt) + "\n"
    return problem.prompt + body + closing + problem.tests


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
    return (files("crscore_lab.languages") / "support" / name).read_text("utf-8")


def write(folder: Path, content: Mapping[str, str | bytes]) -> None:
    """Write files by their names, relative to a folder."""
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # Code read from JSON may hold lone surrogates.
        path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


def compiled(
    command: Sequence[str], sources: Mapping[str, str], libraries: Mapping[str, bytes], *, tool: str
) -> dict[str, bytes]:
    """Compile sources in a box of their own.

    Args:
        command: The compiler and its options; it runs in a folder with `sources` and `libraries`
            and writes into the folder `compiled`.
        sources: Texts by file name.
        libraries: Other files by name.
        tool: Name of the compiler, for errors.

    Returns:
        The compiled files, by their names.

    Raises:
        RejectedError: The sources do not compile; the text is the first error.
    """
    with private_folder() as folder:
        write(folder, {**sources, **libraries})
        target = folder / "compiled"
        target.mkdir()
        completed = Box(folder=folder, seconds=START_S).start(*command, tool=tool)
        if completed.returncode == 0:
            paths = (path for path in target.rglob("*") if path.is_file())
            return {str(path.relative_to(target)): path.read_bytes() for path in paths}
        lines = (completed.stdout + completed.stderr).decode("utf-8", "replace").splitlines()
        raise RejectedError(next((n for n in lines if " error: " in n), "it does not compile"))


def compiled_tests(
    function: Callable[[str], Mapping[str, bytes]], source: str
) -> Mapping[str, bytes]:
    """Compile tests by a function.

    Raises:
        RejectedError: They do not compile.
    """
    try:
        return function(source)
    except RejectedError as exc:
        message = f"the tests cannot be compiled apart from the program: {exc}"
        raise RejectedError(message) from exc
