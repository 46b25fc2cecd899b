"""Messages between a Python program and its tests, which run in separate processes.

Both processes have a `Peer`. Values of Python's own types and of its standard library are copied;
any other object stays in its process, and the other process has a `Proxy` for it. A message is
JSON:

    [request, changes, *arguments]                       one of `REQUESTS`
    ["value" or "raised", value, changes, printed]       its answer; `printed` by the program only

`changes` is the new content of lists, dictionaries and other containers that both processes have.

**What a program could lie about.** Copies are made from plain data, so they are compared by
Python's own code. A proxy asks the program, which may answer anything. So a proxy is never equal to
a value of the tests, and cannot be ordered or combined with such a value. Only operators that a
known solution defines may combine them, and the result is another proxy. See
docs/design/013-untrusted-code.md. If both shared a process, an object whose `__eq__` is always true
would solve every problem: https://github.com/openai/human-eval/pull/67

**Why this file is so long.** The programs of `tests/data/right_programs.txt` together run nearly
all of its statements. The rest rejects what only a hostile program sends, or copies tables of
pandas.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import functools
import io
import json
import math
import operator
import os
import re
import sys
import threading
import types
import warnings

TYPE_CHECKING = False  # importing typing would be among the slowest imports here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The sender writes the length of a message. Without a limit, a program could fill the memory of its
# tests.
_MAX_MESSAGE = 1 << 26
"""Maximum number of bytes of one message."""
_MAX_PRINTED = 1 << 20
"""Maximum number of bytes of the program's output that are kept between two answers."""
# A coroutine cannot be sent. If it ran to its end at once, it could wait forever for a task of the
# other process. So the coroutines of both processes run in turn, each in its own event loop.
_POLL_S = 0.001
"""Seconds between two checks whether a coroutine of the other process is done."""
# All shared containers are compared at each request. Without a limit, a list of 20,000 lists took
# 57 s instead of 6 s.
_MAX_SHARED_LENGTH, _MAX_SHARED = 200, 50
"""Maximum length of a container that both processes keep equal, and maximum number of such
containers in a message."""
TESTS_MODULE = "__main__"
"""Name of the tests' module: `unittest.main()` looks for its tests there."""
# Matches `<f8`, `|b1`, `<U5`, `|S3` and `<M8[ns]`, but neither `|O`, whose items are pointers, nor
# records (`|V8`).
_ARRAY_TYPE = re.compile(r"[<>|=][biufcSUmM]\d+(\[\w+\])?")
"""Types of arrays that are copied."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def get_arguments(value: Any) -> tuple[Any, ...]:
    """Return the arguments with which `pickle` would make a copy of a value."""
    # https://docs.python.org/3/library/pickle.html#object.__reduce_ex__
    made_by, arguments = value.__reduce_ex__(2)[:2]
    # `copyreg.__newobj__` takes the class as its first argument.
    return tuple(arguments if made_by is type(value) else arguments[1:])


def read_random(state: Any) -> Any:
    generator = find_name("random", "Random")()
    generator.setstate(state)
    return generator


# Subclasses are not included, because their methods may be the program's.
_PLAIN = frozenset({type(None), bool, int, float, str})
"""Classes whose values JSON can represent."""
_CONTAINERS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    **dict.fromkeys(
        words(
            "builtins.list builtins.dict builtins.set builtins.bytearray collections.Counter "
            "collections.OrderedDict"
        ),
        lambda _: (),
    ),
    "collections.defaultdict": lambda value: (value.default_factory,),
    "collections.deque": lambda value: ((), value.maxlen),
    "array.array": lambda value: (value.typecode,),
}
"""Mutable containers that are copied with their content, and functions that return the arguments to
make an empty container. A container that occurs twice in a message is one container on the other
side, too, and changes by a called function reach its caller."""
_COPIES: dict[str, tuple[Callable[[Any], Any], Callable[..., Any] | None]] = {
    **dict.fromkeys(
        words(
            "builtins.complex builtins.range builtins.slice datetime.date datetime.datetime "
            "datetime.time datetime.timedelta datetime.timezone decimal.Decimal fractions.Fraction "
            "ipaddress.IPv4Address ipaddress.IPv4Network ipaddress.IPv6Address "
            "ipaddress.IPv6Network pathlib.PosixPath pathlib.PurePosixPath "
            "pathlib.PureWindowsPath time.struct_time "
            # Paths have these names in Python 3.13.
            "pathlib._local.PosixPath pathlib._local.PurePosixPath pathlib._local.PureWindowsPath"
        ),
        (get_arguments, None),
    ),
    "uuid.UUID": (lambda value: (str(value),), None),
    "zoneinfo.ZoneInfo": (lambda value: (value.key,), None),
    "collections.UserDict": (lambda value: (value.data,), None),
    "collections.UserList": (lambda value: (value.data,), None),
    "collections.ChainMap": (lambda value: value.maps, None),
    "builtins.tuple": (lambda value: value, lambda *items: items),
    "builtins.frozenset": (tuple, lambda *items: frozenset(items)),
    "builtins.bytes": (lambda value: (value.hex(),), bytes.fromhex),
    "builtins.memoryview": (lambda value: (value.tobytes(),), memoryview),
    "builtins.ellipsis": (lambda _: (), lambda: ...),
    "builtins.NotImplementedType": (lambda _: (), lambda: NotImplemented),
    "builtins.dict_keys": (tuple, lambda *keys: dict.fromkeys(keys).keys()),
    "builtins.dict_values": (tuple, lambda *values: dict(enumerate(values)).values()),
    "builtins.dict_items": (tuple, lambda *items: dict(items).items()),
    "builtins.mappingproxy": (lambda value: (dict(value),), types.MappingProxyType),
    "types.SimpleNamespace": (
        lambda value: (vars(value),), lambda names: types.SimpleNamespace(**names)
    ),
    "random.Random": (lambda value: (value.getstate(),), read_random),
    "re.Pattern": (lambda value: (value.pattern, value.flags), re.compile),
}  # fmt: skip
"""Other classes that are copied, with a function that converts a value to arguments and a function
that makes a value from them; None if the class itself takes these arguments."""
_IMMUTABLE: dict[type, Callable[[Any], Any]] = {
    int: int.__pos__, float: float.__pos__, complex: complex.__pos__,
    str: lambda value: str.__getitem__(value, slice(None)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}  # fmt: skip
"""Immutable classes, and functions that copy the value of an object of a subclass, so that both
processes have the value."""
# Other attributes would make proxies take part in protocols: with `__array__`, for example, NumPy
# would compare what the program answers.
_NAMES = words("__name__ __qualname__ __doc__ __dict__ __annotations__ __module__ __match_args__")
"""Special attributes that are requested from the other process."""
_BINARY = words("add sub mul matmul truediv floordiv mod pow lshift rshift and or xor")
_COMPARISONS = ("lt", "le", "gt", "ge")
_OTHER_OPERATORS = words("neg pos invert contains getitem setitem delitem")
_TEXTS = words("str repr format hash")
"""Functions that even the proxies in `Peer.mixed` have."""
_FUNCTIONS = {
    function.__name__: function
    for function in (
        int, float, complex, bool, abs, round, len, str, repr, hash, format, dir, divmod, iter,
        reversed, operator.index, math.trunc, math.floor, math.ceil,
    )
}  # fmt: skip
"""Functions that call a method of their name: `int` calls `__int__`."""
_OPERATORS: dict[str, Any] = _FUNCTIONS | {
    name: getattr(operator, f"__{name}__")
    for name in (*_BINARY, *_COMPARISONS, *_OTHER_OPERATORS, *(f"i{name}" for name in _BINARY))
}


PEER: Any = None
"""The end of the pipes in this process, a `Peer`."""
# The functions are kept here, because a test may replace those in `json` while the program runs.
_dumps, _loads = json.dumps, json.loads


class Unsupported(Exception):  # noqa: N818  (its name is shown to users)
    """Raised for a value that cannot be passed to the program."""


# For example, a StopIteration of the program would end an iterator of the tests, and some iterators
# ignore a GeneratorExit.
class ProgramError(Exception):
    """Base of the classes that replace exceptions of the program which tests must not get."""


class ProgramEndedError(Exception):
    """Raised if the program's process has ended."""


