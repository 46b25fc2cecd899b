"""Edits of code at positions of its syntax tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crscore.code.trees import Parsed, grammar_of, parse_code
from crscore.errors import InputError
from crscore.syntax.grammars import parser

if TYPE_CHECKING:
    from collections.abc import Iterable

    import tree_sitter

MAX_CODE_BYTES = 50_000
"""Longest code that is rewritten: every variant is parsed again."""

LANGUAGES = ("java", "python")


class Variant(NamedTuple):
    """Rewritten code."""

    rule: str
    """The families or the operators: `loop`, `condition+permute`, `ROR < >=`."""
    code: str
    """The code, dedented."""


class Edit(NamedTuple):
    """Replacement of a part of the source."""

    start: int
    end: int
    text: str


class Site(NamedTuple):
    """A place where a rule applies: its edits lie between `start` and `end`."""

    start: int
    end: int
    edits: tuple[Edit, ...]


def parsed_for(code: str, language: str | None) -> Parsed | None:
    """Parse code that is to be rewritten; None for code that does not parse or is too long.

    Raises:
        InputError: Code of this language is not rewritten.
    """
    name = grammar_of(language).name
    if name not in LANGUAGES:
        raise InputError(f"no rules to rewrite {name}; known: {', '.join(LANGUAGES)}")
    if len(code) > MAX_CODE_BYTES:
        return None
    parsed = parse_code(code, language)
    return None if parsed.errors else parsed


def edited(parsed: Parsed, edits: Iterable[Edit], language: str | None) -> Parsed | None:
    """Apply edits that do not overlap; None where the result does not parse."""
    pieces: list[bytes] = []
    at = 0
    for edit in sorted(edits):
        pieces += [parsed.source[at : edit.start], edit.text.encode()]
        at = edit.end
    source = b"".join([*pieces, parsed.source[at:]])
    root = parser(grammar_of(language)).parse(source).root_node
    if root.has_error:
        return None
    return Parsed(source, root, parsed.start, len(source) - len(parsed.source) + parsed.end, 0)


def text_of(node: tree_sitter.Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode()
