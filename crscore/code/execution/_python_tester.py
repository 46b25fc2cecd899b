"""Tests of a Python program, with the program in another process.

Imported by `_supervisor.py` inside the sandbox, so it imports nothing of crscore. The program could
change everything in its own process: assertions, comparisons, what is printed, how it exits. So it
has a process of its own (`serve`), forked before the tests (`run_tests`) are read, without the
channel of the verdict. What it returns crosses a pipe as plain data; its other objects stay there
and are used by proxies, which equal no plain value. What it prints comes back with each answer.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import re
import sys

TYPE_CHECKING = False  # importing typing would be among the slowest imports here
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# The other process writes the length of a message: without a limit, a program could fill the memory
# of its tests.
_MAX_MESSAGE = 1 << 26
"""Bytes of one message."""
_MAX_PRINTED = 1 << 20
"""Bytes kept of what the program prints between two answers."""
_MAX_DEPTH = 200
# Takes `<f8`, `|b1`, `<U5`, `|S3`, `<M8[ns]`; not `|O`, whose items are pointers into the other
# process, nor records (`|V8`).
_ARRAY_TYPE = re.compile(r"[<>|=][biufcSUmM]\d+(\[\w+\])?")
"""Types of arrays that cross as a whole."""
# The base class iterates: a subclass could define `__iter__`, which would be the program's code.
_COLLECTIONS: tuple[tuple[type, str, Any], ...] = (
    (list, "l", list.__iter__), (tuple, "t", tuple.__iter__),
    (set, "s", set.__iter__), (frozenset, "z", frozenset.__iter__),
)  # fmt: skip


class Unsupported(Exception):  # noqa: N818  (its name is shown to users)
    """Raised for a value that cannot be passed to the program."""


class ProgramError(Exception):
    """Exception that the program raised, by the text that it gave."""


def _error(name: str, text: str) -> ProgramError:
    """Make the error of an exception, which tests that expect a built-in one catch as such."""
    kind = getattr(builtins, name, None)
    # Those two would end the iterators of the tests.
    ends = {"StopIteration", "StopAsyncIteration"}
    if isinstance(kind, type) and issubclass(kind, Exception) and name not in ends:
        try:
            error: ProgramError = type(name, (ProgramError, kind), {})(name, text)
        except TypeError:  # such as UnicodeDecodeError, which needs more
            return ProgramError(name, text)
        return error
    return ProgramError(name, text)


class ProgramEndedError(Exception):
    """Raised when the program's process is gone."""


class _Printed(io.BytesIO):
    """What the program prints; beyond the limit, it is discarded."""

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
        """Whether this is the program, whose tests may use attributes of its objects."""
        self.held: dict[int, Any] = {}

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
                # The last field is what the program printed; tests that capture the output find it
                # here.
                sys.stdout.write(str(fields.pop()))
            if kind == "value":
                return self._unpack(fields[0])
            raise _error(*map(str, fields[:2]))

    def serve(self) -> None:
        """Answer requests until the other side is gone."""
        while True:
            kind, *fields = self._receive()
            self._answer(kind, fields)

    def _answer(self, kind: str, packed: list[Any]) -> None:
        try:
            if not self.trusts:
                self._check_request(kind, packed)
            values = [self._unpack(field) for field in packed]
            answer = ["value", self._pack(self._do(kind, values), with_handles=self.trusts)]
        except (ProgramEndedError, BrokenPipeError):
            raise
        except BaseException as exc:  # noqa: BLE001  (an exit of the program is its failure)
            answer = ["raised", type(exc).__name__, _text_of(exc)]
        self._send([*answer, self.printed.take()] if self.printed is not None else answer)

    def _check_request(self, kind: str, packed: list[Any]) -> None:
        """Refuse what a program may not ask of its tests: all but calls of what they passed."""
        function = packed[0] if packed else None
        passed = isinstance(function, list) and function[:1] == ["yours"]
        if kind != "call" or not passed:
            raise Unsupported(kind)

    def _do(self, kind: str, values: list[Any]) -> Any:
        if kind == "call":
            function, arguments, keywords = values
            result = function(*arguments, **keywords)
            # The arguments go back too: a program may sort a list in place, and the test looks at
            # the list.
            return [result, arguments, keywords]
        return _REQUESTS[kind](*values)

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

    def _pack(self, value: Any, depth: int = 0, *, with_handles: bool = True) -> Any:
        """Return a value as JSON: plain data whole, anything else as a handle, if that may be."""
        if type(value) is Proxy:
            return ["yours", value._crscore_number]
        packed = _pack_atom(value)
        if packed is not None or value is None:
            return packed
        # A list may contain itself.
        if depth < _MAX_DEPTH:
            for kind, tag, items in _COLLECTIONS:
                if isinstance(value, kind):
                    inner = (
                        self._pack(item, depth + 1, with_handles=with_handles)
                        for item in items(value)
                    )
                    return [tag, *inner]
            if isinstance(value, dict):
                pairs = (
                    self._pack(list(p), depth + 1, with_handles=with_handles)
                    for p in dict.items(value)
                )
                return ["d", *(pair[1:] for pair in pairs)]
            if (table := _table(value)) is not None:
                return [
                    "p",
                    *(self._pack(part, depth + 1, with_handles=with_handles) for part in table),
                ]
        if not with_handles or (not self.trusts and not callable(value)):
            raise Unsupported(f"the test passes {type(value).__name__}")
        # Kept, so that no later object can get the same id.
        self.held[id(value)] = value
        return ["mine", id(value)]

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
        if tag == "p":
            import pandas as pd  # noqa: PLC0415

            kind, *parts = map(self._unpack, fields)
            return {"Series": _series, "DataFrame": _frame}[kind](pd, *parts)
        collection = {"l": list, "t": tuple, "s": set, "z": frozenset}.get(tag)
        if collection is not None:
            return collection(self._unpack(field) for field in fields)
        return _rebuilt(tag, fields)


