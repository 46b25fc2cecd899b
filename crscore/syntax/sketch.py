"""Makes sketches of code, in which names that the code defines are replaced by their roles.

Functions become `f`, `f_1`, ..., parameters `arg_0`, ... and local variables `var_0`, ... in the
order of their first appearance. Everything else is kept: attributes, functions that are defined
elsewhere, types, imports, names of keyword arguments, labels and literals.

Types and the rest of the program are unknown, so these rules decide which function, parameter or
variable (its *owner*) a name refers to:

- A name belongs to the innermost function around it that binds it. Blocks are not scopes, so a name
  that is bound in two blocks of a function is one variable.
- If the language has declarations, a name that the code does not declare is foreign (a field, or a
  global variable from elsewhere). In Python, Ruby and PHP, an assignment is a declaration.
- Fields, and names that the body of a class binds, are attributes.
- A method is renamed, and so are its calls through `self` or `this`. It keeps its name if the code
  also uses a member with this name of another object, if its class inherits from another one (the
  method may override or implement another), or if the runtime calls it by name (`main`,
  constructors, `__name__`).
- A parameter keeps its name if a call passes it by keyword.

Source:
    Yang et al., "CodeScore-R", arXiv:2406.06902, the step that makes sketches. The authors' program
    replaces tokens of the text; it misses recursive calls and names that are used only inside of
    calls, which this module renames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from crscore.diff.languages import node_types, read_tables
from crscore.syntax.trees import grammar_of, parse_code, tokens

if TYPE_CHECKING:
    import tree_sitter

_SELF_NAMES = frozenset(("self", "this", "$this", "cls"))
_FOREIGN = frozenset(("fixed", "keyword", "member", "attribute"))
"""Roles of names that have no owner."""
_MAX_SELF_CHARS = 5
"""Length of the longest of `_SELF_NAMES`, `$this`."""
_MAX_SCOPES = 50
"""Maximum number of nested functions through which a name is looked up."""
_PREFIXES = {"function": "f", "parameter": "arg", "local": "var"}
# The runtime calls the first four by name; the others have a meaning in a language.
_FIXED_NAMES = frozenset(("main", "Main", "constructor", "initialize", "_", "$this", "this"))


class _Grammar(msgspec.Struct, frozen=True, kw_only=True):
    """Roles of names by their position in a tree: the `names` section of a language table."""

    names: frozenset[str] = frozenset({"identifier"})
    scopes: frozenset[str]
    classes: frozenset[str]
    passing: frozenset[str]
    """Positions, written as in `roles`, where a node has the role of its parent."""
    roles: dict[str, str]
    """Role of a node by its position: `type.field`, for the type of its parent and its field in the
    parent, or only `type`."""
    bare_methods: bool = False
    """Whether a method can be called without an object."""


@cache
def _read_grammar(name: str) -> _Grammar:
    table = read_tables()[name]["names"]
    roles = {key: role for role, positions in table["roles"].items() for key in positions}
    return msgspec.convert({**table, "roles": roles}, _Grammar)


class _Name(NamedTuple):
    """Occurrence of a name."""

    start: int
    end: int
    text: str
    scope: int
    """Index of the innermost function around the name; 0 outside of functions."""
    role: str
    """Role of the name here, such as `call`; empty for a name that is only read."""
    shorthand: bool
    """Whether the name is also the key of an object: `{name}`."""


class _State(NamedTuple):
    """Properties that a node has from its position in the tree."""

    role: str
    """Role of the node; empty if the position gives it none."""
    scope: int
    inside: str
    """`class` directly inside of a class, `heir` if that class inherits, else empty."""


@dataclass(eq=False)
class _NameFinder:
    """Reads the names of a tree and what binds them, and then finds the owner of each name."""

    grammar: _Grammar
    names: list[_Name] = field(default_factory=list)
    """Names in the order of the text."""
    parents: list[int] = field(default_factory=lambda: [0])
    """Index of the scope around each scope."""
    bound: list[dict[str, str]] = field(default_factory=lambda: [{}])
    """For each scope, the role of each name that it binds: `parameter`, `local` or `attribute`."""
    outer: set[tuple[int, str]] = field(default_factory=set)
    """Pairs of a scope and a name that the scope takes from outside, as with Python's `global`."""
    functions: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    """Functions and methods that keep their names."""
    keywords: set[str] = field(default_factory=set)
    """Names of keyword arguments in calls."""
    members: set[str] = field(default_factory=set)
    """Names of members of objects other than `self`."""
    capturing: set[int] = field(default_factory=set)
    """Scopes in which all variables of the scopes around them are visible."""
    bindings: dict[tuple[int, str], tuple[int, str] | None] = field(default_factory=dict)
    """Results of `_find_binding`."""

    def read(self, root: tree_sitter.Node) -> None:
        """Read all names, visiting each node once.

        A cursor is used instead of recursion, because a tree may be deeper than Python's stack.
        """
        cursor = root.walk()
        around: list[tuple[tree_sitter.Node, _State, _State]] = []
        state = _State("", 0, "")
        while (node := cursor.node) is not None:
            if node.type in self.grammar.names:
                self._record(node, state)
            inner = self._enter(node, state)
            if cursor.goto_first_child():
                around.append((node, state, inner))
            else:
                while not cursor.goto_next_sibling():
                    if not cursor.goto_parent():
                        return
                    around.pop()
            child = cursor.node
            assert child is not None  # noqa: S101 - a cursor is on a node
            state = self._state(*around[-1], cursor.field_name, child)

    def _enter(self, node: tree_sitter.Node, state: _State) -> _State:
        """Return the state that the children of a node inherit, except for their role."""
        if node.type in self.grammar.scopes and node.is_named:
            self.parents.append(state.scope)
            self.bound.append({})
            # PHP's `fn` sees the variables around it; its `function` sees only those named by
            # `use`.
            # https://www.php.net/manual/en/functions.arrow.php
            if node.type == "arrow_function":
                self.capturing.add(len(self.bound) - 1)
            return _State("", len(self.bound) - 1, "")
        if node.type in self.grammar.classes and node.is_named:
            # Java's `new A() { ... }` has no clause that names its base.
            anonymous = node.type == "object_creation_expression"
            inherits = anonymous or any(
                child.type in node_types("heritage") for child in node.children
            )
            return _State("", state.scope, "heir" if inherits else "class")
        return state

    def _state(
        self,
        parent: tree_sitter.Node,
        around: _State,
        inner: _State,
        position: str | None,
        child: tree_sitter.Node,
    ) -> _State:
        """Return the state of a child: its role, and what it inherits from its parent."""
        key = f"{parent.type}.{position}"
        # A rule for a position (`type.field`) takes precedence over a rule for a type of node.
        if around.role and key in self.grammar.passing:
            role = around.role
        elif key in self.grammar.roles:
            role = self.grammar.roles[key]
        elif around.role and parent.type in self.grammar.passing:
            role = around.role
        else:
            role = self.grammar.roles.get(parent.type, "")
        role = self._refine_role(role, parent, child)
        # The name of a method is a child of the function's node, yet it belongs to the class.
        inside = "" if around.role == "function" else inner.inside
        return _State(role, inner.scope, around.inside if role == "function" else inside)

    def _refine_role(self, role: str, parent: tree_sitter.Node, child: tree_sitter.Node) -> str:
        """Return the role of a node if its neighbours or children decide between several roles."""
        if role in ("member", "call", "reference"):
            first = parent.child(0)
            if first is None or first.start_byte == child.start_byte:  # without an object
                return "" if role == "reference" else "call"
            # The length is checked first, because the text of a long expression is slow to decode.
            is_self = (
                first.end_byte - first.start_byte <= _MAX_SELF_CHARS
                and (first.text or b"").decode() in _SELF_NAMES
            )
            return "own" if is_self else "member"
        if role == "capture" and child.type == "identifier":
            return "local" if parent.child_count == 1 or parent.type != "dotted_name" else "fixed"
        if role != "local":
            return role
        is_prototype = parent.type == "function_declarator" and child.type in self.grammar.names
        # `const f = (x) => x` in JavaScript defines a function.
        value = parent.child_by_field_name("value")
        is_function = value is not None and value.type in self.grammar.scopes
        is_function = is_function and parent.type == "variable_declarator"
        return "function" if is_prototype or is_function else role

    def _record(self, node: tree_sitter.Node, state: _State) -> None:
        """Record an occurrence of a name, and whether it binds the name."""
        text = (node.text or b"").decode()
        # In C#, the `x` of `x => x + 1` is an implicit parameter.
        role = "parameter" if node.type == "implicit_parameter" else state.role
        if role in ("parameter", "local") and state.inside:
            role = "fixed" if not self.grammar.bare_methods else "attribute"
        if role == "function":
            (self.methods if state.inside else self.functions).add(text)
            if text in _FIXED_NAMES or text.startswith("__") or state.inside == "heir":
                self.fixed.add(text)
        elif role == "attribute":
            self.bound[state.scope][text] = role
        elif role in ("parameter", "local"):
            self.bound[state.scope].setdefault(text, role)
        elif role == "outer":
            self.outer.add((state.scope, text))
        elif role == "keyword":
            self.keywords.add(text)
        elif role == "member":
            self.members.add(text)
        # In PHP, a variable that is only read still belongs to its function, not to the code around
        # it.
        elif role == "" and text.startswith("$") and state.scope not in self.capturing:
            self.bound[state.scope].setdefault(text, "local")
        shorthand = node.type.startswith("shorthand_property_identifier")
        self.names.append(_Name(node.start_byte, node.end_byte, text, state.scope, role, shorthand))

    @cached_property
    def renamed(self) -> frozenset[str]:
        """Functions and methods that do not keep their names."""
        return frozenset(self.functions | (self.methods - self.members)) - self.fixed

    def find_owner(self, name: _Name) -> Owner | None:
        """Return the owner of a name; None for a foreign or fixed name."""
        # `$_GET`, `$_SERVER`: PHP defines them.
        if name.role in _FOREIGN or name.text in _FIXED_NAMES or name.text[:2] == "$_":
            return None
        is_declared = name.role in ("function", "own")
        # A variable does not hide a function of the same name in Java and PHP, so calls are looked
        # up among functions; only PHP's `$f()` calls what the variable holds.
        is_function = is_declared or (name.role == "call" and not name.text.startswith("$"))
        bound = None if is_function else self._find_binding(name.scope, name.text)
        if bound is None:
            # A method can be called without an object only if the language allows it.
            is_callable = is_declared or self.grammar.bare_methods or name.text in self.functions
            is_renamed = is_callable and name.text in self.renamed
            return Owner("function", 0, name.text) if is_renamed else None
        scope, role = bound
        by_keyword = role == "parameter" and name.text in self.keywords
        return None if by_keyword or role == "attribute" else Owner(role, scope, name.text)

    def _find_binding(self, scope: int, name: str) -> tuple[int, str] | None:
        """Return the scope that binds a name, and the role; None if no scope binds it."""
        start = scope, name
        if start not in self.bindings:
            binding = None
            for _ in range(_MAX_SCOPES):
                role = self.bound[scope].get(name)
                if role is not None and (scope, name) not in self.outer:
                    binding = scope, role
                if binding or scope == 0:
                    break
                scope = self.parents[scope]
            self.bindings[start] = binding
        return self.bindings[start]