class _Printed(io.BytesIO):
    """Output of the program; what exceeds `_MAX_PRINTED` is discarded."""

    def write(self, data: Any) -> int:
        return super().write(data) if self.tell() < _MAX_PRINTED else len(data)

    def take(self) -> str:
        text = self.getvalue().decode("utf-8", "replace")
        self.seek(0)
        self.truncate()
        return text


class Lines(io.RawIOBase):
    """Standard input of the program, whose lines the tests provide."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        line = PEER.ask("line", len(buffer) // 4).encode("utf-8", "surrogateescape")
        buffer[: len(line)] = line
        return len(line)


class Peer:
    """One end of the two pipes, which sends requests and answers those of the other process."""

    def __init__(self, source: int, sink: int, *, is_program: bool) -> None:
        self.source = os.fdopen(source, "rb")
        self.sink = os.fdopen(sink, "wb")
        self.is_program = is_program
        """Whether this is the process of the program, whose objects the tests may all use."""
        self.printed = (_Printed(), _Printed())
        """Standard output and error of the program since its last answer."""
        self.held: dict[int, Any] = {}
        """Objects of this process that the other process uses, by id. They are kept, because
        otherwise their ids could be reused."""
        self.proxies: dict[int, Any] = {}
        """Stand-ins for objects of the other process, by number: proxies, classes, coroutines
        and exceptions."""
        self.numbers: dict[int, tuple[int, Any]] = {}
        """Number of each stand-in, and the stand-in itself, by its id. It is kept, because
        otherwise its id could be reused."""
        self.prompt: dict[str, Any] = {}
        """Classes of the prompt, which both processes have."""
        self.flags: dict[int, int] = {}
        """Flags of the code of the other process's functions, by number."""
        self.has_solution = False
        """Whether a solution is known."""
        self.operators: frozenset[str] = frozenset()
        """Special methods that a known solution defines."""
        self.mixed: set[int] = set()
        """Ids of proxies that an operator of the program made from a value of the tests."""
        self.failure: BaseException | None = None
        """Failed assertion of a test's function that the program called; the program may have
        caught the exception."""
        self.environment: dict[str, str] | None = None
        """Environment variables of the program; None if the tests do not use any."""
        self.is_seeded = False
        """Whether the tests have seeded their random numbers since the last request."""
        self.shared: dict[int, Any] = {}
        """Containers that both processes have and that are kept equal, by number."""
        self.ids: dict[int, int] = {}
        """Numbers of the shared containers, by the id of the container."""
        self.contents: dict[int, tuple[Any, ...]] = {}
        """Content of each shared container in the other process."""
        self.unused: list[int] = []
        """Numbers of containers that the other process may forget."""
        self.loop: Any = None
        """Event loop for coroutines that the other process awaits, if none is running here."""
        self.lock = threading.RLock()

    def ask(self, request: str, *values: Any) -> Any:
        """Send a request and return the other side's answer."""
        with self.lock:
            if not self.is_program:
                self.share_state()
            before = set(self.shared)
            self.send([request, *self.pack_message(*values)])
            while True:
                kind, *fields = self.receive()
                if kind in {"value", "raised"}:
                    break
                # Before its answer, the other side may call a function that was passed to it.
                self.answer(kind, fields)
            if not self.is_program:
                show(*fields.pop())
            packed, changes = fields
            self.change_shared(changes)
            result = self.unpack(packed)
            if not self.is_program:
                self.forget_unused(before)
        if kind == "value":
            return result
        # `raise SystemExit`, without parentheses, would look like an exit of the tests themselves.
        if not isinstance(result, BaseException):
            raise Unsupported(f"the program raises {result!r}")
        raise result

    def pack_message(self, *values: Any, is_answer: bool = False) -> list[Any]:
        """Pack the changes of shared containers since the last message, and then the values."""
        before = set(self.shared)
        changed: dict[int, tuple[Any, ...]] = {}
        # The program's changes are sent to the tests only at the end of a call.
        if is_answer or not self.is_program:
            for number, old in self.contents.items():
                new = items_of(type(self.shared[number]), self.shared[number])
                if len(new) != len(old) or not all(map(operator.is_, new, old)):
                    changed[number] = new
        try:
            changes: list[Any] = [[number, None] for number in self.unused]
            changes += [[number, self.pack_all(items)] for number, items in changed.items()]
            packed = [changes, *self.pack_all(values)]
        except BaseException:
            # The other process never sees the containers of this message.
            self.forget(set(self.shared) - before)
            raise
        self.contents |= changed
        self.unused = []
        return packed

    def change_shared(self, changes: list[Any]) -> None:
        """Change the shared containers as the other process did."""
        for number, packed in changes:
            if packed is None:
                self.forget({number})
            elif number in self.shared:
                container = self.shared[number]
                change(container, self.unpack_all(packed))
                self.contents[number] = items_of(type(container), container)

    def forget(self, numbers: set[int]) -> None:
        for number in numbers & self.shared.keys():
            del self.ids[id(self.shared.pop(number))]
            self.contents.pop(number, None)

    def forget_unused(self, before: set[int]) -> None:
        """Forget the containers that need not be equal after this answer.

        Only the program's containers are kept equal between two calls: a test may add to a list
        that is an attribute of the program's object, or look later at a dictionary that an earlier
        call returned.
        """
        new = self.shared.keys() - before
        if len(new) <= _MAX_SHARED:
            new = {n for n in new if n < 0 or len(self.shared[n]) > _MAX_SHARED_LENGTH}
        # Two references are those of `self.shared` and of the argument of `getrefcount`.
        unused = new | {n for n in self.shared if sys.getrefcount(self.shared[n]) == 2}
        self.forget(unused)
        self.unused += unused

    def share_state(self) -> None:
        """Give the program the random numbers and environment that the tests have set."""
        # Those of the program are never given to the tests, because a program could choose random
        # numbers with which it passes.
        if self.is_seeded:
            self.is_seeded = False
            numpy = sys.modules.get("numpy")
            self.ask("seed", find_name("random", "getstate")(), numpy and numpy.random.get_state())
        if self.environment is not None and self.environment != dict(os.environ):
            self.environment = dict(os.environ)
            self.ask("environment", self.environment)

    def serve(self) -> None:
        """Answer requests until the other side is gone."""
        while True:
            kind, *fields = self.receive()
            self.answer(kind, fields)

    def answer(self, kind: str, packed: list[Any]) -> None:
        try:
            if self.is_program:
                self.change_shared(packed[0])
            arguments = self.unpack_all(packed[1:])
            if not self.is_program:
                check_request(kind, packed[1:], arguments)
            changes, value = self.pack_message(REQUESTS[kind](*arguments), is_answer=True)
            answer = ["value", value, changes]
        except (ProgramEndedError, BrokenPipeError):
            raise
        except BaseException as exc:  # noqa: BLE001  (an exit of the program is its failure)
            if not self.is_program and is_assertion(exc):
                self.failure = exc
            changes, value = self.pack_message(exc, is_answer=True)
            answer = ["raised", value, changes]
        if self.is_program:
            answer.append([stream.take() for stream in self.printed])
        self.send(answer)

    def send(self, message: list[Any]) -> None:
        data = _dumps(message).encode()
        self.sink.write(len(data).to_bytes(8, "big") + data)
        self.sink.flush()

    def receive(self) -> list[Any]:
        # Reading a closed pipe returns b"", which is the size 0.
        size = int.from_bytes(self.source.read(8), "big")
        if not 0 < size <= _MAX_MESSAGE:
            raise ProgramEndedError
        data = self.source.read(size)
        if len(data) < size:
            raise ProgramEndedError
        message: list[Any] = _loads(data)
        return message

    def pack(self, value: Any) -> Any:  # noqa: PLR0911
        """Return a value as JSON.

        Raises:
            Unsupported: The value belongs to the tests, and the program could reach their code
                through it.
        """
        kind = type(value)
        if kind in _PLAIN:
            return value
        # A proxy goes back to the other process as the object that it stands for.
        if id(value) in self.numbers:
            return ["yours", self.numbers[id(value)][0]]
        # A list that contains itself, or that occurs twice in a message, is also one list on the
        # other side.
        if id(value) in self.ids:
            return ["same", self.ids[id(value)]]
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name in _CONTAINERS:
            # The sign of a number shows which process the object is from.
            number = id(value) if self.is_program else -id(value)
            self.share(number, value)
            content = self.contents[number] = items_of(kind, value)
            parts = (_CONTAINERS[name](value), content)
            return ["new", number, name, *map(self.pack_all, parts)]
        if name in _COPIES:
            return ["copy", name, *self.pack_all(_COPIES[name][0](value))]
        if isinstance(value, type):
            return self.pack_class(value)
        if isinstance(value, BaseException):
            return self.pack_error(value)
        # Both processes have the enums of the prompt, whose members are compared by identity.
        member = getattr(value, "_name_", None)
        if member and self.prompt.get(kind.__name__) is kind:
            return ["member", kind.__name__, member]
        return self.pack_table(value) or self.lend(value)

    def share(self, number: int, container: Any) -> None:
        self.shared[number], self.ids[id(container)] = container, number

    def pack_all(self, values: Any) -> list[Any]:
        return [v if type(v) in _PLAIN else self.pack(v) for v in values]

    def pack_table(self, value: Any) -> list[Any] | None:
        """Return an array of NumPy, or a table of pandas, as JSON; None for another object."""
        kind, np, pd = type(value), sys.modules.get("numpy"), sys.modules.get("pandas")
        if pd is not None and kind in {pd.Series, pd.DataFrame}:
            return ["table", *(self.pack(field) for field in columns_of(pd, value))]
        if np is not None and (kind is np.ndarray or isinstance(value, np.generic)):
            array = np.asarray(value)
            if _ARRAY_TYPE.fullmatch(array.dtype.str):
                shape = list(array.shape) if kind is np.ndarray else None
                return ["array", array.dtype.str, shape, array.tobytes().hex()]
        return None

    def pack_class(self, kind: type) -> list[Any]:
        """Return a class as JSON: its name and, unless the other process knows it, its bases."""
        module, name = kind.__module__, kind.__qualname__
        if self.prompt.get(name) is kind:
            return ["prompt", name]
        full_name = f"{module}.{name}"
        # Classes are compared by identity, because a program may name its own class `int`.
        is_copied = full_name in _CONTAINERS or (full_name in _COPIES and not _COPIES[full_name][1])
        if vars(builtins).get(name) is kind or (is_copied and copied_class(full_name) is kind):
            return ["class", full_name]
        self.held[id(kind)] = kind
        visible = [base for base in map(visible_base, kind.__bases__) if base is not None]
        bases = [self.pack(base) for base in visible]
        # Only names are sent: the other process makes a class that has none of this code.
        defined = [*vars(kind), *protocols_of(kind)]
        fields = [*getattr(kind, "__dataclass_fields__", ())]
        full_names = (f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__)
        containers = (base_name for base_name in full_names if base_name in _CONTAINERS)
        container = next(containers, "").rpartition(".")[2]
        description = [module, name, str(kind.__doc__ or ""), defined, fields, container]
        return ["twin", id(kind), description, *bases]

    def pack_error(self, error: BaseException) -> list[Any]:
        text = text_of(error)
        # The tests send only the text of an exception to the program.
        arguments: Any = (text,)
        attributes: dict[str, Any] = {}
        causes: Any = (None, None)
        if self.is_program:
            causes = (error.__cause__, error.__context__)
            arguments = error.args
            for name in set(dir(error)) - set(dir(BaseException)):
                value = getattr(error, name, None)
                if not isinstance(value, types.BuiltinFunctionType):
                    attributes[name] = value
        fields = (arguments, attributes, text, *causes)
        kind = self.pack(type(error))
        number = None
        if not self.is_program:
            # The same exception comes back if the program does not catch it.
            self.held[id(error)], number = error, id(error)
        return ["error", number, kind, *(self.pack(field) for field in fields)]

    def lend(self, value: Any) -> list[Any]:
        """Return as JSON the number of an object that is not copied, and what its proxy needs."""
        kind = type(value)
        if not self.is_program and not is_lendable(value):
            raise Unsupported(f"the tests pass an object of {kind.__name__} to the program")
        self.held[id(value)] = value
        base = next((base for base in kind.__mro__ if base in _IMMUTABLE), None)
        content = None if base is None else self.pack(_IMMUTABLE[base](value))
        packed = ["standard", kind.__module__, kind.__qualname__]
        if not is_standard(kind):
            packed = self.pack(kind)
        # The flags show whether a function is an `async def`, or has a `yield`:
        # https://docs.python.org/3/library/inspect.html#code-objects-bit-flags
        flags = value.__code__.co_flags if kind is types.FunctionType else 0
        return ["mine", id(value), flags, protocols_of(kind), packed, content]

    def unpack(self, packed: Any) -> Any:  # noqa: PLR0911
        """Return the value that was packed."""
        if not isinstance(packed, list):
            return packed
        tag, *fields = packed
        if tag == "new":
            number, name, arguments, content = fields
            # Only the listed classes are safe. With `type`, for example, a program could make a
            # class whose objects are equal to everything.
            container = copied_class(name)(*self.unpack_all(arguments))
            self.share(number, container)
            # Filling a set with proxies asks the other process for their hashes.
            fill(container, self.unpack_all(content))
            self.contents[number] = items_of(type(container), container)
            return container
        if tag == "same":
            return self.shared[fields[0]]
        if tag == "twin" and fields[0] in self.proxies:
            return self.proxies[fields[0]]
        if tag not in {"mine", "array", "twin"}:
            fields = self.unpack_all(fields)
        if tag == "mine":
            return self.unpack_proxy(*fields)
        if tag == "twin":
            bases = [self.unpack(base) for base in fields[2:]]
            return self.keep(fields[0], make_twin(bases, *fields[1]))
        return _READERS[tag](*fields)

    def unpack_all(self, values: Any) -> list[Any]:
        return [self.unpack(v) if type(v) is list else v for v in values]

    def unpack_proxy(self, number: int, flags: int, protocols: Any, *packed: Any) -> Any:
        if number in self.proxies:
            return self.proxies[number]
        packed_class, packed_content = packed
        if packed_class[0] == "standard":
            kind = standard_class(*packed_class[1:])
        else:
            kind = self.unpack(packed_class)
        # If the class is derived from `int`, `str` or so, both processes have the immutable value.
        content = self.unpack(packed_content)
        bases = () if type(content) not in _IMMUTABLE else (type(content),)
        if not isinstance(kind, ProxyClass):
            kind = make_proxy_class(kind, bases, tuple(protocols))
        if bases and not issubclass(kind, bases):
            raise Unsupported(kind.__name__)
        stand_in = bases[0].__new__(kind, content) if bases else object.__new__(kind)
        self.keep(number, stand_in)
        if packed_class == ["standard", "builtins", "coroutine"]:
            return self.keep(number, mirror_coroutine(stand_in))
        if flags:
            self.flags[number] = flags
        return stand_in

    def keep(self, number: int, stand_in: Any) -> Any:
        """Let an object stand for the other process's object with this number."""
        self.proxies[number] = stand_in
        self.numbers[id(stand_in)] = number, stand_in
        return stand_in


