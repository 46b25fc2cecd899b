"""Sketch of code: its own names replaced by their roles, on the positions of the syntax tree.

Functions become `f`, `f_1`, ..., parameters `arg_0`, ... and local variables `var_0`, ... in the
order of their first appearance. All else stays: attributes, called foreign functions, types,
imports, names of keyword arguments, labels and literals.

Without types and without the rest of the program, these rules tell whose a name is:

- A name belongs to the innermost function around it that binds it; blocks are no scopes, so a name
  bound in two blocks of a function is one variable.
- Where the language has declarations, a name that the code does not declare is foreign (a field, a
  global of elsewhere). In Python, Ruby and PHP an assignment declares.
- Fields, and what a class body binds, are attributes.
- A method is renamed with the accesses through `self` or `this`. It keeps its name where another
  object's member of that name is used too, where its class inherits (it may implement something),
  and where the runtime calls it by name (`main`, constructors, `__name__`).
- A parameter that a call names by keyword keeps its name.

Source:
    CodeScore-R, its sketch step. The authors' helper replaces tokens of the text and misses names
    used only inside calls; these and recursion count here.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from crscore.suggestions.trees import grammar_of, parse_code, tokens

if TYPE_CHECKING:
    import tree_sitter

_HERITAGE = frozenset(
    (
        "argument_list",
        "base_class_clause",
        "base_clause",
        "base_list",
        "class_heritage",
        "class_interface_clause",
        "super_interfaces",
        "superclass",
    )
)
_OWN = frozenset(("self", "this", "$this", "cls"))
_FOREIGN = frozenset(("fixed", "keyword", "member", "attribute"))
_LONGEST_SELF = 5
MAX_SCOPES = 50
"""Functions within functions through which a name is looked up."""
_KEPT = frozenset(("main", "Main", "constructor", "initialize", "_", "$this", "this"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grammar:
    """What the positions in one grammar mean; a position is `parent type.field` or `parent type`.

    A rule is `position=role`. `passing` lists the patterns that hand their own role on.
    """

    names: str = "identifier"
    scopes: str
    classes: str
    rules: str
    passing: str = ""
    bare_methods: bool = False
    """Methods are called without an object."""
    sigil: bool = False
    """Every variable with a sigil that is used is one of the function."""


_PYTHON = _Grammar(
    scopes="function_definition lambda",
    classes="class_definition",
    rules="function_definition.name=function class_definition.name=fixed parameters=parameter "
    "lambda_parameters=parameter assignment.left=local augmented_assignment.left=local "
    "for_statement.left=local for_in_clause.left=local as_pattern_target=local "
    "named_expression.name=local case_pattern=capture splat_pattern=local as_pattern.alias=local "
    "attribute.attribute=member keyword_argument.name=keyword keyword_pattern=keyword "
    "global_statement=outer nonlocal_statement=outer import_statement=fixed "
    "import_from_statement=fixed",
    passing="default_parameter.name typed_parameter typed_default_parameter.name "
    "list_splat_pattern dictionary_splat_pattern tuple_pattern pattern_list list_pattern "
    "parenthesized_expression dotted_name aliased_import as_pattern",
)
_JAVA = _Grammar(
    scopes="method_declaration constructor_declaration lambda_expression "
    "compact_constructor_declaration",
    classes="class_declaration enum_declaration record_declaration interface_declaration "
    "object_creation_expression",
    rules="method_declaration.name=function class_declaration.name=fixed "
    "formal_parameter.name=parameter spread_parameter=parameter lambda_expression.parameters="
    "parameter inferred_parameters=parameter local_variable_declaration.declarator=local "
    "enhanced_for_statement.name=local resource.name=local catch_formal_parameter.name=local "
    "instanceof_expression.name=local type_pattern=local record_pattern_component=local "
    "field_declaration.declarator=attribute method_invocation.name=call field_access.field=member "
    "method_reference=reference labeled_statement=fixed break_statement=fixed "
    "continue_statement=fixed import_declaration=fixed package_declaration=fixed "
    "scoped_identifier=fixed element_value_pair.key=fixed annotation.name=fixed "
    "marker_annotation.name=fixed enum_constant.name=fixed",
    passing="variable_declarator.name",
    bare_methods=True,
)
_SCRIPT = _Grammar(
    names="identifier property_identifier shorthand_property_identifier "
    "shorthand_property_identifier_pattern",
    scopes="function_declaration generator_function_declaration function_expression "
    "arrow_function method_definition generator_function",
    classes="class_declaration class abstract_class_declaration",
    rules="function_declaration.name=function generator_function_declaration.name=function "
    "function_expression.name=function method_definition.name=function "
    "formal_parameters=parameter required_parameter.pattern=parameter "
    "optional_parameter.pattern=parameter arrow_function.parameter=parameter "
    "variable_declarator.name=local for_in_statement.left=local catch_clause.parameter=local "
    "member_expression.property=member pair.key=fixed pair_pattern.key=fixed "
    "import_clause=fixed import_specifier=fixed namespace_import=fixed export_specifier=fixed "
    "jsx_opening_element.name=fixed jsx_closing_element.name=fixed "
    "jsx_self_closing_element.name=fixed field_definition.property=fixed "
    "public_field_definition.name=fixed",
    passing="object_pattern array_pattern rest_pattern pair_pattern.value assignment_pattern.left "
    "object_assignment_pattern.left",
)
_GO = _Grammar(
    names="identifier field_identifier",
    scopes="function_declaration method_declaration func_literal",
    classes="",
    rules="function_declaration.name=function parameter_declaration.name=parameter "
    "variadic_parameter_declaration.name=parameter short_var_declaration.left=local "
    "var_spec.name=local const_spec.name=local range_clause.left=local "
    "type_switch_statement.alias=local receive_statement.left=local "
    "selector_expression.field=member keyed_element.key=fixed",
    passing="expression_list literal_element",
)
_C = _Grammar(
    names="identifier field_identifier",
    scopes="function_definition lambda_expression",
    classes="class_specifier struct_specifier union_specifier",
    rules="function_definition.declarator=function parameter_declaration.declarator=parameter "
    "optional_parameter_declaration.declarator=parameter "
    "variadic_parameter_declaration.declarator=parameter declaration.declarator=local "
    "for_range_loop.declarator=local lambda_capture_initializer.left=local "
    "field_expression.field=member qualified_identifier.name=fixed preproc_def.name=fixed "
    "preproc_function_def.name=fixed enumerator.name=fixed field_declaration.declarator=attribute",
    passing="init_declarator.declarator pointer_declarator.declarator array_declarator.declarator "
    "function_declarator.declarator reference_declarator parenthesized_declarator "
    "structured_binding_declarator variadic_declarator",
    bare_methods=True,
)
_CSHARP = _Grammar(
    names="identifier implicit_parameter",
    scopes="method_declaration constructor_declaration local_function_statement "
    "lambda_expression anonymous_method_expression accessor_declaration operator_declaration",
    classes="class_declaration struct_declaration record_declaration interface_declaration",
    rules="method_declaration.name=function local_function_statement.name=function "
    "parameter.name=parameter parameter_list.name=parameter lambda_expression.parameters=parameter "
    "implicit_parameter=parameter variable_declarator.name=local foreach_statement.left=local "
    "catch_declaration.name=local declaration_pattern.name=local declaration_expression.name=local "
    "variable_declaration.type=fixed field_declaration=attribute event_field_declaration=attribute "
    "member_access_expression.name=member argument.name=keyword qualified_name=fixed "
    "using_directive=fixed class_declaration.name=fixed property_declaration.name=attribute "
    "labeled_statement=fixed goto_statement=fixed",
    passing="variable_declaration variable_declarator.name",
    bare_methods=True,
)
_PHP = _Grammar(
    names="name variable_name",
    scopes="function_definition method_declaration anonymous_function arrow_function",
    classes="class_declaration trait_declaration interface_declaration anonymous_class",
    rules="function_definition.name=function method_declaration.name=function "
    "simple_parameter.name=parameter variadic_parameter.name=parameter "
    "property_promotion_parameter.name=attribute anonymous_function_use_clause=outer "
    "global_declaration=outer member_call_expression.name=member "
    "member_access_expression.name=member scoped_property_access_expression.name=fixed "
    "property_element.name=attribute argument.name=keyword variable_name=fixed "
    "function_call_expression.function=call",
    sigil=True,
)
_RUBY = _Grammar(
    scopes="method singleton_method lambda",
    classes="class module",
    rules="method.name=function singleton_method.name=function method_parameters=parameter "
    "block_parameters=parameter lambda_parameters=parameter keyword_parameter.name=fixed "
    "assignment.left=local operator_assignment.left=local for.pattern=local "
    "exception_variable=local call.method=member",
    passing="optional_parameter.name splat_parameter.name hash_splat_parameter.name "
    "block_parameter.name left_assignment_list rest_assignment destructured_left_assignment "
    "destructured_parameter",
    bare_methods=True,
)
_GRAMMARS: Mapping[str, _Grammar] = {
    "python": _PYTHON,
    "java": _JAVA,
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "go": _GO,
    "c": _C,
    "cpp": _C,
    "csharp": _CSHARP,
    "php": _PHP,
    "ruby": _RUBY,
}


class _Name(NamedTuple):
    """A name at a place."""

    start: int
    end: int
    text: str
    scope: int
    """Index of the innermost function around it; 0 outside of all."""
    role: str
    """`use` for a name that is read."""
    shorthand: bool
    """It is a key of an object as well."""


@dataclass(slots=True, kw_only=True)
class _Names:
    """Names of a piece of code, in the order of the text, and who binds them."""

    names: list[_Name] = field(default_factory=list)
    parents: list[int] = field(default_factory=lambda: [0])
    """The scope around each scope."""
    bound: list[dict[str, str]] = field(default_factory=lambda: [{}])
    """For each scope the role by name: `parameter`, `local` or `attribute`."""
    outer: set[tuple[int, str]] = field(default_factory=set)
    """Names that a scope takes from the scopes around it, though it assigns to them."""
    functions: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    """Names of functions that stay."""
    keywords: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    """Names accessed through another object than `self`."""
    open: set[int] = field(default_factory=set)
    """Scopes that see all variables around them."""


class _State(NamedTuple):
    """What a node inherits from the nodes around it."""

    role: str
    """Role that its position gives it; empty for none."""
    scope: int
    inside: str
    """`class` directly in a class, `heir` in one that inherits, else empty."""


class _Reader:
    """Reader of one tree."""

    def __init__(self, grammar: _Grammar) -> None:
        self.grammar = grammar
        self.leaves = frozenset(grammar.names.split())
        self.scopes = frozenset(grammar.scopes.split())
        self.classes = frozenset(grammar.classes.split())
        self.rules: dict[str, str] = {}
        for rule in grammar.rules.split():
            position, role = rule.split("=")
            self.rules[position] = role
        self.passing = frozenset(grammar.passing.split())
        self.found = _Names()

    def read(self, root: tree_sitter.Node) -> _Names:
        """Read all names, in one visit of each node."""
        cursor = root.walk()
        around: list[tuple[tree_sitter.Node, _State, _State]] = []
        state = _State("", 0, "")
        while (node := cursor.node) is not None:
            if node.type in self.leaves:
                self._record(node, state)
            inner = self._enter(node, state)
            if cursor.goto_first_child():
                around.append((node, state, inner))
            else:
                while not cursor.goto_next_sibling():
                    if not cursor.goto_parent():
                        return self.found
                    around.pop()
            child = cursor.node
            assert child is not None  # noqa: S101 - a cursor stands on a node
            state = self._state(*around[-1], cursor.field_name, child)
        return self.found

    def _enter(self, node: tree_sitter.Node, state: _State) -> _State:
        """Return what the children of a node inherit, apart from the role."""
        if node.type in self.scopes and node.is_named:
            self.found.parents.append(state.scope)
            self.found.bound.append({})
            if node.type == "arrow_function":
                self.found.open.add(len(self.found.bound) - 1)
            return _State("", len(self.found.bound) - 1, "")
        if node.type in self.classes and node.is_named:
            anonymous = node.type == "object_creation_expression"
            inherits = anonymous or any(child.type in _HERITAGE for child in node.children)
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
        key = f"{parent.type}.{position}"
        if around.role and key in self.passing:
            role = around.role
        elif key in self.rules:
            role = self.rules[key]
        elif around.role and parent.type in self.passing:
            role = around.role
        else:
            role = self.rules.get(parent.type, "")
        role = self._precise(role, parent, child)
        inside = "" if around.role == "function" else inner.inside
        return _State(role, inner.scope, around.inside if role == "function" else inside)

    def _precise(self, role: str, parent: tree_sitter.Node, child: tree_sitter.Node) -> str:
        """Return a role that depends on the neighbours of a node."""
        if role in ("member", "call", "reference"):
            return _access(role, parent, child)
        if role == "capture" and child.type == "identifier":
            return "local" if parent.child_count == 1 or parent.type != "dotted_name" else "fixed"
        if role != "local":
            return role
        if parent.type == "function_declarator" and child.type in self.leaves:
            return "function"  # a prototype
        value = parent.child_by_field_name("value")
        if parent.type == "variable_declarator" and value and value.type in self.scopes:
            return "function"
        return role

    def _record(self, node: tree_sitter.Node, state: _State) -> None:
        text = (node.text or b"").decode()
        role, found = state.role, self.found
        if node.type == "implicit_parameter":
            role = "parameter"
        if role in ("parameter", "local") and state.inside:
            role = "fixed" if not self.grammar.bare_methods else "attribute"
        if role == "function":
            self._declare(text, state.inside)
        elif role == "attribute":
            found.bound[state.scope][text] = role
        elif role in ("parameter", "local"):
            found.bound[state.scope].setdefault(text, role)
        elif role == "outer":
            found.outer.add((state.scope, text))
        elif role == "keyword":
            found.keywords.add(text)
        elif role == "member":
            found.members.add(text)
        elif role == "" and text.startswith("$") and state.scope not in found.open:
            found.bound[state.scope].setdefault(text, "local")
        shorthand = node.type.startswith("shorthand_property_identifier")
        found.names.append(
            _Name(node.start_byte, node.end_byte, text, state.scope, role, shorthand)
        )

    def _declare(self, name: str, inside: str) -> None:
        if name in _KEPT or name.startswith("__") or inside == "heir":
            self.found.fixed.add(name)
        (self.found.methods if inside else self.found.functions).add(name)


def _access(role: str, parent: tree_sitter.Node, child: tree_sitter.Node) -> str:
    """Tell a call without an object, an access through `self`, and one through another object."""
    first = parent.child(0)
    if first is None or first.start_byte == child.start_byte:
        return "" if role == "reference" else "call"
    own = (
        first.end_byte - first.start_byte <= _LONGEST_SELF and (first.text or b"").decode() in _OWN
    )
    return "own" if own else "member"


class _Resolver:
    """Who binds the names of a piece of code."""

    def __init__(self, names: _Names, grammar: _Grammar) -> None:
        self.names = names
        methods = names.methods - names.members - names.fixed
        functions = names.functions - names.fixed
        self.bare = functions | methods if grammar.bare_methods else functions
        self.all = functions | methods
        self.known: dict[tuple[int, str], tuple[int, str] | None] = {}

    def owner(self, name: _Name) -> _Owner | None:
        """Return what a name stands for; None for a foreign or fixed name."""
        if name.role in _FOREIGN or name.text in _KEPT or name.text[:2] == "$_":
            return None
        if name.role in ("function", "own"):
            return self._function(name.text, self.all)
        bound = None if name.role == "call" else self._binding(name.scope, name.text)
        if bound is None:
            return self._function(name.text, self.bare)
        scope, role = bound
        named = role == "parameter" and name.text in self.names.keywords
        return None if named or role == "attribute" else _Owner(role, scope, name.text)

    def _function(self, name: str, known: set[str]) -> _Owner | None:
        return _Owner("function", 0, name) if name in known else None

    def _binding(self, scope: int, name: str) -> tuple[int, str] | None:
        """Return the scope that binds a name, and the role."""
        start = scope, name
        if start not in self.known:
            found = None
            for _ in range(MAX_SCOPES):
                role = self.names.bound[scope].get(name)
                if role is not None and (scope, name) not in self.names.outer:
                    found = scope, role
                if found or scope == 0:
                    break
                scope = self.names.parents[scope]
            self.known[start] = found
        return self.known[start]


class _Owner(NamedTuple):
    """A function, parameter or variable of the code."""

    role: str
    """`function`, `parameter` or `local`."""
    scope: int
    name: str


class _Piece(NamedTuple):
    """Piece of code with the owners of its names."""

    source: bytes
    start: int
    end: int
    names: list[tuple[_Name, _Owner | None]]

    def written(self, new: Mapping[_Owner, str]) -> str:
        """Return the code with new names."""
        pieces, at = [], self.start
        for name, owner in self.names:
            if owner is None or owner not in new or not at <= name.start < self.end:
                continue
            sigil = "$" if name.text.startswith("$") else ""
            key = f"{name.text}: " if name.shorthand else ""
            text = key + sigil + new[owner]
            pieces += [self.source[at : name.start], text.encode()]
            at = name.end
        return b"".join([*pieces, self.source[at : self.end]]).decode()


def _read(code: str, language: str | None, context: str) -> _Piece:
    parsed = parse_code(code, language)
    start = parsed.start
    for text in _behind(context, code, indented=grammar_of(language).indented):
        whole = parse_code(context + text, language)
        if whole.errors <= parsed.errors:
            lines = (context + text[: len(text) - len(code.lstrip(" "))]).count("\n")
            before = whole.source[whole.start : whole.end].split(b"\n")[:lines]
            parsed, start = whole, whole.start + sum(len(line) + 1 for line in before)
            break
    grammar = _GRAMMARS[grammar_of(language).name]
    found = _Reader(grammar).read(parsed.root)
    resolver = _Resolver(found, grammar)
    return _Piece(
        parsed.source, start, parsed.end, [(name, resolver.owner(name)) for name in found.names]
    )


def _behind(context: str, code: str, *, indented: bool) -> Iterator[str]:
    """Yield the ways to put code behind its context.

    A completion often lacks the indentation of its first line, which the prompt ends with.
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
    r"""Replace the own names of a piece of code by their roles.

    Args:
        code: A file, some statements, or the body of a function.
        language: Language as in `ChangedFile.language`.
        context: Text before the code. Where it is code, such as the prompt with the header of the
            function, its names are known: they are numbered first. Where code and context together
            parse worse than the code alone, the context is prose and is left out.

    Returns:
        The code, dedented, with the names replaced; the same for code whose own names are changed
        consistently. Code that does not parse is read as far as the grammar can.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.

    Example:
        >>> sketch("def add(left, right):\n    total = left + right\n    return total", "python")
        'def f(arg_0, arg_1):\n    var_0 = arg_0 + arg_1\n    return var_0'
    """
    piece = _read(code, language, context)
    counts: Counter[str] = Counter()
    new: dict[_Owner, str] = {}
    for _, owner in piece.names:
        if owner is not None and owner not in new:
            number = counts[owner.role]
            counts[owner.role] += 1
            new[owner] = _role_name(owner.role, number)
    return piece.written(new)


