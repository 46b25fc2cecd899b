"""Edits of Python and Java at positions of the syntax tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.errors import InputError
from crscore.syntax.grammars import parse
from crscore.syntax.trees import Parsed, grammar_of, parse_code

if TYPE_CHECKING:
    import tree_sitter

MAX_CODE_BYTES: Final = 10_000
"""Maximum size of code that is rewritten, since every variant is parsed again."""
LANGUAGES: Final = ("java", "python")


def node_types(names: str) -> frozenset[str]:
    """Return the node types listed in a text."""
    return frozenset(names.split())


class Variant(NamedTuple):
    """Rewritten code."""

    rule: str
    """The families or the operators: `loop`, `condition+permute`, `ROR < >=`."""
    code: str
    """The code, dedented."""


class Edit(NamedTuple):
    """Replacement of the bytes from `start` to `end` (exclusive)."""

    start: int
    end: int
    text: str


def parse_rewritable(code: str, language: str | None) -> Parsed | None:
    """Parse code to rewrite; return None if it does not parse or is too long.

    Raises:
        InputError: There are no rewriting rules for the language.
    """
    name = grammar_of(language).name
    if name not in LANGUAGES:
        raise InputError(f"no rules to rewrite {name}; known: {', '.join(LANGUAGES)}")
    if len(code) > MAX_CODE_BYTES:
        return None
    parsed = parse_code(code, language)
    return None if parsed.errors else parsed


def apply_edits(parsed: Parsed, edits: Iterable[Edit], language: str | None) -> Parsed | None:
    """Apply edits that do not overlap; return None if the result does not parse."""
    segments: list[bytes] = []
    position = 0
    for edit in sorted(edits):
        segments += [parsed.source[position : edit.start], edit.text.encode()]
        position = edit.end
    source = b"".join([*segments, parsed.source[position:]])
    root = parse(grammar_of(language), source)
    if root.has_error:
        return None
    # Edits lie within the code: its start stays, its end moves.
    return Parsed(source, root, parsed.start, len(source) - len(parsed.source) + parsed.end, 0)


def replace_node(node: tree_sitter.Node, text: str) -> Edit:
    """Replace a node by a text."""
    return Edit(node.start_byte, node.end_byte, text)


def text_of(node: tree_sitter.Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode()
