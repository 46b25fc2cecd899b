"""Smells visible in the syntax tree, with radon's count of complexity.

`published=True` counts as the published tool does.
"""

import ast
import builtins
from collections.abc import Iterator
from typing import Final, NamedTuple

from crscore.static_analysis.pyscent import source
from crscore.static_analysis.pyscent.rules import (
    ALARMING_RANKS,
    NOTE,
    RULES,
    WARNING,
    Smell,
    rank_of,
    smell,
)
from crscore.static_analysis.pyscent.source import Function, Span, Visit, location_of, span, visits

_CATCH_ALL: Final = frozenset({"Exception", "BaseException"})
_LONGEST_NAME: Final = 60  # maximum characters of an `except` clause in a sentence


def long_expressions(tree: ast.Module, lines: tuple[bytes, ...]) -> Iterator[Smell]:
    """Find lambdas and list comprehensions whose source text is too long.

    Args:
        tree: The file.
        lines: Its lines in UTF-8.

    Yields:
        One finding per expression.
    """
    for visit in visits(tree):
        node = visit.node
        if isinstance(node, ast.Lambda):
            rule, noun = "long-lambda", "lambda"
        elif isinstance(node, ast.ListComp):
            rule, noun = "long-comprehension", "list comprehension"
        else:
            continue
        characters = source.length(node, lines)
        if characters > RULES[rule].limit:
            yield smell(rule, span(node), f"the {noun} {location_of(visit.scope)}", characters)


def useless_exceptions(tree: ast.Module, *, published: bool = False) -> Iterator[Smell]:
    """Find handlers that catch everything, or that discard the error.

    One that does both is a warning, others are notes. A handler that catches everything and
    raises again is acceptable. The published tool flags it too, but examines only the top level of
    the module and of its functions.

    Args:
        tree: The file.
        published: Examine only the places that the published tool examines.

    Yields:
        One finding per handler.
    """
    depth_one = {id(node) for node in _shallow(tree)}
    for visit in visits(tree):
        node = visit.node
        if not isinstance(node, ast.ExceptHandler) or (published and id(node) not in depth_one):
            continue
        harm = _harm(node, forgiving=not published)
        if harm is not None:
            is_grave = published or (_catches_all(node.type) and _is_silent(node))
            yield smell(
                "useless-exception",
                span(node),
                _place(visit, node),
                None,
                level=None if is_grave else NOTE,
                harm=harm,
            )


def _shallow(tree: ast.Module) -> Iterator[ast.ExceptHandler]:
    """Yield the handlers of every `try` directly in the module or in a function."""
    for visit in visits(tree):
        if isinstance(visit.node, ast.Try) and isinstance(visit.parent, Function | ast.Module):
            yield from visit.node.handlers


def _harm(handler: ast.ExceptHandler, *, forgiving: bool) -> str | None:
    is_silent = _is_silent(handler)
    if not _catches_all(handler.type):
        return "drops the error without a trace, so a failure goes unnoticed" if is_silent else None
    if forgiving and any(isinstance(statement, ast.Raise) for statement in handler.body):
        return None
    errors = "every error" if handler.type is not None else "every error and even Ctrl-C"
    if is_silent:
        return f"swallows {errors} without a trace; catch only what is expected and handle it"
    return f"catches {errors}, so it hides bugs; catch only what is expected"


def _is_silent(handler: ast.ExceptHandler) -> bool:
    return all(_does_nothing(statement) for statement in handler.body)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return statement.value.value is ...
    return isinstance(statement, ast.Pass)


def _catches_all(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_catches_all(part) for part in caught.elts)
    if isinstance(caught, ast.Attribute):
        return caught.attr in _CATCH_ALL
    return caught is None or (isinstance(caught, ast.Name) and caught.id in _CATCH_ALL)


def _place(visit: Visit, handler: ast.ExceptHandler) -> str:
    location = location_of(visit.scope)
    if handler.type is None:
        return f"the bare `except:` {location}"
    name = _spelled(handler.type)
    return f"the `except` {location}" if name is None else f"`except {name}` {location}"


def _spelled(caught: ast.expr) -> str | None:
    """Return the source of the caught types; None where too long, or not plain names."""
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    names = [_dotted(part) for part in parts]
    spelled = ", ".join(name for name in names if name)
    if not all(names) or len(spelled) > _LONGEST_NAME:
        return None
    return f"({spelled})" if isinstance(caught, ast.Tuple) else spelled