def _role_name(role: str, number: int) -> str:
    if role == "function":
        return f"f_{number}" if number else "f"
    return f"arg_{number}" if role == "parameter" else f"var_{number}"


def sketch_tokens(code: str, language: str | None) -> list[tuple[str, ...]]:
    """Return the tokens of a sketch, each with the nodes around it: a sketch without its layout.

    A tree with errors lacks what the grammar could not read: then they are the sketch's words.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.
    """
    parsed = parse_code(sketch(code, language), language)
    if parsed.errors:
        return [(word,) for word in parsed.code.split()]
    return [
        (token.kind, token.text, *token.within)
        for token in tokens(parsed.root, grammar_of(language))
        if not token.is_comment
    ]


def rename(
    code: str, language: str | None, *, seed: int = 0, functions: bool = True, context: str = ""
) -> str:
    """Give random names to the own names of a piece of code, consistently.

    Args:
        code: A file, some statements, or the body of a function.
        language: Language as in `ChangedFile.language`.
        seed: Seed of the names.
        functions: Rename functions as well.
        context: Code before it; names that it uses are kept.

    Returns:
        The code, dedented; its behaviour and its sketch are those of the original.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.
    """
    piece = _read(code, language, context)
    kept = {owner for name, owner in piece.names if name.start < piece.start}
    taken = {name.text for name, _ in piece.names}
    draw = random.Random(seed)
    new: dict[_Owner, str] = {}
    for _, owner in piece.names:
        named = owner in new or owner in kept
        if owner and not named and (functions or owner.role != "function"):
            new[owner] = _random_name(draw, taken)
    return piece.written(new)


def _random_name(draw: random.Random, taken: set[str]) -> str:
    """Return a name of consonants: no language has such a keyword."""
    while (name := "".join(draw.choices("bcdfghjklmnpqrstvwxz", k=7))) in taken:
        pass
    taken.add(name)
    return name
