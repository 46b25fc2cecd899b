"""Tests of a Python program, with the program in another process.

Imported by `_supervisor.py` inside the sandbox, so it imports nothing of crscore. The program could
change everything in its own process: assertions, comparisons, its output, its exit code. So it
has a process of its own (`serve`), forked before the tests (`run_tests`) are read, without the
channel of the verdict. The two send each other JSON through pipes: plain values are copied, and
the program's other objects stay there and are used through proxies, which never equal a plain
value.

A message is a list: a request and its arguments, `value`, or `raised`. JSON's own values are sent
as they are, any other value as a list that begins with its kind (`_pack`).
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import re
import sys

TYPE_CHECKING = False  # importing typing would be among the slowest imports here
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# The other process writes the length of a message: without a limit, a program could fill the memory
# of its tests.
_MAX_MESSAGE = 1 << 26
"""Maximum number of bytes of one message."""
_MAX_PRINTED = 1 << 20
"""Maximum number of bytes of the program's output kept between two answers."""
# Matches `<f8`, `|b1`, `<U5`, `|S3`, `<M8[ns]`; not `|O`, whose items are pointers into the other
# process, nor records (`|V8`).
_ARRAY_TYPE = re.compile(r"[<>|=][biufcSUmM]\d+(\[\w+\])?")
"""Types of arrays that are copied."""
_COLLECTIONS: dict[str, type] = {"l": list, "t": tuple, "s": set, "z": frozenset}
"""Collections that are copied, by their kind in a message."""
_VALUES: dict[str, tuple[Any, str]] = {
    "builtins.bytes": (lambda value: [value.hex()], "fromhex"),
    "builtins.bytearray": (lambda value: [value.hex()], "fromhex"),
    "builtins.complex": (lambda value: [value.real, value.imag], ""),
    "builtins.range": (lambda value: [value.start, value.stop, value.step], ""),
    "datetime.date": (lambda value: [value.isoformat()], "fromisoformat"),
    "datetime.datetime": (lambda value: [value.isoformat()], "fromisoformat"),
    "datetime.time": (lambda value: [value.isoformat()], "fromisoformat"),
    "datetime.timedelta": (lambda value: [value.days, value.seconds, value.microseconds], ""),
    "decimal.Decimal": (lambda value: [str(value)], ""),
    "fractions.Fraction": (lambda value: [str(value)], ""),
    "pathlib.PosixPath": (lambda value: [str(value)], ""),
    "pathlib.PurePosixPath": (lambda value: [str(value)], ""),
    "pathlib._local.PosixPath": (lambda value: [str(value)], ""),  # their names in Python 3.13
    "pathlib._local.PurePosixPath": (lambda value: [str(value)], ""),
    "uuid.UUID": (lambda value: [str(value)], ""),
}
"""Immutable values that are copied, by class: how to write one as JSON, and the class method that
reads it, or "" for the class itself."""
# Not `unittest`: a test that raises its SkipTest counts as successful.
_ERROR_MODULES = {
    "_csv", "binascii", "configparser", "decimal", "ipaddress", "json.decoder", "re", "statistics",
    "struct",
}  # fmt: skip
"""Modules other than `builtins` whose exceptions are the same in both processes."""


class Unsupported(Exception):  # noqa: N818  (its name is shown to users)
    """Raised for a value that cannot be passed to the program."""


class ProgramError(Exception):
    """Base of exceptions of the program that cannot be raised as they are.

    A StopIteration would end the iterators of the tests; a GeneratorExit is ignored by some.
    """


class ProgramEndedError(Exception):
    """Raised when the program's process is gone."""


class _Printed(io.BytesIO):
    """Output of the program; beyond the limit, it is discarded."""

    def write(self, data: Any) -> int:
        return super().write(data) if self.tell() < _MAX_PRINTED else len(data)

    def take(self) -> str:
        text = self.getvalue().decode("utf-8", "replace")
        self.seek(0)
        self.truncate()
        return text


