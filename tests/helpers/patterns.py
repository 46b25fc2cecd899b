"""Every regular expression of the package, and how its time grows with the length of the text.

`collect` finds the patterns, `worst_growth` pumps one. `re` reads a pattern as a tree; each stretch
of that tree (`x*y` gives `x`, `xy` and `y`) is a unit that is repeated, alone or after what stands
before it, and followed by a text that makes the match fail. Single signs of the pattern, pairs of
them and the signs of program text are units, too.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import msgspec

from crscore.static_analysis.analyzer import Pattern

METHODS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")
_METHOD = re.compile(rf"re\.(?:compile|{'|'.join(METHODS)})")
GENERIC = (
    *"$@b1A(“\"\\{[ \t\n\r#*/-=:,;`|&!%.<>?+~_'])}^é",
    "a.", "=>", "<a>", "//", "/*", "*/", '\\"', "a ", "a-", " a", "()", "a(", "::", "->", "\n ",
    "aA", "<!--", "${", "](", "![", "```", "a\n", '"\n', "a,", "_a", "0x", "\r\n", "a1",
)  # fmt: skip
_CANDIDATES = "a1 -_.,:;()[]{}<>\"'`\\/*#@$%&|=+!?~^\t\n\x00éA"
_FAILS = ("\x00", "\n\x00")
_MOST_UNITS = 400


@dataclass(frozen=True)
class Use:
    """A pattern and how it is used: `search` stands for each use that looks everywhere."""

    pattern: re.Pattern[Any]
    method: str
    where: str


def collect(package: Any) -> tuple[list[Use], list[str]]:
    """Return the uses of patterns, and the module of each call that makes one at run time."""
    uses: dict[tuple[Any, int, str], Use] = {}
    unknown: list[str] = []
    modules = [package] + [
        importlib.import_module(part.name)
        for part in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not part.name.endswith("__main__")
    ]
    trees = [ast.parse(Path(str(module.__file__)).read_text("utf-8")) for module in modules]
    everywhere = _methods(trees)
    for module, tree in zip(modules, trees, strict=True):
        for use in (*_named(module, tree, everywhere), *_called(module, tree, unknown)):
            uses.setdefault((use.pattern.pattern, use.pattern.flags, use.method), use)
    return list(uses.values()), unknown


def _named(module: Any, tree: ast.Module, everywhere: dict[str, set[str]]) -> Iterator[Use]:
    """Yield the patterns that a module holds. A private name is used in its module alone."""
    here = _methods([tree])
    for name, pattern in _held(vars(module), module.__name__):
        methods = here if name.startswith("_") else everywhere
        for method in methods.get(name, {"search"}):
            yield Use(pattern, _kind(method), f"{module.__name__}.{name}")


def _called(module: Any, tree: ast.Module, unknown: list[str]) -> Iterator[Use]:
    """Yield the patterns of calls in a module; list the module of each made at run time."""
    for call in ast.walk(tree):
        where = f"{module.__name__}:{getattr(call, 'lineno', 0)}"
        for keyword in getattr(call, "keywords", ()):  # msgspec.Meta(pattern=...)
            if keyword.arg == "pattern" and isinstance(keyword.value, ast.Constant):
                yield Use(re.compile(keyword.value.value), "search", where)
        if not (isinstance(call, ast.Call) and _METHOD.fullmatch(ast.unparse(call.func))):
            continue
        method = ast.unparse(call.func).removeprefix("re.")
        if method == "compile" and _is_named(call, tree):
            continue
        try:
            yield Use(_evaluate(call, vars(module)), _kind(method), where)
        except NameError:
            unknown.append(module.__name__)


def _kind(method: str) -> str:
    return method if method in ("match", "fullmatch") else "search"


def of_manifest(value: Any, where: str, key: str = "") -> Iterator[Use]:
    """Yield the patterns of an analyzer's manifest; a rule's name is matched whole."""
    if isinstance(value, Pattern):
        yield Use(value.compiled, "fullmatch" if key == "rule" else "search", where)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from of_manifest(getattr(value, name), where, name)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from of_manifest(part, where, key)


def _methods(trees: Iterable[ast.Module]) -> dict[str, set[str]]:
    """Return how each name is used: `NAME.match(...)`. A name used in another way is searched."""
    methods: dict[str, set[str]] = {}
    for tree in trees:
        plain = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                name = getattr(node.value, "id", getattr(node.value, "attr", None))
                if name is not None:
                    methods.setdefault(name, set()).add(node.attr)
                    plain.append(node.value)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in plain:
                methods.setdefault(f"other {node.id}", set())
    return {
        name: used | ({"search"} if f"other {name}" in methods else set())
        for name, used in methods.items()
        if used
    }


def _held(names: Mapping[str, Any], module: str) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the patterns that a module's names hold, also in containers, classes and records."""
    seen: set[int] = set()

    def inside(name: str, value: Any) -> Iterator[tuple[str, re.Pattern[Any]]]:
        if isinstance(value, re.Pattern):  # one object may have several names
            yield name, value
        elif id(value) not in seen:
            seen.add(id(value))
            for key, one in _parts(name, value, module):
                yield from inside(key, one)

    for name, value in list(names.items()):
        if not name.startswith("__"):
            yield from inside(name, value)


