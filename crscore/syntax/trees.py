"""Parses pieces of code that need not be whole files."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.errors import InputError
from crscore.syntax import fragments
from crscore.syntax.grammars import Language, language_of, parse

if TYPE_CHECKING:
    import tree_sitter

_EQUAL_QUOTES: Final = frozenset(("python", "javascript", "typescript", "tsx"))
"""Languages in which `'a'` and `"a"` are the same string."""
# Matches 'a', b'a' and '''a''', but not 'say "hi"' or 'it\'s', where double quotes would change the
# backslashes.
_SINGLE_QUOTED: Final = re.compile(r"([A-Za-z]*)('{3}|')([^'\"]*)\2")


class Parsed(NamedTuple):
    """Parsed piece of code."""

    source: bytes
    """Parsed text in UTF-8: the dedented code, and text that was added to make it parse."""
    root: tree_sitter.Node
    """Root of the tree of `source`."""
    start: int
    """First byte of the code in `source`."""
    end: int
    """Byte after the code in `source`."""
    errors: int
    """Number of unreadable bytes and missing tokens; 0 for code that parses, 1 for Python that only
    the grammar can read."""

    @property
    def code(self) -> str:
        """The dedented code."""
        return self.source[self.start : self.end].decode()

    def nodes(self) -> Iterator[tree_sitter.Node]:
        """Yield the nodes inside of the code in the order of the text, each after its parent."""
        stack = [self.root]  # recursion would fail, as a tree may be deeper than Python's stack
        while stack:
            node = stack.pop()
            if node.end_byte <= self.start or node.start_byte >= self.end:
                continue
            if node.start_byte >= self.start and node.end_byte <= self.end:
                yield node
            stack.extend(reversed(node.children))


class Token(NamedTuple):
    """Leaf of a syntax tree, with its position."""

    kind: str
    text: str
    ancestors: tuple[str, ...]
    """Types of its ancestor nodes, the innermost first."""
    row: int
    """Line in the text that was parsed, from 0."""
    is_comment: bool


def tokens(root: tree_sitter.Node, grammar: Language, first: int = 0) -> Iterator[Token]:
    """Yield the leaves of a tree, in the order of the text; a string is one leaf.

    In a language where both kinds of quotes mean the same, single quotes become double quotes if
    this needs no escape.

    Args:
        root: Root of the tree.
        grammar: Language of the text.
        first: First line to read, from 0.
    """
    stack: list[tuple[tree_sitter.Node, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, around = stack.pop()
        if node.end_point.row < first:
            continue
        if node.children and node.type not in grammar.strings:
            ancestors = (node.type, *around)
            stack.extend((child, ancestors) for child in reversed(node.children))
        elif node.end_byte > node.start_byte:
            text = (node.text or b"").decode("utf-8", "replace")
            is_quoted = node.type == "string" and grammar.name in _EQUAL_QUOTES
            if is_quoted and (match := _SINGLE_QUOTED.fullmatch(text)):
                quotes = match[2].replace("'", '"')
                text = f"{match[1]}{quotes}{match[3]}{quotes}"
            yield Token(node.type, text, around, node.start_point.row, "comment" in node.type)


def grammar_of(name: str | None) -> Language:
    """Return the grammar of a language.

    Raises:
        InputError: There is no grammar; the message names the language.
    """
    language = language_of(name)
    if language is None:
        raise InputError(f"no grammar for {name or 'code of an unknown language'}")
    return language


def parse_code(code: str, language: str | None) -> Parsed:
    """Parse a piece of code: a file, some statements, or the body of a function.

    Args:
        code: The code. If only the first line lacks indentation, as in the completion of a prompt,
            the line is also tried with the indentation of the least indented other line.
        language: Language as in `ChangedFile.language`.

    Returns:
        The code, parsed with the best of a bounded number of completions.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.
    """
    grammar = grammar_of(language)
    best: tuple[int, str, str, str] | None = None
    # Tabs are replaced by spaces, so that indentations can be compared.
    lines = (code.expandtabs(4) if grammar.indented else code).split("\n")
    variants = [lines]
    following = [line for line in lines[1:] if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in following), default=0)
    if margin and lines[0][:1].strip():
        variants.append([" " * margin + lines[0], *lines[1:]])
    for variant in variants:
        errors, before, text, after, _ = fragments.enclose(grammar, variant)
        errors = errors or int(not is_readable(before + text + after, grammar))
        # In a tie, the unchanged lines are preferred.
        if best is None or errors < best[0]:
            best = errors, before, text, after
        if errors == 0:
            break
    assert best is not None  # noqa: S101 - the unchanged code is always tried
    errors, before, text, after = best
    head, body = before.encode("utf-8", "replace"), text.encode("utf-8", "replace")
    source = head + body + after.encode("utf-8", "replace")
    root = parse(grammar, source)
    return Parsed(source, root, len(head), len(head) + len(body), errors)


def is_readable(source: str, grammar: Language) -> bool:
    """Return whether Python's own parser accepts a text; True for other languages.

    The grammar accepts more: Python 2, or a first line that is indented less than the others.
    """
    if grammar.name != "python":
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an invalid escape in a string
            ast.parse(source)
    # A null character raises ValueError; code that is nested too deeply, one of the last two.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
