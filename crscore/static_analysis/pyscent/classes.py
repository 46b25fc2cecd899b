"""How a class holds together, and how much it leans on code outside itself."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.static_analysis.pyscent.blocks import Function, span, visits
from crscore.static_analysis.pyscent.kinds import callee, is_enum, is_test_module, origin
from crscore.static_analysis.pyscent.rules import LOW_COHESION, SHOTGUN_SURGERY
from crscore.static_analysis.pyscent.smells import smell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.static_analysis.pyscent.smells import Smell

_BUILTINS: Final = frozenset(dir(builtins))
_BUILTIN_METHODS: Final = frozenset(
    name
    for kind in (str, bytes, bytearray, list, tuple, dict, set, int, float, complex, memoryview)
    for name in dir(kind)
)
_NAMED: Final = 3  # calls that a sentence names


def low_cohesion(tree: ast.Module, *, published: bool = False) -> Iterator[Smell]:
    """Find classes whose methods share few attributes.

    The members of an enumeration are no attributes that methods share, so enumerations
    are left out, except as the published tool does it.

    Args:
        tree: The file.
        published: Take enumerations too.

    Yields:
        A finding a class.
    """
    for visit in visits(tree):
        if not isinstance(visit.node, ast.ClassDef) or (not published and is_enum(visit.node)):
            continue
        percent = cohesion(visit.node)
        if percent is not None and 0 < percent < LOW_COHESION.limit:
            yield smell(LOW_COHESION, span(visit.node), f"`{visit.name}`", percent)


def cohesion(node: ast.ClassDef) -> float | None:
    """Measure how much of the class each method uses.

    A class with M methods and A attributes has M x A pairs; its cohesion is the share of
    pairs in which the method names the attribute. Attributes are what a method reads or
    writes through its first parameter, other than methods, and what the class body
    assigns to a plain name. Static and class methods count as methods that use none.

    Args:
        node: The class. Classes inside it are apart.

    Returns:
        Per cent, in [0, 100]; None for a class without methods or without attributes.

    Source:
        The idea of the `cohesion` package (as its users read it: the mean share of the
        attributes that a method names). Written anew; unlike it, `async` methods count,
        and an attribute that is called stays an attribute.

    Example:
        One method uses both attributes, one uses one of them: three of four pairs.

        >>> code = '''
        ... class Point:
        ...     def __init__(self): self.x = self.y = 0
        ...     def left(self): return self.x
        ... '''
        >>> cohesion(ast.parse(code).body[0])
        75.0
    """
    methods = {item.name: item for item in node.body if isinstance(item, Function)}
    uses = {name: _uses(method) for name, method in methods.items()}
    read = frozenset(name for use in uses.values() for name in use.read)
    plain = {name for name, method in methods.items() if not _is_property(method)}
    attributes = (read | _class_variables(node)) - plain
    if not methods or not attributes:
        return None
    pairs = sum(len((use.read | use.called) & attributes) for use in uses.values())
    return 100 * pairs / (len(methods) * len(attributes))


class _Uses(NamedTuple):
    """What one method does with its object."""

    read: frozenset[str]
    """Names read or written."""
    called: frozenset[str]
    """Names called at once; an inherited method is only ever called."""


def _uses(method: ast.FunctionDef | ast.AsyncFunctionDef) -> _Uses:
    parameters = [*method.args.posonlyargs, *method.args.args]
    if not parameters or _decorators(method) & {"staticmethod", "classmethod"}:
        return _Uses(frozenset(), frozenset())
    own = parameters[0].arg
    read: set[str] = set()
    called: set[str] = set()
    calls: set[int] = set()
    for node in _without_classes(method):
        if isinstance(node, ast.Call):
            calls.add(id(node.func))
        if isinstance(node, ast.Attribute) and _is_name(node.value, own) and not _dunder(node.attr):
            (called if id(node) in calls else read).add(node.attr)
    return _Uses(frozenset(read), frozenset(called))


def _class_variables(node: ast.ClassDef) -> frozenset[str]:
    targets = (
        target for item in node.body if isinstance(item, ast.Assign) for target in item.targets
    )
    names = (target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(name for name in names if not _dunder(name))


def shotgun_surgery(tree: ast.Module, *, published: bool = False) -> Iterator[Smell]:
    """Find classes that call much code outside themselves.

    Counted are calls into other modules: of a name that an import binds, or of what is
    reached from such a name. Methods of builtin types (`append`, `strip`) are left out,
    unless the imported name stands right before them, and so are modules of tests, which
    are there to call others. The published tool counts every call, wherever it goes, but
    to a method of the class or a builtin, and looks at classes of the module only.

    Args:
        tree: The file.
        published: Count as the published tool does.

    Yields:
        A finding a class.
    """
    if not published and is_test_module(tree):
        return
    imported = _imported(tree)
    for visit in visits(tree):
        if not isinstance(visit.node, ast.ClassDef):
            continue
        if published and visit.parent is not tree:
            continue
        calls = _published_calls(visit.node) if published else _calls(visit.node, imported)
        if len(calls) > SHOTGUN_SURGERY.limit:
            yield smell(
                SHOTGUN_SURGERY,
                span(visit.node),
                f"`{visit.name}`",
                len(calls),
                published=published,
                calls=_enumerated(calls),
            )


def _calls(node: ast.ClassDef, imported: frozenset[str]) -> tuple[str, ...]:
    """The names of the calls into other modules, in order."""
    called = (call.func for call in _without_classes(node) if isinstance(call, ast.Call))
    return tuple(
        callee(function)
        for function in called
        if origin(function) in imported and not _is_builtin_method(function, imported)
    )


def _published_calls(node: ast.ClassDef) -> tuple[str, ...]:
    methods = {item.name for item in node.body if isinstance(item, Function)}
    called = (callee(call.func) for call in ast.walk(node) if isinstance(call, ast.Call))
    return tuple(name for name in called if name not in methods | _BUILTINS)


def _is_builtin_method(function: ast.expr, imported: frozenset[str]) -> bool:
    if not isinstance(function, ast.Attribute) or function.attr not in _BUILTIN_METHODS:
        return False
    return not (isinstance(function.value, ast.Name) and function.value.id in imported)


def _imported(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        (alias.asname or alias.name).partition(".")[0]
        for visit in visits(tree)
        if isinstance(visit.node, ast.Import | ast.ImportFrom)
        for alias in visit.node.names
    )


def _enumerated(calls: tuple[str, ...]) -> str:
    """Name the first few different calls.

    Example:
        >>> _enumerated(("load", "check", "load", "save", "send", "log"))
        '`load`, `check`, `save` and 2 more'
    """
    names = list(dict.fromkeys(calls))
    shown = ", ".join(f"`{name}`" for name in names[:_NAMED])
    hidden = len(names) - _NAMED
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def _without_classes(top: ast.AST) -> Iterator[ast.AST]:
    """Walk a block in the order of its code, leaving out the classes inside it."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef) and node is not top:
            continue
        yield node
        waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _decorators(method: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {callee(decorator) for decorator in method.decorator_list}


def _is_property(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("property" in name for name in _decorators(method)) or bool(
        _decorators(method) & {"setter", "getter", "deleter"}
    )


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
