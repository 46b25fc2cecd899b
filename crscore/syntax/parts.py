"""Extraction of the pieces of one declaration or statement from its grammar node.

Grammars agree more on field names (`name`, `condition`, `body`) than on node
types, so the common names are here and a language adds only its differences.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crscore.syntax.model import Parameter, Part, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    import tree_sitter

    from crscore.syntax.model import Language

MAX_PART = 300
"""Characters kept of one piece; claims quote less."""
MAX_PARAMETERS = 40
"""Parameters read of one function."""

_COMMON: dict[Part, tuple[str, ...]] = {
    Part.NAME: ("name", "property", "key"),
    Part.RETURNS: ("return_type", "result", "returns"),
    Part.CONDITION: ("condition", "value", "subject"),
    Part.TARGET: ("left", "name", "pattern", "key", "property"),
    Part.VALUE: ("right", "value", "default_value"),
    Part.CALLEE: ("function", "constructor", "type", "method", "name"),
    Part.ARGUMENTS: ("arguments",),
    Part.BASES: ("superclass", "superclasses", "interfaces"),
    Part.TYPE: ("type",),
    Part.OPERATOR: ("operator",),
}
_BODIES = ("body", "consequence", "block")
_BASE_TYPES = frozenset(
    {
        "class_heritage",
        "base_list",
        "base_class_clause",
        "base_clause",
        "class_interface_clause",
        "extends_type_clause",
        "extends_interfaces",
    }
)
_SPACES = re.compile(r"\s+")
_QUOTES = "\"'`"


def text_of(node: tree_sitter.Node | None, limit: int = MAX_PART) -> str:
    """Return a node's text on one line, cut to `limit` characters with an ellipsis."""
    if node is None:
        return ""
    # Slicing the node's own bytes first keeps a megabyte-long line cheap.
    raw = (node.text or b"")[: 4 * limit + 4].decode("utf-8", "replace")
    return shorten(_SPACES.sub(" ", raw).strip(), limit)


def shorten(text: str, limit: int) -> str:
    """Cut a text to at most `limit` characters, the last one an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def field_of(node: tree_sitter.Node, names: tuple[str, ...]) -> tree_sitter.Node | None:
    """Return the first of several fields that a node has."""
    for name in names:
        found = node.child_by_field_name(name)
        if found is not None:
            return found
    return None


def names_for(language: Language, part: Part) -> tuple[str, ...]:
    """Return the field names to try for a part, the language's own first."""
    return (*language.fields.get(part, ()), *_COMMON.get(part, ()))