class Owner(NamedTuple):
    """A function, parameter or variable of the code."""

    role: str
    """`function`, `parameter` or `local`."""
    scope: int
    name: str


class NamedCode(NamedTuple):
    """Piece of code with the owners of its names."""

    source: bytes
    """Parsed text, which contains the code from byte `start` up to byte `end`."""
    start: int
    end: int
    names: list[tuple[_Name, Owner | None]]

    def rename(self, new: Mapping[Owner, str]) -> str:
        """Return the code with the names in `new`; other owners keep their names."""
        parts, end = [], self.start
        for name, owner in self.names:
            if owner is None or owner not in new or not end <= name.start < self.end:
                continue
            sigil = "$" if name.text.startswith("$") else ""
            # `{a}` in JavaScript is `{a: a}`: the key stays, the value gets the new name.
            key = f"{name.text}: " if name.shorthand else ""
            text = key + sigil + new[owner]
            parts += [self.source[end : name.start], text.encode()]
            end = name.end
        return b"".join([*parts, self.source[end : self.end]]).decode()


def read_names(code: str, language: str | None, context: str = "") -> NamedCode:
    """Find the owners of the names of a piece of code.

    Args:
        code: The code.
        language: Language as in `ChangedFile.language`.
        context: Code or prose before the code.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.
    """
    parsed = parse_code(code, language)
    start = parsed.start
    for text in _completions(context, code, indented=grammar_of(language).indented):
        whole = parse_code(context + text, language)
        if whole.errors <= parsed.errors:
            lines = (context + text[: len(text) - len(code.lstrip(" "))]).count("\n")
            before = whole.source[whole.start : whole.end].split(b"\n")[:lines]
            parsed, start = whole, whole.start + sum(len(line) + 1 for line in before)
            break
    grammar = _read_grammar(grammar_of(language).name)
    finder = _NameFinder(grammar)
    finder.read(parsed.root)
    owners = [(name, finder.find_owner(name)) for name in finder.names]
    return NamedCode(parsed.source, start, parsed.end, owners)


