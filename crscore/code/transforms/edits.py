"""Edits of code at positions of its syntax tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from crscore.errors import InputError
from crscore.suggestions.trees import Parsed, grammar_of, parse_code
from crscore.syntax.grammars import parse

if TYPE_CHECKING:
    import tree_sitter

MAX_CODE_BYTES = 50_000
"""Longest code that is rewritten: every variant is parsed again."""

MAX_DEPTH = 100
"""Deepest tree that is rewritten: the rules are recursive."""

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
    """Parse code that is to be rewritten; None where it does not parse, or is too long or deep.

    Raises:
        InputError: Code of this language is not rewritten.
    """
    name = grammar_of(language).name
    if name not in LANGUAGES:
        raise InputError(f"no rules to rewrite {name}; known: {', '.join(LANGUAGES)}")
    if len(code) > MAX_CODE_BYTES:
        return None
    parsed = parse_code(code, language)
    return None if parsed.errors or _depth(parsed.root) > MAX_DEPTH else parsed


def _depth(root: tree_sitter.Node) -> int:
    cursor = root.walk()
    deepest = 0
    while True:
        if cursor.goto_first_child():
            deepest = max(deepest, cursor.depth)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return deepest


def edited(parsed: Parsed, edits: Iterable[Edit], language: str | None) -> Parsed | None:
    """Apply edits that do not overlap; None where the result does not parse."""
    pieces: list[bytes] = []
    at = 0
    for edit in sorted(edits):
        pieces += [parsed.source[at : edit.start], edit.text.encode()]
        at = edit.end
    source = b"".join([*pieces, parsed.source[at:]])
    root = parse(grammar_of(language), source)
    if root.has_error:
        return None
    return Parsed(source, root, parsed.start, len(source) - len(parsed.source) + parsed.end, 0)


def text_of(node: tree_sitter.Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode()


def swapped(left: tree_sitter.Node, right: tree_sitter.Node) -> tuple[Edit, Edit]:
    """Exchange the texts of two nodes."""
    return (
        Edit(left.start_byte, left.end_byte, text_of(right)),
        Edit(right.start_byte, right.end_byte, text_of(left)),
    )


def fresh_name(stem: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it."""
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    return name
