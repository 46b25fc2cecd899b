"""Tester of a Python program: the tests in this process, the program in a child.

Imported alone inside the sandbox, so it imports nothing of crscore. The program could change
everything in its own process: assertions, comparisons, what is printed, how it exits. So it has a
process of its own, started before the tests are read, without the channel of the verdict. What it
returns crosses a pipe as plain data; its other objects stay there and are used by proxies, which
equal no plain value. The verdict is one line of JSON on stdout.

Arguments: the file of the program, of the tests, of the code that both share (the prompt), the name
of the function to test (may be empty), and the seconds that the tests may take.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` would import enum
import builtins
import ctypes
import json
import os
import re
import sys

TYPE_CHECKING = False  # importing typing would be among the slowest imports here
if TYPE_CHECKING:
    from typing import Any

_PR_SET_DUMPABLE = 4
_MAX_MESSAGE = 1 << 26
"""Bytes of one message."""
_MAX_DEPTH = 200
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
            found: ProgramError = type(name, (ProgramError, kind), {})(name, text)
        except TypeError:  # such as UnicodeDecodeError, which needs more
            return ProgramError(name, text)
        return found
    return ProgramError(name, text)


class TimeUp(BaseException):
    """Raised when the tests took too long; no test that expects an exception catches it."""


class Ended(Exception):  # noqa: N818
    """Raised when the program's process is gone."""


class Peer:
    """One end of the two pipes: asks the other process, and answers it while it waits."""

    def __init__(self, source: int, sink: int, *, trusts: bool) -> None:
        self.source = os.fdopen(source, "rb")
        self.sink = os.fdopen(sink, "wb")
        self.trusts = trusts
        """Whether the other side may use attributes of what it was given, not only call it."""
        self.held: dict[int, Any] = {}

    def ask(self, request: str, *values: Any) -> Any:
        """Send a request and return the other side's answer."""
        self._send([request, *map(self._pack, values)])
        while True:
            kind, *rest = self._receive()
            if kind == "value":
                return self._unpack(rest[0])
            if kind == "raised":
                raise _error(*(str(one) for one in rest[:2]))
            self._answer(kind, rest)

    def serve(self) -> None:
        """Answer requests until the other side is gone."""
        while True:
            kind, *rest = self._receive()
            self._answer(kind, rest)

    def _answer(self, kind: str, packed: list[Any]) -> None:
        try:
            if not self.trusts:
                self._check_request(kind, packed)
            values = [self._unpack(one) for one in packed]
            answer = ["value", self._pack(self._do(kind, values), holds=self.trusts)]
        except (Ended, TimeUp, BrokenPipeError):
            raise
        except BaseException as exc:  # noqa: BLE001  (an exit of the program is its failure)
            answer = ["raised", type(exc).__name__, _text_of(exc)]
        self._send(answer)

    def _check_request(self, kind: str, packed: list[Any]) -> None:
        """Refuse what a program may not ask of its tests: all but calls of what they passed."""
        function = packed[0] if packed else None
        passed = isinstance(function, list) and function[:1] == ["yours"]
        if kind != "call" or not passed:
            raise Unsupported(kind)

    def _do(self, kind: str, values: list[Any]) -> Any:
        if kind == "call":
            function, arguments, named = values
            result = function(*arguments, **named)
            return [result, arguments, named]
        return _REQUESTS[kind](*values)

    def _send(self, message: list[Any]) -> None:
        data = json.dumps(message).encode()
        self.sink.write(len(data).to_bytes(8, "big") + data)
        self.sink.flush()

    def _receive(self) -> list[Any]:
        size = int.from_bytes(self.source.read(8), "big")
        if not 0 < size <= _MAX_MESSAGE:
            raise Ended
        data = self.source.read(size)
        if len(data) < size:
            raise Ended
        message: list[Any] = json.loads(data)
        return message

    def _pack(self, value: Any, depth: int = 0, *, holds: bool = True) -> Any:
        """Return a value as JSON: plain data whole, anything else as a handle, if it `holds`."""
        if type(value) is Proxy:
            return ["yours", value.number]
        plain = _plain(value)
        if plain is not None or value is None:
            return plain
        for kind, tag, items in _COLLECTIONS:
            if isinstance(value, kind) and depth < _MAX_DEPTH:
                packed = (self._pack(one, depth + 1, holds=holds) for one in items(value))
                return [tag, *packed]
        if isinstance(value, dict) and depth < _MAX_DEPTH:
            pairs = (self._pack(list(one), depth + 1, holds=holds) for one in dict.items(value))
            return ["d", *(pair[1:] for pair in pairs)]
        if not holds or (not self.trusts and not callable(value)):
            raise Unsupported(f"the test passes {type(value).__name__}")
        self.held[id(value)] = value
        return ["mine", id(value)]

    def _unpack(self, packed: Any) -> Any:
        if not isinstance(packed, list):
            return packed
        tag, *rest = packed
        if tag == "mine":
            return Proxy(self, int(rest[0]))
        if tag == "yours":
            return self.held[rest[0]]
        if tag == "d":
            return {self._unpack(key): self._unpack(value) for key, value in rest}
        made = {"l": list, "t": tuple, "s": set, "z": frozenset}.get(tag)
        if made is not None:
            return made(self._unpack(one) for one in rest)
        return _rebuilt(tag, rest)