# Copies


def find_module(module: str) -> Any:
    __import__(module)
    return sys.modules[module]


def find_name(module: str, name: str) -> Any:
    return vars(find_module(module))[name]


def copied_class(name: str) -> Any:
    """Return a class whose objects are copied, by its full name.

    Raises:
        Unsupported: The objects of the class are not copied.
    """
    if name not in _CONTAINERS and name not in _COPIES:
        raise Unsupported(name)
    return find_name(*name.rsplit(".", 1))


def read_class(name: str) -> Any:
    kind = vars(builtins).get(name.removeprefix("builtins."))
    # `eval` is a name of `builtins`, too.
    return kind if isinstance(kind, type) else copied_class(name)


def protocols_of(kind: type) -> list[str]:
    return [name for name in _PROTOCOLS if hasattr(kind, name)]


def is_standard(kind: type) -> bool:
    """Return whether a class is of the standard library; the tests are in `__main__`."""
    module = kind.__module__.partition(".")[0]
    return module in sys.stdlib_module_names and module != TESTS_MODULE


def visible_base(base: type) -> type | None:
    """Return the base class that the other process sees.

    A class of the standard library, other than an exception, is replaced by the immutable class
    that it is derived from; None if there is no such class.
    """
    if not is_standard(base) or issubclass(base, BaseException):
        return base
    return next((kind for kind in base.__mro__ if kind in _IMMUTABLE), None)


