"""What kind of class or module it is, told by the names that stand there."""

from __future__ import annotations

import ast
from typing import Final

from crscore.static_analysis.pyscent.blocks import Function, visits

_ENUMS: Final = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_RECORDS: Final = _ENUMS | {
    *("NamedTuple", "namedtuple", "TypedDict", "Struct", "BaseModel", "BaseSettings", "RootModel")
}
_RECORD_MAKERS: Final = frozenset({"define", "frozen", "mutable", "attrs"})
_ATTRS: Final = frozenset({"attr", "attrs"})  # `@attr.s`, whose last name says nothing
_TEST_TOOLS: Final = frozenset({"pytest", "unittest"})


def is_enum(node: ast.ClassDef) -> bool:
    """Tell whether a class is an enumeration."""
    return any(callee(base) in _ENUMS for base in node.bases)


def is_record(node: ast.ClassDef) -> bool:
    r"""Tell whether a class is there to hold fields.

    Args:
        node: The class.

    Returns:
        True for data classes, named tuples, typed dictionaries, enumerations and the
        like of attrs, msgspec and pydantic. A class that inherits its being a record
        from a class of another name is not known as one.

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
    """Tell whether a module holds tests.

    Args:
        tree: The module. Its file name may not be its own, so that it does not count.

    Returns:
        True when it imports pytest or unittest, or has a function `test_...` at its top or
        in a class `Test...` there.
    """
    statements = list(tree.body)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            statements.extend(node.body)
    return any(_is_test(node) for node in statements) or any(
        module.partition(".")[0] in _TEST_TOOLS
        for visit in visits(tree)
        for module in _modules(visit.node)
    )


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, Function) and node.name.startswith("test_")


def _modules(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.ImportFrom):
        return () if node.level else (node.module or "",)
    return tuple(alias.name for alias in node.names) if isinstance(node, ast.Import) else ()


def callee(function: ast.expr) -> str:
    """Give the last name of what is called; for `type(self)()`, of what returned it.

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
    """Give the name that a chain of attributes, calls and items starts with; "" for none.

    Example:
        >>> origin(ast.parse("a.b(1)[0].c", mode="eval").body)
        'a'
    """
    while isinstance(expression, ast.Attribute | ast.Call | ast.Subscript):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""
