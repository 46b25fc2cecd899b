"""Reads single nodes of a syntax tree: names, parameters, bindings, imports and caught errors."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from crscore.diff.languages import node_types
from crscore.syntax.grammars import Language
from crscore.syntax.outline import Kind, Parameter
from crscore.text import shorten

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_TEXT = 400
"""Maximum number of characters of a node's text; the rest is cut off."""
MAX_PARAMETERS = 200
"""Maximum number of parameters of a function; if a function has more, none is read."""
MAX_DEPTH_OF_NAMES = 8
"""Maximum number of nested declarators around a name in the C family; `int *f()` has two."""

WORDS = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}
"""Words with the same meaning in every language, grouped by that meaning."""
# Matches "load", "f?", "#hide", "~A", "n::A::f", "A.load", "Box<T, U>" and "operator==".
_NAME = re.compile(r"(?:[~@$#]|[^\W\d])[\w$:.~<>@!?=, *&\[\]-]*|operator\W+")
_SPACES = re.compile(r"\s+")


Declared: TypeAlias = "tuple[Kind, str, str, Node | None]"
"""Kind, noun, name and body of a declaration."""


def text_of(node: Node | None, limit: int = MAX_TEXT) -> str:
    """Return a node's text on one line, shortened to `limit` characters with an ellipsis."""
    if node is None:
        return ""
    # The bytes are cut before they are decoded, because a line may have a megabyte.
    raw = (node.text or b"")[: 4 * limit + 4].decode("utf-8", "replace")
    return shorten(" ".join(raw.split()), limit)


def first_field(node: Node, *names: str) -> Node | None:
    """Return the node's first field of these names, or None."""
    for name in names:  # a generator would take twice the time, in 200,000 calls for a large change
        if child := node.child_by_field_name(name):
            return child
    return None


def field_text(node: Node, name: str, limit: int = MAX_TEXT) -> str:
    """Return the text of a node's field; empty if there is no such field."""
    return text_of(node.child_by_field_name(name), limit)


def declared_type(node: Node, parent: Node | None, noun: str, body: Node | None) -> Declared | None:
    """Return the type that a node declares; None if it only uses a type."""
    name = field_text(node, "name", 80)
    if not name and parent is not None and parent.type == "type_definition":
        name = field_text(parent, "declarator", 80)
    if not name and parent is not None and parent.type == "export_statement":
        name = "default"
    inner = node.child_by_field_name("type")
    # In the C family, a type without a body is a use or a forward declaration.
    is_hollow = body is None and inner is None and node.type.endswith("specifier")
    if inner is not None and inner.type in {"struct_type", "interface_type"}:
        noun, body = inner.type.removesuffix("_type"), inner
    is_named = _is_name(name) or name == "default"
    return (Kind.TYPE, noun, name, body) if is_named and not is_hollow else None


def declared_function(node: Node, noun: str, body: Node | None) -> Declared | None:
    """Return the function or the test that a node declares; None if it declares neither."""
    name = _function_name(node)
    if noun != "macro" and name.isupper() and len(name) >= 3:
        # In C++, an upper-case function name is a macro: `TEST(Suite, name) { ... }`.
        title = text_of(field_within(node, "parameters"), 80).strip("()").replace(", ", ".")
        return (Kind.TEST, "test", title, body) if "TEST" in name else None
    if node.type == "method" and name.startswith("test "):
        return Kind.TEST, "test", name, body
    return (Kind.FUNCTION, noun, name, body) if _is_name(name) else None


def with_wrappers(node: Node, language: Language) -> Node:
    """Return the outermost node that encloses this declaration and nothing else."""
    while (parent := node.parent) is not None and parent.type in language.wrappers:
        # `const f = () => {...}, n = 1` also declares `n`. The parameters of a template are
        # siblings too, but they belong to the declaration.
        has_siblings = parent.named_child_count > 1 and parent.type.endswith("declaration")
        if has_siblings and not parent.type.startswith("template"):
            break
        node = parent
    return node


