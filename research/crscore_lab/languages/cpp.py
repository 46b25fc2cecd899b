"""Runs programs in C++17 with g++.

The tests are compiled once for each problem, with stubs that call the program's process. The stubs
replace the function that the prompt begins or, without a prompt, all functions of the program that
the tests use; only their signatures are taken from the program.

Arguments and results can be numbers, strings, standard containers, pairs, tuples and optionals
(`apart.hpp`). Tests that pass pointers, unions or classes fail, and the message says so.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from crscore.code.execution import apart
from crscore.code.execution.box import Box
from crscore.code.execution.programs import Problem
from crscore_lab.languages import stubs

_COMPILER: Final = "g++"
_COMMAND: Final = (
    *(_COMPILER, "-std=c++17", "-O0", "-w", "-pipe", "-include", "apart.hpp", "-I."),
    *("-s", "-o", "compiled/run", "code.cpp"),
)
_TESTS: Final = "static crscore_apart::Tests crscore_apart_tests;\n"
_HEADERS: Final = "#include <cassert>\n#include <bits/stdc++.h>\nusing namespace std;\n"
"""Headers of tests and programs without a prompt."""
_SERVER: Final = """
#undef main
int main() {
    crscore_apart::send("ready");
    for (;;) {
        crscore_apart::Line line = crscore_apart::receive();
        switch (line.count()) {
%s        default: return 1;
        }
    }
}
"""


def judge(box: Box, problem: Problem, code: str) -> str:
    """Run a program with its tests and return the result."""
    functions = stubs.find_tested(problem, code)
    tests = stubs.compile_tests(_compile_tests, _tests_of(problem, functions))
    program = _compile(_program_of(problem, code, functions))
    for folder, executable in ((apart.TESTS, tests), (apart.PROGRAM, program)):
        stubs.write(box.folder / folder, executable)
        # Files are copied as bytes, without the permission to execute them.
        (box.folder / folder / "run").chmod(0o755)
    return apart.run_apart(box, ["./run"], ["./run"], tool=_COMPILER)


def _tests_of(problem: Problem, functions: tuple[stubs.Function, ...]) -> str:
    bodies = [
        f"return crscore_apart::call<{function.returned}>"
        f"({', '.join((str(index), *function.parameters))});"
        for index, function in enumerate(functions)
    ]
    if stubs.last_function(problem.prompt) is not None:
        return _TESTS + stubs.stub_tests(problem, bodies[0])
    pairs = zip(functions, bodies, strict=True)
    calls = (f"{function.head} {{ {body} }}\n" for function, body in pairs)
    return _HEADERS + "".join(calls) + _TESTS + problem.tests


def _program_of(problem: Problem, code: str, functions: tuple[stubs.Function, ...]) -> str:
    cases = "".join(
        f"case {index}: crscore_apart::send(crscore_apart::answer({_pointer(function)}, line));"
        " break;\n"
        for index, function in enumerate(functions)
    )
    return stubs.join_code(problem.prompt or _HEADERS, code) + _SERVER % cases


def _pointer(function: stubs.Function) -> str:
    """Write an expression for the address of a function; the cast chooses among overloads."""
    return f"static_cast<{function.returned} (*)({', '.join(function.types)})>({function.name})"


def _compile(source: str) -> Mapping[str, bytes]:
    sources = {"code.cpp": source, "apart.hpp": stubs.read_support("apart.hpp")}
    return stubs.build(_COMMAND, sources, {}, tool=_COMPILER)


# Cached, because most programs of a problem have the same tests.
_compile_tests = lru_cache(maxsize=256)(_compile)


def create() -> Callable[[Box, Problem, str], str]:
    """Return `judge`, which runs a program with its tests.

    Raises:
        ToolNotFoundError: g++ is not installed.
    """
    stubs.require_program(_COMPILER, package="g++")
    return judge