_ERROR_MODULES = words(
    "_csv binascii configparser decimal ipaddress json.decoder re statistics struct"
)
"""Modules whose exceptions tests may look at without importing them first."""


_NAMELESS = {
    kind.__name__: kind
    for kind in (types.FunctionType, types.GeneratorType, types.AsyncGeneratorType)
}
"""Classes that name `builtins` as their module, although it does not have their names."""


def standard_class(module: str, name: str) -> Any:
    """Return an imported class of the standard library; None if tests must not get it."""
    top = module.partition(".")[0]
    # A test that raises the SkipTest of `unittest` counts as successful:
    # https://docs.python.org/3/library/unittest.html#unittest.TestResult.wasSuccessful
    if top not in sys.stdlib_module_names or top in {"unittest", TESTS_MODULE}:
        return None
    if module in _ERROR_MODULES:
        __import__(module)
    kind = vars(sys.modules.get(module, object)).get(name) or _NAMELESS.get(name)
    return kind if isinstance(kind, type) else None


def items_of(kind: Any, value: Any) -> tuple[Any, ...]:
    """Return the content of a container; each key of a dictionary is followed by its value.

    The methods of `kind` are used, because the container's own class may override them.
    """
    if issubclass(kind, dict):
        return tuple(item for pair in kind.items(value) for item in pair)
    return tuple(kind.__iter__(value))