def node_before(node: Node) -> Node | None:
    """Return the preceding node; for the first statement of a block, the node before the block."""
    parent = node.parent
    is_block = parent is not None and parent.type in {"block", "body_statement"}
    if node.prev_sibling is None and parent is not None and is_block:
        return parent.prev_sibling
    return node.prev_sibling


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name not in WORDS["not_names"]


def innermost_declarator(node: Node) -> Node | None:
    """Return the name within the declarators of a function in C; None if it is no function."""
    current = node.child_by_field_name("declarator")
    name, is_function = None, False
    for _ in range(MAX_DEPTH_OF_NAMES):
        if current is None:
            break
        is_function = is_function or current.type == "function_declarator"
        name = current
        inner = current.child_by_field_name("declarator")
        if inner is None and current.type in {"reference_declarator", "parenthesized_declarator"}:
            inner = current.named_children[-1] if current.named_children else None
        current = inner
    return name if is_function else None


def _function_name(node: Node) -> str:
    """Return a function's name, prefixed with its receiver's type (Go) or its object (Ruby)."""
    name = node.child_by_field_name("name") or innermost_declarator(node)
    if name is None and node.child_by_field_name("declarator") is not None:
        return ""
    text = text_of(name, 80).replace(" ", "")
    if node.child_by_field_name("receiver") is not None:
        receiver = re.sub(r"\[.*", "", field_text(node, "receiver", 80).strip("()")).split()
        return f"{receiver[-1].lstrip('*')}.{text}" if receiver else text
    if node.type == "destructor_declaration":
        return f"~{text}"
    if node.type == "indexer_declaration":
        return "this[]"
    if node.type == "operator_declaration":
        return f"operator {field_text(node, 'operator', 8)}"
    owner = field_text(node, "object", 40) if node.type == "singleton_method" else ""
    return f"{owner}.{text}" if owner else text


def lambda_name(node: Node) -> str:
    """Return the name that a function expression is bound to; empty for a callback.

    The default export of a file is named `default`.
    """
    parent = node.parent
    while parent is not None and parent.type in {"parenthesized_expression", "as_expression"}:
        parent = parent.parent
    if parent is not None and parent.type == "arguments" and parent.named_children[0] == node:
        # `const Panel = memo(function () {...})`
        call = parent.parent
        is_plain = call is not None and re.fullmatch(
            r"(?:React\.)?\w+", field_text(call, "function", 60)
        )
        parent = call.parent if call is not None and is_plain else None
        if parent is not None and parent.type != "variable_declarator":
            return ""
    if parent is None:
        return ""
    if parent.type == "export_statement":
        return "default"
    if parent.type in node_types("bindings_of_functions"):
        name = text_of(first_field(parent, "name", "key", "property"), 80).strip("\"'")
    elif parent.type == "assignment_expression":
        name = field_text(parent, "left", 80)
        # `module.exports = `, `exports.f = `, `A.prototype.f = `, `this.f = `
        name = re.sub(r"^(?:module\.)?exports(?:\.|$)|\.prototype(?=\.)", "", name) or "default"
        name = name.removeprefix("this.")
    else:
        return ""
    return name if re.fullmatch(r"[\w$#.]+", name) else ""


