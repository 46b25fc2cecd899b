"""Names in a piece of code: which uses mean the same variable, and what flows into what.

One reading for all grammars: it goes by the fields that they share (`left` and `right`, `name` and
`value`, `parameters`) and by the tables of `crscore.syntax`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from crscore.code.syntax_tree import Node, SyntaxTree


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NAMES: Final = _set(
    "identifier name variable_name shorthand_property_identifier constant "
    "shorthand_property_identifier_pattern instance_variable class_variable global_variable "
    "implicit_parameter"
)
"""Types of nodes that are names; those of types and members have others in many grammars."""
_OBJECTS: Final = _set("object operand argument receiver expression scope")
"""Fields of a member's object."""
_MEMBERS: Final = _set("attribute field property method name")
"""Fields of a member beside its object."""
_TYPES: Final = _set("type returns return_type superclasses type_parameters")
"""Fields that hold a type."""
_LABELS: Final = _set("keyword_argument argument pair_pattern named_argument")
"""Nodes whose `name` or `key` names a parameter or a member."""
_TARGETS: Final = _set("left name declarator pattern alias")
"""Fields that a value flows into."""
_BODIES: Final = _set("body consequence alternative type")
_LOOPS: Final = _set(
    "for_statement for_in_clause enhanced_for_statement for_in_statement range_clause "
    "for_range_loop foreach_statement for named_expression default_parameter "
    "typed_default_parameter assignment_pattern optional_parameter"
)
"""Nodes beside those of the tables that bind a name to a value."""
_SCOPES: Final = _set(
    "lambda list_comprehension set_comprehension dictionary_comprehension generator_expression "
    "lambda_expression arrow_function"
)
"""Nodes beside those of the tables that have names of their own."""
_OPERANDS: Final = _set("value default_value object operand argument index subscript")
"""Fields whose names get no value though the whole stands on the side that does: `a.b[c] = d`."""
_RECEIVERS: Final = _set("this self")
MAX_SIDE: Final = 64
"""Names taken of each side of an assignment."""


class Name(NamedTuple):
    """Occurrence of a variable."""

    node: int
    """Position in the tree."""
    text: str
    """The name, or object and member joined by a period: `self.x`."""
    variable: int
    """Number of the variable, counted by first appearance."""


class Flow(NamedTuple):
    """Value that goes from one name to another."""

    source: int
    """Index of a name."""
    target: int
    """Index of a name."""


class Names(NamedTuple):
    """Names of a piece of code, in the order of the text."""

    names: tuple[Name, ...]
    next_uses: tuple[Flow, ...]
    """From each occurrence of a variable to its next one."""
    assignments: tuple[Flow, ...]
    """From names in a value to the names that it is assigned to: `a = b + c`, `for a in b`."""


class _Place(NamedTuple):
    """What a node inherits from those around it."""

    scope: int
    """Node that has the names in it; -1 for the whole code."""
    binds: bool
    """Whether a name here gets a value."""
    binder: int
    """Assignment or loop around it; -1 for none."""
    target: bool
    """Whether it is on the side of the binder that gets the value."""
    hidden: bool
    """Whether it is a type or label: no variable."""


class _Seen(NamedTuple):
    """Name before its variable is known."""

    node: int
    text: str
    base: str
    place: _Place


def read_names(tree: SyntaxTree) -> Names:
    """Read the names of a piece of code.

    A name is the variable of the innermost function, lambda or comprehension around it that binds
    it, else that of the whole code.

    Args:
        tree: The tree.

    Returns:
        Variables, members of variables (`x.y`) and called functions, with what flows between them.
    """
    places = _places(tree)
    seen = list(_seen(tree, places))
    bound = {(one.place.scope, one.text) for one in seen if one.place.binds}
    numbers: dict[tuple[int, str], int] = {}
    names, last, next_uses = [], dict[int, int](), []
    for index, one in enumerate(seen):
        scope = _resolve(one, bound, places)
        variable = numbers.setdefault((scope, one.text), len(numbers))
        names.append(Name(one.node, one.text, variable))
        if variable in last:
            next_uses.append(Flow(last[variable], index))
        last[variable] = index
    return Names(tuple(names), tuple(next_uses), tuple(_assignments(seen)))


