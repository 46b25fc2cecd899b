"""Python file: its text without comments, and positions in its syntax tree.

Nothing here recurses: a tree can be deeper than Python's stack.
"""

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crscore.errors import InputError

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """File that parses."""

    path: str
    """Path as given."""
    text: str
    """Code with comments blanked; lines end with `\\n` only."""

    def tree(self) -> ast.Module:
        """Parse the code again; the tree is not kept, as trees are large."""
        return _parse(self.text)

    def lines(self) -> tuple[bytes, ...]:
        """Return the lines as indexed by the tree's positions: in UTF-8, without line ends."""
        return tuple(self.text.encode().split(b"\n"))


class UnparsedError(InputError):
    """Raised when a file cannot be read as Python; the message is the reason, in one clause."""


def read_source(path: str) -> Source:
    """Read and parse a file.

    Args:
        path: The file.

    Returns:
        Its code.

    Raises:
        UnparsedError: There is no such file, its encoding is unknown or wrong, or the code
            does not parse or nests too deeply.
    """
    try:
        text = _decode(Path(path).read_bytes())
        _parse(text)
        code = _without_comments(text)
        _parse(code)  # in case the tokenizer sees the code differently than the parser
        return Source(path=path, text=code)
    except OSError as error:
        raise UnparsedError(f"it cannot be read ({error.strerror})") from error
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise UnparsedError(f"it does not parse ({error.msg}{line})") from error
    except tokenize.TokenError as error:
        raise UnparsedError(f"it does not parse ({error.args[0]})") from error
    except (UnicodeError, LookupError) as error:
        raise UnparsedError("its encoding is unknown or wrong") from error
    except ValueError as error:  # a null byte, before Python 3.12
        raise UnparsedError(f"it does not parse ({error})") from error
    except (RecursionError, MemoryError) as error:
        raise UnparsedError("it nests too deeply or is too large") from error


def _decode(raw: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    return raw.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in a string is not reported here
        return ast.parse(text)


def _without_comments(text: str) -> str:
    """Blank every comment, so that no pragma is active and no line moves.

    All comments, not only pragmas: pylint searches for its own with a regular expression that takes
    minutes on a comment of 100,000 characters.
    """
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip(" \t")
    return "\n".join(lines)


class Span(NamedTuple):
    """Range of lines in a file."""

    line: int
    """First line, 1-based."""
    end_line: int
    """Last line, inclusive."""


class Visit(NamedTuple):
    """Node of a tree with its surroundings."""

    node: ast.AST
    """Node of the tree."""
    scope: str
    """Dotted names of the enclosing functions and classes; "" at the top level."""
    parent: ast.AST | None
    """Parent node; None for the module."""

    @property
    def name(self) -> str:
        """Dotted name of the node itself, for a function or class."""
        name = str(getattr(self.node, "name", ""))
        return f"{self.scope}.{name}" if self.scope else name


def visits(tree: ast.AST) -> Iterator[Visit]:
    r"""Walk a tree from the top, each node before its descendants.

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
        children = [Visit(child, scope, visit.node) for child in ast.iter_child_nodes(visit.node)]
        waiting.extend(reversed(children))


def blocks(tree: ast.AST) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Yield the functions and classes of a tree with their dotted names."""
    for visit in visits(tree):
        if isinstance(visit.node, Function | ast.ClassDef):
            yield visit.name, visit.node


def span(node: ast.stmt | ast.expr | ast.excepthandler) -> Span:
    """Return a node's lines, without the decorators of a function or class."""
    return Span(node.lineno, node.end_lineno or node.lineno)


def location_of(scope: str) -> str:
    """Return the location of an expression, in words that follow its name in a sentence.

    Example:
        >>> location_of("A.f"), location_of("")
        ('in `A.f`', 'at the top of the module')
    """
    return f"in `{scope}`" if scope else "at the top of the module"


def length(node: ast.expr, lines: tuple[bytes, ...]) -> int:
    """Measure the length of an expression as if it were on one line.

    A line break with its indentation counts as one space. Comments are blank in `lines`.

    Args:
        node: An expression with its positions.
        lines: The file's lines in UTF-8, as indexed by the tree's positions.

    Returns:
        Number of characters of its source text.
    """
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    end = node.end_col_offset
    if first == last:
        return len(lines[first][node.col_offset : end].decode())
    parts = [lines[first][node.col_offset :], *lines[first + 1 : last], lines[last][:end]]
    stripped = (part.decode().strip() for part in parts)
    return len(" ".join(part for part in stripped if part))