def test_title(node: Node, language: Language) -> str:
    """Return the title of a test that is written as a call, such as `it('adds', () => {...})`."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None or not arguments.named_children:
        return ""
    title = arguments.named_children[0]
    if title.type not in language.strings and title.type not in node_types("names_of_tests"):
        return ""
    has_body = node.child_by_field_name("block") is not None or any(
        argument.type in language.lambdas for argument in arguments.named_children[1:4]
    )
    # The arguments are checked first: that is faster, and rules out most calls.
    is_test = has_body and test_keyword(node) in WORDS["tests"]
    return text_of(title, 80).strip("\"'`") if is_test else ""


def test_keyword(node: Node) -> str:
    """Return the first word of a call, which may mark a test: `it` in `it.each(table)(...)`."""
    called, name = callee(node)
    if called is not None and called.type == "call_expression":
        name = callee(called)[1]
    return name.lower().removeprefix("rspec.").partition(".")[0]


def callee(node: Node) -> tuple[Node | None, str]:
    """Return the called function as a node and as text, such as `client.get`.

    The node is None if the call has no children. The text is empty if it is not a name.
    """
    called = first_field(node, "function", "method", "constructor", "name", "type")
    if called is None:
        called = node.named_children[0] if node.named_children else None
    if called is None:
        return None, ""
    receiver = first_field(node, "object", "receiver", "scope")
    text = text_of(called, 200)
    if receiver is not None:
        text = f"{text_of(receiver, 120)}.{text}"
    text = re.sub(r"<[^<>()]*>", "", text)
    # Of a chain of calls, only the last name is kept, because each earlier call is another fact.
    if "(" in text or "[" in text or "…" in text or " " in text:
        text = re.split(r"\.|->|::", text)[-1]
    return called, text if re.fullmatch(r"[\w$@.:>?!#&*-]+", text) else ""


def binding(node: Node) -> tuple[str, str]:
    """Return the name and the value of a binding or declared field; without a value, its type."""
    target = first_field(node, "left", "name", "declarator", "key", "property", "designator")
    value = first_field(node, "right", "value", "default_value")
    if node.type == "property_declaration" and target is not None:
        # In C#, the value may be in an accessor or after an arrow.
        after = (node.text or b"")[target.end_byte - node.start_byte :].decode("utf-8", "replace")
        return text_of(target, 80), _SPACES.sub(" ", after[:MAX_TEXT]).strip(" ;")
    # The last child of a variable, apart from its type, is its value.
    type_node = node.child_by_field_name("type")
    children = [child for child in node.named_children if child != type_node]
    if target is None and children:
        target = children[0]
    has_value = not node.type.startswith(("field_decl", "enum", "property"))
    if value is None and len(children) > 1 and has_value and children[-1] != target:
        value = children[-1]
    if value is None:
        type_name = "" if node.type == "var_spec" else field_text(node, "type")
        return text_of(target, 80), type_name.removeprefix(":").strip()
    name = text_of(target, 80)
    name = name.strip("\"'") if node.type in {"pair", "array_element_initializer"} else name
    # For `x += 1`, the operator is kept; otherwise the fact would say that `x` becomes 1.
    operator, text = field_text(node, "operator", 4), text_of(value)
    return name, f"{operator} {text}" if operator not in {"", "=", ":="} else text


def after_keyword(node: Node) -> str:
    """Return the text of a statement without the keyword and a final semicolon."""
    return re.sub(r"^(?:[a-z]+\b|=>)", "", text_of(node)).strip().rstrip(";").strip()


def error_of(value: str) -> str:
    """Return the type of a raised error: `raise ValueError("x")` gives `ValueError`."""
    match = re.match(r"(?:new\s+)?\\?([\w.:\\]+)", value)
    return match[1] if match else ""


def caught_errors(node: Node) -> str:
    """Return the errors that a handler names, without its variable; empty if it catches all."""
    if node.child_by_field_name("parameter") is not None:
        return field_text(node, "type").removeprefix(":").strip()
    parts: list[str] = []
    for child in node.children[1:]:
        if child.type in node_types("after_caught"):
            break
        parts.append(text_of(child))
    # In Python: "A as e", or "* A as e" after `except*`. The lookbehind makes the time linear for
    # long white space.
    text = re.sub(r"(?<!\s)\s+as\s+\w+$", "", " ".join(parts).lstrip("* "))
    text = without_parentheses(text).rstrip(", ")
    # Java, C#, C++ and PHP put the type before the variable.
    text = re.sub(r"(?<=[\w>&*])\s+[&$*]*\w+$", "", text) if "," not in text else text
    return re.sub(r"^(?:final|const)\s+", "", text)


def imported_names(node: Node) -> list[tuple[str, str]]:
    """Return pairs of an imported name and its module, "" for an import of a whole module."""
    is_python = node.type in node_types("imports_of_names")
    names = node.children_by_field_name("name") if is_python else []
    if names:
        future = "__future__" if node.type.startswith("future") else ""
        module = field_text(node, "module_name") or future
        return [(text_of(name), module) for name in names]
    text = text_of(node).rstrip("; ")
    # Python, if the node has no fields for the names: "from . import *"
    match = re.fullmatch(r"from (\S+) import \(?([^()]+?),? ?\)?", text)
    if match:
        return [(name.strip(), match[1]) for name in match[2].split(",")]
    # JavaScript and TypeScript: "import a, { b } from 'c'", "import type { a } from 'b'"
    match = re.fullmatch(r"import (?:type )?([^\"']+?) from [\"'](.+)[\"']", text)
    if match:
        return [(name.strip(), match[2]) for name in re.split(r"[{},]", match[1]) if name.strip()]
    # "#include <a.h>", "import static a.b.C", "using std::a", "use A\B"
    text = re.sub(r"^(?:#\s*include(?:_next)?|import|using|use)\s+(?:static\s+|type\s+)?", "", text)
    # In Go, an alias may precede the path.
    match = re.fullmatch(r"(?:[\w.]+ )?[\"'](.+)[\"']", text)
    return [(match[1] if match else text, "")] if text else []


def without_parentheses(text: str) -> str:
    """Remove the outer parentheses if they enclose the whole text."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for position, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1].strip()