class Peer:
    """One end of the two pipes: asks the other process, and answers it while it waits."""

    def __init__(self, source: int, sink: int, *, printed: _Printed | None = None) -> None:
        self.source = os.fdopen(source, "rb")
        self.sink = os.fdopen(sink, "wb")
        self.printed = printed
        self.trusts = printed is not None
        """Whether this is the program, whose tests may use its objects."""
        self.held: dict[int, Any] = {}
        """Objects of this process that the other one uses; kept, so that their ids stay theirs."""
        self.own_errors: dict[int, type] = {}
        """Classes of exceptions that the other process has copies of; kept for their ids."""
        self.errors: dict[int, type] = {}
        """Copies of the other process's classes of exceptions, by id there."""

    def ask(self, request: str, *values: Any) -> Any:
        """Send a request and return the other side's answer."""
        self._send([request, *map(self._pack, values)])
        while True:
            kind, *fields = self._receive()
            # While it waits, the program may call a function that a test passed to it.
            if kind not in {"value", "raised"}:
                self._answer(kind, fields)
                continue
            if not self.trusts:
                # The last field is the program's output, for tests that capture the output.
                sys.stdout.write(str(fields.pop()))
            if kind == "value":
                return self._unpack(fields[0])
            raise _error(*map(self._unpack, fields))

    def serve(self) -> None:
        """Answer requests until the other side is gone."""
        while True:
            kind, *fields = self._receive()
            self._answer(kind, fields)

    def _answer(self, kind: str, packed: list[Any]) -> None:
        try:
            # A program may ask for one thing only: a call of a function that the tests passed.
            passed = isinstance(packed[0], list) and packed[0][:1] == ["yours"]
            if not self.trusts and not (kind == "call" and passed):
                raise Unsupported(kind)
            result = _REQUESTS[kind](*map(self._unpack, packed))
            answer = ["value", self._pack(result, with_handles=self.trusts)]
        except (ProgramEndedError, BrokenPipeError):
            raise
        except BaseException as exc:  # noqa: BLE001  (an exit of the program is its failure)
            text = _text_of(exc)
            details: list[Any] = [(text,), {}]
            if self.trusts:
                names = set(dir(exc)) - set(dir(BaseException))
                details = [exc.args, {name: getattr(exc, name, None) for name in names}]
            answer = ["raised", *map(self._pack, (type(exc), *details, text))]
        self._send([*answer, self.printed.take()] if self.printed is not None else answer)

    def _send(self, message: list[Any]) -> None:
        data = json.dumps(message).encode()
        self.sink.write(len(data).to_bytes(8, "big") + data)
        self.sink.flush()

    def _receive(self) -> list[Any]:
        # A closed pipe reads as b"", which is 0.
        size = int.from_bytes(self.source.read(8), "big")
        if not 0 < size <= _MAX_MESSAGE:
            raise ProgramEndedError
        data = self.source.read(size)
        if len(data) < size:
            raise ProgramEndedError
        message: list[Any] = json.loads(data)
        return message

    def _pack(self, value: Any, *, with_handles: bool = True) -> Any:
        """Return a value as JSON: a copy of a plain value, otherwise a handle, if allowed."""

        def pack_all(values: Iterable[Any]) -> list[Any]:
            return [self._pack(item, with_handles=with_handles) for item in values]

        if value is None or isinstance(value, bool | int | float | str):
            return value
        packed = self._pack_class(value) if isinstance(value, type) else _pack_copy(value, pack_all)
        if packed is not None:
            return packed
        # Tests pass their functions, never another object.
        if not with_handles or not (self.trusts or callable(value)):
            raise Unsupported(f"the test passes {type(value).__name__}")
        self.held[id(value)] = value
        return ["mine", id(value)]

    def _pack_class(self, kind: type) -> list[Any] | None:
        """Return a built-in class by its name, any other exception by its bases, else None."""
        module, is_error = kind.__module__, issubclass(kind, BaseException)
        is_shared = module == "builtins" or (is_error and module in _ERROR_MODULES)
        if is_shared and vars(sys.modules[module]).get(kind.__name__) is kind:
            return ["k", module, kind.__name__]
        if not is_error:
            return None
        self.own_errors[id(kind)] = kind
        bases = (base for base in kind.__bases__ if issubclass(base, BaseException))
        return ["x", id(kind), kind.__name__, *map(self._pack_class, bases)]

    def _unpack(self, packed: Any) -> Any:  # noqa: PLR0911  (a line for each kind)
        if not isinstance(packed, list):
            return packed
        tag, *fields = packed
        if tag == "mine":
            return Proxy(self, int(fields[0]))
        if tag == "yours":
            return self.held[fields[0]]
        if tag == "d":
            return {self._unpack(key): self._unpack(value) for key, value in fields}
        if tag == "x":
            number, name, *bases = fields
            if number not in self.errors:
                self.errors[number] = _copied_error(name, *map(self._unpack, bases))
            return self.errors[number]
        if tag in _COLLECTIONS:
            return _COLLECTIONS[tag](map(self._unpack, fields))
        if tag == "p":
            return _table(*map(self._unpack, fields))
        return _READERS[tag](*fields)