def _dotted(part: ast.expr) -> str | None:
    if isinstance(part, ast.Name):
        return part.id
    if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
        return f"{part.value.id}.{part.attr}"
    return None


_BUILTINS: Final = frozenset(dir(builtins))
_BUILTIN_METHODS: Final = frozenset(
    name
    for kind in (str, bytes, bytearray, list, tuple, dict, set, int, float, complex, memoryview)
    for name in dir(kind)
)
_MAX_CALLS_NAMED: Final = 3  # maximum calls named in a sentence


def low_cohesion(tree: ast.Module, *, published: bool = False) -> Iterator[Smell]:
    """Find classes whose methods share few attributes.

    The members of an enumeration are not attributes that methods share, so enumerations are left
    out, unless `published` is true.

    Args:
        tree: The file.
        published: Include enumerations.

    Yields:
        One finding per class.
    """
    for visit in visits(tree):
        if not isinstance(visit.node, ast.ClassDef) or (not published and is_enum(visit.node)):
            continue
        percent = cohesion(visit.node)
        if percent is not None and 0 < percent < RULES["low-cohesion"].limit:
            yield smell("low-cohesion", span(visit.node), f"`{visit.name}`", percent)


def cohesion(node: ast.ClassDef) -> float | None:
    """Compute the share of the class that each method uses.

    A class with M methods and A attributes has M x A pairs; its cohesion is the share of
    pairs in which the method names the attribute. Attributes are the names that a method reads or
    writes through its first parameter, other than methods, and the plain names that the class body
    assigns. Static and class methods count as methods that use none.

    Args:
        node: The class, without the classes inside it.

    Returns:
        Per cent, in [0, 100]; None for a class without methods or without attributes.

    Source:
        The idea of the `cohesion` package (as commonly understood: the mean share of the attributes
        that a method names). Reimplemented; unlike there, `async` methods count, and an attribute
        that is called remains an attribute.

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
    ordinary_methods = {name for name, method in methods.items() if not _is_property(method)}
    attributes = (read | _class_variables(node)) - ordinary_methods
    if not methods or not attributes:
        return None
    pairs = sum(len((use.read | use.called) & attributes) for use in uses.values())
    return 100 * pairs / (len(methods) * len(attributes))


class _Uses(NamedTuple):
    """Attributes of its object that a method uses."""

    read: frozenset[str]
    """Names read or written."""
    called: frozenset[str]
    """Names called directly; an inherited method is only ever called."""


def _uses(method: ast.FunctionDef | ast.AsyncFunctionDef) -> _Uses:
    parameters = [*method.args.posonlyargs, *method.args.args]
    if not parameters or _decorators(method) & {"staticmethod", "classmethod"}:
        return _Uses(frozenset(), frozenset())
    self_name = parameters[0].arg
    read: set[str] = set()
    called: set[str] = set()
    calls: set[int] = set()
    for node in _without_classes(method):
        if isinstance(node, ast.Call):
            # The walk visits a call before the attribute that is called.
            calls.add(id(node.func))
        if (
            isinstance(node, ast.Attribute)
            and _is_name(node.value, self_name)
            and not _dunder(node.attr)
        ):
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

    Calls into other modules count: of a name bound by an import, or of an attribute reached from
    such a name. Methods of builtin types (`append`, `strip`) do not, unless they directly follow
    the imported name, nor do test modules, whose purpose is to call others. The published tool
    counts every call except to a method of the class or a builtin, and examines only top-level
    classes.

    Args:
        tree: The file.
        published: Count as the published tool does.

    Yields:
        One finding per class.
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
        if len(calls) > RULES["shotgun-surgery"].limit:
            yield smell(
                "shotgun-surgery",
                span(visit.node),
                f"`{visit.name}`",
                len(calls),
                published=published,
                calls=_enumerated(calls),
            )


def _calls(node: ast.ClassDef, imported: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the calls into other modules, in order."""
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
    """Format the first few distinct calls.

    Example:
        >>> _enumerated(("load", "check", "load", "save", "send", "log"))
        '`load`, `check`, `save` and 2 more'
    """
    names = list(dict.fromkeys(calls))
    first_names = ", ".join(f"`{name}`" for name in names[:_MAX_CALLS_NAMED])
    hidden = len(names) - _MAX_CALLS_NAMED
    return f"{first_names} and {hidden} more" if hidden > 0 else first_names


