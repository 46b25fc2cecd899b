"""Runs the tests of a Python program, with the program in another process.

`_supervisor.py` imports this module inside the sandbox, where crscore cannot be imported. So this
module imports no other code of crscore than its neighbour `_peer.py`.

A program can change everything in its process: assertions, comparisons, the output, the exit code.
So it runs in a separate process (`serve`), which is forked before the tests (`run_tests`) are read,
and which cannot write the verdict. The two processes use each other's values through `_peer.py`.
"""

from __future__ import annotations

import ast
import builtins
import functools
import io
import os
import pickle
import sys
import types
import warnings

TYPE_CHECKING = False  # importing typing would be among the slowest imports here
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

if TYPE_CHECKING or __package__:
    from crscore.code.execution import _peer
else:
    # In the sandbox, `_peer` is a module without a package.
    import _peer

_PROGRAM_MODULE = "candidate"


def _load(source: str, prompt_names: list[str], with_logs: Any) -> list[Any]:
    """Run a program.

    Returns:
        The values of the program's names, and the full names of the modules that it imported, both
        as dictionaries by name.
    """
    # The module is added to `sys.modules`, because dataclasses look for their module there.
    module = sys.modules[_PROGRAM_MODULE] = types.ModuleType(_PROGRAM_MODULE)
    scope = vars(module)
    if with_logs:
        _peer.report_logs()
    try:
        exec(compile(source, "<program>", "exec"), scope)  # noqa: S102  (the purpose, in the sandbox)
    except SystemExit as end:
        # A script may end with `sys.exit()`; tests that need names after it fail.
        if end.code not in {None, 0}:
            raise
    _peer.PEER.prompt = _find_classes(scope, prompt_names)
    names = {name: value for name, value in scope.items() if not name.startswith("__")}
    modules = {k: str(v.__name__) for k, v in names.items() if type(v) is types.ModuleType}
    return [{k: v for k, v in names.items() if k not in modules}, modules]


_peer.REQUESTS["load"] = _load


def _find_classes(scope: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: scope[name] for name in names if isinstance(scope.get(name), type)}


def serve(source: int, sink: int) -> None:
    """Become the process of the program; this never returns."""
    peer = _peer.PEER = _peer.Peer(source, sink, is_program=True)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(stream, encoding="utf-8", errors="replace", write_through=True)
        for stream in peer.printed
    )
    sys.stdin = io.TextIOWrapper(io.BufferedReader(_peer.Lines()), "utf-8", "surrogateescape")
    # JSON has integers in decimal. By default, Python reads and writes at most 4,300 digits:
    # https://docs.python.org/3/library/stdtypes.html#int-max-str-length
    sys.set_int_max_str_digits(0)
    # `site`, which is not imported, would define these.
    vars(builtins).update(exit=sys.exit, quit=sys.exit, help=lambda *_: None)
    warnings.simplefilter("always")
    warnings.showwarning = lambda message, *_, **__: peer.ask("warn", message)
    try:
        peer.serve()
    finally:
        # `sys.exit` would run the functions that the program registered with `atexit`.
        os._exit(0)


def _guard_pickle() -> None:
    """Make `pickle` safe for files that the program wrote: reading them runs no code of theirs."""

    def find_class(_: Any, module: str, name: str) -> Any:
        # Reject all other classes and functions that a file may name:
        # https://docs.python.org/3/library/pickle.html#restricting-globals
        of_tests = vars(sys.modules[_peer.TESTS_MODULE]).get(name) if module == "__main__" else None
        return of_tests if isinstance(of_tests, type) else _peer.copied_class(f"{module}.{name}")

    # pandas, NumPy and joblib derive their readers from this class, which is not written in C.
    module: Any = pickle
    module._Unpickler.find_class = find_class
    module.Unpickler, module.load, module.loads = module._Unpickler, module._load, module._loads


def _watch(tests: str) -> None:
    """Let random seeds and patches of the tests also take effect in the program's process."""
    modules: list[Any] = [__import__("random")] if "seed" in tests else []
    if modules and "numpy" in tests:
        modules.append(__import__("numpy").random)
    for module in modules:
        module.seed = _extend(module.seed, lambda _: setattr(_peer.PEER, "is_seeded", True))
    if "patch" in tests:
        patch = __import__("unittest.mock").mock._patch
        for name, request in (("__enter__", "replace"), ("__exit__", "restore")):
            then = functools.partial(_peer.patch_program, request=request)
            setattr(patch, name, _extend(getattr(patch, name), then))


def _extend(function: Any, then: Any) -> Any:
    """Return a function that calls `function`, and after it `then` with the first argument."""

    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        result = function(*arguments, **keywords)
        then(arguments[0] if arguments else None)
        return result

    return wrapper