def fill(container: Any, items: Any) -> None:
    if isinstance(container, dict):
        update = (
            type(container).update if type(container).__name__ == "OrderedDict" else dict.update
        )
        update(container, zip(items[::2], items[1::2], strict=True))
    else:
        (getattr(container, "update", None) or container.extend)(items)


def change(container: Any, items: Any) -> None:
    """Give a container the content that the other process left in it."""
    if hasattr(container, "clear"):
        container.clear()
    else:
        del container[:]
    fill(container, items)


def read_array(dtype: str, shape: list[int] | None, content: str) -> Any:
    import numpy as np  # noqa: PLC0415

    if not _ARRAY_TYPE.fullmatch(dtype):
        raise Unsupported(dtype)
    array = np.frombuffer(bytes.fromhex(content), dtype)
    # The array is copied, because that of `frombuffer` is read-only.
    return array[0] if shape is None else array.reshape(shape).copy()


def columns_of(pd: Any, table: Any) -> tuple[Any, ...]:
    """Return, for a table: whether it is a single column, its index, column names, and cells."""
    is_column = type(table) is pd.Series
    columns = [table] if is_column else [table.iloc[:, i] for i in range(table.shape[1])]
    arrays = (column.to_numpy() for column in columns)
    cells = [array.tolist() if array.dtype.kind == "O" else array for array in arrays]
    names = [table.name] if is_column else table.columns.tolist()
    return is_column, table.index.tolist(), names, cells


def read_table(is_column: Any, index: Any, names: Any, cells: Any) -> Any:
    import pandas as pd  # noqa: PLC0415

    if is_column is True:
        return pd.Series(cells[0], index=index, name=names[0])
    # The columns first have numbers as names, because two columns may have the same name.
    frame = pd.DataFrame(dict(enumerate(cells)), index=index)
    frame.columns = names
    return frame


# Exceptions


def text_of(exc: BaseException) -> str:
    """Return the text of an exception; "" if its class, which may be the program's, has none."""
    try:
        return str(exc)
    except BaseException:  # noqa: BLE001  (its `__str__` is the program's)
        return ""


def make_error_class(name: str, *bases: type) -> type:
    """Make a class that stands for an exception class of the other process, without its methods."""

    def text(error: Any) -> str:
        return str(vars(error).get("_crscore_text", BaseException.__str__(error)))

    def make(error: Any, *arguments: Any, **keywords: Any) -> None:
        copied = PEER.ask("call", type(error), arguments, keywords)
        error.args = copied.args
        vars(error).update(vars(copied))

    # A class that is derived from ProgramError here has no counterpart that could make an object.
    attributes = {"__str__": text} | ({} if ProgramError in bases else {"__init__": make})
    return type(name, bases, attributes)


def read_error(
    number: Any, kind: Any, arguments: Any, attributes: dict[str, Any], *text_and_causes: Any
) -> BaseException:
    """Make an exception of the other process in a form that can be caught and looked at here."""
    ends = issubclass(kind, StopIteration | StopAsyncIteration)
    if ends or not issubclass(kind, Exception | SystemExit):
        kind = make_error_class(kind.__name__, ProgramError)
    error: BaseException = kind.__new__(kind, *arguments)
    error.args = arguments
    for name, value in attributes.items():
        # Special attributes, such as `__class__`, are not set. Nor is None for an attribute that
        # the exception already has: an OSError would show a second file name, None.
        if name.startswith("_") or (value is None and hasattr(error, name)):
            continue
        # Some attributes accept only one type, or cannot be set.
        with contextlib.suppress(AttributeError, TypeError, ValueError):
            setattr(error, name, value)
    vars(error)["_crscore_text"], error.__cause__, error.__context__ = text_and_causes
    if PEER.is_program:
        PEER.keep(number, error)
    return error


def read_copy(name: str, *arguments: Any) -> Any:
    reader = _COPIES[name][1] or copied_class(name)
    return reader(*arguments)


_READERS: dict[str, Any] = {
    "class": read_class, "table": read_table, "error": read_error, "copy": read_copy,
    "array": read_array, "yours": lambda number: PEER.held[number],
    "prompt": lambda name: PEER.prompt[name],
    "member": lambda kind, name: PEER.prompt[kind][name],
}  # fmt: skip
"""Functions that unpack a value, by its tag in a message."""


# Proxies


