"""Where things stand in a syntax tree: names of blocks, lines, source text.

Nothing here recurses: a tree can be deeper than Python's stack.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Span(NamedTuple):
    """Lines of a file."""

    line: int
    """First line, 1-based."""
    end_line: int
    """Last line, inclusive."""


class Visit(NamedTuple):
    """One node of a tree and where it hangs."""

    node: ast.AST
    """The node."""
    scope: str
    """Dotted names of the functions and classes around it; "" at the top."""
    parent: ast.AST | None
    """The node above; None for the module."""

    @property
    def name(self) -> str:
        """The node's own dotted name, for a function or class."""
        own = str(getattr(self.node, "name", ""))
        return f"{self.scope}.{own}" if self.scope else own


def visits(tree: ast.AST) -> Iterator[Visit]:
    r"""Walk a tree from the top, each node before those below it.

    Args:
        tree: A module or any node.

    Yields:
        Every node.

    Example:
        >>> tree = ast.parse("class A:\n    def f(self): ...")
        >>> [visit.name for visit in visits(tree) if isinstance(visit.node, ast.FunctionDef)]
        ['A.f']
    """
    waiting = [Visit(tree, "", None)]
    while waiting:
        visit = waiting.pop()
        yield visit
        is_block = isinstance(visit.node, Function | ast.ClassDef)
        scope = visit.name if is_block else visit.scope
        below = [Visit(child, scope, visit.node) for child in ast.iter_child_nodes(visit.node)]
        waiting.extend(reversed(below))


def blocks(tree: ast.AST) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Walk the functions and classes of a tree, each with its dotted name."""
    for visit in visits(tree):
        if isinstance(visit.node, Function | ast.ClassDef):
            yield visit.name, visit.node


def span(node: ast.stmt | ast.expr | ast.excepthandler) -> Span:
    """Tell a node's lines; decorators of a function or class are no part of it."""
    return Span(node.lineno, node.end_lineno or node.lineno)


def within(scope: str) -> str:
    """Name the surroundings of an expression, to follow its own name in a sentence.

    Example:
        >>> within("A.f"), within("")
        ('in `A.f`', 'at the top of the module')
    """
    return f"in `{scope}`" if scope else "at the top of the module"


def length(node: ast.expr, lines: tuple[bytes, ...]) -> int:
    """Measure an expression as it would be on one line.

    Line breaks count, with the indentation around them, as one space. Comments
    are blank in `lines`.

    Args:
        node: An expression with its positions.
        lines: The file's lines in UTF-8, as the positions of the tree count.

    Returns:
        Characters of its source text.
    """
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    end = node.end_col_offset
    if first == last:
        return len(lines[first][node.col_offset : end].decode())
    parts = [lines[first][node.col_offset :], *lines[first + 1 : last], lines[last][:end]]
    stripped = (part.decode().strip() for part in parts)
    return len(" ".join(part for part in stripped if part))
