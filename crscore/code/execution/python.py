"""Judges Python programs, which run on crscore's own interpreter with its packages.

The tests run in a separate process (`_python_tester.py`), which a program cannot change.
"""

import ast
import re
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache

from crscore.code.execution import apart
from crscore.code.execution.box import Box
from crscore.code.execution.programs import Problem

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def judge(box: Box, problem: Problem, code: str) -> str:
    """Run a program with its tests and return the result, as `apart.run_apart` does."""
    defined = re.findall(r"^(?:async )?def (\w+)", problem.prompt, re.MULTILINE)
    names, special_methods = _find_definitions(problem.prompt + (problem.solution or ""))
    arguments = {
        "program": problem.prompt + code,
        "tests": problem.tests,
        "prompt": problem.prompt,
        "entry": problem.entry_point or (defined[-1] if defined else ""),
        "test_names": _find_used_names(problem.tests),
        "solution": None if problem.solution is None else names,
        "operators": special_methods,
    }
    packages = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    return apart.run_apart(box, tool="python", packages=tuple(packages), python=arguments)


@lru_cache(maxsize=64)
def _find_used_names(tests: str) -> tuple[str, ...]:
    """Return the names that code reads and does not define anywhere."""
    read, defined = {}, set()  # a dict keeps the order of the names
    for node in _walk(tests):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read[name] = True
            case ast.Name(id=name) | ast.arg(arg=name) | ast.ExceptHandler(name=name):
                defined.add(name)
            # `import os.path` binds `os`.
            case ast.alias(name=name, asname=alias):
                defined.add(alias or name.partition(".")[0])
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                defined.add(name)
            case ast.ClassDef(name=name):
                defined.add(name)
    return tuple(name for name in read if name not in defined)


@lru_cache(maxsize=64)
def _find_definitions(code: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what code defines: names of functions, classes and values, and special methods.

    The special methods, such as `__add__`, are the operators of its objects.
    """
    nodes = list(_walk(code))
    body = nodes[0].body if nodes and isinstance(nodes[0], ast.Module) else []
    names = [node.name for node in body if isinstance(node, _DEFINITIONS)]
    values = (node.targets for node in body if isinstance(node, ast.Assign))
    names += (target.id for (target, *_) in values if isinstance(target, ast.Name))
    all_names = (str(getattr(node, "name", getattr(node, "id", ""))) for node in nodes)
    return tuple(names), tuple({name for name in all_names if name.startswith("__")})


def _walk(code: str) -> Iterator[ast.AST]:
    with warnings.catch_warnings():
        # Invalid escapes such as "\d" cause a warning.
        warnings.simplefilter("ignore")
        try:
            yield from ast.walk(ast.parse(code))
        # A null character raises ValueError; code that is nested too deeply, one of the last two.
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return


def create() -> Callable[[Box, Problem, str], str]:
    """Create the judge."""
    return judge
