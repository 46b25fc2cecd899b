"""Equivalent forms of Python and Java: positive examples of the contrastive training.

The rules skip code whose behaviour would often change, but they have no type information: an
operand may be an array that shares memory, or an object with overloaded operators.

Source:
    CodeScore-R, Table 1: condition and permute exchange. Its exchanges of loops and of
    arithmetic assignments are not made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from crscore.syntax.trees import Parsed
from crscore_lab.training.code.edits import (
    Edit,
    Variant,
    apply_edits,
    node_types,
    parse_rewritable,
    replace_node,
    text_of,
)

if TYPE_CHECKING:
    import tree_sitter

_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
# Without `<`: for NaN, `not a < b` is not `a >= b`.
_INVERTED: Final = {"==": "!=", "!=": "==", "in": "not in", "is": "is not"}
_EFFECTS: Final = node_types(
    "assignment_expression await call method_invocation named_expression "
    "object_creation_expression update_expression yield"
)
_COMPARISONS: Final = node_types("comparison_operator binary_expression")
_VALUES: Final = node_types(
    "argument_list assignment assignment_expression keyword_argument return_statement "
    "variable_declarator"
)
"""Nodes in which `true` and `false` are replaced by negations."""
Rule = Callable[["tree_sitter.Node", Parsed], Sequence[Edit]]


def list_equivalents(code: str, language: str | None) -> list[Variant]:
    r"""List equivalent forms of a piece of code.

    Args:
        code: A file, some statements, or the body of a function.
        language: `python` or `java`.

    Returns:
        For each non-empty set of families that changes the code its result, at most 3, without
        duplicates; each parses. A rule applies wherever it can; of nested nodes, only to the
        outermost. Empty for code that does not parse, or longer than `MAX_CODE_BYTES`.

    Raises:
        InputError: The language is not supported.
        DependencyError: The grammar's wheel is not installed.

    Example:
        >>> [tuple(form) for form in list_equivalents("if a > 1:\n    b += 2", "python")][:1]
        [('condition', 'if 1 < a:\n    b += 2')]
    """
    parsed = parse_rewritable(code, language)
    if parsed is None:
        return []
    rules_by_code: dict[str, str] = {}
    for count in range(1, len(FAMILIES) + 1):
        for families in combinations(FAMILIES, count):
            form: Parsed | None = parsed
            for family in families:
                form = form and _apply(FAMILIES[family], form, language)
            if form is not None:
                rules_by_code.setdefault(form.code, "+".join(families))
    rules_by_code.pop(parsed.code, None)
    return [Variant(rule, form_code) for form_code, rule in rules_by_code.items()]


def _apply(rule: Rule, parsed: Parsed, language: str | None) -> Parsed | None:
    """Apply a rule wherever possible; return None if it applies nowhere."""
    edits: list[Edit] = []
    end = parsed.start
    for node in parsed.nodes():
        if node.start_byte >= end and (changes := rule(node, parsed)):
            edits += changes
            end = max(edit.end for edit in changes)
    return apply_edits(parsed, edits, language) if edits else None


def _exchange_condition(node: tree_sitter.Node, _: Parsed) -> Sequence[Edit]:
    """`a < b` as `b > a`, `true` as `!false`."""
    if node.type in _COMPARISONS and node.child_count == 3:
        left, operator, right = node.children
        if operator.type in _MIRRORED and not _has_effects(node):
            mirrored = f"{text_of(right)} {_MIRRORED[operator.type]} {text_of(left)}"
            return [replace_node(node, mirrored)]
    if node.type in ("true", "false") and node.parent and node.parent.type in _VALUES:
        opposite = {"true": "!false", "false": "!true", "True": "not False", "False": "not True"}
        return [replace_node(node, opposite[text_of(node)])]
    return []


def _has_effects(node: tree_sitter.Node) -> bool:
    """Return whether both operands of a node may have side effects."""
    parts = [{inner.type for inner in _walk(child)} for child in node.children]
    return sum(bool(types & _EFFECTS) for types in parts) > 1


def _walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    stack = [node]
    while stack:
        child = stack.pop()
        yield child
        stack.extend(child.children)


def _exchange_branches(node: tree_sitter.Node, _: Parsed) -> Sequence[Edit]:
    """`if a: b else: c` as `if not a: c else: b`."""
    condition = node.child_by_field_name("condition")
    first = node.child_by_field_name("consequence")
    alternatives = node.children_by_field_name("alternative")
    if node.type != "if_statement" or not condition or not first or len(alternatives) != 1:
        return []
    second = alternatives[0]
    if condition.type == "parenthesized_expression" and second.type != "else_clause":  # Java
        # An `else if` has no block, and `a instanceof B b` declares `b` for the first branch alone.
        if second.type == "if_statement" or b"instanceof" in (condition.text or b""):
            return []
        negated = _negate(condition.named_children[0], "(!{})", "({})")
        blocks = [
            text_of(branch) if branch.type == "block" else f"{{ {text_of(branch)} }}"
            for branch in (second, first)
        ]
    else:
        body = second.child_by_field_name("body")
        # The blocks are exchanged as text, so both need lines of their own and the same
        # indentation.
        on_own_lines = body and first.start_point.row > node.start_point.row < body.start_point.row
        if body is None or not on_own_lines or first.start_point.column != body.start_point.column:
            return []
        second, negated = body, _negate(condition, "not {}", "{}")
        blocks = [text_of(second), text_of(first)]
    edits = zip((condition, first, second), (negated, *blocks), strict=True)
    return [replace_node(part, text) for part, text in edits]


def _negate(node: tree_sitter.Node, negated: str, positive: str) -> str:
    if node.type == "not_operator" or (
        node.type == "unary_expression" and node.children[0].type == "!"
    ):
        return positive.format(text_of(node.children[1]))
    if node.type in _COMPARISONS and node.child_count == 3 and node.children[1].type in _INVERTED:
        left, operator, right = node.children
        return positive.format(f"{text_of(left)} {_INVERTED[operator.type]} {text_of(right)}")
    return negated.format(text_of(node) if node.child_count == 0 else f"({text_of(node)})")


FAMILIES: Final[Mapping[str, Rule]] = {
    "condition": _exchange_condition,
    "permute": _exchange_branches,
}
"""The rules, in the order in which they are combined."""
