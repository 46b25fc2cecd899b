"""Expressions that are too long, and handlers that hide errors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from crscore.static_analysis.pyscent.blocks import Function, length, span, visits, within
from crscore.static_analysis.pyscent.rules import (
    LONG_COMPREHENSION,
    LONG_LAMBDA,
    NOTE,
    USELESS_EXCEPTION,
)
from crscore.static_analysis.pyscent.smells import smell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.static_analysis.pyscent.blocks import Visit
    from crscore.static_analysis.pyscent.smells import Smell

_CATCH_ALL: Final = frozenset({"Exception", "BaseException"})
_LONGEST_NAME: Final = 60  # characters of an `except` clause that a sentence can carry


def long_expressions(tree: ast.Module, lines: tuple[bytes, ...]) -> Iterator[Smell]:
    """Find lambdas and list comprehensions whose source text is too long.

    Args:
        tree: The file.
        lines: Its lines in UTF-8.

    Yields:
        A finding an expression.
    """
    for visit in visits(tree):
        node = visit.node
        if isinstance(node, ast.Lambda):
            rule, noun = LONG_LAMBDA, "lambda"
        elif isinstance(node, ast.ListComp):
            rule, noun = LONG_COMPREHENSION, "list comprehension"
        else:
            continue
        characters = length(node, lines)
        if characters > rule.limit:
            yield smell(rule, span(node), f"the {noun} {within(visit.scope)}", characters)


def useless_exceptions(tree: ast.Module, *, published: bool = False) -> Iterator[Smell]:
    """Find handlers that catch everything, or that drop the error.

    One that does both is a warning, others are notes. A handler that catches everything and
    raises again is in order. The published tool flags it all the same, but looks only at the
    top of the module and of its functions.

    Args:
        tree: The file.
        published: Look where the published tool looks.

    Yields:
        A finding a handler.
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
                USELESS_EXCEPTION,
                span(node),
                _place(visit, node),
                None,
                level=None if is_grave else NOTE,
                harm=harm,
            )


def _shallow(tree: ast.Module) -> Iterator[ast.ExceptHandler]:
    """The handlers of every `try` that stands directly in the module or in a function."""
    for visit in visits(tree):
        if isinstance(visit.node, ast.Try) and isinstance(visit.parent, Function | ast.Module):
            yield from visit.node.handlers


def _harm(handler: ast.ExceptHandler, *, forgiving: bool) -> str | None:
    is_silent = _is_silent(handler)
    if not _catches_all(handler.type):
        return "drops the error without a trace, so a failure goes unnoticed" if is_silent else None
    if forgiving and any(isinstance(statement, ast.Raise) for statement in handler.body):
        return None
    every = "every error" if handler.type is not None else "every error and even Ctrl-C"
    if is_silent:
        return f"swallows {every} without a trace; catch only what is expected and handle it"
    return f"catches {every}, so it hides bugs; catch only what is expected"


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
    where = within(visit.scope)
    if handler.type is None:
        return f"the bare `except:` {where}"
    name = _spelled(handler.type)
    return f"the `except` {where}" if name is None else f"`except {name}` {where}"


def _spelled(caught: ast.expr) -> str | None:
    """Spell the caught types; None where they are too long, or no plain names."""
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    names = [_dotted(part) for part in parts]
    plain = ", ".join(name for name in names if name)
    if not all(names) or len(plain) > _LONGEST_NAME:
        return None
    return f"({plain})" if isinstance(caught, ast.Tuple) else plain


def _dotted(part: ast.expr) -> str | None:
    if isinstance(part, ast.Name):
        return part.id
    if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
        return f"{part.value.id}.{part.attr}"
    return None
