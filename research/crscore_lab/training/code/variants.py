"""Makes variants of Python and Java code for training: equivalent forms and mutants.

Equivalent forms are the positive examples. Their rules skip code whose behaviour would often
change, but they have no type information: an operand may be an array that shares memory, or an
object with overloaded operators. The rules are the condition exchange and the permute exchange of
CodeScore-R, Table 1, without its exchanges of loops and of arithmetic assignments.

Mutants are copies in which another operator of the same class replaces one operator. Classes and
operators are those of CodeScore-R, Table 2, with these differences:

- One occurrence is replaced, and only if the syntax tree keeps its shape
  (`a - b * c` has no mutant with `+` for `*`, which would be `(a - b) + c`).
- Python's `//` is arithmetic, and its `and` and `or` are conditional.
- A plain `=` is not replaced, because Python would read an unbound name, and in Java most other
  assignments would not compile. Other assignments can become `=`.
- `&&` does not become `&`, and `||` does not become `|`, because they differ only in whether the
  second operand is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.errors import InputError
from crscore.syntax.grammars import parse
from crscore.syntax.trees import Parsed, grammar_of, parse_code

if TYPE_CHECKING:
    import tree_sitter

MAX_CODE_BYTES: Final = 10_000
"""Maximum size of code that is rewritten, because every variant is parsed again."""
LANGUAGES: Final = ("java", "python")
_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
# Without `<`, because `not a < b` is not equivalent to `a >= b` if one of them is NaN.
_INVERTED: Final = {"==": "!=", "!=": "==", "in": "not in", "is": "is not"}
_EFFECTS: Final = frozenset(
    {
        *("assignment_expression", "await", "call", "method_invocation", "named_expression"),
        *("object_creation_expression", "update_expression", "yield"),
    }
)
_COMPARISONS: Final = frozenset({"comparison_operator", "binary_expression"})
_VALUES: Final = frozenset(
    {
        *("argument_list", "assignment", "assignment_expression", "keyword_argument"),
        *("return_statement", "variable_declarator"),
    }
)
"""Types of the parent nodes in which `true` and `false` are replaced by negations."""
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
_NODES: Final = frozenset(
    {
        *("binary_operator", "comparison_operator", "boolean_operator", "augmented_assignment"),
        *("binary_expression", "assignment_expression"),
    }
)
Rule = Callable[["tree_sitter.Node", Parsed], Sequence["Edit"]]


class Variant(NamedTuple):
    """Rewritten code."""

    rule: str
    """Families of an equivalent form (`condition+permute`), or the class and the two operators of a
    mutant (`ROR < >=`)."""
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
    # All edits are within the code, so its start stays and its end moves.
    return Parsed(source, root, parsed.start, len(source) - len(parsed.source) + parsed.end, 0)


def replace_node(node: tree_sitter.Node, text: str) -> Edit:
    """Return the edit that replaces a node by a text."""
    return Edit(node.start_byte, node.end_byte, text)


def text_of(node: tree_sitter.Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode()


def list_equivalents(code: str, language: str | None) -> list[Variant]:
    r"""List equivalent forms of a piece of code.

    Args:
        code: A file, some statements, or the body of a function.
        language: `python` or `java`.

    Returns:
        The result of each non-empty set of families that changes the code: at most 3 forms, without
        duplicates, all of which parse. A rule is applied wherever possible, but of nested nodes,
        only to the outermost. Empty if the code does not parse or exceeds `MAX_CODE_BYTES`.

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
    """Exchange `a < b` for `b > a`, and `true` for `!false`."""
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
    """Exchange `if a: b else: c` for `if not a: c else: b`."""
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
"""Family -> its rule, in the order in which the rules are applied."""


def list_mutants(code: str, language: str | None) -> list[Variant]:
    """List the mutants of a piece of code.

    Args:
        code: A file, some statements, or the body of a function.
        language: `python` or `java`.

    Returns:
        The mutants, in the order of the operators in the code. Each one parses, but may behave like
        the original. Empty if the code does not parse or exceeds `MAX_CODE_BYTES`.

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
            # A mutant with `=` has another shape, because `a = b` and `a += b` are different nodes.
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
        # `^` is replaced only as LOR, because its operands may be integers, which `&&` rejects.
        if new != old and new not in _UNKNOWN_OPERATORS[language] and (kind != "COR" or old != "^"):
            yield new
