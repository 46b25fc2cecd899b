"""Features of a sketch's syntax tree, counted in hashed places.

A sentence encoder hardly sees one operator, so operators, with their operands, are counted here.
Terms are written in one direction, as far as that needs no knowledge of the types: `b < a` for
`a > b`, `x = x + 1` for `x += 1` and `x++`, and a condition or its negation, whichever sorts first,
with the branches exchanged. Each term is counted with its names and with their roles alone.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crscore.suggestions.trees import Parsed

if TYPE_CHECKING:
    import tree_sitter

PLACES = 2048
"""Places of the features of one code."""
MAX_NODES = 20_000
"""Most nodes of a tree that are read."""
_MAX_PARTS = 8
"""Most children of a node that its term names."""
_MAX_CHARS = 40
"""Most characters of a leaf that its term names."""

_MIRRORED = {">": "<", ">=": "<="}
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "in": "not in"}
_COUNTED = re.compile(r"(?:arg|var)_\d+|f(?:_\d+)?|[01]|range")
"""Leaves whose number differs between forms of a loop or an assignment."""
_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", ">>>", "&", "|", "^", "@", "??")
_OPERATORS = frozenset(
    (
        *_ARITHMETIC,
        *("<", ">", "<=", ">=", "==", "!=", "===", "!==", "&&", "||", "and", "or", "in", "not in"),
        *("is", "is not"),
    )
)
_WORDS = {"&&": "and", "||": "or", "===": "==", "!==": "!=", "not in": "!in", "is not": "!is"}
_PARENTHESES = frozenset(("parenthesized_expression", "parenthesized_statements"))


def feature_counts(parsed: Parsed) -> npt.NDArray[np.float32]:
    """Count the features of a sketch.

    Args:
        parsed: The sketch, parsed.

    Returns:
        Shape (PLACES,): the logarithms of 1 + counts, added up with a sign for each feature.
    """
    counts: Counter[str] = Counter()
    for number, node in enumerate(parsed.nodes()):
        if number == MAX_NODES:
            break
        for feature in _features(node):
            counts[feature] += 1
            roles = _roles(feature)
            if roles != feature:
                counts[roles] += 1
    vector = np.zeros(PLACES, dtype=np.float32)
    for feature, count in counts.items():
        place = zlib.crc32(feature.encode("utf-8", "replace"))
        vector[place % PLACES] += np.log1p(count) * (1 if place & 1 << 20 else -1)
    return vector


def _roles(feature: str) -> str:
    return re.sub(r"\b(arg|var|f)_\d+", r"\1", feature)


def _features(node: tree_sitter.Node) -> Iterator[str]:
    if node.child_count == 0:
        text = _text(node)
        if node.is_named and "comment" not in node.type and not _COUNTED.fullmatch(text):
            yield "t:" + text
        return
    if node.type in ("if_statement", "if", "conditional_expression", "ternary_expression"):
        yield from _branches(node)
    elif node.type in ("for_statement", "while_statement", "while", "do_statement", "for"):
        yield from _loop(node)
    elif node.type.startswith("return"):
        yield "r:" + ",".join(_term(one, 2) for one in node.named_children)
    else:
        yield from _operation(node)


def _operation(node: tree_sitter.Node) -> Iterator[str]:
    target, operator, value = _assigned(node)
    if target:
        yield f"a:{target}={value}"
        if operator:  # the operation of `x = x + 1` is a node of its own
            yield "k:" + operator
            yield "o:" + value
        return
    operator = _operator(node)
    if operator and not _is_condition(node):
        yield "k:" + _WORDS.get(operator, _MIRRORED.get(operator, operator))
        yield "o:" + _term(node, 2)


def _is_condition(node: tree_sitter.Node) -> bool:
    """Return whether a node is the condition of a branch, which is read there."""
    around = node.parent
    while around is not None and (around.type in _PARENTHESES or around.type == "not_operator"):
        node, around = around, around.parent
    return around is not None and around.type.startswith("if")


def _assigned(node: tree_sitter.Node) -> tuple[str, str, str]:
    """Return the target of an assignment, its operator other than `=`, and the value it gets.

    All are empty for another node.
    """
    children = node.children
    if node.type == "update_expression" or "postfix" in node.type:
        mark = next((one.type for one in children if one.type in ("++", "--")), "")
        target = _term(node.named_children[0], 1) if mark and node.named_children else ""
        return (target, mark[0], f"({target} {mark[0]} 1)") if target else ("", "", "")
    for number, child in enumerate(children[1:-1], 1):
        mark = _text(child) if "operator" in child.type else child.type
        if mark in ("=", ":="):
            return _term(children[number - 1], 1), "", _term(children[-1], 2)
        if mark[-1:] == "=" and mark[:-1] in _ARITHMETIC:
            target = _term(children[number - 1], 1)
            return target, mark[:-1], f"({target} {mark[:-1]} {_term(children[-1], 1)})"
    return "", "", ""


def _operator(node: tree_sitter.Node) -> str:
    """Return the operator between two operands; empty for another node."""
    if node.child_count != 3 or not node.children[0].is_named:
        return ""
    found = node.children[1].type
    return found if found in _OPERATORS else ""


def _term(node: tree_sitter.Node, depth: int) -> str:
    """Write an expression in one direction, down to a depth."""
    while node.type in _PARENTHESES and node.named_child_count == 1:
        node = node.named_children[0]
    if node.child_count == 0 or node.type.startswith("string"):
        return _text(node)
    if node.type == "not_operator" or (node.child_count == 2 and node.children[0].type == "!"):
        return _negation(node.children[1], depth)
    operator = _operator(node)
    if depth == 0:
        return f"{node.type} {operator}".strip()
    if operator:
        left, right = (_term(node.children[at], depth - 1) for at in (0, 2))
        return _compared(left, operator, right)
    parts = [_term(one, depth - 1) for one in node.named_children[:_MAX_PARTS]]
    return f"{node.type}[{','.join(parts)}]"


def _compared(left: str, operator: str, right: str) -> str:
    operator = _WORDS.get(operator, operator)
    if operator in _MIRRORED:
        left, operator, right = right, _MIRRORED[operator], left
    if operator in ("==", "!="):
        left, right = sorted((left, right))
    return f"({left} {operator} {right})"


def _negation(node: tree_sitter.Node, depth: int) -> str:
    """Write the negation of an expression."""
    while node.type in _PARENTHESES and node.named_child_count == 1:
        node = node.named_children[0]
    operator = _operator(node)
    if operator in _NEGATED and depth > 0:
        left, right = (_term(node.children[at], depth - 1) for at in (0, 2))
        return _compared(left, _NEGATED[operator], right)
    constant = {"true": "False", "false": "True"}.get(node.type)
    if constant:
        return constant
    if node.type == "not_operator" or (node.child_count == 2 and node.children[0].type == "!"):
        return _term(node.children[1], depth)
    return f"!{_term(node, depth)}"


def _branches(node: tree_sitter.Node) -> Iterator[str]:
    condition = node.child_by_field_name("condition")
    first = node.child_by_field_name("consequence")
    second = node.child_by_field_name("alternative")
    if condition is None:
        return
    term, other = _term(condition, 2), _negation(condition, 2)
    sides = [_start(first), _start(second)]
    if second is not None and other < term:
        term, sides = other, sides[::-1]
    yield "i:" + term
    yield f"i:{term}:{sides[0]}"
    yield f"i:{term}::{sides[1]}"


def _start(node: tree_sitter.Node | None) -> str:
    """Write the first statement of a branch."""
    while node is not None and node.named_children and not node.type.endswith("expression"):
        if node.type in ("return_statement", "expression_statement", "assignment"):
            break
        body = node.child_by_field_name("body")
        node = body if body is not None else node.named_children[0]
    if node is None:
        return ""
    target, _, value = _assigned(node.named_children[0] if node.named_children else node)
    return f"{target}={value}" if target else _term(node, 2)


def _loop(node: tree_sitter.Node) -> Iterator[str]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    given = right.child_by_field_name("arguments") if right is not None else None
    if left is None or right is None:
        condition = node.child_by_field_name("condition")
        yield "l:" + (_term(condition, 2) if condition is not None else "")
    elif given is None or not right.text or not right.text.startswith(b"range"):
        yield f"l:{_term(left, 2)} in {_term(right, 2)}"
    else:
        yield from _counted(_term(left, 1), [_term(one, 1) for one in given.named_children])


def _counted(counter: str, bounds: Sequence[str]) -> Iterator[str]:
    """Write a loop over a range as the loop with a condition that it is."""
    if not bounds:
        return
    start, stop, step = ("0", *bounds, "1") if len(bounds) == 1 else (*bounds, "1")[:3]
    limit = _compared(counter, ">" if step.startswith("-") else "<", stop)
    for term in (limit, f"({counter} + {step})"):
        yield "k:" + ("<" if term == limit else "+")
        yield "o:" + term
    yield f"a:{counter}={start}"
    yield f"a:{counter}=({counter} + {step})"
    yield "l:" + limit


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"")[:_MAX_CHARS].decode("utf-8", "replace")