_PLAIN: tuple[tuple[type, Any], ...] = (
    (bool, bool),
    (int, int.__int__),
    (float, float.__float__),
    (str, str.__str__),
    (bytes, lambda one: ["b", bytes.hex(one)]),
    (bytearray, lambda one: ["a", bytearray.hex(one)]),
    (complex, lambda one: ["c", complex(one).real, complex(one).imag]),
    (range, lambda one: ["r", one.start, one.stop, one.step]),
    (type(...), lambda _: ["e"]),
)


_BUILT_IN = {kind: name for name, kind in vars(builtins).items() if isinstance(kind, type)}


def _plain(value: Any) -> Any:
    """Return JSON for a value without items, without running code of a subclass; else None."""
    for kind, convert in _PLAIN:
        if isinstance(value, kind):
            return convert(value)
    of = type(value)
    if of.__module__ in {"decimal", "fractions"} and of.__name__ in {"Decimal", "Fraction"}:
        return ["n", of.__name__, str(value)]
    if isinstance(value, type) and value in _BUILT_IN:
        return ["k", _BUILT_IN[value]]
    return None


def _rebuilt(tag: str, rest: list[Any]) -> Any:
    if tag == "n":
        import decimal  # noqa: PLC0415
        import fractions  # noqa: PLC0415

        kinds: dict[str, Any] = {"Decimal": decimal.Decimal, "Fraction": fractions.Fraction}
        return kinds[rest[0]](rest[1])
    if tag == "k":
        known = getattr(builtins, rest[0])
        if not isinstance(known, type):
            raise Unsupported(rest[0])
        return known
    makers: dict[str, Any] = {
        "b": bytes.fromhex, "a": bytearray.fromhex, "c": complex, "r": range, "e": lambda: ...,
    }  # fmt: skip
    return makers[tag](*rest)


def _load(source: str) -> list[Any]:
    """Run a program and return its names with their values, and the modules that it imported."""
    scope: dict[str, Any] = {"__name__": "candidate"}
    exec(compile(source, "<program>", "exec"), scope)  # noqa: S102  (the purpose, in the sandbox)
    modules = {
        name: str(value.__name__)
        for name, value in scope.items()
        if type(value) is type(sys) and sys.modules.get(vars(value).get("__name__", "")) is value
    }
    own = {k: v for k, v in scope.items() if not k.startswith("__") and k not in modules}
    return [own, modules]


_REQUESTS: dict[str, Any] = {
    "load": _load, "get": getattr, "next": next, "iter": iter, "len": len, "bool": bool,
    "str": str, "repr": repr, "hash": hash, "eq": lambda one, other: bool(one == other),
    "getitem": lambda one, key: one[key],
}  # fmt: skip