def _parts(name: str, value: Any, module: str) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(f"{name}[]", part) for part in (*value.keys(), *value.values())]
    if isinstance(value, tuple | list | set | frozenset):
        return [(f"{name}[]", part) for part in value]
    if isinstance(value, type):
        return list(vars(value).items()) if value.__module__ == module else []
    if not type(value).__module__.startswith("crscore"):
        return []
    keys = getattr(type(value), "__slots__", ()) or getattr(value, "__dict__", {})
    return [(key, getattr(value, key, None)) for key in keys]


def _is_named(call: ast.Call, tree: ast.Module) -> bool:
    return any(
        isinstance(part, ast.AnnAssign | ast.Assign) and part.value is call for part in tree.body
    )


def _evaluate(call: ast.Call, names: dict[str, Any]) -> re.Pattern[Any]:
    def value(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), "<pattern>", "eval"), dict(names))

    flags = [value(keyword.value) for keyword in call.keywords if keyword.arg == "flags"]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "compile":
        flags += [value(part) for part in call.args[1:]]
    pattern = value(call.args[0])
    return pattern if isinstance(pattern, re.Pattern) else re.compile(pattern, *flags)


@dataclass(frozen=True)
class Pump:
    """A text of any length: `prefix`, `unit` again and again, `suffix`."""

    prefix: str
    unit: str
    suffix: str

    def text(self, size: int) -> str:
        return self.prefix + self.unit * max(1, size // len(self.unit)) + self.suffix


def pumps(pattern: re.Pattern[Any]) -> list[Pump]:
    """Return the texts to try, without repetition."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    pairs: dict[tuple[str, str], None] = {}
    for choice in range(6):
        for prefix, unit in _stretches(list(tree), "", choice):
            if 0 < len(unit) <= 120:
                pairs.setdefault((prefix, unit))
                pairs.setdefault(("", unit))
    singles = list(dict.fromkeys(sign for _, unit in pairs for sign in unit))
    doubles = ["".join(two) for two in permutations(singles[:8], 2)]
    for unit in (*singles[:40], *GENERIC, *doubles):
        pairs.setdefault(("", unit))
    return [Pump(*pair, end) for pair in list(pairs)[:_MOST_UNITS] for end in _FAILS]


def _stretches(items: list[Any], prefix: str, choice: int) -> Iterator[tuple[str, str]]:
    """Yield `(what stands before, example)` of each stretch of a sequence and of what is inside."""
    pieces = [_example(item, choice) for item in items]
    for start, item in enumerate(items):
        before = prefix + "".join(pieces[:start])
        for end in range(start + 1, min(len(items), start + 6) + 1):
            yield before, "".join(pieces[start:end])
        for body in _bodies(item, choice):
            yield from _stretches(body, before, choice)
    yield prefix, "".join(pieces)


def _bodies(item: Any, choice: int) -> Iterator[list[Any]]:
    op, value = item
    if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        yield list(value[2])
    elif op is codes.SUBPATTERN:
        yield list(value[3])
    elif op is codes.ATOMIC_GROUP:
        yield list(value)
    elif op in (codes.ASSERT, codes.ASSERT_NOT):
        yield list(value[1])
    elif op is codes.BRANCH:
        yield list(value[1][choice % len(value[1])])


def _example(item: Any, choice: int) -> str:
    op, value = item
    if op is codes.LITERAL:
        return chr(value)
    if op in (codes.NOT_LITERAL, codes.ANY, codes.IN, codes.CATEGORY):
        signs = _signs(op, value)
        return signs[choice % len(signs)] if signs else ""
    if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least = value[0] or int(choice % 2 == 0)
        return "".join(_example(part, choice) for part in value[2]) * min(least, 60)
    if (op is codes.ASSERT and value[0] > 0) or op in (codes.ASSERT_NOT, codes.AT, codes.GROUPREF):
        return ""
    return "".join(_example(part, choice) for body in _bodies(item, choice) for part in body)


def _signs(op: Any, value: Any) -> list[str]:
    if op is codes.IN:
        literals = [chr(part) for kind, part in value if kind is codes.LITERAL]
        literals += [chr(part[0]) for kind, part in value if kind is codes.RANGE]
        wide = [sign for sign in _CANDIDATES if _is_in(value, sign)]
        if value[0][0] is codes.NEGATE:
            return wide[:6]
        return list(dict.fromkeys([*literals[:3], *wide, *literals]))[:6]
    if op is codes.ANY:
        return list("a .<1")
    one_of = [(op, value)]
    if op is codes.NOT_LITERAL:
        one_of = [(codes.NEGATE, None), (codes.LITERAL, value)]
    return [sign for sign in _CANDIDATES if _is_in(one_of, sign)][:6]


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: str.isdigit,
    codes.CATEGORY_NOT_DIGIT: lambda sign: not sign.isdigit(),
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_NOT_SPACE: lambda sign: not sign.isspace(),
    codes.CATEGORY_WORD: lambda sign: sign.isalnum() or sign == "_",
    codes.CATEGORY_NOT_WORD: lambda sign: not (sign.isalnum() or sign == "_"),
}


def _is_in(parts: Any, sign: str) -> bool:
    negated, is_member = False, False
    for kind, value in parts:
        if kind is codes.NEGATE:
            negated = True
        elif kind is codes.LITERAL:
            is_member |= ord(sign) == value
        elif kind is codes.RANGE:
            is_member |= value[0] <= ord(sign) <= value[1]
        else:
            is_member |= _CATEGORIES[value](sign)
    return is_member != negated


_NESTED = (12, 16, 20, 24, 28, 32, 48, 64, 96)
_SMALL = (128, 1024, 8192)
_FULL = 32768
_DOUBLINGS = 4
_LONG = 0.02
_LONGEST = 1.0


def _is_nested(items: Any, *, inside: bool = False) -> bool:
    """Tell if a repetition can be read in several ways: the time may be exponential."""
    for item in items:
        op, value = item
        repeats = op in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[1] > 1
        if inside and (repeats or op is codes.BRANCH):
            return True
        bodies = value[1] if op is codes.BRANCH else _bodies(item, 0)
        if any(_is_nested(body, inside=inside or repeats) for body in bodies):
            return True
    return False


def is_unbounded(pattern: re.Pattern[Any]) -> bool:
    """Tell if a pattern can read more than 64 characters from one place."""

    def reach(items: Any) -> int:
        total = 0
        for op, value in items:
            if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                total += min(int(value[1]), 10**6) * reach(value[2])
            elif op is codes.BRANCH:
                total += max((reach(part) for part in value[1]), default=0)
            elif op is codes.SUBPATTERN:
                total += reach(value[3])
            elif op is codes.ATOMIC_GROUP:
                total += reach(value)
            elif op in (codes.ASSERT, codes.ASSERT_NOT):
                total += reach(value[1])
            elif op is not codes.AT:
                total += 1
        return total

    return reach(parser.parse(pattern.pattern, pattern.flags)) > 64


def worst_growth(use: Use) -> tuple[Pump, float] | None:
    """Return the first text whose time more than triples as it doubles, with that ratio.

    Small sizes first: an exponential pattern is seen at 24 characters and must not run at 8,192. A
    time that is long, or grows faster than the size, is measured again: the best of two, over four
    doublings up to 32,768 characters.
    """
    if not is_unbounded(use.pattern):
        return None
    nested = _is_nested(parser.parse(use.pattern.pattern, use.pattern.flags))
    sizes = (*_NESTED, *_SMALL) if nested else _SMALL
    for pump in pumps(use.pattern):
        ratio = _growth(use, pump, sizes)
        if ratio is not None:
            return pump, ratio
    return None


def _growth(use: Use, pump: Pump, sizes: tuple[int, ...]) -> float | None:
    took = [0.0]
    for size in sizes:
        took.append(_time(use, pump, size))
        # A bounded repeat grows up to its bound: short texts tell only what is exponential.
        if took[-1] > (_LONG if size in _NESTED else _LONGEST):
            return _confirmed(use, pump, size)
    if took[-1] < 2e-4 or took[-1] < 14 * took[-2]:  # the size grows by 8, its square by 64
        return None
    return _confirmed(use, pump, _FULL)


def _confirmed(use: Use, pump: Pump, size: int) -> float | None:
    """Return the mean ratio of a doubling if it is over 3, measured up to three times.

    The mean of four: a time would have to be wrong by a factor of three (quadratic) or of five
    (linear) to be told amiss.
    """
    for _ in range(3):
        small = min(_time(use, pump, size >> _DOUBLINGS) for _ in range(2))
        large = _time(use, pump, size)
        if large <= 1:
            large = min(large, _time(use, pump, size))
        ratio = (large / max(small, 1e-7)) ** (1 / _DOUBLINGS)
        if ratio <= 3:
            return None
        if large > 1:  # longer than any pause of the machine
            break
    return ratio


def _time(use: Use, pump: Pump, size: int) -> float:
    text: Any = pump.text(size)
    if isinstance(use.pattern.pattern, bytes):
        text = text.encode("utf-8", "surrogatepass")
    start = time.thread_time()
    if use.method == "search":
        for _ in use.pattern.finditer(text):
            pass
    else:
        getattr(use.pattern, use.method)(text)
    return time.thread_time() - start