def _pack_copy(  # noqa: PLR0911  (a line for each kind)
    value: Any, pack_all: Callable[[Iterable[Any]], list[Any]]
) -> list[Any] | None:
    """Return a full copy of a value as JSON; None for an object of another class."""
    for tag, collection in _COLLECTIONS.items():
        if isinstance(value, collection):
            # The base class iterates: a subclass may define `__iter__`.
            return [tag, *pack_all(collection.__iter__(value))]  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return ["d", *map(pack_all, dict.items(value))]
    kind = type(value)
    if kind is Proxy:
        return ["yours", value._crscore_number]
    name = f"{kind.__module__}.{kind.__qualname__}"
    if name in _VALUES:
        return ["v", name, *_VALUES[name][0](value)]
    np, pd = sys.modules.get("numpy"), sys.modules.get("pandas")
    if pd is not None and kind in {pd.Series, pd.DataFrame}:
        return ["p", *pack_all(_columns(pd, value))]
    if np is not None and (kind is np.ndarray or isinstance(value, np.generic)):
        array = np.asarray(value)
        if _ARRAY_TYPE.fullmatch(array.dtype.str):
            shape = list(array.shape) if kind is np.ndarray else None
            return ["y", array.dtype.str, shape, array.tobytes().hex()]
    return ["e"] if value is ... else None


def _value(name: str, *arguments: Any) -> Any:
    maker = _VALUES[name][1]
    kind = _find_class(*name.rsplit(".", 1))
    return (getattr(kind, maker) if maker else kind)(*arguments)


def _find_class(module: str, name: str) -> Any:
    __import__(module)
    return vars(sys.modules[module])[name]


def _find_error_or_built_in(module: str, name: str) -> type:
    kind = _find_class(module, name) if module in {"builtins", *_ERROR_MODULES} else None
    # `eval` is a name of `builtins`, too.
    if not isinstance(kind, type) or (module != "builtins" and not issubclass(kind, Exception)):
        raise Unsupported(name)
    return kind


def _copied_error(name: str, *bases: type) -> type:
    """Make a class that stands for an exception of the other process, without its methods."""

    def text(error: Any) -> str:
        return str(vars(error).get("_crscore_text", BaseException.__str__(error)))

    return type(name, bases, {"__str__": text})


def _error(kind: type, arguments: Any, attributes: dict[str, Any], text: str) -> BaseException:
    """Make the exception that the program raised, as the tests can catch and look at it."""
    ends = issubclass(kind, StopIteration | StopAsyncIteration)
    if ends or not issubclass(kind, Exception | SystemExit):
        kind = _copied_error(kind.__name__, ProgramError)
    error: BaseException = kind.__new__(kind, *arguments)
    error.args = arguments
    for name, value in attributes.items():
        # Not `__class__`. An OSError would show a second file name that is set to None.
        if name.startswith("_") or (value is None and hasattr(error, name)):
            continue
        # Some attributes take one type only, or cannot be set.
        with contextlib.suppress(AttributeError, TypeError, ValueError):
            setattr(error, name, value)
    vars(error)["_crscore_text"] = text
    return error