def get_attribute(stand_in: Any, name: str) -> Any:
    if name == "__code__" and PEER.numbers[id(stand_in)][0] in PEER.flags:
        # `inspect.iscoroutinefunction` reads these flags.
        return types.SimpleNamespace(co_flags=PEER.flags[PEER.numbers[id(stand_in)][0]])
    if name.startswith("__") and name.endswith("__") and name not in _NAMES:
        raise AttributeError(name)
    return PEER.ask("get", stand_in, name)


class ProxyClass(type):
    """Class that stands for a class of the other process."""

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        return PEER.ask("call", cls, arguments, keywords)

    def __getattr__(cls, name: str) -> Any:
        return get_attribute(cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name.startswith(("__", "_abc_")):
            # Python itself sets attributes while it makes the class.
            type.__setattr__(cls, name, value)
        else:
            PEER.ask("set", cls, name, value)

    def __delattr__(cls, name: str) -> None:
        PEER.ask("delete", cls, name)


def make_asker(request: str, *fixed: Any) -> Any:
    """Return a method that sends a request with `fixed`, the proxy and the method's arguments."""

    def method(self: Any, *arguments: Any) -> Any:
        # Without this check, the program would decide `abs(f(x) - 0.5) < 1e-6`.
        if id(self) in PEER.mixed and request == "operate" and fixed[0] not in _TEXTS:
            raise Unsupported(f"operation {fixed[0]} on what the program made of the tests' values")
        return PEER.ask(request, *fixed, self, *arguments)

    return method


def call_proxy(self: Any, *arguments: Any, **keywords: Any) -> Any:
    return PEER.ask("call", self, arguments, keywords)


def next_of_proxy(self: Any) -> Any:
    more, item = PEER.ask("next", self)
    if more:
        return item
    raise StopIteration(item)


async def anext_of_proxy(self: Any) -> Any:
    for item in await PEER.ask("anext", self):
        return item
    raise StopAsyncIteration


def exit_proxy(self: Any, kind: Any, error: Any, traceback: Any) -> bool:  # noqa: ARG001
    return check_silenced(PEER.ask("invoke", "__exit__", self, kind, error, None), error)


async def aexit_proxy(self: Any, kind: Any, error: Any, traceback: Any) -> bool:  # noqa: ARG001
    return check_silenced(await PEER.ask("invoke", "__aexit__", self, kind, error, None), error)


# Python looks up special methods on the class, so if `Proxy` had `__call__`, every proxy would be
# callable:
# https://docs.python.org/3/reference/datamodel.html#special-method-lookup
_PROTOCOLS = {
    "__call__": call_proxy, "__next__": next_of_proxy, "__anext__": anext_of_proxy,
    "__exit__": exit_proxy, "__aexit__": aexit_proxy,
    "__await__": lambda self: mirror_coroutine(self).__await__(),
    **{f"__{name}__": make_asker("invoke", f"__{name}__") for name in ("enter", "aenter", "aiter")},
    **{f"__{name}__": make_asker("operate", name) for name in ("iter", "getitem", "reversed")},
}  # fmt: skip
"""Methods that a proxy has only if its object has them."""


class Proxy(metaclass=ProxyClass):  # noqa: PLW1641  (`_METHODS` has the hash)
    """Stand-in for an object of the other process."""

    __slots__ = ()
    _crscore_container = ""
    """Name of the container that the object's class is derived from; empty if there is none."""

    def __getattr__(self, name: str) -> Any:
        return get_attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        PEER.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        PEER.ask("delete", self, name)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return PEER.ask("get", self, "__dict__")

    def __eq__(self, value: object) -> bool:
        if self is value:
            return True
        if PEER.is_program or id(value) in PEER.numbers:
            if (
                PEER.has_solution
                and "__eq__" not in PEER.operators
                and id(type(self)) in PEER.numbers
            ):
                # Dataclasses are equal if their fields are equal. Other objects without `__eq__`
                # are never equal.
                names = getattr(type(self), "__dataclass_fields__", ())
                are_records = bool(names) and type(self) is type(value)
                return are_records and all(
                    getattr(self, name) == getattr(value, name) for name in names
                )
            return PEER.ask("eq", self, value) is True
        # A subclass of `dict` may have its own `__eq__`, so its copied content is compared instead.
        content = copied_content(self)
        return content is not self and bool(content == value)

    def __ne__(self, value: object) -> bool:
        return not self == value

    def __contains__(self, value: Any) -> bool:
        if PEER.is_program or id(value) in PEER.numbers or "__contains__" in PEER.operators:
            return PEER.ask("operate", "contains", self, value) is True
        items: Any = self
        return any(item is value or item == value for item in items)

    def __copy__(self) -> Any:
        return PEER.ask("copied", self, False)

    def __deepcopy__(self, _: Any) -> Any:
        return PEER.ask("copied", self, True)


def make_operator(name: str, *, reflected: bool = False) -> Any:
    """Return the method of proxies for an operator; `reflected` is for `__radd__` and so on."""
    methods = {f"__{name}__", f"__r{name}__"}

    def method(self: Any, operand: Any, *rest: Any) -> Any:
        mixes = not PEER.is_program and id(operand) not in PEER.numbers
        content = copied_content(self) if mixes else self
        operands = (operand, content) if reflected else (content, operand)
        if content is not self:
            return _OPERATORS[name](*operands, *rest)
        if not mixes or (name not in _COMPARISONS and methods & PEER.operators):
            result = PEER.ask("operate", name, *operands, *rest)
            if not mixes:
                return result
            # A result of any other class would have methods of Python or of the prompt, but data of
            # the program.
            is_proxy = all(isinstance(kind, ProxyClass) for kind in type(result).__mro__[:-1])
            if is_proxy and not type(result)._crscore_container:
                PEER.mixed.add(id(result))
                return result
        raise Unsupported(f"operation {name} on an object of the program and a value of the tests")

    return method


def copied_content(stand_in: Any) -> Any:
    """Return a copy of an object's content as a container or immutable value.

    If the class of the object is not derived from such a class, return the object.
    """
    if container := type(stand_in)._crscore_container:
        return PEER.ask("content", stand_in, container)
    bases = (base for base in type(stand_in).__mro__ if base in _IMMUTABLE)
    return next((_IMMUTABLE[base](stand_in) for base in bases), stand_in)


_METHODS = {
    f"__{name}__": make_asker("operate", name)
    for name in {*_FUNCTIONS, *_OTHER_OPERATORS}
    - {"iter", "reversed", "getitem", "contains", "divmod"}
}
_OPERATOR_METHODS = {
    **{f"__{name}__": make_operator(name) for name in (*_BINARY, "divmod")},
    **{f"__r{name}__": make_operator(name, reflected=True) for name in (*_BINARY, "divmod")},
}
_COMPARING = {f"__{name}__": make_operator(name) for name in _COMPARISONS}
for _name, _method in {**_METHODS, **_OPERATOR_METHODS, **_COMPARING}.items():
    setattr(Proxy, _name, _method)
for _name in ("__iter__", "__getitem__"):
    setattr(ProxyClass, _name, _PROTOCOLS[_name])
ProxyClass.__len__ = _METHODS["__len__"]  # type: ignore[attr-defined]


def is_assertion(error: BaseException) -> bool:
    """Return whether an exception is an assertion that failed in the tests' own code."""
    last: Any = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    return isinstance(error, AssertionError) and last.tb_frame.f_code.co_filename == "<tests>"


def check_silenced(silenced: Any, error: Any) -> bool:
    """Return whether a context manager silences an exception.

    Raises:
        Unsupported: A context manager of the program silences an exception, which could be a failed
            assertion of the tests.
    """
    if silenced and error is not None and not PEER.is_program:
        raise Unsupported("a context manager of the program silences an exception") from error
    return bool(silenced)


def make_class(name: str, bases: tuple[Any, ...], attributes: dict[str, Any]) -> type:
    metaclasses = {type(base) for base in bases} - {type, ProxyClass}
    metaclass = type("Meta", (ProxyClass, *metaclasses), {}) if metaclasses else ProxyClass
    kind: type = metaclass(name, bases, attributes)
    # Abstract methods are defined in the other process.
    type.__setattr__(kind, "__abstractmethods__", frozenset())
    return kind


def make_twin(
    bases: list[Any], module: str, name: str, doc: Any, defined: Any, fields: Any, container: Any
) -> type:
    """Make the class that stands for a class of the other process."""
    name = str(name).rpartition(".")[2]
    if any(issubclass(base, BaseException) for base in bases):
        kind: Any = standard_class(module, name)
        is_error = kind is not None and issubclass(kind, BaseException)
        return kind if is_error else make_error_class(name, *bases)
    attributes: dict[str, Any] = {n: method for n, method in _PROTOCOLS.items() if n in defined}
    attributes |= {"__slots__": (), "__doc__": doc, "_crscore_container": str(container)}
    if fields:
        # `dataclasses.asdict` and `fields` look for a marker object of this process, so the fields
        # are made here.
        kind = find_name("dataclasses", "make_dataclass")(name, fields)
        attributes["__dataclass_fields__"] = kind.__dataclass_fields__
    if any(base in _IMMUTABLE for kind in bases for base in kind.__mro__):
        # The comparisons are those of the base class; other operators may be the program's.
        attributes |= {n: method for n, method in _OPERATOR_METHODS.items() if n in defined}
        attributes |= {n: _METHODS[n] for n in ("__str__", "__repr__", "__format__")}
    bases = [base for base in bases if base is not object]
    if not any(isinstance(base, ProxyClass) for base in bases):
        bases.append(Proxy)
    if not all(isinstance(base, ProxyClass) or base in _IMMUTABLE for base in bases):
        attributes |= {"__getattribute__": look_up, "_crscore_own": frozenset(defined)}
    return make_class(name, tuple(bases), attributes)


def look_up(self: Any, name: str) -> Any:
    """Look up an attribute of an object whose class is from the prompt.

    Methods are looked up in this process, values in the process of the object.
    """
    if name == "__dict__":
        return get_attribute(self, name)
    kind = type(self)
    defined = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if name.startswith(("__", "_crscore_")):
        return object.__getattribute__(self, name)
    if hasattr(type(defined), "__get__") and name not in kind._crscore_own:
        return object.__getattribute__(self, name)
    return get_attribute(self, name)


@functools.cache
def make_proxy_class(
    kind: type | None, bases: tuple[type, ...], protocols: tuple[str, ...]
) -> type:
    """Make the class of proxies for objects of a class; `kind` is None if it is unknown here."""
    attributes = {name: method for name, method in _PROTOCOLS.items() if name in protocols}
    attributes |= {
        "__slots__": (),
        "__doc__": property(lambda self: get_attribute(self, "__doc__")),
    }
    if kind is None or kind is object:
        return ProxyClass("Proxy", (*bases, Proxy), attributes)
    attributes["__class__"] = property(lambda _: kind)
    if PEER.prompt.get(kind.__name__) is kind:
        # The methods of the prompt are run in this process, because they are trusted.
        attributes |= {"__getattribute__": look_up, "_crscore_own": frozenset()}
        return make_class(kind.__name__, (kind, Proxy), attributes)
    return ProxyClass(kind.__name__, (*bases, Proxy), attributes)


# asyncio accepts no proxies, only real coroutines


async def mirror_coroutine(proxy: Any) -> Any:
    """Await a coroutine of the other process, as a coroutine of this one."""
    import asyncio  # noqa: PLC0415

    task = PEER.ask("start", proxy)
    try:
        while not PEER.ask("is_done", task):
            await asyncio.sleep(_POLL_S)
    except BaseException:
        PEER.ask("cancel", task)
        raise
    return PEER.ask("result", task)


# Requests


# The attributes of a callable that lead to other code, such as `__globals__`, are not public:
# https://docs.python.org/3/reference/datamodel.html
def is_lendable(value: Any) -> bool:
    """Return whether a program may use an object of its tests, with its public names."""
    kind = type(value)
    # Through modules, frames, tracebacks and test cases, a program could reach the expected values.
    if "unittest" in sys.modules and isinstance(value, find_name("unittest", "TestCase")):
        return False
    iterates = any(hasattr(kind, name) for name in ("__next__", "__anext__", "__await__"))
    if callable(value) or iterates or kind is object:
        return True
    of_library = is_standard(kind) and kind.__module__ != "builtins"
    return kind.__module__ == TESTS_MODULE or of_library


_OF_TESTS = words("load seed environment replace restore")
"""Requests that only the tests may send."""


def check_request(kind: str, packed: list[Any], arguments: list[Any]) -> None:
    """Refuse a request of the program that is not about an object which tests passed to it."""
    if kind in {"line", "warn", "log"}:
        return
    index = 1 if kind in {"operate", "invoke"} else 0
    passed = isinstance(packed[index], list) and packed[index][:1] == ["yours"]
    if kind == "operate" and not passed:
        passed = isinstance(packed[-1], list) and packed[-1][:1] == ["yours"]
    if not passed or kind in _OF_TESTS:
        raise Unsupported(kind)
    if kind == "invoke" and arguments[0] not in _PROTOCOLS:
        raise Unsupported(kind)
    if kind in {"get", "set", "delete"}:
        check_name(kind, arguments[0], arguments[1])


# `asyncio` is not among these, because the tests can be reached from an event loop.
_OPEN_MODULES = words(
    "_io _queue argparse collections configparser io logging queue xml.etree.ElementTree"
)
"""Modules from whose objects only data can be reached."""


def check_name(kind: str, value: Any, name: Any) -> None:
    """Refuse an attribute through which a program could reach the code of its tests."""
    is_open = (value if isinstance(value, type) else type(value)).__module__ == TESTS_MODULE
    is_allowed = type(name) is str and not name.startswith("_")
    if kind != "get":
        # A method of the tests cannot be set or deleted, because it may check the result.
        is_open = is_open and not isinstance(value, type)
        is_allowed = is_allowed and not callable(getattr(type(value), name, None))
    elif type(value).__module__ == "unittest.mock":
        is_allowed = is_allowed and not hasattr(find_name("unittest.mock", "NonCallableMock"), name)
        is_open = True
    elif name in {"__name__", "__qualname__", "__doc__"}:
        is_open = is_allowed = True
    elif type(value).__module__ in _OPEN_MODULES:
        is_open = True
    if not (is_open and is_allowed):
        raise AttributeError(name)


def show(printed: Any, errors: Any) -> None:
    """Print what the program printed, for tests that check the output."""
    sys.stdout.write(str(printed))
    sys.stderr.write(str(errors))


def warn(message: Any) -> None:
    warnings.warn(message, stacklevel=2)


def log(name: str, level: int, text: str) -> None:
    find_name("logging", "getLogger")(name).log(level, "%s", text)


def report_logs() -> None:
    """Send all log records of the program to the tests, which decide on the level."""
    logging = find_module("logging")
    handler = logging.Handler()
    handler.emit = lambda record: PEER.ask("log", record.name, record.levelno, record.getMessage())
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.NOTSET + 1)