def run_tests(  # noqa: PLR0913
    source: int,
    sink: int,
    *,
    program: str,
    tests: str,
    prompt: str,
    entry: str,
    test_names: list[str],
    solution: list[str] | None,
    operators: list[str],
) -> str | None:
    """Run tests with a program in the other process.

    Args:
        source: Descriptor to read the other process's answers from.
        sink: Descriptor to write requests to.
        program: Code of the program.
        tests: Code of the tests.
        prompt: Code that the program and the tests share.
        entry: Name of the function to test; may be empty.
        test_names: Names that the tests read and do not define.
        solution: Names that the known solution defines; None if no solution is known.
        operators: Special methods that the known solution defines.

    Returns:
        The class and text of the exception that ended the tests; None if they passed.
    """
    sys.set_int_max_str_digits(0)
    sys.argv = [""]
    _guard_pickle()
    _watch(tests)
    peer = _peer.PEER = _peer.Peer(source, sink, is_program=False)
    peer.operators = frozenset(operators)
    peer.environment = dict(os.environ) if "environ" in tests else None
    peer.has_solution = solution is not None
    try:
        scope = _run_prompt(prompt)
        classes = _find_classes(scope, scope)
        peer.prompt = {k: v for k, v in classes.items() if v.__module__ == _peer.TESTS_MODULE}
        values, modules = peer.ask("load", program, [*peer.prompt], "assertLogs" in tests)
        for name in test_names:
            # A module is used only under its usual name, because a program's `np` could be
            # `numpy.ma`, where masked values are equal.
            module = _ALIASES.get(name, name)
            if name not in scope and module in _MODULES and modules.get(name) == module:
                scope[name] = __import__(module)
            # A class such as `OrderedDict` was read as this process's own class, so it is safe.
            kind = values.get(name)
            is_known = type(kind) is type and _peer.is_standard(kind) and kind.__name__ == name
            if name not in scope and is_known:
                scope[name] = kind
        for name in _select_names(test_names, values, scope, entry, solution):
            scope[name] = values[name]
        exec(compile(tests, "<tests>", "exec"), scope)  # noqa: S102  (the purpose, in the sandbox)
        failure = _run_cases(tests, scope)
        if failure is None and peer.failure is not None:
            failure = _describe(peer.failure)
        return failure
    except (_peer.ProgramEndedError, BrokenPipeError):
        return "the program ended before its tests"
    except BaseException as exc:  # noqa: BLE001  (every other end is a failure)
        # `unittest.main()` ends with a SystemExit. If the program raised it, it has the attribute
        # `_crscore_text`, which `_peer.py` sets.
        if type(exc) is SystemExit and exc.code in {None, 0} and "_crscore_text" not in vars(exc):
            return None
        return _describe(exc)


def _describe(exc: BaseException) -> str:
    return ": ".join(filter(None, (type(exc).__name__, _peer.text_of(exc))))


def _run_prompt(prompt: str) -> dict[str, Any]:
    """Run the prompt and return its names; if it fails, return no names."""
    module = sys.modules[_peer.TESTS_MODULE] = types.ModuleType(_peer.TESTS_MODULE)
    scope = vars(module)
    try:
        exec(compile(prompt, "<prompt>", "exec"), scope)  # noqa: S102  (trusted as the tests are)
        # The last statement of the prompt is what programs complete.
        last = ast.parse(prompt).body[-1:]
        scope.pop(getattr(last[0], "name", ""), None) if last else None
    except Exception:  # noqa: BLE001  (a prompt may end in the middle of a function)
        scope.clear()
        scope["__name__"] = _peer.TESTS_MODULE
    return scope


def _run_cases(tests: str, scope: dict[str, Any]) -> str | None:
    """Run the cases of `unittest` that tests leave to a runner, as BigCodeBench's do.

    Returns:
        The last line of the first failure; None if no case fails.
    """
    unittest = sys.modules.get("unittest")
    if unittest is None or any(name in tests for name in ("unittest.main", "Runner", "TestResult")):
        return None
    result, load = unittest.TestResult(), unittest.defaultTestLoader.loadTestsFromTestCase
    for kind in scope.values():
        if isinstance(kind, type) and issubclass(kind, unittest.TestCase):
            load(kind).run(result)
    failures = [*result.failures, *result.errors]
    return failures[0][1].strip().splitlines()[-1] if failures else None


_MODULES = sys.stdlib_module_names | {"numpy", "pandas", "scipy"}
"""Modules that tests may use because the program imports them."""
_ALIASES = {"np": "numpy", "pd": "pandas", "dt": "datetime"}
"""Names of modules by their usual aliases."""


def _select_names(
    test_names: Iterable[str],
    values: dict[str, Any],
    scope: dict[str, Any],
    entry: str,
    solution: list[str] | None,
) -> list[str]:
    """Return the names that the tests use from the program.

    Raises:
        Unsupported: Several names could be the tested one, or the only one is also a name of
            Python. The tests may need such a name, so the program could replace what judges it.
    """
    if entry:
        return [entry] if entry in values else []
    names = [name for name in test_names if name in values and name not in scope]
    if solution is not None:
        return [name for name in names if name in solution]
    # A program that defines `sum` or `math` would replace names that the tests themselves may need.
    builtin = [n for n in names if hasattr(builtins, n) or n in sys.stdlib_module_names]
    if len(names) > 1 or builtin:
        listed = " and ".join(names)
        raise _peer.Unsupported(f"the program defines {listed}; give an entry_point or a solution")
    return names