def _resolve(one: _Seen, bound: set[tuple[int, str]], places: Sequence[_Place]) -> int:
    """Return the scope whose variable a name is."""
    scope = one.place.scope
    while scope >= 0:
        if (scope, one.base) in bound:
            return scope
        scope = places[scope].scope
    return -1


def _assignments(seen: Sequence[_Seen]) -> Iterator[Flow]:
    sides: dict[int, tuple[list[int], list[int]]] = {}
    for index, one in enumerate(seen):
        if one.place.binder >= 0:
            sides.setdefault(one.place.binder, ([], []))[one.place.target].append(index)
    for sources, targets in sides.values():
        for target in targets[:MAX_SIDE]:
            for source in sources[:MAX_SIDE]:
                yield Flow(source, target)


def _places(tree: SyntaxTree) -> list[_Place]:
    language = tree.language
    scopes = _SCOPES | language.functions.keys() | language.lambdas | language.callbacks
    binders = _LOOPS | language.assigns
    places: list[_Place] = []
    clauses: set[int] = set()
    children = [0] * len(tree.nodes)
    top = _Place(-1, binds=False, binder=-1, target=False, hidden=False)
    for node in tree.nodes:
        if node.parent < 0:
            places.append(top)
            continue
        above, around = tree.nodes[node.parent], places[node.parent]
        scope = node.parent if above.type in scopes and node.field != "name" else around.scope
        if above.type == "for_in_clause" and node.field == "right" and above.parent not in clauses:
            # Python evaluates the first iterable of a comprehension outside of it.
            clauses.add(above.parent)
            scope = places[above.parent].scope
        binder, target = around.binder, around.target
        if node.field in _BODIES or above.type in scopes:
            binder = -1
        elif above.type in binders:
            binder, target = node.parent, _is_target(node, above, children[node.parent])
        children[node.parent] += node.named
        binds = _binds(node, above, around, target=target and above.type in binders)
        places.append(_Place(scope, binds, binder, target, around.hidden or _is_hidden(node)))
    return places


def _is_target(node: Node, above: Node, before: int) -> bool:
    """Return whether a child of a binder gets the value.

    PHP's `foreach` names no fields; its array stands first.
    """
    return node.field in _TARGETS or (
        above.type == "foreach_statement" and not node.field and before > 0
    )


def _binds(node: Node, above: Node, around: _Place, *, target: bool) -> bool:
    if node.field in _OPERANDS or node.field in _BODIES:
        return False
    if above.type in _LOOPS or target:
        return target
    return around.binds or node.field == "parameters" or "parameter" in above.type


def _is_hidden(node: Node) -> bool:
    is_type = node.type.startswith("type_") or node.type.endswith(("_type", "generic_name"))
    return node.field in _TYPES or is_type or node.type == "type"


def _seen(tree: SyntaxTree, places: Sequence[_Place]) -> Iterator[_Seen]:
    """Yield the names, a member of a plain name as one with it, behind that name."""
    objects: dict[int, int] = {}
    texts: dict[int, tuple[str, str]] = {}
    for position, node in enumerate(tree.nodes):
        above = tree.nodes[node.parent] if node.parent >= 0 else node
        if node.field in _OBJECTS:
            objects[node.parent] = position
        if not node.leaf or not node.text:
            continue
        if node.field in _MEMBERS and node.parent in objects:
            text, base = texts.get(objects[node.parent], ("", ""))
            if text:
                if above.type not in tree.language.calls:
                    texts[node.parent] = f"{text}.{node.text}", base
                yield _Seen(node.parent, f"{text}.{node.text}", base, places[position])
        elif node.type in _RECEIVERS:
            texts[position] = node.text, node.text
        elif _is_name(node, above, places[position]):
            whole = node.parent if above.type == "variable_name" else position
            texts[whole] = node.text, node.text
            yield _Seen(position, node.text, node.text, places[position])


def _is_name(node: Node, above: Node, place: _Place) -> bool:
    is_label = above.type in _LABELS and node.field in {"name", "key"}
    return node.type in _NAMES and not place.hidden and not is_label