def _array(dtype: str, shape: list[int] | None, content: str) -> Any:
    import numpy as np  # noqa: PLC0415

    if not _ARRAY_TYPE.fullmatch(dtype):
        raise Unsupported(dtype)
    array = np.frombuffer(bytes.fromhex(content), dtype)
    # A copy, because `frombuffer` gives a read-only array.
    return array[0] if shape is None else array.reshape(shape).copy()


def _columns(pd: Any, table: Any) -> tuple[Any, ...]:
    """Return whether a table is one column, its index, and the names and cells of its columns."""
    is_column = type(table) is pd.Series
    columns = [table] if is_column else [table.iloc[:, i] for i in range(table.shape[1])]
    arrays = (column.to_numpy() for column in columns)
    cells = [array.tolist() if array.dtype.kind == "O" else array for array in arrays]
    names = [table.name] if is_column else table.columns.tolist()
    return is_column, table.index.tolist(), names, cells


def _table(is_column: Any, index: Any, names: Any, cells: Any) -> Any:
    import pandas as pd  # noqa: PLC0415

    if is_column is True:
        return pd.Series(cells[0], index=index, name=names[0])
    # Columns are numbered first, because two columns of a table may have the same name.
    frame = pd.DataFrame(dict(enumerate(cells)), index=index)
    frame.columns = names
    return frame


_READERS: dict[str, Any] = {
    "e": lambda: ..., "k": _find_error_or_built_in, "v": _value, "y": _array,
}  # fmt: skip
"""Functions that read a copied value, by its kind in a message."""


def _load(source: str) -> list[Any]:
    """Run a program and return its names with their values, and the modules that it imported."""
    scope: dict[str, Any] = {"__name__": "candidate"}
    exec(compile(source, "<program>", "exec"), scope)  # noqa: S102  (the purpose, in the sandbox)
    modules = {
        name: str(value.__name__)
        for name, value in scope.items()
        # Not a module that the program made or replaced: that is one of its values.
        if type(value) is type(sys) and sys.modules.get(vars(value).get("__name__", "")) is value
    }
    values = {k: v for k, v in scope.items() if not k.startswith("__") and k not in modules}
    return [values, modules]


def _call(function: Any, arguments: list[Any], keywords: dict[str, Any]) -> list[Any]:
    result = function(*arguments, **keywords)
    # The arguments go back too: a program may sort a list in place, and the test looks at the list.
    return [result, [*arguments, *keywords.values()]]


def _next(iterator: Any) -> list[Any]:
    """Return the next item, or an empty list at the end."""
    try:
        return [next(iterator)]
    except StopIteration:
        return []


_REQUESTS: dict[str, Any] = {
    "load": _load, "call": _call, "get": getattr, "next": _next, "iter": iter, "len": len,
    "bool": bool, "str": str, "repr": repr, "hash": hash, "getitem": lambda value, key: value[key],
    "eq": lambda left, right: bool(left == right),
}  # fmt: skip