def carriers(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Return the nodes under a declaration that hold a name and perhaps a value, at most 8."""
    found: list[tree_sitter.Node] = []
    level = [node]
    for _ in range(3):
        below: list[tree_sitter.Node] = []
        for parent in level:
            for child in parent.named_children[:12]:
                named = field_of(child, ("name", "declarator")) is not None
                if child.type == "const_element" or (named and child.type.endswith(_CARRIERS)):
                    found.append(child)
                elif child.type.endswith(_LISTS):
                    below.append(child)
        level = below
    return found[:8]


_CARRIERS = ("declarator", "_spec", "_element")
_LISTS = ("_declaration", "_element", "_spec_list")


def declared_name(node: tree_sitter.Node) -> str:
    """Return the identifier at the end of a chain of declarators (`*x`, `f(int)`, `a[3]`)."""
    for _ in range(8):
        below = node.child_by_field_name("declarator")
        if below is None and node.type.endswith("declarator") and node.named_children:
            below = node.child_by_field_name("name") or node.named_children[-1]
        if below is None:
            break
        node = below
    return text_of(node, 80)


def function_part(node: tree_sitter.Node, name: str) -> tree_sitter.Node | None:
    """Return a field of a function, or of the declarator that carries it in the C family."""
    current: tree_sitter.Node | None = node
    for _ in range(6):
        if current is None:
            return None
        found = current.child_by_field_name(name)
        if found is not None:
            return found
        current = current.child_by_field_name("declarator")
    return None


def body_start(node: tree_sitter.Node) -> int:
    """Return the byte where a declaration's or statement's body begins; its end without one."""
    body = field_of(node, _BODIES)
    if body is not None and body.start_byte > node.start_byte:
        return body.start_byte
    for child in node.named_children[-2:]:
        if child.type.endswith(("block", "body", "compound_statement", "statement_list")):
            return child.start_byte
    brace = next((child for child in node.children[1:12] if child.type == "{"), None)
    return brace.start_byte if brace is not None else node.end_byte


def head_text(node: tree_sitter.Node) -> str:
    """Return the text of a declaration or statement up to its body, on one line."""
    size = body_start(node) - node.start_byte
    raw = (node.text or b"")[: min(size, 4 * MAX_PART)].decode("utf-8", "replace")
    return shorten(_SPACES.sub(" ", raw).strip().rstrip("{").rstrip(), MAX_PART)


def parts_of(node: tree_sitter.Node, role: Role, language: Language) -> dict[Part, str]:
    """Return the pieces of a unit that its role can have and that are present."""
    found = {Part.HEAD: head_text(node)}
    for part in _WANTED.get(role, ()):
        text = text_of(field_of(node, names_for(language, part)))
        if text:
            found[part] = text
    extra = _EXTRA.get(role)
    if extra is not None:
        extra(node, found, language)
    if Part.CONDITION in found:
        found[Part.CONDITION] = without_parentheses(found[Part.CONDITION])
    return {part: text for part, text in found.items() if text}


def _add_function(node: tree_sitter.Node, found: dict[Part, str], language: Language) -> None:
    found[Part.PARAMETERS] = text_of(function_part(node, "parameters"))
    if Part.RETURNS not in found and language.typed_left:
        found[Part.RETURNS] = text_of(node.child_by_field_name("type"))
    found[Part.RETURNS] = found.get(Part.RETURNS, "").removeprefix(":").strip()


def _add_bases(node: tree_sitter.Node, found: dict[Part, str], language: Language) -> None:
    names = dict.fromkeys(names_for(language, Part.BASES))
    bases = [base for name in names if (base := node.child_by_field_name(name)) is not None]
    bases = bases or [child for child in node.children[:12] if child.type in _BASE_TYPES]
    found[Part.BASES] = " ".join(text_of(base) for base in bases)


def _add_range(node: tree_sitter.Node, found: dict[Part, str], language: Language) -> None:
    """Add the range of a loop when the grammar keeps it in a clause (Go) or bare (PHP)."""
    del language
    found[Part.VALUE] = found.get(Part.VALUE, "").removeprefix("in ")
    if found[Part.VALUE] or Part.CONDITION in found:
        return
    clause = next((item for item in node.named_children[:3] if item.type.endswith("_clause")), None)
    if clause is not None:
        found[Part.TARGET] = text_of(clause.child_by_field_name("left"))
        found[Part.VALUE] = text_of(clause.child_by_field_name("right"))
        found[Part.CONDITION] = text_of(clause.child_by_field_name("condition"))
    elif node.type == "foreach_statement" and len(node.named_children) > 1:
        found[Part.VALUE] = text_of(node.named_children[0])
        found[Part.TARGET] = text_of(node.named_children[1])


def _add_arguments(node: tree_sitter.Node, found: dict[Part, str], language: Language) -> None:
    """Add the arguments of a call behind a keyword (`go f(x)`, `defer f(x)`)."""
    if Part.ARGUMENTS not in found and node.named_children and node.type not in language.calls:
        inner = node.named_children[0]
        if inner.type in language.calls:
            found[Part.ARGUMENTS] = text_of(inner.child_by_field_name("arguments"))


_WANTED: dict[Role, tuple[Part, ...]] = {
    Role.FUNCTION: (Part.RETURNS,),
    Role.IF: (Part.CONDITION,),
    Role.SWITCH: (Part.CONDITION,),
    Role.LOOP: (Part.CONDITION, Part.TARGET, Part.VALUE),
    Role.ASSIGN: (Part.TARGET, Part.VALUE, Part.TYPE, Part.OPERATOR),
    Role.FIELD: (Part.TARGET, Part.VALUE, Part.TYPE),
    Role.MEMBER: (Part.TARGET, Part.VALUE),
    Role.ENTRY: (Part.TARGET, Part.VALUE),
    Role.CALL: (Part.ARGUMENTS,),
    Role.ALIAS: (Part.VALUE, Part.TYPE),
}


def _add_declared(node: tree_sitter.Node, found: dict[Part, str], language: Language) -> None:
    held = carriers(node)
    if held and Part.TARGET not in found:
        found[Part.TARGET] = ", ".join(declared_or_name(item) for item in held)
    if len(held) == 1 and Part.VALUE not in found:
        value = field_of(held[0], names_for(language, Part.VALUE))
        named = held[0].named_children
        if value is None and len(named) > 1:
            value = named[-1]
        found[Part.VALUE] = text_of(value)
    if held and Part.TYPE not in found:
        above = held[0].parent
        kind = held[0].child_by_field_name("type")
        if kind is None and above is not None:
            kind = above.child_by_field_name("type")
        found[Part.TYPE] = text_of(kind)
    if not held and Part.TARGET not in found:
        declarator = node.child_by_field_name("declarator")
        if declarator is not None:
            found[Part.TARGET] = declared_name(declarator)
    found[Part.TYPE] = found.get(Part.TYPE, "").removeprefix(":").strip()


def _add_start(node: tree_sitter.Node, found: dict[Part, str], language: Language) -> None:
    """Add the statement before a check (Go's `if err := f(); err != nil`)."""
    del language
    start = text_of(node.child_by_field_name("initializer"))
    if start and found.get(Part.CONDITION):
        found[Part.CONDITION] = f"{start}; {found[Part.CONDITION]}"


_EXTRA = {
    Role.IF: _add_start,
    Role.ASSIGN: _add_declared,
    Role.FIELD: _add_declared,
    Role.MEMBER: _add_declared,
    Role.ENTRY: _add_declared,
    Role.FUNCTION: _add_function,
    Role.CLASS: _add_bases,
    Role.LOOP: _add_range,
    Role.CALL: _add_arguments,
}


def declared_or_name(node: tree_sitter.Node) -> str:
    """Return the name in a declarator, whichever field the grammar uses for it."""
    name = node.child_by_field_name("name")
    if name is None and node.child_by_field_name("declarator") is None and node.named_children:
        name = node.named_children[0]
    return text_of(name, 80) if name is not None else declared_name(node)


def without_parentheses(text: str) -> str:
    """Strip one pair of parentheses when it spans the whole text."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for position, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1].strip()


def parameters_of(node: tree_sitter.Node, language: Language) -> tuple[Parameter, ...]:
    """Return the parameters of a function, without the receiver."""
    listed = function_part(node, "parameters")
    if listed is None:
        single = node.child_by_field_name("parameter")
        return (_parameter(single),) if single is not None else ()
    if not listed.named_children and listed.type.endswith(("identifier", "parameter")):
        return (_parameter(listed),)
    found = [
        parameter
        for child in listed.named_children[:MAX_PARAMETERS]
        if "comment" not in child.type
        for parameter in _spread(child)
    ]
    return tuple(item for item in found if item.name and item.name not in language.self_names)


def _spread(node: tree_sitter.Node) -> Iterator[Parameter]:
    """Yield one parameter, or several that share a type (Go)."""
    pattern = node if node.type == "object_pattern" else field_of(node, ("pattern", "left"))
    if pattern is not None and pattern.type == "object_pattern":
        yield from _picked(pattern)
        return
    names = node.children_by_field_name("name")
    if len(names) <= 1:
        yield _parameter(node)
        return
    kind = text_of(node.child_by_field_name("type"), 120)
    for name in names:
        if name.is_named:
            yield Parameter(name=text_of(name, 80), type=kind, default="", optional=False)


def _picked(pattern: tree_sitter.Node) -> Iterator[Parameter]:
    """Yield the names a function destructures from a parameter (`{ label, size = 3 }`)."""
    for child in pattern.named_children[:MAX_PARAMETERS]:
        if "comment" in child.type:
            continue
        inner = field_of(child, ("value",)) or child
        name = field_of(child, ("key", "left")) or inner
        default = field_of(inner, ("right",))
        yield Parameter(
            name=text_of(name, 80).lstrip("."),
            type="",
            default=text_of(default, 120),
            optional=True,
        )


def _parameter(node: tree_sitter.Node) -> Parameter:
    kind = node.child_by_field_name("type")
    value = field_of(node, ("value", "default_value", "right"))
    name = field_of(node, ("name", "pattern", "left"))
    if name is None and node.child_by_field_name("declarator") is not None:
        label = declared_name(node)
    elif name is not None:
        label = text_of(name, 80)
    elif kind is not None and node.named_children and node.named_children[0] != kind:
        label = text_of(node.named_children[0], 80)
    elif node.named_children and node.type.startswith(("spread", "variadic")):
        label = declared_or_name(node.named_children[-1])
    else:
        label = text_of(node, 80) if kind is None else ""
    if value is None and node.type == "parameter" and name is not None:
        last = node.named_children[-1]
        value = last if last not in (name, kind) else None
    variadic = label.startswith(("*", "&", "...")) or node.type.startswith(
        (
            "spread",
            "variadic",
            "rest",
            "list_splat",
            "dictionary",
            "optional",
            "splat",
            "hash",
            "block",
        )
    )
    return Parameter(
        name=label.lstrip("*&.$ "),
        type=text_of(kind, 120).removeprefix(":").strip(),
        default=text_of(value, 120),
        optional=value is not None or variadic,
    )