def _table(value: Any) -> tuple[Any, ...] | None:
    """Return the parts of a table of pandas, which is not imported for that."""
    pd = sys.modules.get("pandas")
    if pd is None or type(value) not in {pd.Series, pd.DataFrame}:
        return None
    index = value.index.tolist()
    if type(value) is pd.Series:
        return "Series", index, value.name, _cells(value)
    columns = [_cells(value.iloc[:, column]) for column in range(value.shape[1])]
    return "DataFrame", index, value.columns.tolist(), columns


def _cells(column: Any) -> Any:
    array = column.to_numpy()
    return array.tolist() if array.dtype.kind == "O" else array


def _series(pd: Any, index: Any, name: Any, cells: Any) -> Any:
    return pd.Series(cells, index=index, name=name)


def _frame(pd: Any, index: Any, names: Any, columns: Any) -> Any:
    # Numbered first: two columns of a table may have one name.
    frame = pd.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = names
    return frame


_ATOMS: tuple[tuple[type, Any], ...] = (
    # Before `int`, which is its base class: True would cross as 1.
    (bool, bool),
    (int, int.__int__),
    (float, float.__float__),
    (str, str.__str__),
    (bytes, lambda value: ["b", bytes.hex(value)]),
    (bytearray, lambda value: ["a", bytearray.hex(value)]),
    (complex, lambda value: ["c", complex(value).real, complex(value).imag]),
    (range, lambda value: ["r", value.start, value.stop, value.step]),
    (type(...), lambda _: ["e"]),
)


_BUILT_IN = {kind: name for name, kind in vars(builtins).items() if isinstance(kind, type)}


def _pack_atom(value: Any) -> Any:
    """Return JSON for a value without items, without running code of a subclass; else None."""
    for kind, convert in _ATOMS:
        if isinstance(value, kind):
            return convert(value)
    of = type(value)
    if of.__module__ in {"decimal", "fractions"} and of.__name__ in {"Decimal", "Fraction"}:
        return ["n", of.__name__, str(value)]
    if isinstance(value, type) and value in _BUILT_IN:
        return ["k", _BUILT_IN[value]]
    np = sys.modules.get("numpy")
    if np is not None and (of is np.ndarray or isinstance(value, np.generic)):
        array = np.asarray(value)
        if _ARRAY_TYPE.fullmatch(array.dtype.str):
            shape = list(array.shape) if of is np.ndarray else None
            return ["y", array.dtype.str, shape, array.tobytes().hex()]
    return None


def _rebuilt(tag: str, fields: list[Any]) -> Any:
    if tag == "n":
        import decimal  # noqa: PLC0415
        import fractions  # noqa: PLC0415

        kinds: dict[str, Any] = {"Decimal": decimal.Decimal, "Fraction": fractions.Fraction}
        return kinds[fields[0]](fields[1])
    if tag == "k":
        kind = getattr(builtins, fields[0])
        # `eval` is a name of `builtins`, too.
        if not isinstance(kind, type):
            raise Unsupported(fields[0])
        return kind
    if tag == "y":
        import numpy as np  # noqa: PLC0415

        dtype, shape, content = fields
        if not _ARRAY_TYPE.fullmatch(dtype):
            raise Unsupported(dtype)
        array = np.frombuffer(bytes.fromhex(content), dtype)
        # A copy, because `frombuffer` gives a read-only array.
        return array[0] if shape is None else array.reshape(shape).copy()
    makers: dict[str, Any] = {
        "b": bytes.fromhex, "a": bytearray.fromhex, "c": complex, "r": range, "e": lambda: ...,
    }  # fmt: skip
    return makers[tag](*fields)


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


