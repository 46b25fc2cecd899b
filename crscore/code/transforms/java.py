"""Equivalent transformations of Java.

A rule returns the places where it surely keeps the behaviour. Left out are:

- condition: operands of which both may have an effect;
- expression: `a += b` where the types are not declared in the code or the sum would need a cast;
- permute: conditions that bind a name by a pattern. `<` is not inverted (NaN), but negated;
- loop: `for` with a label; one whose last statement may or may not end the body (`try`, `switch`,
  an endless loop); one whose body declares a name that the update uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from crscore.code.transforms.edits import Edit, Site, swapped, text_of
from crscore.suggestions.trees import Parsed

if TYPE_CHECKING:
    import tree_sitter

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_LITERALS = frozenset(
    (
        "character_literal",
        "decimal_floating_point_literal",
        "decimal_integer_literal",
        "false",
        "hex_integer_literal",
        "null_literal",
        "string_literal",
        "true",
    )
)
_PRIMARY = frozenset(
    (
        *_LITERALS,
        "array_access",
        "field_access",
        "identifier",
        "method_invocation",
        "parenthesized_expression",
    )
)
_PURE = frozenset(
    (
        *_LITERALS,
        "argument_list",
        "array_access",
        "binary_expression",
        "field_access",
        "identifier",
        "parenthesized_expression",
        "string_fragment",
        "this",
        "unary_expression",
    )
)
_PURE_CALLS = frozenset(("abs", "charAt", "equals", "get", "isEmpty", "length", "size"))
_INTEGERS = frozenset(("length", "size", "charAt", "indexOf"))
_VALUES = frozenset(
    ("return_statement", "assignment_expression", "variable_declarator", "argument_list")
)
_RANKS = ("int", "long", "float", "double", "String")
_LEAVES = {
    "decimal_integer_literal": "int",
    "hex_integer_literal": "int",
    "character_literal": "int",
    "decimal_floating_point_literal": "double",
    "string_literal": "String",
}
_DECLARATIONS = frozenset(
    (
        "local_variable_declaration",
        "formal_parameter",
        "field_declaration",
        "enhanced_for_statement",
    )
)
_OPERATION = 3
"""Children of two operands with their operator; a comment may be another child."""
_UPDATES = {"++": "+", "--": "-"}
_ENDS = frozenset(("return_statement", "break_statement", "continue_statement", "throw_statement"))
_UNCLEAR = frozenset(
    (
        "do_statement",
        "for_statement",
        "labeled_statement",
        "switch_expression",
        "synchronized_statement",
        "try_statement",
        "try_with_resources_statement",
        "while_statement",
        "yield_statement",
    )
)
_LOOPS = frozenset(("for_statement", "while_statement", "do_statement", "enhanced_for_statement"))
_INNER = frozenset(("lambda_expression", "class_body"))


def conditions(parsed: Parsed) -> Iterator[Site]:
    """Exchange the operands of comparisons, and `true` for `!false`."""
    for node in parsed.nodes():
        if node.type == "binary_expression" and node.child_count == _OPERATION:
            left, operator, right = node.children
            if operator.type in _MIRRORED and _exchangeable(left, right):
                mirrored = Edit(operator.start_byte, operator.end_byte, _MIRRORED[operator.type])
                yield Site(node.start_byte, node.end_byte, (*swapped(left, right), mirrored))
        elif node.type in ("true", "false") and node.parent and node.parent.type in _VALUES:
            yield _whole(node, "!false" if node.type == "true" else "!true")


def _exchangeable(left: tree_sitter.Node, right: tree_sitter.Node) -> bool:
    return left.type in _LITERALS or right.type in _LITERALS or (_pure(left) and _pure(right))


def _pure(node: tree_sitter.Node) -> bool:
    """Return whether evaluating an expression has no effect."""
    if node.type == "method_invocation":
        name = node.child_by_field_name("name")
        known = name is not None and text_of(name) in _PURE_CALLS
        return known and all(map(_pure, node.named_children))
    return node.type in _PURE and all(map(_pure, node.named_children))


def _whole(node: tree_sitter.Node, text: str) -> Site:
    edit = Edit(node.start_byte, node.end_byte, text)
    return Site(node.start_byte, node.end_byte, (edit,))


def expressions(parsed: Parsed) -> Iterator[Site]:
    """Exchange `a += b` for `a = a + b`, `i++` for `i += 1`, and the reverse."""
    types = _declared(parsed)
    for node in parsed.nodes():
        alone = node.parent is not None and node.parent.type in (
            "expression_statement",
            "for_statement",
        )
        if not alone:
            continue
        if node.type == "update_expression":
            operators = [one for one in node.children if one.type in _UPDATES]
            yield _whole(node, f"{text_of(node.named_children[0])} {operators[0].type[0]}= 1")
        elif node.type == "assignment_expression":
            yield from _reassigned(node, types)


def _reassigned(node: tree_sitter.Node, types: Mapping[str, str]) -> Iterator[Site]:
    if node.child_count != _OPERATION or node.children[0].type != "identifier":
        return
    left, operator, right = node.children
    name = text_of(left)
    if operator.type == "=":
        pair = right.type == "binary_expression" and right.child_count == _OPERATION
        if pair and text_of(right.children[0]) == name:
            inner = right.children[1].type
            if f"{inner}=" in ("+=", "-=", "*=", "/=", "%="):
                yield _whole(node, f"{name} {inner}= {text_of(right.children[2])}")
    elif operator.type in ("+=", "-=", "*=", "/=", "%="):
        own, other = types.get(name, ""), _type(right, types)
        if own in _RANKS and other in _RANKS and _RANKS.index(own) >= _RANKS.index(other):
            value = text_of(right) if right.type in _PRIMARY else f"({text_of(right)})"
            yield _whole(node, f"{name} = {name} {operator.type[0]} {value}")


def _declared(parsed: Parsed) -> dict[str, str]:
    """Return the declared types of names; empty for one that is declared with several."""
    types: dict[str, str] = {}
    for node in parsed.nodes():
        declared = node.child_by_field_name("type")
        if node.type in _DECLARATIONS and declared:
            holders = [*node.children_by_field_name("declarator"), node]
            for holder in holders:
                name = holder.child_by_field_name("name")
                if name:
                    kind = text_of(declared)
                    types[text_of(name)] = kind if types.get(text_of(name), kind) == kind else ""
    return types


def _type(node: tree_sitter.Node, types: Mapping[str, str]) -> str:
    """Return the primitive type of an expression, `String`, or nothing when unknown."""
    if node.type in _LEAVES:
        text = text_of(node)[-1]
        return {"L": "long", "f": "float", "F": "float"}.get(text, _LEAVES[node.type])
    if node.type == "identifier":
        kind = types.get(text_of(node), "")
        return "int" if kind in ("char", "short", "byte") else kind
    if node.type == "parenthesized_expression":
        return _type(node.named_children[0], types)
    if node.type in ("method_invocation", "field_access"):
        name = node.child_by_field_name("name") or node.child_by_field_name("field")
        return "int" if name and text_of(name) in _INTEGERS else ""
    if node.child_count == _OPERATION and node.children[1].type in ("+", "-", "*", "/", "%"):
        kinds = [_type(node.children[index], types) for index in (0, 2)]
        return max(kinds, key=_RANKS.index) if all(one in _RANKS for one in kinds) else ""
    return ""


def branches(parsed: Parsed) -> Iterator[Site]:
    """Exchange the branches of `if` with `else`, and negate the condition."""
    for node in parsed.nodes():
        condition = node.child_by_field_name("condition")
        first = node.child_by_field_name("consequence")
        second = node.child_by_field_name("alternative")
        if node.type != "if_statement" or condition is None or first is None or second is None:
            continue
        if second.type == "if_statement" or b"instanceof" in (condition.text or b""):
            continue
        edits = (
            Edit(condition.start_byte, condition.end_byte, _negated(condition.named_children[0])),
            Edit(first.start_byte, first.end_byte, _block(second)),
            Edit(second.start_byte, second.end_byte, _block(first)),
        )
        yield Site(node.start_byte, node.end_byte, edits)


def _block(node: tree_sitter.Node) -> str:
    return text_of(node) if node.type == "block" else "{ " + text_of(node) + " }"


def _negated(node: tree_sitter.Node) -> str:
    if node.type == "unary_expression" and node.children[0].type == "!":
        inner = text_of(node.children[1])
        return inner if node.children[1].type == "parenthesized_expression" else f"({inner})"
    pair = node.type == "binary_expression" and node.child_count == _OPERATION
    if pair and node.children[1].type in ("==", "!="):
        left, operator, right = node.children
        inverse = "!=" if operator.type == "==" else "=="
        return f"({text_of(left)} {inverse} {text_of(right)})"
    return f"(!{text_of(node)})" if node.type in _PRIMARY else f"(!({text_of(node)}))"


def loops(parsed: Parsed) -> Iterator[Site]:
    """Exchange `for` for `while`, and the reverse."""
    for node in parsed.nodes():
        body = node.child_by_field_name("body")
        if body is None or (node.parent and node.parent.type == "labeled_statement"):
            continue
        condition = node.child_by_field_name("condition")
        if node.type == "while_statement" and condition is not None:
            inner = text_of(condition)[1:-1]
            yield _site(node, Edit(node.start_byte, condition.end_byte, f"for (; {inner}; )"))
        elif node.type == "for_statement":
            yield from _as_while(node, condition, body)


def _as_while(
    node: tree_sitter.Node, condition: tree_sitter.Node | None, body: tree_sitter.Node
) -> Iterator[Site]:
    starts = node.children_by_field_name("init")
    updates = " ".join(f"{text_of(one)};" for one in node.children_by_field_name("update"))
    ends = _ends(body)
    if ends is None or len(starts) > 1 or _declares(body, updates):
        return
    # The body of `for (;;)` ends by `break` or `return`; `while (true)` is as endless to javac.
    head = f"while ({text_of(condition) if condition else 'true'}) "
    start = "".join(text_of(one).rstrip(";") + "; " for one in starts)
    edits = [Edit(node.start_byte, body.start_byte, "{ " + start + head)]
    tail = "" if ends or not updates else f" {updates}"
    if body.type == "block":
        edits.append(Edit(body.end_byte - 1, body.end_byte, f"{tail.lstrip()} }} }}"))
    else:
        edits[0] = edits[0]._replace(text=edits[0].text + "{ ")
        edits.append(Edit(body.end_byte, body.end_byte, f"{tail} }} }}"))
    if updates:
        for one in _continues(body):
            edits += [
                Edit(one.start_byte, one.start_byte, f"{{ {updates} "),
                Edit(one.end_byte, one.end_byte, " }"),
            ]
    yield Site(node.start_byte, node.end_byte, tuple(edits))


def _site(node: tree_sitter.Node, *edits: Edit) -> Site:
    # A head alone is changed, so that what is inside may change as well.
    return Site(node.start_byte, max(edit.end for edit in edits), edits)


def _ends(node: tree_sitter.Node) -> bool | None:
    """Return whether a statement surely ends the body around it; None when that is unclear."""
    if node.type in _ENDS:
        return True
    if node.type == "block":
        inner = [one for one in node.named_children if "comment" not in one.type]
        return _ends(inner[-1]) if inner else False
    if node.type == "if_statement":
        second = node.child_by_field_name("alternative")
        first = node.child_by_field_name("consequence")
        if first is None or second is None:
            return False
        both = _ends(first), _ends(second)
        return None if None in both else all(both)
    return None if node.type in _UNCLEAR and _endless(node) else False


def _endless(node: tree_sitter.Node) -> bool:
    """Return whether a statement may be one that javac knows not to end."""
    if node.type in ("for_statement", "while_statement"):
        condition = node.child_by_field_name("condition")
        return condition is None or "true" in text_of(condition)
    return True


def _declares(body: tree_sitter.Node, updates: str) -> bool:
    declared = [one.child_by_field_name("name") for one in body.named_children]
    for one in body.named_children:
        declared += [inner.child_by_field_name("name") for inner in one.named_children]
    return any(name is not None and text_of(name) in updates for name in declared)


def _continues(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Yield the `continue` statements of a loop, those of inner loops apart."""
    for child in node.named_children:
        if child.type == "continue_statement":
            yield child
        elif child.type not in _LOOPS and child.type not in _INNER:
            yield from _continues(child)
