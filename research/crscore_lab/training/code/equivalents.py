"""Equivalent forms of Python and Java: positive examples of the contrastive training.

The rules skip code whose behaviour would often change, but they have no type information: an
operand may be an array that shares memory, or an object with overloaded operators.

Source:
    CodeScore-R, Table 1: loop, expression, permute and condition exchange, combined in the order of
    the authors' helper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from crscore.suggestions.trees import Parsed
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
_ARITHMETIC: Final = frozenset(("+", "-", "*", "/", "%", "//", "**"))
_NUMBERS: Final = node_types("integer float decimal_integer_literal")
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
_UNLOOPED: Final = node_types(
    "break_statement class_definition continue_statement function_definition lambda"
)
"""Nodes that prevent the conversion of a loop when its body has one of them."""
_SIMPLE: Final = node_types("expression_statement local_variable_declaration")
"""Java statements after which the next statement is always reached."""

Rule = Callable[["tree_sitter.Node", Parsed], Sequence[Edit]]


def list_equivalents(code: str, language: str | None) -> list[Variant]:
    r"""List equivalent forms of a piece of code.

    Args:
        code: A file, some statements, or the body of a function.
        language: `python` or `java`.

    Returns:
        For each non-empty set of families that changes the code its result, at most 15, without
        duplicates; each parses. A rule applies wherever it can, of nested places to the outermost.
        Empty for code that does not parse, or longer than `MAX_CODE_BYTES`.

    Raises:
        InputError: Another language.
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


def _exchange_expression(node: tree_sitter.Node, parsed: Parsed) -> Sequence[Edit]:
    """`a += 1` as `a = a + 1`, and the reverse; `a++` as `a += 1`."""
    is_statement = node.parent is not None and node.parent.type in (
        "expression_statement",
        "for_statement",
    )
    if node.type == "update_expression" and is_statement:
        sign = "+" if b"++" in (node.text or b"") else "-"
        return [replace_node(node, f"{text_of(node.named_children[0])} {sign}= 1")]
    if not is_statement or node.child_count != 3 or node.children[0].type != "identifier":
        return []
    name, operator, value = node.children
    sign = operator.type.removesuffix("=")
    # In Python, `a *= 2` extends a list in place, and `a = a * 2` makes another one.
    multiplies_list = sign == "*" and node.type == "augmented_assignment"
    if sign in _ARITHMETIC and not multiplies_list and _is_integer(value, parsed):
        right = text_of(value) if value.child_count == 0 else f"({text_of(value)})"
        return [replace_node(node, f"{text_of(name)} = {text_of(name)} {sign} {right}")]
    if (
        operator.type == "="
        and value.child_count == 3
        and text_of(value.children[0]) == text_of(name)
    ):
        _, inner, right_side = value.children
        if inner.type in _ARITHMETIC and _is_integer(right_side, parsed):
            return [replace_node(node, f"{text_of(name)} {inner.type}= {text_of(right_side)}")]
    return []


def _is_integer(node: tree_sitter.Node, parsed: Parsed) -> bool:
    """Return whether an expression is arithmetic with a number literal.

    Adding that to a list fails in both forms. `short`, `byte`, `char` and `float` of Java would
    need a cast.
    """
    if any(word in parsed.source for word in (b"short ", b"byte ", b"char ", b"float ")):
        return False
    kinds = {child.type for child in _walk(node) if child.is_named}
    numbers = kinds & _NUMBERS and "*" not in {child.type for child in _walk(node)}
    return bool(numbers) and kinds <= {
        *_NUMBERS,
        "identifier",
        "binary_operator",
        "binary_expression",
    }


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


def _exchange_loop(node: tree_sitter.Node, parsed: Parsed) -> Sequence[Edit]:
    """`for` as `while`; in Java also the reverse."""
    body = node.child_by_field_name("body")
    if body is None or (node.parent and node.parent.type == "labeled_statement"):
        return []
    condition = node.child_by_field_name("condition")
    if (
        node.type == "while_statement"
        and condition
        and condition.type == "parenthesized_expression"
    ):
        head = Edit(node.start_byte, condition.end_byte, f"for (; {text_of(condition)[1:-1]}; )")
        return [head]
    if node.type != "for_statement" or any(child.type in _UNLOOPED for child in _walk(body)):
        return []
    if body.type == "block" and body.children[:1] and body.children[0].type == "{":
        return _java_while(node, body)
    return _python_while(node, body, parsed)


def _java_while(loop: tree_sitter.Node, body: tree_sitter.Node) -> Sequence[Edit]:
    starts = loop.children_by_field_name("init")
    condition = loop.child_by_field_name("condition")
    # After a `return`, the update would be unreachable, which Java rejects.
    if len(starts) > 1 or not body.named_children or body.named_children[-1].type not in _SIMPLE:
        return []
    head = "".join(f"{text_of(start).rstrip(';')}; " for start in starts)
    updates = " ".join(f"{text_of(update)};" for update in loop.children_by_field_name("update"))
    # The braces keep the counter local.
    head = f"{{ {head}while ({text_of(condition) if condition else 'true'}) "
    return [
        Edit(loop.start_byte, body.start_byte, head),
        Edit(body.end_byte - 1, body.end_byte, f"{updates} }} }}"),
    ]


def _python_while(loop: tree_sitter.Node, body: tree_sitter.Node, parsed: Parsed) -> Sequence[Edit]:
    """Write a loop over `range` as `while`, if nothing else uses the counter."""
    counter, iterable = loop.child_by_field_name("left"), loop.child_by_field_name("right")
    if counter is None or iterable is None or iterable.type != "call":
        return []
    name, (function, arguments) = text_of(counter), iterable.children
    bounds = [text_of(argument) for argument in arguments.named_children]
    targets = [node.child_by_field_name("left") for node in _walk(body)]
    is_plain = (
        counter.type == "identifier"
        and text_of(function) == "range"
        and bounds
        and not any(bound.startswith("*") for bound in bounds)
        and not _names(arguments)[name]
        and not _names(parsed.root)[f"{name}_end"]
        # The sign of the step decides which comparison ends the loop.
        and (len(bounds) < 3 or bounds[2].lstrip("-").isdigit())
        and not loop.child_by_field_name("alternative")
        and not any(
            _names(target)[name] for target in targets if target and target.type != "subscript"
        )
        # After the loop, `while` leaves a different value in the counter than `for` does.
        and _names(parsed.root)[name] == _names(loop)[name]
        and body.start_point.row > loop.start_point.row
    )
    if not is_plain:
        return []
    start, stop, step = ("0", bounds[0], "1") if len(bounds) == 1 else (*bounds, "1")[:3]
    lines = [f"{name} = {start}"]
    # `range` computes its end once.
    if not stop.isdigit():
        lines.append(f"{name}_end = {stop}")
        stop = f"{name}_end"
    sign = ">" if step.startswith("-") else "<"
    lines.append(f"while {name} {sign} {stop}:")
    header_end = next(child.end_byte for child in loop.children if child.type == ":")
    margin, inner = ("\n" + " " * node.start_point.column for node in (loop, body))
    return [
        Edit(loop.start_byte, header_end, margin.join(lines)),
        Edit(body.end_byte, body.end_byte, f"{inner}{name} += {step}"),
    ]


def _names(node: tree_sitter.Node) -> Counter[str]:
    return Counter(text_of(child) for child in _walk(node) if child.type == "identifier")


FAMILIES: Final[Mapping[str, Rule]] = {
    "condition": _exchange_condition,
    "expression": _exchange_expression,
    "permute": _exchange_branches,
    "loop": _exchange_loop,
}
"""The rules, in the order in which they are combined."""