def next_item(iterator: Any) -> tuple[bool, Any]:
    """Return whether there is a next item, and the item or the generator's result."""
    try:
        return True, next(iterator)
    except StopIteration as end:
        return False, end.value


async def next_async_item(iterator: Any) -> list[Any]:
    try:
        return [await iterator.__anext__()]
    except StopAsyncIteration:
        return []


def start(awaitable: Any) -> Any:
    import asyncio  # noqa: PLC0415

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        loop = PEER.loop = PEER.loop or asyncio.new_event_loop()
    return asyncio.ensure_future(awaitable, loop=loop)


def is_done(task: Any) -> bool:
    loop = task.get_loop()
    # `asyncio.run` inside the program has its own loop, which is running then.
    if not loop.is_running():
        # Run only the callbacks that are ready now.
        loop.call_soon(loop.stop)
        loop.run_forever()
    return bool(task.done())


def set_random(state: Any, numpy_state: Any) -> None:
    """Continue with the random numbers of the tests, which have seeded theirs."""
    find_name("random", "setstate")(state)
    if numpy_state is not None and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(numpy_state)


def content_of(value: Any, name: str) -> Any:
    """Copy the content of an object whose class is derived from a container."""
    base = next(base for base in type(value).__mro__ if base.__name__ == name)
    content = base(*_CONTAINERS[f"{base.__module__}.{name}"](value))
    fill(content, items_of(base, value))
    return content


