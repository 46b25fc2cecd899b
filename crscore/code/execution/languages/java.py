"""Java, by the JDK.

The tests are compiled once a problem, with a call to the program's process as the body of the
method that the prompt begins; without a prompt, of the methods that the program defines, by their
signatures alone. Values of `Channel.java`'s types cross: boxed primitives, strings, big numbers,
arrays, the collections of `java.util`, Optional, tuples. Objects of own classes do not: such tests
fail with that reason. `org.javatuples` is replaced by classes of our own with the methods that
programs use (Unit to Quintet).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Final

from crscore.code.execution import apart
from crscore.code.execution.box import Box
from crscore.code.execution.programs import Problem

_COMPILER: Final = "javac"
_QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xss16m")
_COMPILE: Final = (
    *(f"-J{option}" for option in (*_QUICK, "-Xmx384m")),
    *("-proc:none", "-nowarn", "-g:none", "-encoding", "UTF-8", "-XDuseUnsharedTable"),
)
_RUN: Final = ("java", *_QUICK, "-Xmx256m", "-ea", "-cp", ".")
_SOURCES: Final = ("Channel.java", "Tests.java", "Program.java", "Tuple.java")
_TUPLES: Final = ("Unit", "Pair", "Triplet", "Quartet", "Quintet")
_CLASS: Final = re.compile(r"\b(?:class|interface|enum|record)\s+(\w+)")
_IMPORTS: Final = (
    "import java.util.*;import java.util.stream.*;import java.math.*;import org.javatuples.*;\n"
)


class _Judge:
    """Runs Java programs, and keeps the tests of each problem compiled."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._support: Mapping[str, bytes] = {}
        self._tests: dict[tuple[str, str], Mapping[str, bytes]] = {}
        """Class files, by the problem and the source."""

    def __call__(self, box: Box, problem: Problem, code: str) -> str:
        """Run a program with its tests and return the result."""
        source = _tests_of(problem, code)
        support, tests = self._compiled(problem, source)
        if isinstance(tests, str):
            return f"failed: the tests cannot be compiled apart from the program: {tests}"
        program = _compile(box, {"Problem.java": _program_of(problem, code)}, support)
        if isinstance(program, str):
            return f"failed: {program}"
        apart.write(box.folder / apart.TESTS, {**support, **tests})
        apart.write(box.folder / apart.PROGRAM, {**program, **support})
        names = (name.removesuffix(".class").replace("/", ".") for name in (*support, *tests))
        return apart.run_apart(
            box, (*_RUN, "apart.Tests", *names), (*_RUN, "apart.Program"), tool="java"
        )

    def _compiled(
        self, problem: Problem, source: str
    ) -> tuple[Mapping[str, bytes], Mapping[str, bytes] | str]:
        """Return the class files of the two sides, and of the tests or what is wrong with them."""
        with self._lock:
            if not self._support:
                made = _compile_apart(_support_sources(), {})
                if isinstance(made, str):
                    raise RuntimeError(made)
                self._support = made
            if (problem.id, source) not in self._tests:
                found = _compile_apart({"Problem.java": source}, self._support)
                if isinstance(found, str):
                    return self._support, found
                self._tests[problem.id, source] = found
            return self._support, self._tests[problem.id, source]


def _support_sources() -> dict[str, str]:
    found = {name: apart.support(f"java/{name}") for name in _SOURCES}
    return {**found, **{f"{name}.java": _tuple(name, at + 1) for at, name in enumerate(_TUPLES)}}


def _tuple(name: str, size: int) -> str:
    """Write the class of the tuples of a size."""
    kinds = [chr(ord("A") + at) for at in range(size)]
    generic, values = ", ".join(kinds), ", ".join(f"value{at}" for at in range(size))
    parameters = ", ".join(f"{kind} value{at}" for at, kind in enumerate(kinds))
    own = f"{name}<{generic}>"
    lines = [
        f"package org.javatuples; public final class {own} extends Tuple {{",
        f"public {name}({parameters}) {{ super({values}); }}",
        f"public static <{generic}> {own} with({parameters}) {{ return new {name}<>({values}); }}",
        f"public int getSize() {{ return {size}; }}",
    ]
    for at, kind in enumerate(kinds):
        changed = ", ".join("value" if one == at else f"getValue{one}()" for one in range(size))
        others = ", ".join("X" if one == at else kinds[one] for one in range(size))
        lines += [
            f"public {kind} getValue{at}() {{ return at({at}); }}",
            f"public <X> {name}<{others}> setAt{at}(X value) {{ return new {name}<>({changed}); }}",
        ]
    return "\n".join((*lines, "}"))


def _tests_of(problem: Problem, code: str) -> str:
    """Write the tests with calls in place of the program."""
    last = apart.last_function(problem.prompt)
    if last is not None:
        owner = (_CLASS.findall(apart.without_text(problem.prompt)) or ["Problem"])[-1]
        closed = problem.tests.lstrip().startswith("}")
        closing = "" if closed else "\n}" * apart.open_braces(problem.prompt) + "\n"
        return problem.prompt + _body(owner, last) + closing + problem.tests
    owners = _CLASS.findall(apart.without_text(code))
    used = apart.tested(problem, code)
    if not owners:
        raise apart.UnclearError("no class to test was found")
    stubs = "\n".join(f"{one.head} {{ {_body(owners[0], one)} }}" for one in used)
    return f"{_IMPORTS}{problem.tests}\nclass {owners[0]} {{\n{stubs}\n}}\n"


def _body(owner: str, one: apart.Function) -> str:
    returned = re.sub(r"^<[\w, ]+>\s*", "", one.returned)
    words = ", ".join((f'"{owner}"', f'"{one.name}"', *(f"(Object) {p}" for p in one.parameters)))
    called = f"apart.Tests.call({words});"
    return called if returned == "void" else f"return ({returned}) {called}"


def _program_of(problem: Problem, code: str) -> str:
    if not problem.prompt:
        imports = "" if "import " in code else _IMPORTS
        return imports + re.sub(r"\bpublic\s+(?=(?:final\s+)?class\b)", "", code)
    return apart.closed(problem.prompt, code)


def _compile_apart(
    sources: Mapping[str, str], classes: Mapping[str, bytes]
) -> Mapping[str, bytes] | str:
    """Compile in a box of its own, as the tests must not lie in the program's."""
    with tempfile.TemporaryDirectory(prefix="crscore-") as folder:
        return _compile(Box(folder=Path(folder), seconds=apart.START_S), sources, classes)


def _compile(
    box: Box, sources: Mapping[str, str], classes: Mapping[str, bytes]
) -> Mapping[str, bytes] | str:
    """Compile sources, and return the class files, or the first error."""
    given, made, written = (box.folder / name for name in ("given", "made", "written"))
    for folder in (given, made, written):
        folder.mkdir(exist_ok=True)
    apart.write(given, classes)
    content = {name: text.encode("utf-8", "surrogatepass") for name, text in sources.items()}
    apart.write(written, content)
    files = (str(written / name) for name in content)
    done = box.start(
        *(_COMPILER, *_COMPILE, "-cp", str(given), "-d", str(made), *files),
        tool=_COMPILER,
        seconds=apart.START_S,
    )
    if done.code != 0:
        lines = (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()
        return next((line for line in lines if " error: " in line), "it does not compile")
    return apart.read(made)


def create() -> Callable[[Box, Problem, str], str]:
    """Create the judge.

    Raises:
        ToolNotFoundError: The JDK is missing.
    """
    for name in (_COMPILER, "java"):
        apart.need(name, package="default-jdk-headless")
    return _Judge()