def field_within(node: Node, name: str) -> Node | None:
    """Return a field of a function or, in the C family, of one of its declarators."""
    current: Node | None = node
    for _ in range(MAX_DEPTH_OF_NAMES):
        if current is None:
            return None
        child = current.child_by_field_name(name)
        if child is not None:
            return child
        current = current.child_by_field_name("declarator")
    return None


def head_tokens(node: Node, limit: int) -> Iterator[str]:
    """Yield the tokens of a declaration that start before byte `limit`."""
    stack = [node]
    while stack:
        child = stack.pop()
        if child.start_byte >= limit or "comment" in child.type:
            continue
        if child.child_count and child.child_count < 200:
            stack.extend(reversed(child.children))
        else:
            yield text_of(child, 80)


def decorators(node: Node, outer: Node, language: Language) -> Iterator[Node]:
    """Yield the decorators of a declaration, which may be children of its wrapper `outer`."""
    for holder in (outer, node):
        for child in holder.children[:8]:
            if child.type in language.decorators:
                yield child
            elif child.type == "modifiers":
                modifiers = child.children[:8]
                yield from (mark for mark in modifiers if mark.type in language.decorators)


def parameters_in(parameter_list: Node | None) -> Iterator[Parameter]:
    """Yield the parameters in a list, without `self`, `cls` and `this`."""
    if parameter_list is None or parameter_list.named_child_count > MAX_PARAMETERS:
        return
    last = parameter_list.child_by_field_name("name")
    bare_identifier = [parameter_list] if parameter_list.type == "identifier" else []
    for node in parameter_list.named_children or bare_identifier:
        if "comment" in node.type or node.type.endswith("_separator"):
            continue
        # These are variable arguments in Java; those in C# are read below.
        if node.type == "spread_parameter":
            *_, kind, label = node.named_children
            yield Parameter(text_of(label, 120), text_of(kind, 120), "", True)
            continue
        if node == last:
            yield Parameter(text_of(node, 120), field_text(parameter_list, "type"), "", True)
            continue
        type_name = field_text(node, "type", 120).removeprefix(":").strip()
        names = [name for name in node.children_by_field_name("name") if name.is_named]
        if len(names) > 1:
            yield from (Parameter(text_of(name, 80), type_name, "", False) for name in names)
            continue
        parameter = _parameter(node, type_name)
        if parameter.name and parameter.name not in {"self", "cls", "this", "void"}:
            yield parameter


def _parameter(node: Node, type_name: str) -> Parameter:
    value = first_field(node, "value", "default_value", "right")
    label = first_field(node, "name", "pattern", "left", "declarator")
    if label is None and (not type_name or node.type == "typed_parameter"):
        is_whole = not node.named_children or node.type in {"identifier", "object_pattern"}
        label = node if is_whole else node.named_children[0]
    text = text_of(node, 160)
    if "=" in text and value is None and node.type == "parameter":
        value = node.named_children[-1]
    may_be_absent = re.search(r"splat|spread|variadic|rest|optional|block", node.type) is not None
    optional = value is not None or may_be_absent or text.startswith(("*", "..."))
    return Parameter(text_of(label, 120).lstrip("*&.$ "), type_name, text_of(value, 80), optional)