class Proxy:
    """Object of the other process. It never equals a plain value, whatever it claims there.

    It has no order or arithmetic either: the program itself would decide `abs(f(x) - 0.5) < 1e-6`.
    """

    __slots__ = ("_crscore_number", "_crscore_peer")  # names that no object uses

    def __init__(self, peer: Peer, number: int) -> None:
        object.__setattr__(self, "_crscore_peer", peer)
        object.__setattr__(self, "_crscore_number", number)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        result, changed = self._crscore_peer.ask("call", self, list(arguments), keywords)
        for old, new in zip((*arguments, *keywords.values()), changed, strict=True):
            if type(old) is list and type(new) is list:
                old[:] = new
            elif type(old) in {dict, set} and type(new) is type(old):
                old.clear()
                old.update(new)
        return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._crscore_peer.ask("get", self, name)

    def __eq__(self, value: object) -> bool:
        return type(value) is Proxy and self._crscore_peer.ask("eq", self, value) is True

    def __ne__(self, value: object) -> bool:
        return not self == value

    def __next__(self) -> Any:
        for item in self._crscore_peer.ask("next", self):
            return item
        raise StopIteration

    def __iter__(self) -> Any:
        return self._crscore_peer.ask("iter", self)

    def __getitem__(self, key: Any) -> Any:
        return self._crscore_peer.ask("getitem", self, key)

    # Python itself refuses a hash, length, truth or text of another type.
    def __hash__(self) -> int:
        return self._crscore_peer.ask("hash", self)  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return self._crscore_peer.ask("len", self)  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return self._crscore_peer.ask("bool", self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return self._crscore_peer.ask("str", self)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return self._crscore_peer.ask("repr", self)  # type: ignore[no-any-return]


def _text_of(exc: BaseException) -> str:
    try:
        return str(exc)
    except BaseException:  # noqa: BLE001  (its `__str__` is the program's)
        return ""


def _shared(source: str) -> dict[str, Any]:
    """Run the code of the problem itself and return its names; if it fails, return no names."""
    scope: dict[str, Any] = {"__name__": "tests"}
    try:
        exec(compile(source, "<prompt>", "exec"), scope)  # noqa: S102  (trusted as the tests are)
    except Exception:  # noqa: BLE001  (a prompt may end in the middle of a function)
        scope = {"__name__": "tests"}
    return scope


def serve(source: int, sink: int) -> None:
    """Become the process of the program; this never returns."""
    printed = _Printed()
    sys.stdout = io.TextIOWrapper(printed, encoding="utf-8", errors="replace", write_through=True)
    # JSON has integers in decimal; by default Python reads and writes at most 4,300 digits.
    sys.set_int_max_str_digits(0)
    # As `site` defines them, which is not imported.
    vars(builtins).update(exit=sys.exit, quit=sys.exit, help=lambda *_: None)
    try:
        Peer(source, sink, printed=printed).serve()
    finally:
        # Not `sys.exit`, which would run the program's functions of `atexit`.
        os._exit(0)


def run_tests(
    source: int,
    sink: int,
    *,
    program: str,
    tests: str,
    prompt: str,
    entry: str,
    test_names: list[str],
    solution: list[str] | None,
) -> str | None:
    """Run tests with a program in the other process.

    Args:
        source: Descriptor to read the other process's answers from.
        sink: Descriptor to write requests to.
        program: Code of the program.
        tests: Code of the tests.
        prompt: Code that both share.
        entry: Name of the function to test; may be empty.
        test_names: Names that the tests read and do not define.
        solution: Names that a known solution defines; None without one.

    Returns:
        The class and text of the exception that ended the tests; None where they passed.
    """
    sys.set_int_max_str_digits(0)
    peer = Peer(source, sink)
    try:
        values, modules = peer.ask("load", program)
        scope = _shared(prompt)
        for name in test_names:
            # The name decides: `numpy.ma` in place of `np` would find masked values equal.
            module = _ALIASES.get(name, name)
            if name not in scope and module in _MODULES and modules.get(name) == module:
                scope[name] = __import__(module)
        for name in _tested(test_names, values, scope, entry, solution):
            scope[name] = values[name]
        exec(compile(tests, "<tests>", "exec"), scope)  # noqa: S102  (the purpose, in the sandbox)
    except (ProgramEndedError, BrokenPipeError):
        return "the program ended before its tests"
    except BaseException as exc:  # noqa: BLE001  (every other end is a failure)
        return ": ".join(filter(None, (type(exc).__name__, _text_of(exc))))
    return None


_MODULES = sys.stdlib_module_names | {"numpy", "pandas", "scipy"}
"""Modules that tests may use because the program imports them."""
_ALIASES = {"np": "numpy", "pd": "pandas", "dt": "datetime"}
"""Usual alias of a module -> its name."""


def _tested(
    test_names: Iterable[str],
    values: dict[str, Any],
    scope: dict[str, Any],
    entry: str,
    solution: list[str] | None,
) -> list[str]:
    """Return the names of the program that its tests use.

    Raises:
        Unsupported: Several names could be the tested one. The others could be helpers of the
            tests, with which the program would judge itself.
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
        raise Unsupported(f"the program defines {listed}; give an entry_point or a solution")
    return names
