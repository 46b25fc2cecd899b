"""Equivalent transformations of Python.

A rule returns the places where it surely keeps the behaviour. Left out are:

- condition: chained comparisons; operands of which both may have an effect or may raise;
- expression: an assignment in place of what may be a list, a set or another mutable value, which
  others may hold too. Numbers and texts are known from literals, annotations and built-in
  functions. Where the right side is a number the left one is taken for a number as well: arrays
  that share memory are not told apart;
- permute: `elif`, suites on the line of their header. `<` is not inverted (NaN), but negated;
- loop: other loops than over `range` with a literal step; loops with `else`; a counter that is
  assigned in the body, used outside, or seen by a function that is made in the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from crscore.code.transforms.edits import Edit, Site, fresh_name, swapped, text_of
from crscore.suggestions.trees import Parsed

if TYPE_CHECKING:
    import tree_sitter

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_INVERTED = {
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
}
_LITERALS = frozenset(("integer", "float", "string", "true", "false", "none"))
_PRIMARY = frozenset((*_LITERALS, "identifier", "call", "attribute", "subscript"))
_PURE = frozenset(
    (
        *_LITERALS,
        "argument_list",
        "attribute",
        "binary_operator",
        "identifier",
        "parenthesized_expression",
        "string_content",
        "string_end",
        "string_start",
        "subscript",
        "unary_operator",
    )
)
_PURE_CALLS = frozenset(("abs", "chr", "float", "int", "len", "max", "min", "ord", "str", "sum"))
_RETURNED = {
    "abs": "number",
    "chr": "text",
    "float": "number",
    "int": "number",
    "len": "number",
    "ord": "number",
    "round": "number",
    "str": "text",
}
_WRITTEN = {"integer": "number", "float": "number", "string": "text"}
_ANNOTATED = {"int": "number", "float": "number", "str": "text"}
_VALUES = frozenset(("return_statement", "assignment", "argument_list", "keyword_argument"))
_FUNCTIONS = frozenset(("function_definition", "lambda", "class_definition"))
_BINDERS = frozenset(
    ("assignment", "augmented_assignment", "for_statement", "for_in_clause", "named_expression")
)
_MAX_ROUNDS = 10


def conditions(parsed: Parsed) -> Iterator[Site]:
    """Exchange the operands of comparisons, and `True` for `not False`."""
    for node in parsed.nodes():
        if node.type == "comparison_operator" and len(node.named_children) == 2:
            left, right = node.named_children
            operator = node.children[1]
            if operator.type in _MIRRORED and _exchangeable(left, right):
                mirrored = Edit(operator.start_byte, operator.end_byte, _MIRRORED[operator.type])
                yield Site(node.start_byte, node.end_byte, (*swapped(left, right), mirrored))
        elif node.type in ("true", "false") and node.parent and node.parent.type in _VALUES:
            text = "not False" if node.type == "true" else "not True"
            yield _whole(node, text)


def _exchangeable(left: tree_sitter.Node, right: tree_sitter.Node) -> bool:
    constant = left.type in ("integer", "float") or right.type in ("integer", "float")
    return constant or (_pure(left) and _pure(right))


def _pure(node: tree_sitter.Node) -> bool:
    """Return whether evaluating an expression has no effect."""
    if node.type == "call":
        name = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        known = name is not None and text_of(name) in _PURE_CALLS
        return known and arguments is not None and _pure(arguments)
    return node.type in _PURE and all(map(_pure, node.named_children))


def _whole(node: tree_sitter.Node, text: str) -> Site:
    edit = Edit(node.start_byte, node.end_byte, text)
    return Site(node.start_byte, node.end_byte, (edit,))


def expressions(parsed: Parsed) -> Iterator[Site]:
    """Exchange `a += b` for `a = a + b`, and the reverse."""
    kinds = _kinds(parsed)
    for node in parsed.nodes():
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type == "augmented_assignment" and left and right and node.child_count == 3:
            operator = node.children[1].type[:-1]
            if _arithmetic(left, operator, right, kinds):
                value = text_of(right) if right.type in _PRIMARY else f"({text_of(right)})"
                yield _whole(node, f"{text_of(left)} = {text_of(left)} {operator} {value}")
        elif node.type == "assignment" and left and right and not node.child_by_field_name("type"):
            yield from _shortened(node, left, right, kinds)


def _arithmetic(
    left: tree_sitter.Node, operator: str, right: tree_sitter.Node, kinds: Mapping[str, str]
) -> bool:
    if operator == "@" or not _pure(left):
        return False
    if _kind(left, kinds) in ("number", "text"):
        return True
    return operator != "*" and _kind(right, kinds) == "number"


def _shortened(
    node: tree_sitter.Node,
    left: tree_sitter.Node,
    right: tree_sitter.Node,
    kinds: Mapping[str, str],
) -> Iterator[Site]:
    if left.type != "identifier" or right.type != "binary_operator" or right.child_count != 3:
        return
    first, operator, second = right.children
    known = _kind(left, kinds) in ("number", "text")
    if known and text_of(first) == text_of(left):
        yield _whole(node, f"{text_of(left)} {operator.type}= {text_of(second)}")


def _kinds(parsed: Parsed) -> dict[str, str]:
    """Return `number` or `text` for the names that are surely bound to nothing else."""
    bindings = list(_bindings(parsed))
    kinds = {name: "any" for name, _ in bindings}
    for _ in range(_MAX_ROUNDS):
        before = dict(kinds)
        for name, value in bindings:
            kind = value if isinstance(value, str) else _kind(value, kinds)
            if kinds[name] != kind and kind != "any":
                kinds[name] = kind if kinds[name] == "any" else ""
        if kinds == before:
            return {name: kind for name, kind in kinds.items() if kind != "any"}
    return {}


def _bindings(parsed: Parsed) -> Iterator[tuple[str, tree_sitter.Node | str]]:
    """Yield names with what they are bound to: an expression, or a kind; empty when unknown."""
    for node in parsed.nodes():
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type in ("assignment", "augmented_assignment") and left and right:
            if left.type == "identifier":
                yield text_of(left), right if node.type == "assignment" else node
            elif left.type in ("pattern_list", "tuple_pattern", "list_pattern"):
                yield from ((name, "") for name in _names(left))
        elif node.type in ("for_statement", "for_in_clause") and left and right:
            yield from ((name, "number" if _range(right) else "") for name in _names(left))
        elif node.type in ("typed_parameter", "typed_default_parameter"):
            annotation = node.child_by_field_name("type")
            kind = _ANNOTATED.get(text_of(annotation), "") if annotation else ""
            yield from ((name, kind) for name in _names(node.children[0]))
        elif node.type in ("parameters", "lambda_parameters"):
            plain = [one for one in node.named_children if not one.type.startswith("typed")]
            yield from ((name, "") for one in plain for name in _names(one))
        elif node.type in ("as_pattern_target", "named_expression", "global_statement"):
            yield from ((name, "") for name in _names(node))


def _names(node: tree_sitter.Node) -> list[str]:
    """Return the identifiers in a node."""
    if node.type == "identifier":
        return [text_of(node)]
    return [name for child in node.named_children for name in _names(child)]


def _kind(node: tree_sitter.Node, kinds: Mapping[str, str]) -> str:
    """Return `number`, `text`, `any` (what is not known yet) or nothing."""
    if node.type in _WRITTEN:
        return _WRITTEN[node.type]
    if node.type == "identifier":
        return kinds.get(text_of(node), "")
    if node.type in ("parenthesized_expression", "unary_operator") and node.named_child_count == 1:
        return _kind(node.named_children[0], kinds)
    if node.type == "call":
        return _RETURNED.get(text_of(node.children[0]), "")
    if node.type in ("binary_operator", "augmented_assignment"):
        return _computed(node, kinds)
    return ""


def _computed(node: tree_sitter.Node, kinds: Mapping[str, str]) -> str:
    left, right = (_kind(node.children[index], kinds) for index in (0, -1))
    operator = node.children[1].type.removesuffix("=")
    if left == "any" and node.type == "augmented_assignment":
        return "any"
    if operator in "+-":  # nothing but a number can be added to a number
        return left or right
    if left == "text" and operator == "%":
        return "text"
    if "any" in (left, right):
        return right if left == "any" else left
    return left if left == right else ""


def branches(parsed: Parsed) -> Iterator[Site]:
    """Exchange the branches of `if` with `else`, and negate the condition."""
    for node in parsed.nodes():
        if node.type != "if_statement":
            continue
        condition = node.child_by_field_name("condition")
        first = node.child_by_field_name("consequence")
        others = node.children_by_field_name("alternative")
        second = others[0].child_by_field_name("body") if len(others) == 1 else None
        if condition is None or first is None or second is None:
            continue
        aligned = first.start_point.column == second.start_point.column
        if aligned and _apart(node, first) and _apart(others[0], second):
            negated = Edit(condition.start_byte, condition.end_byte, _negated(condition))
            yield Site(node.start_byte, node.end_byte, (negated, *swapped(first, second)))


def _apart(header: tree_sitter.Node, block: tree_sitter.Node) -> bool:
    return block.start_point.row > header.start_point.row and block.named_child_count > 0


def _negated(node: tree_sitter.Node) -> str:
    if node.type == "not_operator":
        return text_of(node.named_children[0])
    if node.type == "comparison_operator" and len(node.named_children) == 2:
        left, right = node.named_children
        operator = node.children[1].type
        if operator in _INVERTED:
            return f"{text_of(left)} {_INVERTED[operator]} {text_of(right)}"
    return f"not {text_of(node)}" if node.type in _PRIMARY else f"not ({text_of(node)})"


def loops(parsed: Parsed) -> Iterator[Site]:
    """Exchange `for` over `range` for `while`."""
    taken, kinds = set(_names(parsed.root)), _kinds(parsed)
    for node in parsed.nodes():
        if node.type == "for_statement" and not node.child_by_field_name("alternative"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            body = node.child_by_field_name("body")
            if left is None or right is None or body is None or not _apart(node, body):
                continue
            bounds = _range(right)
            if bounds and left.type == "identifier" and _counts_alone(node, left, bounds, body):
                yield _as_while(node, text_of(left), bounds, body, taken, kinds)


def _range(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return the arguments of `range`; empty for another expression."""
    name, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if name is None or given is None or text_of(name) != "range":
        return []
    arguments = [one for one in given.named_children if one.type != "comment"]
    odd = any(one.type in ("keyword_argument", "list_splat") for one in arguments)
    return [] if odd or not 1 <= len(arguments) <= 3 else arguments


