"""Reads the names in a piece of code: their variables, and the flow of values between them.

All grammars are read alike: by the fields that they share (`left` and `right`, `name`
and `value`, `parameters`) and by the tables of `crscore.diff.languages`.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from crscore.code.syntax_tree import Node, SyntaxTree
from crscore.diff.languages import node_types


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OBJECTS: Final = _split("object operand argument receiver expression scope")
"""Fields of a member's object."""
_MEMBERS: Final = _split("attribute field property method name")
"""Fields of a member other than its object."""
_TYPES: Final = _split("type returns return_type superclasses type_parameters")
"""Fields that hold a type."""
_LABELS: Final = _split("keyword_argument argument pair_pattern named_argument")
"""Nodes whose `name` or `key` names a parameter or a member."""
_TARGETS: Final = _split("left name declarator pattern alias")
"""Fields that a value flows into."""
_BODIES: Final = _split("body consequence alternative type")
_OPERANDS: Final = _split("value default_value object operand argument index subscript")
"""Fields whose names get no value although the whole expression does: `a.b[c] = d`."""
_RECEIVERS: Final = _split("this self")
# Names are limited, because each one on one side is paired with each one on the other.
MAX_NAMES_PER_SIDE: Final = 64
"""Maximum number of names read on each side of an assignment."""


Pair: TypeAlias = tuple[int, int]


class Name(NamedTuple):
    """Occurrence of a variable."""

    node: int
    """Position of the node in the tree."""
    text: str
    """The name, or object and member joined by a period: `self.x`."""
    variable: int
    """Index of the variable, by first appearance."""


class _Context(NamedTuple):
    """Properties that a node inherits from the nodes around it."""

    scope: int
    """Position of the function or other scope around the node; -1 for the whole code."""
    binds: bool
    """Whether a name here gets a value."""
    binder: int
    """Position of the assignment or loop around the node; -1 for none."""
    is_target: bool
    """Whether the node is on the side of the binder that gets the value."""
    is_hidden: bool
    """Whether the node is a type or label, not a variable."""


class _Occurrence(NamedTuple):
    """Name before its variable is resolved."""

    node: int
    text: str
    base: str
    """Name of the variable itself, or of the one whose member this is."""
    context: _Context


def read_names(tree: SyntaxTree) -> tuple[list[Name], list[Pair], list[Pair]]:
    """Read the names of a piece of code.

    A name is the variable of the innermost function, lambda or comprehension around it that binds
    it, else a variable of the whole code.

    Args:
        tree: The tree.

    Returns:
        The names, in the order of the text: variables, members of variables (`x.y`) and called
        functions. Then pairs of indices of names: of two successive occurrences of a variable; and
        of a name in a value and a name that the value is assigned to, as in `a = b + c` and
        `for a in b`.
    """
    contexts = _contexts(tree)
    occurrences = list(_occurrences(tree, contexts))
    bound = {(name.context.scope, name.text) for name in occurrences if name.context.binds}
    variables: dict[tuple[int, str], int] = {}
    names, last, next_uses = [], dict[int, int](), []
    for index, occurrence in enumerate(occurrences):
        scope = occurrence.context.scope
        while scope >= 0 and (scope, occurrence.base) not in bound:
            scope = contexts[scope].scope
        variable = variables.setdefault((scope, occurrence.text), len(variables))
        names.append(Name(occurrence.node, occurrence.text, variable))
        if variable in last:
            next_uses.append((last[variable], index))
        last[variable] = index
    sides: dict[int, tuple[list[int], list[int]]] = {}
    for index, occurrence in enumerate(occurrences):
        context = occurrence.context
        if context.binder >= 0:
            sides.setdefault(context.binder, ([], []))[context.is_target].append(index)
    assignments = [
        (source, target)
        for sources, targets in sides.values()
        for target in targets[:MAX_NAMES_PER_SIDE]
        for source in sources[:MAX_NAMES_PER_SIDE]
    ]
    return names, next_uses, assignments