_REQUESTS: dict[str, Any] = {
    "load": _load, "get": getattr, "next": next, "iter": iter, "len": len, "bool": bool,
    "str": str, "repr": repr, "hash": hash, "eq": lambda left, right: bool(left == right),
    "getitem": lambda value, key: value[key],
}  # fmt: skip


class Proxy:
    """Object of the other process. It equals no plain value, whatever it claims there.

    Nor has it an order or arithmetic: `abs(f(x) - 0.5) < 1e-6` would be for the program to say.
    """

    __slots__ = ("_crscore_number", "_crscore_peer")  # not names that an object has

    def __init__(self, peer: Peer, number: int) -> None:
        object.__setattr__(self, "_crscore_peer", peer)
        object.__setattr__(self, "_crscore_number", number)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        answer = self._crscore_peer.ask("call", self, list(arguments), keywords)
        result, new_arguments, new_keywords = answer
        for old, new in zip(arguments, new_arguments, strict=True):
            _update(old, new)
        for name, old in keywords.items():
            _update(old, new_keywords[name])
        return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._crscore_peer.ask("get", self, name)

    def __eq__(self, value: object) -> bool:
        return type(value) is Proxy and self._crscore_peer.ask("eq", self, value) is True

    def __ne__(self, value: object) -> bool:
        return not self == value

    def __iter__(self) -> Any:
        return self._crscore_peer.ask("iter", self)

    def __next__(self) -> Any:
        try:
            return self._crscore_peer.ask("next", self)
        except ProgramError as exc:
            if exc.args[0] == "StopIteration":
                raise StopIteration from None
            raise

    def __getitem__(self, key: Any) -> Any:
        return self._crscore_peer.ask("getitem", self, key)

    def __hash__(self) -> int:
        return int(self._crscore_peer.ask("hash", self))

    def __len__(self) -> int:
        return int(self._crscore_peer.ask("len", self))

    def __bool__(self) -> bool:
        return self._crscore_peer.ask("bool", self) is True

    def __str__(self) -> str:
        return str(self._crscore_peer.ask("str", self))

    def __repr__(self) -> str:
        return str(self._crscore_peer.ask("repr", self))


def _update(old: Any, new: Any) -> None:
    """Give an argument the content that the program left in it."""
    if type(old) is list and type(new) is list:
        old[:] = new
    elif type(old) in {dict, set} and type(new) is type(old):
        old.clear()
        old.update(new)


def _text_of(exc: BaseException) -> str:
    try:
        return str(exc)
    except BaseException:  # noqa: BLE001  (its `__str__` is the program's)
        return ""


def _shared(source: str) -> dict[str, Any]:
    """Run what the problem itself gives, and return its names; nothing where that does not run."""
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
        # Not `sys.exit`, which would run what the program registered by `atexit`.
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
        source: Descriptor of its answers.
        sink: Descriptor of its requests.
        program: Its code.
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
    except ProgramError as exc:
        return ": ".join(filter(None, map(str, exc.args[:2])))
    except (ProgramEndedError, BrokenPipeError):
        return "the program ended before its tests"
    except BaseException as exc:  # noqa: BLE001  (every other end is a failure)
        return ": ".join(filter(None, (type(exc).__name__, _text_of(exc))))
    return None


_MODULES = sys.stdlib_module_names | {"numpy", "pandas", "scipy"}
"""Modules that tests may use because the program imports them."""
_ALIASES = {"np": "numpy", "pd": "pandas", "dt": "datetime"}
"""Modules by their usual other names."""


def _tested(
    test_names: Iterable[str],
    values: dict[str, Any],
    scope: dict[str, Any],
    entry: str,
    solution: list[str] | None,
) -> list[str]:
    """Return the names of the program that its tests use.

    Raises:
        Unsupported: It is undecided which of several is tested. The others could be helpers of the
            tests, by which the program would judge itself.
    """
    if entry:
        return [entry] if entry in values else []
    names = [name for name in test_names if name in values and name not in scope]
    if solution is not None:
        return [name for name in names if name in solution]
    # A program that defines `sum` or `math` would replace what the tests themselves may need.
    builtin = [n for n in names if hasattr(builtins, n) or n in sys.stdlib_module_names]
    if len(names) > 1 or builtin:
        listed = " and ".join(names)
        raise Unsupported(f"the program defines {listed}; give an entry_point or a solution")
    return names