def _counts_alone(
    loop: tree_sitter.Node,
    counter: tree_sitter.Node,
    bounds: list[tree_sitter.Node],
    body: tree_sitter.Node,
) -> bool:
    """Return whether nothing but the loop assigns its counter, and nothing reads it afterwards."""
    name = text_of(counter)
    inner = list(_below(body))
    if any(node.type in _FUNCTIONS or node.type == "generator_expression" for node in inner):
        return False
    if name in _bound_in(inner) or any(name in _names(one) for one in bounds):
        return False
    if len(bounds) == 3 and _step(bounds[2]) == 0:
        return False
    around = loop.parent
    while around is not None and around.parent is not None and around.type not in _FUNCTIONS:
        around = around.parent
    return around is not None and _names(around).count(name) == (
        1 + _names(body).count(name) + _rebound(around, loop, name)
    )


def _rebound(around: tree_sitter.Node, loop: tree_sitter.Node, name: str) -> int:
    """Count a name in the other loops and comprehensions that bind it for themselves."""
    count, stack = 0, [around]
    while stack:
        node = stack.pop()
        clauses = [node] if node.type == "for_statement" else node.named_children
        bound = [one for one in clauses if one.type in ("for_statement", "for_in_clause")]
        own = "comprehension" in node.type or node.type in ("for_statement", "generator_expression")
        if own and node != loop and any(_binds(one, name) for one in bound):
            within = node.start_byte <= loop.start_byte < node.end_byte
            count += 0 if within else _names(node).count(name)
        elif node != loop:
            stack.extend(node.named_children)
    return count


