"""Builds tests without the code of the program that they test.

A stub replaces each function of the program. It has the function's signature, and its body calls
the program's process (`crscore.code.execution.apart`).
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

# Matches each character of `unsigned int`, `std::vector<int>&` and `Map<String, int[]>`, but none
# by which a type could execute code in the tests' process.
_TYPE: Final = r"[\w:<>,&*\[\].? \t\n]"
# Matches `vector<int> f(int a, int b = 1) {` and `static List<Integer> f(int[] a) throws E {`. A
# type has at most 300 characters, because the search for its end would otherwise read the code to
# the end from each line.
_FUNCTION: Final = (
    rf"^[ \t]*+(?P<type>[\w<]{_TYPE}{{0,300}}?[\s>\]&*])(?P<name>[A-Za-z_]\w*+)\s*+"
    rf"\((?P<parameters>(?:{_TYPE}|=)*+)\)\s*+(?:throws[\w\s,.]++)?\{{"
)
_LAST_FUNCTION: Final = re.compile(_FUNCTION + r"\s*\Z", re.MULTILINE)
_ANY_FUNCTION: Final = re.compile(_FUNCTION, re.MULTILINE)
# First words of code that only looks like a function, such as `else if (a) {` or `new A() {`.
_NO_TYPES: Final = frozenset({"else", "new", "return", "case", "throw", "class", "using"})
_NO_NAMES: Final = frozenset({"if", "for", "while", "switch", "catch", "main"})
_MODIFIERS: Final = re.compile(
    r"\b(?:public|protected|private|static|final|inline|constexpr|extern|synchronized)\s+"
)
_NO_CODE: Final = re.compile(
    # Comments, strings and escaped characters outside of strings, such as `\"`, which begins no
    # string. A comment that is not closed extends to the end.
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|\\.",
    re.DOTALL,
)
# Matches a default value that is neither a literal nor a name: the tests' process would evaluate
# it, and so run code of the program.
_EXPRESSION: Final = re.compile(r"=(?!\s*+[\w.:]++\s*+(?:,|\Z))")
# Matches the name of a parameter: `a` in `const int& a`; `int*` has no name.
_LAST_NAME: Final = re.compile(r"(?<!\w)\w+$")


class Function(NamedTuple):
    """Signature of a function, which can name types but execute nothing."""

    returned: str
    """Type of the result, without modifiers."""
    name: str
    types: tuple[str, ...]
    """Types of the parameters."""
    parameters: tuple[str, ...]
    """Names of the parameters."""
    head: str
    """Code of the function before its opening brace."""


def last_function(prompt: str) -> Function | None:
    """Return the function whose opening brace ends a prompt; None if there is none."""
    match = _LAST_FUNCTION.search(prompt)
    return _read_function(match) if match is not None else None


def find_functions(code: str) -> tuple[Function, ...]:
    """Return the functions that code defines, without `main`."""
    return tuple(filter(None, map(_read_function, _ANY_FUNCTION.finditer(keep_only_code(code)))))


def _outermost_names(code: str) -> set[str]:
    """Return the names of the functions in the fewest braces: methods only if all are methods."""
    text = keep_only_code(code)
    names_by_depth: dict[int, set[str]] = {}
    for match in _ANY_FUNCTION.finditer(text):
        if (function := _read_function(match)) is not None:
            depth = open_braces(text[: match.start()])
            names_by_depth.setdefault(depth, set()).add(function.name)
    return names_by_depth[min(names_by_depth)] if names_by_depth else set()


def find_tested(problem: Problem, code: str) -> tuple[Function, ...]:
    """Return the functions of the program that the tests call.

    Raises:
        RejectedError: There is no such function, or there are several and the problem has neither a
            prompt nor an entry point nor a solution. Otherwise a program could define a function
            that the tests use as a helper, and so judge itself.
    """
    last = last_function(problem.prompt)
    if last is not None:
        return (last,)
    words = set(re.findall(r"\w+", keep_only_code(problem.tests)))
    if problem.entry_point:
        words &= {problem.entry_point}
    elif problem.solution is not None:
        words &= _outermost_names(problem.solution)
    # Keyed by head, because overloaded functions have the same name.
    tested = {it.head: it for it in find_functions(code) if it.name in words}
    names = sorted({function.name for function in tested.values()})
    if not names:
        raise RejectedError("the program defines no function that the tests call")
    if len(names) > 1 and not problem.entry_point and problem.solution is None:
        listed = " and ".join(names)
        raise RejectedError(f"the tests call {listed}; give an entry_point or a solution")
    return tuple(tested.values())


def _read_function(match: re.Match[str]) -> Function | None:
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
    """Yield the parts between the commas that are outside of angle brackets."""
    depth, start = 0, 0
    for index, char in enumerate(parameters):
        depth += (char == "<") - (char == ">")
        if char == "," and depth == 0:
            yield parameters[start:index]
            start = index + 1
    if parameters.strip():
        yield parameters[start:]


def keep_only_code(code: str) -> str:
    """Replace each comment and each string literal of code by a space."""
    return _NO_CODE.sub(" ", code)


def open_braces(code: str) -> int:
    """Return how many more braces code opens than it closes, outside of comments and strings."""
    text = keep_only_code(code)
    return text.count("{") - text.count("}")


def join_code(prompt: str, code: str) -> str:
    """Return a prompt and its completion, with closing braces for the prompt if any are missing."""
    closing = "\n}" * open_braces(prompt) if open_braces(prompt + code) > 0 else ""
    return f"{prompt}{code}{closing}\n"


def stub_tests(problem: Problem, body: str) -> str:
    """Return the prompt with `body` as the body of its last function, followed by the tests."""
    # The tests of MultiPL-E begin with the brace that closes the function of the prompt.
    is_closed = problem.tests.lstrip().startswith("}")
    closing = "" if is_closed else "\n}" * open_braces(problem.prompt) + "\n"
    return problem.prompt + body + closing + problem.tests


def require_program(program: str, *, package: str) -> None:
    """Check that a program is installed.

    Args:
        program: Name of the program, which is searched on the PATH.
        package: Package of Debian and Ubuntu that contains the program.

    Raises:
        ToolNotFoundError: The program is not installed.
    """
    if shutil.which(program) is None:
        raise ToolNotFoundError(program, f"get it with: apt-get install {package}")


def read_support(name: str) -> str:
    """Read a source file in the folder `support` beside this module."""
    return (files("crscore_lab.languages") / "support" / name).read_text("utf-8")


def write(folder: Path, content: Mapping[str, str | bytes]) -> None:
    """Write files into a folder.

    Args:
        folder: The folder.
        content: File name, relative to the folder -> content.
    """
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # `surrogatepass`, because code that was read from JSON may contain lone surrogates.
        path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)


def build(
    command: Sequence[str], sources: Mapping[str, str], libraries: Mapping[str, bytes], *, tool: str
) -> dict[str, bytes]:
    """Compile sources in a new sandbox.

    Args:
        command: The compiler and its options. The command runs in a folder with `sources` and
            `libraries`, and has to write into the folder `compiled`.
        sources: File name -> source code.
        libraries: File name -> content of further files.
        tool: Name of the compiler in error messages.

    Returns:
        File name -> content of the compiled files.

    Raises:
        RejectedError: The sources do not compile; the message is the compiler's first error.
    """
    with private_folder() as folder:
        write(folder, {**sources, **libraries})
        target = folder / "compiled"
        target.mkdir()
        completed = Box(folder=folder, seconds=START_S).run(*command, tool=tool)
        if completed.returncode == 0:
            paths = (path for path in target.rglob("*") if path.is_file())
            return {str(path.relative_to(target)): path.read_bytes() for path in paths}
        lines = (completed.stdout + completed.stderr).decode("utf-8", "replace").splitlines()
        raise RejectedError(next((n for n in lines if " error: " in n), "unknown compiler error"))


def compile_tests(
    function: Callable[[str], Mapping[str, bytes]], source: str
) -> Mapping[str, bytes]:
    """Compile tests with a function; if this fails, raise an error that names the tests.

    Raises:
        RejectedError: The tests do not compile.
    """
    try:
        return function(source)
    except RejectedError as exc:
        message = f"the tests cannot be compiled apart from the program: {exc}"
        raise RejectedError(message) from exc