def patch_program(patch: Any, request: str) -> None:
    """Let a patch of the tests replace a name of a standard module in the program, too."""
    # The program has imported its own copy of the module, which the tests cannot see.
    module = patch.getter() if patch.getter is not None else None
    # `sys` is left out, because its streams are passed on anyway.
    if isinstance(module, types.ModuleType) and module.__name__ not in {"sys", TESTS_MODULE}:
        value = getattr(module, patch.attribute) if request == "replace" else None
        PEER.ask(request, module.__name__, patch.attribute, value)


def set_environment(variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


_replaced: dict[tuple[str, str], Any] = {}


def replace(module: str, name: str, value: Any) -> None:
    """Replace a name of a module, as `unittest.mock.patch` did for the tests."""
    _replaced.setdefault((module, name), getattr(find_module(module), name))
    setattr(find_module(module), name, value)


def restore(module: str, name: str, _: None) -> None:
    setattr(find_module(module), name, _replaced.pop((module, name)))


def read_line(size: int) -> str:
    text = str(sys.stdin.readline(size))
    return text if isinstance(size, int) else ""


REQUESTS: dict[str, Any] = {
    "call": lambda function, arguments, keywords: function(*arguments, **keywords),
    "get": getattr, "set": setattr, "delete": delattr, "next": next_item,
    "eq": lambda left, right: bool(left == right),
    "operate": lambda name, *operands: _OPERATORS[name](*operands),
    "copied": lambda value, deep: (copy.deepcopy if deep else copy.copy)(value),
    "content": content_of,
    "invoke": lambda name, value, *arguments: getattr(type(value), name)(value, *arguments),
    "start": start, "is_done": is_done, "cancel": lambda task: task.cancel(),
    "result": lambda task: task.result(), "anext": next_async_item,
    "line": read_line, "warn": warn, "log": log,
    "seed": set_random, "environment": set_environment, "replace": replace, "restore": restore,
}  # fmt: skip
"""Functions that answer requests, by name; `_python_tester.py` adds `load`."""
