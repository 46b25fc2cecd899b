"""C++17, by g++.

The tests are compiled once a problem, with calls to the program's process in place of the function
that the prompt begins; without a prompt, of the functions that the program defines, by their
signatures alone. Values of `apart.hpp`'s types cross: numbers, strings, standard containers,
pairs, tuples, optionals. Pointers, unions and classes do not: such tests fail with that reason.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final

from crscore.code.execution import apart
from crscore.code.execution.box import Box
from crscore.code.execution.programs import Problem

_COMPILER: Final = "g++"
_OPTIONS: Final = ("-std=c++17", "-O0", "-w", "-pipe", "-include", "apart.hpp")
_TESTS: Final = "static crscore_apart::Tests crscore_apart_tests;\n"
_HEADERS: Final = "#include <cassert>\n#include <bits/stdc++.h>\nusing namespace std;\n"
"""What tests without a prompt may use."""


class _Judge:
    """Runs C++ programs, and keeps the tests of each problem compiled."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tests: dict[tuple[str, str], bytes] = {}
        """Executables, by the source and the functions."""

    def __call__(self, box: Box, problem: Problem, code: str) -> str:
        """Run a program with its tests and return the result."""
        last = apart.last_function(problem.prompt)
        used = (last,) if last is not None else apart.tested(problem, code)
        source = _tests_of(problem, used)
        with self._lock:
            tests = self._tests.get((problem.id, source))
        if tests is None:
            failed, tests = _compile(box, source)
            if tests is None:
                return f"failed: the tests cannot be compiled apart from the program: {failed}"
            with self._lock:
                self._tests[problem.id, source] = tests
        failed, program = _compile(box, _program_of(problem, code, used))
        if program is None:
            return f"failed: {failed}"
        for folder, binary in ((apart.TESTS, tests), (apart.PROGRAM, program)):
            apart.write(box.folder / folder, {"run": binary})
            (box.folder / folder / "run").chmod(0o755)
        return apart.run_apart(box, ["./run"], ["./run"], tool=_COMPILER)


def _tests_of(problem: Problem, used: tuple[apart.Function, ...]) -> str:
    bodies = [
        f"return crscore_apart::call<{one.returned}>({', '.join((str(at), *one.parameters))});"
        for at, one in enumerate(used)
    ]
    if not problem.prompt:
        stubs = (f"{one.head} {{ {body} }}\n" for one, body in zip(used, bodies, strict=True))
        return _HEADERS + "".join(stubs) + _TESTS + problem.tests
    closed = problem.tests.lstrip().startswith("}")
    closing = "" if closed else "\n}" * apart.open_braces(problem.prompt) + "\n"
    return _TESTS + problem.prompt + bodies[0] + closing + problem.tests


def _program_of(problem: Problem, code: str, used: tuple[apart.Function, ...]) -> str:
    cases = "".join(
        f"case {at}: crscore_apart::send(crscore_apart::answer({_pointer(one)}, line)); break;\n"
        for at, one in enumerate(used)
    )
    return f"""{apart.closed(problem.prompt or _HEADERS, code)}
#undef main
int main() {{
    crscore_apart::send("ready");
    for (;;) {{
        crscore_apart::Line line = crscore_apart::receive();
        switch (line.count()) {{
{cases}        default: return 1;
        }}
    }}
}}
"""


def _pointer(one: apart.Function) -> str:
    """Write an expression for the address of a function, which may have others of its name."""
    return f"static_cast<{one.returned} (*)({', '.join(one.types)})>({one.name})"


def _compile(box: Box, source: str) -> tuple[str, bytes | None]:
    """Return the compiler's first error, and the executable."""
    place = box.folder / "compile"
    content = {"code.cpp": source, "apart.hpp": apart.support("apart.hpp")}
    encoded = {name: text.encode("utf-8", "surrogatepass") for name, text in content.items()}
    apart.write(place, encoded)
    target = place / "run"
    target.unlink(missing_ok=True)
    options = (*_OPTIONS, f"-I{place}", "-s", "-o", str(target), str(place / "code.cpp"))
    done = box.start(_COMPILER, *options, tool=_COMPILER, seconds=apart.START_S)
    binary = target.read_bytes() if done.code == 0 and target.is_file() else None
    apart.write(place, dict.fromkeys(encoded, b""))
    target.unlink(missing_ok=True)
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    return next((line for line in lines if " error: " in line), "it does not compile"), binary


def create() -> Callable[[Box, Problem, str], str]:
    """Create the judge.

    Raises:
        ToolNotFoundError: g++ is missing.
    """
    apart.need(_COMPILER, package="g++")
    return _Judge()