class Proxy:
    """Object of the other process. It equals no plain value, whatever it says of itself there.

    Nor has it an order or arithmetic: `abs(f(x) - 0.5) < 1e-6` would be for the program to say.
    """

    __slots__ = ("number", "peer")

    def __init__(self, peer: Peer, number: int) -> None:
        object.__setattr__(self, "peer", peer)
        object.__setattr__(self, "number", number)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        result, changed, changed_named = self.peer.ask("call", self, list(arguments), named)
        for old, new in zip(arguments, changed, strict=True):
            _update(old, new)
        for name, old in named.items():
            _update(old, changed_named[name])
        return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self.peer.ask("get", self, name)

    def __eq__(self, other: object) -> bool:
        return type(other) is Proxy and self.peer.ask("eq", self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __iter__(self) -> Any:
        found = self.peer.ask("iter", self)
        while True:
            try:
                yield self.peer.ask("next", found)
            except ProgramError as exc:
                if exc.args[0] == "StopIteration":
                    return
                raise

    def __getitem__(self, key: Any) -> Any:
        return self.peer.ask("getitem", self, key)

    def __hash__(self) -> int:
        return int(self.peer.ask("hash", self))

    def __len__(self) -> int:
        return int(self.peer.ask("len", self))

    def __bool__(self) -> bool:
        return self.peer.ask("bool", self) is True

    def __str__(self) -> str:
        return str(self.peer.ask("str", self))

    def __repr__(self) -> str:
        return str(self.peer.ask("repr", self))


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


def _last_function(source: str) -> str:
    found = re.findall(r"^(?:async )?def (\w+)", source, re.MULTILINE)
    return found[-1] if found else ""


def _child(source: int, sink: int) -> None:
    """Become the process of the program."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    # As `site` defines them, which is not imported.
    vars(builtins).update(exit=sys.exit, quit=sys.exit, help=lambda *_: None)
    peer = Peer(source, sink, trusts=True)
    try:
        peer.serve()
    finally:
        os._exit(0)


def _test(peer: Peer, program: str, tests: str, prompt: str, entry: str) -> str:
    try:
        own, modules = peer.ask("load", program)
        scope = _shared(prompt)
        entry = entry or _last_function(prompt)
        words = set(re.findall(r"\w+", tests))
        for name, module in modules.items():
            if name not in scope and name in words and module in sys.stdlib_module_names:
                scope[name] = __import__(module, fromlist=["_"])
        for name in words & own.keys():
            if name == entry or (name not in scope and _may_define(name, entry)):
                scope[name] = own[name]
        exec(compile(tests, "<tests>", "exec"), scope)  # noqa: S102  (the purpose, in the sandbox)
    except ProgramError as exc:
        return f"failed: {exc.args[1]}"
    except (Ended, BrokenPipeError):
        return "failed: the program ended before its tests"
    except TimeUp:
        return "timed out"
    except BaseException as exc:  # noqa: BLE001  (every other end is a failure)
        return f"failed: {_text_of(exc)}"
    return "passed"


def _may_define(name: str, entry: str) -> bool:
    """Return whether tests use a name as the program defines it.

    Raises:
        Unsupported: It is that of a built-in function, and nothing tells which one they mean.
    """
    if name.startswith("__"):
        return False
    if hasattr(builtins, name) and not entry:
        raise Unsupported(f"the program redefines {name}, which its tests use")
    return not (hasattr(builtins, name) or name in sys.stdlib_module_names) or not entry


def _stop(*_: object) -> None:
    raise TimeUp


def main(arguments: list[str]) -> None:
    """Test one program."""
    program, tests, prompt, entry, seconds = arguments
    sys.set_int_max_str_digits(0)
    read_there, write_there = os.pipe()
    read_here, write_back = os.pipe()
    if os.fork() == 0:
        os.close(write_there)
        os.close(read_here)
        _child(read_there, write_back)
    os.close(read_there)
    os.close(write_back)
    # Of this process, the program may not look into the memory or the open files.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    verdict, nowhere = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(nowhere, number)  # what the tests print is no verdict
    texts = []
    for name in (program, tests, prompt):
        with open(name, encoding="utf-8", errors="surrogatepass") as stream:  # noqa: PTH123
            texts.append(stream.read())
        os.unlink(name)  # noqa: PTH108  (pathlib would be the slowest import here)
    peer = Peer(read_here, write_there, trusts=False)
    _signal.signal(_signal.SIGALRM, _stop)
    _signal.setitimer(_signal.ITIMER_REAL, float(seconds), 0.1)
    result = _test(peer, texts[0], texts[1], texts[2], entry)
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    os.write(verdict, json.dumps({"result": result[:2_000]}).encode() + b"\n")
    os._exit(0)