def _without_classes(top: ast.AST) -> Iterator[ast.AST]:
    """Walk a block in source order, leaving out the classes inside it."""
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


def complex_code(tree: ast.Module, *, published: bool = False) -> Iterator[Smell]:
    """Find the blocks of rank C or worse.

    Every function counts separately, at any depth, without the functions inside it. An `assert` is
    not a path: checks do not make a test complex. The published tool uses radon's list, which
    counts asserts, includes classes (the mean of their methods, plus one) and leaves out nested
    functions and classes.

    Args:
        tree: The file.
        published: Use radon's own list.

    Yields:
        One finding per block.

    Raises:
        RecursionError: The tree is too deep for radon.
    """
    for name, lines, measure in _complexities(tree, published=published):
        if measure > RULES["complex-code"].limit:
            rank = rank_of(measure)
            yield smell(
                "complex-code",
                lines,
                f"`{name}`",
                measure,
                level=WARNING if rank.letter in ALARMING_RANKS else None,
                published=published,
                rank=rank.letter,
                risk=rank.risk,
            )


def _complexities(tree: ast.Module, *, published: bool) -> Iterator[tuple[str, Span, int]]:
    from radon.visitors import ComplexityVisitor  # noqa: PLC0415 - `--version` does not need it

    if published:
        for block in ComplexityVisitor.from_ast(tree).blocks:
            yield block.fullname, Span(block.lineno, block.endline), block.complexity
        return
    for name, node in source.blocks(tree):
        if not isinstance(node, ast.ClassDef):
            block = ComplexityVisitor.from_ast(node, no_assert=True).functions[0]
            yield name, span(node), block.complexity


_ENUMS: Final = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_RECORDS: Final = _ENUMS | {
    *("NamedTuple", "namedtuple", "TypedDict", "Struct", "BaseModel", "BaseSettings", "RootModel")
}
_RECORD_MAKERS: Final = frozenset({"define", "frozen", "mutable", "attrs"})
_ATTRS: Final = frozenset({"attr", "attrs"})  # `@attr.s`, whose last name is uninformative
_TEST_TOOLS: Final = frozenset({"pytest", "unittest"})


def is_enum(node: ast.ClassDef) -> bool:
    """Return whether a class is an enumeration."""
    return any(callee(base) in _ENUMS for base in node.bases)


def is_record(node: ast.ClassDef) -> bool:
    r"""Return whether the purpose of a class is to hold fields.

    Args:
        node: The class.

    Returns:
        True for data classes, named tuples, typed dictionaries, enumerations and the
        like of attrs, msgspec and pydantic. Records that inherit from a class with another name are
        not recognized.

    Example:
        >>> is_record(ast.parse("@dataclass(frozen=True)\nclass A: ...").body[0])
        True
    """
    return any(callee(base) in _RECORDS for base in node.bases) or any(
        callee(maker).endswith("dataclass")
        or callee(maker) in _RECORD_MAKERS
        or origin(maker) in _ATTRS
        for maker in node.decorator_list
    )


def is_test_module(tree: ast.Module) -> bool:
    """Return whether a module holds tests.

    Args:
        tree: The module. Its file name may be generated and is ignored.

    Returns:
        True when it imports pytest or unittest, or has a function `test_...` at top level or in a
        top-level class `Test...`.
    """
    statements = list(tree.body)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            statements.extend(node.body)
    functions = (node.name for node in statements if isinstance(node, Function))
    return any(name.startswith("test_") for name in functions) or any(
        module.partition(".")[0] in _TEST_TOOLS
        for visit in visits(tree)
        for module in _modules(visit.node)
    )


def _modules(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.ImportFrom):
        return () if node.level else (node.module or "",)
    return tuple(alias.name for alias in node.names) if isinstance(node, ast.Import) else ()


def callee(function: ast.expr) -> str:
    """Return the last name of the callee; for `type(self)()`, of what returned it.

    Example:
        >>> callee(ast.parse("a.b[0].c", mode="eval").body)
        'c'
    """
    while isinstance(function, ast.Call | ast.Subscript):
        function = function.func if isinstance(function, ast.Call) else function.value
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def origin(expression: ast.expr) -> str:
    """Return the name that starts a chain of attributes, calls and items; "" for none.

    Example:
        >>> origin(ast.parse("a.b(1)[0].c", mode="eval").body)
        'a'
    """
    while isinstance(expression, ast.Attribute | ast.Call | ast.Subscript):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""
