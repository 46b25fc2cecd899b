"""Runs programs in Java with the JDK.

The tests are compiled once for each problem, with stubs that call the program's process. The stubs
replace the method that the prompt begins or, without a prompt, all methods of the program that the
tests use; only their signatures are taken from the program.

Arguments and results can be boxed primitives, strings, big numbers, arrays, collections of
`java.util`, Optional and tuples (`Channel.java`). Tests that pass objects of other classes fail,
and the message says so. The library `org.javatuples` is replaced by our own classes Unit to
Quintet, which have the methods that programs use.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Final

from crscore.code.execution import apart
from crscore.code.execution.box import Box
from crscore.code.execution.programs import Problem
from crscore_lab.languages import stubs

_COMPILER: Final = "javac"
_QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xss16m")
_COMPILE: Final = (
    *(f"-J{option}" for option in (*_QUICK, "-Xmx384m")),
    *("-proc:none", "-nowarn", "-g:none", "-encoding", "UTF-8", "-XDuseUnsharedTable", "-cp", "."),
    *("-d", "compiled"),
)
# Without `-ea`, Java skips `assert`, and such tests would pass.
_RUN: Final = ("java", *_QUICK, "-Xmx256m", "-ea", "-cp", ".")
_SOURCES: Final = ("Channel.java", "Tests.java", "Program.java", "Tuple.java")
_TUPLES: Final = ("Unit", "Pair", "Triplet", "Quartet", "Quintet")
_CLASS: Final = re.compile(r"\b(?:class|interface|enum|record)\s+(\w+)")
_IMPORTS: Final = (
    "import java.util.*;import java.util.stream.*;import java.math.*;import org.javatuples.*;\n"
)


def judge(box: Box, problem: Problem, code: str) -> str:
    """Run a program with its tests and return the result."""
    support = _compile_support()
    tests = stubs.compile_tests(_compile_tests, _tests_of(problem, code))
    program = _compile({"Problem.java": _program_of(problem, code)}, support)
    stubs.write(box.folder / apart.TESTS, {**support, **tests})
    stubs.write(box.folder / apart.PROGRAM, {**program, **support})
    names = (name.removesuffix(".class").replace("/", ".") for name in (*support, *tests))
    return apart.run_apart(
        box, (*_RUN, "apart.Tests", *names), (*_RUN, "apart.Program"), tool="java"
    )


@cache
def _compile_support() -> Mapping[str, bytes]:
    """Compile the classes by which tests and program exchange values, and the tuples."""
    tuples = {f"{name}.java": _write_tuple(name, at + 1) for at, name in enumerate(_TUPLES)}
    return _compile({name: stubs.read_support(f"java/{name}") for name in _SOURCES} | tuples, {})


@lru_cache(maxsize=256)
def _compile_tests(source: str) -> Mapping[str, bytes]:
    return _compile({"Problem.java": source}, _compile_support())


def _write_tuple(name: str, size: int) -> str:
    """Write the class of tuples with `size` items."""
    kinds = [chr(ord("A") + index) for index in range(size)]
    generic, values = ", ".join(kinds), ", ".join(f"value{index}" for index in range(size))
    parameters = ", ".join(f"{kind} value{index}" for index, kind in enumerate(kinds))
    generic_type = f"{name}<{generic}>"
    lines = [
        f"package org.javatuples; public final class {generic_type} extends Tuple {{",
        f"public {name}({parameters}) {{ super({values}); }}",
        f"public static <{generic}> {generic_type} with({parameters})",
        f"{{ return new {name}<>({values}); }}",
        f"public int getSize() {{ return {size}; }}",
    ]
    for index, kind in enumerate(kinds):
        changed = ", ".join("value" if n == index else f"getValue{n}()" for n in range(size))
        kinds_after = ", ".join("X" if n == index else kinds[n] for n in range(size))
        lines += [
            f"public {kind} getValue{index}() {{ return at({index}); }}",
            f"public <X> {name}<{kinds_after}> setAt{index}(X value)"
            f" {{ return new {name}<>({changed}); }}",
        ]
    return "\n".join((*lines, "}"))


def _tests_of(problem: Problem, code: str) -> str:
    """Write the tests with stubs in place of the program."""
    functions = stubs.find_tested(problem, code)
    is_begun = stubs.last_function(problem.prompt) is not None
    classes = _CLASS.findall(stubs.keep_only_code(problem.prompt if is_begun else code))
    if is_begun:
        return stubs.stub_tests(problem, _body((classes or ["Problem"])[-1], functions[0]))
    if not classes:
        raise apart.RejectedError("no class to test was found")
    owner = classes[0]
    calls = "\n".join(f"{function.head} {{ {_body(owner, function)} }}" for function in functions)
    return f"{_IMPORTS}{problem.tests}\nclass {owner} {{\n{calls}\n}}\n"


def _body(owner: str, function: stubs.Function) -> str:
    # Without the type parameters of `<T> List<T>`, which Java does not allow in a cast.
    returned = re.sub(r"^<[\w, ]+>\s*", "", function.returned)
    arguments = (f"(Object) {name}" for name in function.parameters)
    listed = ", ".join((f'"{owner}"', f'"{function.name}"', *arguments))
    call = f"apart.Tests.call({listed});"
    return call if returned == "void" else f"return ({returned}) {call}"


def _program_of(problem: Problem, code: str) -> str:
    if not problem.prompt:
        imports = "" if "import " in code else _IMPORTS
        # Without `public`, because Java requires a public class to be in a file of the same name,
        # and all code here is in `Problem.java`.
        return imports + re.sub(r"\bpublic\s+(?=(?:final\s+)?class\b)", "", code)
    return stubs.join_code(problem.prompt, code)


def _compile(sources: Mapping[str, str], classes: Mapping[str, bytes]) -> Mapping[str, bytes]:
    return stubs.build((_COMPILER, *_COMPILE, *sources), sources, classes, tool=_COMPILER)


def create() -> Callable[[Box, Problem, str], str]:
    """Return `judge`, which runs a program with its tests.

    Raises:
        ToolNotFoundError: The JDK is not installed.
    """
    for name in (_COMPILER, "java"):
        stubs.require_program(name, package="default-jdk-headless")
    return judge