def _binds(clause: tree_sitter.Node, name: str) -> bool:
    left, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
    return bool(left and right and name in _names(left) and name not in _names(right))


def _below(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def _bound_in(nodes: list[tree_sitter.Node]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        target = node.child_by_field_name("left") or node.child_by_field_name("name")
        if target is not None and node.type in _BINDERS:
            found.update(_names(target))
        if node.type in ("as_pattern_target", "delete_statement", "global_statement"):
            found.update(_names(node))
    return found


def _step(node: tree_sitter.Node) -> int:
    """Return a literal step; 0 for another one."""
    text = text_of(node)
    return int(text) if text.lstrip("-").isdigit() else 0


def _as_while(
    loop: tree_sitter.Node,
    counter: str,
    bounds: list[tree_sitter.Node],
    body: tree_sitter.Node,
    taken: set[str],
    kinds: Mapping[str, str],
) -> Site:
    start = text_of(bounds[0]) if len(bounds) > 1 else "0"
    stop = bounds[0] if len(bounds) == 1 else bounds[1]
    step = _step(bounds[2]) if len(bounds) == 3 else 1
    lines = [f"{counter} = {start}"]
    limit = text_of(stop)
    fixed = stop.type == "identifier" and limit not in _bound_in(list(_below(body)))
    if not (fixed or _length_stays(stop, body, kinds)) and stop.type != "integer":
        limit = fresh_name("limit", taken)
        lines.append(f"{limit} = {text_of(stop)}")
    lines.append(f"while {counter} {'<' if step > 0 else '>'} {limit}:")
    margin = "\n" + " " * loop.start_point.column
    inner = "\n" + " " * body.start_point.column
    change = f"{counter} {'+' if step > 0 else '-'}= {abs(step)}"
    header_end = next(one.end_byte for one in loop.children if one.type == ":")
    edits = [Edit(loop.start_byte, header_end, margin.join(lines))]
    edits += [Edit(node.start_byte, node.start_byte, f"{change}; ") for node in _continues(body)]
    edits.append(Edit(body.end_byte, body.end_byte, inner + change))
    return Site(loop.start_byte, body.end_byte, tuple(edits))


def _length_stays(stop: tree_sitter.Node, body: tree_sitter.Node, kinds: Mapping[str, str]) -> bool:
    """Return whether an expression is `len` of a name, and the body cannot change its length."""
    given = stop.child_by_field_name("arguments")
    if given is None or not text_of(stop).startswith("len(") or given.named_child_count != 1:
        return False
    nodes = list(_below(body))
    bound = [one.child_by_field_name("left") for one in nodes if one.type in _BINDERS]
    names = {text_of(one) for one in bound if one is not None and one.type != "subscript"}
    counted = given.named_children[0]
    return (
        counted.type == "identifier"
        and not any(text_of(counted) in re.findall(r"\w+", name) for name in names)
        and all(_keeps_lengths(one, kinds) for one in nodes)
    )


def _keeps_lengths(node: tree_sitter.Node, kinds: Mapping[str, str]) -> bool:
    """Return whether a node surely extends and shortens no list, under whatever name."""
    if node.type == "call":
        return text_of(node.children[0]) in _PURE_CALLS
    if node.type == "augmented_assignment":
        return _kind(node.children[0], kinds) in ("number", "text")
    return node.type not in ("await", "delete_statement", "slice", "yield")


def _continues(body: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Yield the `continue` statements of a loop, those of inner loops apart."""
    for child in body.named_children:
        if child.type == "continue_statement":
            yield child
        elif child.type not in ("for_statement", "while_statement"):
            yield from _continues(child)
