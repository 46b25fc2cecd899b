"""Mutants: copies of code with one operator replaced by another one of its class.

Classes and operators are those of CodeScore-R, Table 2, with these differences:

- One occurrence is replaced, and only if the syntax tree keeps its shape
  (`a - b * c` has no mutant with `+` for `*`, which would be `(a - b) + c`).
- Python's `//` is arithmetic, and its `and` and `or` are conditional.
- A plain `=` is not replaced: Python would read an unbound name, and in Java most other assignments
  would not compile. Other assignments can become `=`.
- `&&` does not become `&`, nor `||` become `|`: they differ only in what they evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from crscore.syntax.trees import grammar_of
from crscore_lab.training.code.edits import (
    Variant,
    apply_edits,
    node_types,
    parse_rewritable,
    replace_node,
    text_of,
)

if TYPE_CHECKING:
    import tree_sitter

MAX_MUTANTS: Final = 300
"""Maximum number of mutants of one piece of code."""

OPERATORS: Final[Mapping[str, tuple[str, ...]]] = {
    "AOR": ("+", "-", "*", "/", "//", "**", "%"),
    "ROR": (">", "<", ">=", "<=", "==", "!="),
    "COR": ("&&", "||", "^", "and", "or"),
    "SOR": ("<<", ">>", ">>>"),
    "LOR": ("&", "|", "^"),
    "ASR": ("=", "+=", "-=", "*=", "/=", "//=", "%=", "**=", "<<=", ">>=", ">>>="),
}
"""Operators of each class."""

_UNKNOWN_OPERATORS = {
    "python": frozenset(("&&", "||", ">>>", ">>>=")),
    "java": frozenset(("**", "**=", "//", "//=", "and", "or")),
}
_NODES: Final = node_types(
    "binary_operator comparison_operator boolean_operator augmented_assignment binary_expression "
    "assignment_expression"
)


def list_mutants(code: str, language: str | None) -> list[Variant]:
    """List the mutants of a piece of code.

    Args:
        code: A file, some statements, or the body of a function.
        language: `python` or `java`.

    Returns:
        The mutants in text order. Each one parses, but may behave like the original. Empty for
        code that does not parse or is longer than `MAX_CODE_BYTES`.

    Raises:
        InputError: The language is not supported.
        DependencyError: The grammar's wheel is not installed.

    Example:
        >>> [variant.code for variant in list_mutants("x = a << b", "python")]
        ['x = a >> b']
    """
    parsed = parse_rewritable(code, language)
    if parsed is None:
        return []
    shape = str(parsed.root)
    variants: list[Variant] = []
    for kind, operator in _occurrences(parsed.nodes()):
        old = text_of(operator)
        for new in _replacements(kind, old, grammar_of(language).name):
            if len(variants) == MAX_MUTANTS:
                return variants
            mutant = apply_edits(parsed, [replace_node(operator, new)], language)
            # `a = b` has another type of node than `a += b`.
            if mutant is not None and (new == "=" or str(mutant.root) == shape):
                variants.append(Variant(f"{kind} {old} {new}", mutant.code))
    return variants


def _occurrences(nodes: Iterator[tree_sitter.Node]) -> Iterator[tuple[str, tree_sitter.Node]]:
    for node in nodes:
        if node.type not in _NODES:
            continue
        for child in node.children:
            if child.is_named or child.type == "=":
                continue
            for kind, operators in OPERATORS.items():
                if child.type in operators:
                    yield kind, child


def _replacements(kind: str, old: str, language: str) -> Iterator[str]:
    for new in OPERATORS[kind]:
        # `a ^ b` may be of integers, which `&&` does not accept; it is mutated as LOR only.
        if new != old and new not in _UNKNOWN_OPERATORS[language] and (kind != "COR" or old != "^"):
            yield new
