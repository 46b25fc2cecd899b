"""Finds the variables in a piece of code, and the flow of values between them.

The same functions read all languages. They use the names of fields that the grammars have in common
(`left` and `right`, `name` and `value`, `parameters`) and the tables of `crscore.diff.languages`.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from crscore.code.syntax_tree import Node, SyntaxTree
from crscore.diff.languages import node_types


def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OBJECTS: Final = _split("object operand argument receiver expression scope")
"""Fields that hold the object of a member: `a` in `a.b`."""
_MEMBERS: Final = _split("attribute field property method name")
"""Fields that hold the name of a member: `b` in `a.b`."""
_TYPES: Final = _split("type returns return_type superclasses type_parameters")
"""Fields that hold a type."""
_LABELS: Final = _split("keyword_argument argument pair_pattern named_argument")
"""Types of nodes whose field `name` or `key` holds the name of a parameter or of a member."""
_TARGETS: Final = _split("left name declarator pattern alias")
"""Fields that hold what an assignment or a loop gives a value to."""
_BODIES: Final = _split("body consequence alternative type")
"""Fields that take no part in the assignment or loop around them."""
_OPERANDS: Final = _split("value default_value object operand argument index subscript")
"""Fields whose names get no value although the whole expression does: `a` and `c` in
`a.b[c] = d`."""
_RECEIVERS: Final = _split("this self")
# The number is limited because every name on one side is paired with every name on the other side.
MAX_NAMES_PER_SIDE: Final = 64
"""Maximum number of names on each side of an assignment; further names are ignored."""


Pair: TypeAlias = tuple[int, int]
"""Indices of two names in the list of `read_names`."""


class Name(NamedTuple):
    """Occurrence of a variable."""

    node: int
    """Index of the node in `SyntaxTree.nodes`."""
    text: str
    """The name, or an object and its member joined by a period: `self.x`."""
    variable: int
    """Number of the variable; variables are numbered from 0 by their first appearance."""


class _Context(NamedTuple):
    """Meaning of a node's position in the tree for a name at the node."""

    scope: int
    """Index of the innermost function or other scope around the node; -1 for the whole code."""
    binds: bool
    """Whether a name at the node gets a value."""
    binder: int
    """Index of the innermost assignment or loop around the node; -1 if there is none."""
    is_target: bool
    """Whether the node is on the side of the assignment or loop that gets the value."""
    is_hidden: bool
    """Whether the node is part of a type, where names are not variables."""


class _Occurrence(NamedTuple):
    """Occurrence of a name whose variable is not yet known."""

    node: int
    text: str
    base: str
    """The name; for a member, the name of the variable that it begins with: `a` for `a.b.c`."""
    context: _Context


def read_names(tree: SyntaxTree) -> tuple[list[Name], list[Pair], list[Pair]]:
    """Find the names in a piece of code and the flow of values between them.

    A name belongs to the innermost function, lambda or comprehension around it that gives it a
    value; if there is none, it belongs to the whole code.

    Args:
        tree: Syntax tree of the code.

    Returns:
        Three lists. The first has the names in the order of the text: variables, members of
        variables (`x.y`) and called functions. The other two have pairs of indices of names: pairs
        of successive occurrences of a variable, and pairs of a name in a value and a name that the
        value is assigned to, as in `a = b + c` and `for a in b`.
    """
    contexts = _find_contexts(tree)
    occurrences = list(_find_occurrences(tree, contexts))
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


def _find_contexts(tree: SyntaxTree) -> list[_Context]:
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
        # The name of a function belongs to the scope around the function.
        scope = node.parent if parent.type in scopes and node.field != "name" else outer.scope
        is_clause = parent.type == "for_in_clause" and node.field == "right"
        if is_clause and parent.parent not in clauses:
            # Python evaluates the first iterable of a comprehension in the scope around it.
            # https://docs.python.org/3/reference/expressions.html#displays-for-lists-sets-and-dictionaries
            clauses.add(parent.parent)
            scope = contexts[parent.parent].scope
        binder, is_target = outer.binder, outer.is_target
        # In `for a in b: c`, nothing flows between `a` and the body.
        if node.field in _BODIES or parent.type in scopes:
            binder = -1
        elif parent.type in binders:
            # In PHP's grammar, `foreach` has no named fields; the array is the first child.
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


def _find_occurrences(tree: SyntaxTree, contexts: Sequence[_Context]) -> Iterator[_Occurrence]:
    """Yield each occurrence of a name; an object and its member (`self.x`) are one name."""
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
                # In Java, the object and the name are children of the call, whose value is not a
                # variable.
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
            # PHP's `$x` is a `variable_name` around the name `x`, and the outer node is what can be
            # the object of a member.
            outer_node = node.parent if parent.type == "variable_name" else position
            texts[outer_node] = node.text, node.text
            yield _Occurrence(position, node.text, node.text, contexts[position])