def _contexts(tree: SyntaxTree) -> list[_Context]:
    """Return the context of each node, in the order of the nodes."""
    language = tree.language
    scopes = (
        node_types("name_scopes")
        | language.functions.keys()
        | language.lambdas
        | language.callbacks
    )
    binders = node_types("binders") | language.assigns
    contexts: list[_Context] = []
    clauses: set[int] = set()
    child_counts = [0] * len(tree.nodes)
    root_context = _Context(-1, binds=False, binder=-1, is_target=False, is_hidden=False)
    for node in tree.nodes:
        if node.parent < 0:
            contexts.append(root_context)
            continue
        parent, outer = tree.nodes[node.parent], contexts[node.parent]
        # The name of a function belongs to the scope around it.
        scope = node.parent if parent.type in scopes and node.field != "name" else outer.scope
        is_clause = parent.type == "for_in_clause" and node.field == "right"
        if is_clause and parent.parent not in clauses:
            # Python evaluates the first iterable of a comprehension outside of it.
            # https://docs.python.org/3/reference/expressions.html#displays-for-lists-sets-and-dictionaries
            clauses.add(parent.parent)
            scope = contexts[parent.parent].scope
        binder, is_target = outer.binder, outer.is_target
        # In `for a in b: c`, nothing flows between `a` and the body.
        if node.field in _BODIES or parent.type in scopes:
            binder = -1
        elif parent.type in binders:
            # PHP's `foreach` names no fields; its array comes first.
            in_foreach = parent.type == "foreach_statement" and not node.field
            is_target = node.field in _TARGETS or (in_foreach and child_counts[node.parent] > 0)
            binder = node.parent
        child_counts[node.parent] += node.is_named
        binds = _binds(node, parent, outer, is_target=is_target and parent.type in binders)
        is_type = node.type.startswith("type_") or node.type.endswith(("_type", "generic_name"))
        is_hidden = outer.is_hidden or is_type or node.type == "type" or node.field in _TYPES
        contexts.append(_Context(scope, binds, binder, is_target, is_hidden))
    return contexts


def _binds(node: Node, parent: Node, outer: _Context, *, is_target: bool) -> bool:
    if node.field in _OPERANDS or node.field in _BODIES:
        return False
    if parent.type in node_types("binders") or is_target:
        return is_target
    return outer.binds or node.field == "parameters" or "parameter" in parent.type


def _occurrences(tree: SyntaxTree, contexts: Sequence[_Context]) -> Iterator[_Occurrence]:
    """Yield the names; an object and its member are one name (`self.x`)."""
    objects: dict[int, int] = {}
    texts: dict[int, tuple[str, str]] = {}
    for position, node in enumerate(tree.nodes):
        parent = tree.nodes[node.parent] if node.parent >= 0 else node
        if node.field in _OBJECTS:
            objects[node.parent] = position
        if not node.leaf or not node.text:
            continue
        if node.field in _MEMBERS and node.parent in objects:
            text, base = texts.get(objects[node.parent], ("", ""))
            if text:
                # In Java, the call itself holds object and name; its value is not a variable.
                if parent.type not in tree.language.calls:
                    texts[node.parent] = f"{text}.{node.text}", base
                yield _Occurrence(node.parent, f"{text}.{node.text}", base, contexts[position])
        # `this.x` is a variable, `this` alone is not.
        elif node.type in _RECEIVERS:
            texts[position] = node.text, node.text
        elif (
            node.type in node_types("variables")
            and not contexts[position].is_hidden
            and not (parent.type in _LABELS and node.field in {"name", "key"})
        ):
            # PHP's `$x` is a `variable_name` around the name `x`; a member's object is that outer
            # node.
            outer_node = node.parent if parent.type == "variable_name" else position
            texts[outer_node] = node.text, node.text
            yield _Occurrence(position, node.text, node.text, contexts[position])