def _completions(context: str, code: str, *, indented: bool) -> Iterator[str]:
    """Yield the code as it may continue its context: indented on a separate line, or unchanged.

    A completion often lacks the indentation of its first line, because the prompt ends with it.
    """
    if not context.strip():
        return
    last = context.rstrip().rsplit("\n", 1)[-1]
    margin = len(last) - len(last.lstrip()) + (4 if last.rstrip().endswith(":") else 0)
    gap = "" if not context.rsplit("\n", 1)[-1].strip() or code.startswith("\n") else "\n"
    if indented and margin and code[:1].strip():
        yield gap + " " * margin + code
    yield gap + code


def sketch(code: str, language: str | None, *, context: str = "") -> str:
    r"""Replace the names that a piece of code defines by names for their roles.

    Args:
        code: A file, some statements, or the body of a function.
        language: Language as in `ChangedFile.language`.
        context: Text before the code. If it is code, such as a prompt with the header of the
            function, its names are numbered first. If context and code together parse worse than
            the code alone, the context is prose and is left out.

    Returns:
        The code, dedented, with the names replaced. Two pieces of code that differ only in the
        names that they define have the same sketch. Code that does not parse is read as far as
        possible.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.

    Example:
        >>> sketch("def add(left, right):\n    total = left + right\n    return total", "python")
        'def f(arg_0, arg_1):\n    var_0 = arg_0 + arg_1\n    return var_0'
    """
    named_code = read_names(code, language, context)
    counts: Counter[str] = Counter()
    new: dict[Owner, str] = {}
    for _, owner in named_code.names:
        if owner is not None and owner not in new:
            index, prefix = counts[owner.role], _PREFIXES[owner.role]
            new[owner] = prefix if prefix == "f" and index == 0 else f"{prefix}_{index}"
            counts[owner.role] += 1
    return named_code.rename(new)


def sketch_tokens(code: str, language: str | None) -> list[tuple[str, ...]]:
    """Return the tokens of a sketch without comments, each with the types of its ancestors.

    If the sketch does not parse, its tree lacks text, so its words are returned instead.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.
    """
    parsed = parse_code(sketch(code, language), language)
    if parsed.errors:
        return [(word,) for word in parsed.code.split()]
    return [
        (token.kind, token.text, *token.ancestors)
        for token in tokens(parsed.root, grammar_of(language))
        if not token.is_comment
    ]
