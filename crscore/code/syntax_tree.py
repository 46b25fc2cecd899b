"""Syntax tree of a piece of code as a flat table, for the metrics that compare trees."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.syntax.grammars import Language, parse
from crscore.syntax.trees import grammar_of, is_readable, parse_code

if TYPE_CHECKING:
    import tree_sitter

# Walking a tree takes about 20 microseconds for each of its nodes.
MAX_BYTES: Final = 50_000
"""Maximum size in bytes of code that is parsed."""


class Node(NamedTuple):
    """Node of a tree."""

    type: str
    """Type in the grammar; for an anonymous node, its text."""
    is_named: bool
    """Whether the grammar names the node: False for keywords, operators and punctuation."""
    parent: int
    """Index of the parent in the table; -1 for a root."""
    field: str
    """Field of the parent that holds the node; empty if there is no field."""
    text: str
    """Text of a leaf or string; empty for other nodes."""
    leaf: bool
    """Whether the node has no children."""


class SyntaxTree(NamedTuple):
    """Tree of a piece of code."""

    language: Language
    nodes: tuple[Node, ...]
    """Nodes in the order of the text, each after its parent. A fragment may have several roots,
    because text that was added to complete the fragment has no nodes in the table."""
    valid: bool
    """Whether the code parses without an error."""

    def children(self) -> list[list[int]]:
        """Return, for each node, the indices of its children."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for position, node in enumerate(self.nodes):
            if node.parent >= 0:
                children[node.parent].append(position)
        return children


@lru_cache(maxsize=32)
def syntax_tree(code: str, language: str | None, *, whole_file: bool = False) -> SyntaxTree | None:
    """Parse a piece of code.

    Args:
        code: The code.
        language: Language as in `ChangedFile.language`.
        whole_file: Whether the code must be a whole file; otherwise it may also be some statements
            or the body of a function.

    Returns:
        The tree; None for code of more than `MAX_BYTES`.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.
    """
    grammar = grammar_of(language)
    if len(code.encode("utf-8", "replace")) > MAX_BYTES:
        return None
    if whole_file:
        # Half a surrogate pair, which JSON can contain, cannot be written in UTF-8.
        source = (grammar.prolog + code).encode("utf-8", "replace")
        root = parse(grammar, source)
        # The grammar needs the prolog (`<?php`) to parse what follows as code; the prolog has no
        # nodes in the table.
        nodes = _list_nodes(root, len(grammar.prolog), len(source), grammar.strings)
        return SyntaxTree(grammar, nodes, not root.has_error and is_readable(code, grammar))
    parsed = parse_code(code, language)
    nodes = _list_nodes(parsed.root, parsed.start, parsed.end, grammar.strings)
    return SyntaxTree(grammar, nodes, parsed.errors == 0)


def _list_nodes(
    root: tree_sitter.Node, start: int, end: int, strings: frozenset[str]
) -> tuple[Node, ...]:
    """Return the nodes between two byte offsets of the source."""
    nodes: list[Node] = []
    cursor = root.walk()
    parents = [-1]
    while True:
        node = cursor.node
        assert node is not None  # noqa: S101 - a cursor always has a node
        # Comments, which tree-sitter marks as extra nodes, are left out. So is the text that was
        # added to complete a fragment, which is outside of the offsets.
        inside = node.start_byte >= start and node.end_byte <= end and not node.is_extra
        if inside:
            leaf = node.child_count == 0
            source = node.text if leaf or node.type in strings else None
            text = source.decode("utf-8", "replace") if source else ""
            field = cursor.field_name or ""
            nodes.append(Node(node.type, node.is_named, parents[-1], field, text, leaf))
        if cursor.goto_first_child():
            parents.append(len(nodes) - 1 if inside else -1)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return tuple(nodes)
            parents.pop()
