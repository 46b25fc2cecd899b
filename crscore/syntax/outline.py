"""Outline of a source text: its declarations, and what the lines asked for do in each.

One walk over the tree, without recursion. A declaration (*unit*) is a function, a type, a test or
the file itself. What is inside a unit is kept as *facts*: calls, conditions, returned values,
raised and caught errors, bindings, imports, comments. Comparing the facts of two versions needs no
pairing of statements: what both have cancels.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from crscore.syntax.grammars import Language, parse

if TYPE_CHECKING:
    import tree_sitter

MAX_TEXT = 400
"""Characters kept of one piece of code."""
MAX_NODES = 3_000_000
"""Nodes visited; what follows belongs to the unit that is open and has no facts."""
MAX_DEPTH = 50
"""Declarations inside of each other; a deeper one belongs to the unit around it."""
MAX_PARAMETERS = 200
"""Parameters of a function; of one with more none are read."""
MAX_DEPTH_OF_NAMES = 8
"""Declarators followed to a name in the C family."""


class Role(StrEnum):
    """Role of a fact."""

    CALL = "call"
    CONDITION = "condition"
    RETURN = "return"
    RAISE = "raise"
    CATCH = "catch"
    IMPORT = "import"
    ASSIGN = "assign"
    DECORATOR = "decorator"
    STRING = "string"
    COMMENT = "comment"


class Kind(StrEnum):
    """Kind of a unit."""

    FILE = "file"
    TYPE = "type"
    FUNCTION = "function"
    TEST = "test"


class Fact(NamedTuple):
    """One thing that a line does."""

    role: Role
    name: str
    """Callee, bound name, error; may be empty."""
    text: str
    """Arguments, value, condition or comment, on one line."""
    line: int
    """1-based line."""


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    type: str
    """Its declared type; may be empty."""
    default: str
    """Its default value; may be empty."""
    optional: bool
    """True when a caller may leave it out."""


@dataclass(slots=True, kw_only=True)
class Unit:
    """One declaration, or the file itself."""

    kind: Kind
    noun: str
    """The English noun for it: `method`, `interface`, `test`."""
    name: str
    """Declared name, or the title of a test; "" for the file."""
    parent: int
    """Index of the unit around it; -1 for the file."""
    start: int
    """First line, 1-based, with the comment and the decorators above it."""
    end: int
    """Last line, inclusive."""
    head: int
    """Line of the name."""
    real: bool = True
    """False when it begins in text that was added to complete a fragment."""
    public: bool = True
    """False when a modifier or its name makes it internal."""
    head_tokens: tuple[str, ...] = ()
    """What stands before the parameters or the body: modifiers, return type, name, bases."""
    parameters: tuple[Parameter, ...] = ()
    tokens: list[tuple[int, str]] = field(default_factory=list)
    """Line and text of its own code on the lines asked for, without comments and nested units."""
    facts: list[Fact] = field(default_factory=list)
    """Its own facts on the lines asked for."""


@dataclass(slots=True, kw_only=True)
class Outline:
    """Declarations of one text."""

    units: list[Unit]
    """Outer before inner, in reading order; the first is the file."""
    errors: int
    """Bytes that the grammar could not read."""

    def qualified(self, index: int) -> str:
        """Return a unit's name after the names around it, joined by dots."""
        names: list[str] = []
        while index > 0:
            unit = self.units[index]
            if unit.real:
                names.append(unit.name)
            index = unit.parent
        return ".".join(reversed(names))

    def owners(self, lines: Sequence[int]) -> dict[int, int]:
        """Return for each of some lines, sorted, the index of the innermost unit that holds it."""
        owner_by_line = dict.fromkeys(lines, 0)
        for index, unit in enumerate(self.units):
            if index and unit.real:
                low, high = bisect_left(lines, unit.start), bisect_left(lines, unit.end + 1)
                for line in lines[low:high]:
                    owner_by_line[line] = index
        return owner_by_line


_TEST_CALLS = frozenset({"describe", "context", "suite", "it", "test", "specify", "scenario"})
_SUITES = frozenset({"describe", "context", "suite"})
_TEST_NAME = re.compile(r"test(?=_|[A-Z]|$)|Test(?=_|[A-Z])")
_TEST_MARK = re.compile(r"@?\[?(?:pytest\.|Parameterized)?(?:Test|Fact|Theory|TestMethod|test)\b")
_NAME = re.compile(r"(?:[~@$#]|[^\W\d])[\w$:.~<>@!?=, *&\[\]-]*|operator\W+")
_WORDS = (
    "if else for while do switch case catch try return function class struct enum new "
    "throw static const public private protected void int char bool namespace using "
    "template typename sizeof elif except"
)
_NO_NAMES = frozenset(_WORDS.split())
_HIDDEN = frozenset({"private", "protected", "internal"})
_INTERNAL = re.compile(r"#|_(?!_(?:\w+__|construct|invoke)$)")
_SECTIONS = frozenset({"public", "protected", "private"})
_MACRO = re.compile(
    r"\b__(?:global|device|host|forceinline|noinline)__\b"
    r"|(?:(?<=\))|(?<=\) )|(?<=\)\n)|(?<=const )|(?<=noexcept ))"
    r"[A-Z][A-Z0-9_]{3,}\([^()\n]*\)(?=\s*\{)"
)
_SPACES = re.compile(r"\s+")
_AFTER_CAUGHT = frozenset(
    {":", "block", "compound_statement", "statement_block", "then", "exception_variable"}
    | {"catch_filter_clause"}
)
_PYTHON_IMPORTS = frozenset(
    {"import_statement", "import_from_statement", "future_import_statement"}
)
_RETURNS = frozenset({"return_statement", "return", "arrow_expression_clause"})
_BODIES = ("body", "block", "value")


def text_of(node: tree_sitter.Node | None, limit: int = MAX_TEXT) -> str:
    """Return a node's text on one line, cut to `limit` characters with an ellipsis."""
    if node is None:
        return ""
    # Slicing the node's own bytes first keeps a megabyte-long line cheap.
    raw = (node.text or b"")[: 4 * limit + 4].decode("utf-8", "replace")
    text = _SPACES.sub(" ", raw).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def read(
    language: Language,
    source: str,
    *,
    lines: Sequence[tuple[int, int]] | None = None,
    first: int = 1,
    skip: int = 0,
) -> Outline:
    """Parse a text.

    Args:
        language: Language of the text.
        source: The whole file, or a fragment.
        lines: Inclusive, sorted, disjoint ranges of lines to read; all when None. Only units that
            touch them are kept.
        first: Number of the first line of the text after `skip`.
        skip: Lines put before a fragment to make it parse.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    root = _root(language, source)
    reader = _Reader(language, lines, first - 1 - skip, first)
    reader.walk(root)
    return Outline(units=reader.units, errors=errors_in(root))


def unreadable(language: Language, source: str) -> int:
    """Return the bytes of a text that the grammar cannot read, without reading the rest.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    return errors_in(_root(language, source))


def _root(language: Language, source: str) -> tree_sitter.Node:
    text = source
    if language.name in {"c", "cpp"}:  # words of CUDA, and macros that annotate a function
        text = _MACRO.sub(lambda match: re.sub(r"\S", " ", match[0]), source)
    return parse(language, text.encode("utf-8", "replace"))


def errors_in(root: tree_sitter.Node) -> int:
    """Return the bytes under a node that the grammar could not read."""
    total, stack = 0, [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            total += max(1, node.end_byte - node.start_byte)
        if node.has_error:
            stack.extend(node.children)
    return total


class _Step(NamedTuple):
    """A node to visit."""

    node: tree_sitter.Node
    above: tree_sitter.Node | None
    """The node around it."""
    owner: int
    """Index of its unit."""
    nested: bool
    """Whether it is in a function inside an expression."""


class _Declared(NamedTuple):
    """What a node declares."""

    kind: Kind
    noun: str
    name: str
    body: tree_sitter.Node | None


class _Reader:
    """State of one walk."""

    def __init__(
        self,
        language: Language,
        lines: Sequence[tuple[int, int]] | None,
        offset: int,
        first: int,
    ) -> None:
        self.language = language
        self.starts = [low for low, _ in lines] if lines is not None else [1]
        self.ends = [high for _, high in lines] if lines is not None else [1 << 60]
        self.offset = offset
        self.first = first
        self.hidden: dict[int, bool] = {}
        self.declaring = frozenset().union(
            language.types, language.functions, language.members, language.lambdas, language.calls
        )
        self.depths = [0]
        self.units = [
            Unit(kind=Kind.FILE, noun="file", name="", parent=-1, start=first, end=first, head=0)
        ]

    def walk(self, root: tree_sitter.Node) -> None:
        """Visit every node on the lines asked for once, in reading order."""
        self.units[0].end = root.end_point.row + 1 + self.offset
        # With the node around: to ask a node for its parent takes time by its siblings.
        stack: list[_Step] = [_Step(root, None, 0, nested=False)]
        left = MAX_NODES
        atoms = self.language.strings
        while stack and left:
            left -= 1
            node, above, owner, nested = stack.pop()
            low, high = self._row(node), self._row(node, end=True)
            at = bisect_left(self.ends, low)
            kind = node.type
            if kind in self.language.sections:
                self._start_section(node, owner)
            if at == len(self.starts) or self.starts[at] > high:
                continue
            if node.is_named:
                if "comment" in kind:
                    self._add(owner, Role.COMMENT, "", text_of(node), low)
                    continue
                around, owner = owner, self._open(node, above, kind, owner)
                # What a function inside an expression returns is not returned by the unit.
                nested = around == owner and (nested or kind in self.language.callbacks)
                self._note(node, above, owner, low, nested=nested)
            children = () if kind in atoms else node.children
            if children:
                stack.extend(_Step(child, node, owner, nested) for child in reversed(children))
            else:
                self._add_tokens(node, owner, low)
        self._give_heads()

    def _start_section(self, node: tree_sitter.Node, owner: int) -> None:
        """Note the word that says who may use the members behind it."""
        word = text_of(node, 12)
        if self.units[owner].kind is Kind.TYPE and word in _SECTIONS:
            self.hidden[owner] = word != "public"

    def _row(self, node: tree_sitter.Node, *, end: bool = False) -> int:
        point = node.end_point if end else node.start_point
        # A node that ends with a line break ends on the previous line.
        back = end and point.column == 0 and point.row > node.start_point.row
        return point.row + 1 + self.offset - back

    def _add(self, owner: int, role: Role, name: str, text: str, line: int) -> None:
        facts = self.units[owner].facts
        before = facts[-1] if facts else None
        joined = role is Role.COMMENT and before is not None and before.role is role
        if joined and before is not None and line == before.line + before.text.count("\n") + 1:
            facts[-1] = before._replace(text=f"{before.text}\n{text}")  # one comment of lines
        elif line >= self.first:
            facts.append(Fact(role, name, text, line))

    def _give_heads(self) -> None:
        """Move comments and decorators above declarations from the unit around into them."""
        inside: dict[int, list[Unit]] = {}
        for unit in self.units[1:]:
            if unit.start < unit.head:
                inside.setdefault(unit.parent, []).append(unit)
        for index, units in inside.items():
            around = self.units[index]
            starts = [unit.start for unit in units]
            contents = [(unit, unit.facts, unit.tokens) for unit in units]
            facts, tokens = around.facts, around.tokens
            for unit in (around, *units):
                unit.facts, unit.tokens = [], []
            for fact in facts:
                _above(units, starts, fact.line, around).facts.append(fact)
            for token in tokens:
                _above(units, starts, token[0], around).tokens.append(token)
            for unit, later, written in contents:
                unit.facts += later
                unit.tokens += written

    def _open(
        self, node: tree_sitter.Node, above: tree_sitter.Node | None, kind: str, owner: int
    ) -> int:
        """Start a unit when the node is one; else return the owner."""
        declared = self._declared(node, above, kind)
        if declared is None or self.depths[owner] == MAX_DEPTH:
            return owner
        unit_kind, noun, name, body = declared
        outer = _with_wrappers(node, self.language)
        head = self._row(node)
        name_node = node.child_by_field_name("name")
        if name_node is None and unit_kind is Kind.FUNCTION:
            name_node = _innermost_declarator(node)
        parameters = None
        if unit_kind is Kind.FUNCTION:
            parameters = _field_within(node, "parameters") or node.child_by_field_name("parameter")
        limit = min(
            (part.start_byte for part in (parameters, body) if part is not None),
            default=node.end_byte,
        )
        tokens = tuple(_head_tokens(node, limit)) if unit_kind in {Kind.FUNCTION, Kind.TYPE} else ()
        marks = " ".join(text_of(mark, 60) for mark in _marks(node, outer, self.language))
        if unit_kind is Kind.FUNCTION and (_TEST_NAME.match(name) or _TEST_MARK.search(marks)):
            unit_kind, noun = Kind.TEST, "test"
        self.units.append(
            Unit(
                kind=unit_kind,
                noun=noun,
                name=name,
                parent=owner,
                start=max(self._top(outer), self.first),
                end=self._row(outer, end=True),
                head=self._row(name_node)
                if name_node is not None and unit_kind is not Kind.TEST
                else head,
                real=head >= self.first,
                public=unit_kind is Kind.TEST
                or not (self._is_hidden(name) or self.hidden.get(owner) or _HIDDEN & set(tokens)),
                head_tokens=tokens,
                parameters=tuple(_parameters(parameters)),
            )
        )
        self.depths.append(self.depths[owner] + 1)
        index = len(self.units) - 1
        if kind == "class_specifier":
            self.hidden[index] = True
        return index

    def _top(self, outer: tree_sitter.Node) -> int:
        """Return the first line of a declaration with the comments and decorators above it."""
        start = self._row(outer)
        before = _before(outer)
        while before is not None:
            row, previous = self._row(before), before.prev_sibling
            mark = before.type in self.language.decorators
            if not mark and "comment" not in before.type:
                break
            # A comment behind code is about that code.
            is_alone = mark or previous is None or self._row(previous, end=True) < row
            if self._row(before, end=True) < start - 1 or not is_alone:
                break
            start = min(start, row)
            before = _before(before)
        return start

    def _is_hidden(self, name: str) -> bool:
        """Return True when a name alone makes a declaration internal."""
        last = name.rpartition(".")[2]
        return last[0].islower() if self.language.name == "go" else bool(_INTERNAL.match(last))

    def _declared(
        self, node: tree_sitter.Node, above: tree_sitter.Node | None, kind: str
    ) -> _Declared | None:
        """Return what a node declares."""
        if kind not in self.declaring:
            return None
        language = self.language
        extra_lines = node.end_point.row - node.start_point.row
        body = next(
            (field_node for key in _BODIES if (field_node := node.child_by_field_name(key))), None
        )
        if kind in language.types:
            return _declared_type(node, above, language.types[kind], body)
        if kind in language.functions:
            return _declared_function(node, language.functions[kind], body)
        name = noun = ""
        unit_kind = Kind.FUNCTION
        if kind in language.members and extra_lines > 4:
            name, noun = text_of(node.child_by_field_name("name"), 80), language.members[kind]
        elif kind in language.lambdas and extra_lines:
            name, noun = _lambda_name(node), "function"
        elif kind in language.calls and extra_lines:
            unit_kind, name, body = Kind.TEST, _test_title(node, language), None
            noun = "test suite" if name and _test_word(node) in _SUITES else "test"
        return _Declared(unit_kind, noun, name, body) if name else None

    def _note(
        self,
        node: tree_sitter.Node,
        above: tree_sitter.Node | None,
        owner: int,
        low: int,
        *,
        nested: bool,
    ) -> None:
        """Add the facts of a node; `nested` inside a function that is part of an expression."""
        language, kind = self.language, node.type
        if kind in language.calls:
            self._note_call(node, owner)
        elif kind in language.assigns:
            self._note_binding(node, above, owner, low)
        elif kind in _RETURNS:
            self._note_return(node, owner, low, nested=nested)
        elif kind in language.raises:
            value = _after_keyword(node)
            self._add(owner, Role.RAISE, _error_of(value), value, low)
        elif kind in language.catches:
            caught = _caught(node)
            self._add(owner, Role.CATCH, caught, caught, low)
        elif kind in language.imports:
            for name, module in _imported(node):
                self._add(owner, Role.IMPORT, name, module, low)
        elif kind in language.decorators:
            self._add(owner, Role.DECORATOR, text_of(node, 120), "", low)
        elif kind in language.strings and not (above and above.type in language.imports):
            role = Role.COMMENT if above and _is_doc(above) else Role.STRING
            self._add(owner, role, "", text_of(node), low)
        self._note_condition(node, kind, owner)

    def _note_return(self, node: tree_sitter.Node, owner: int, low: int, *, nested: bool) -> None:
        value = _after_keyword(node)
        if not nested and not value.startswith("throw "):
            self._add(owner, Role.RETURN, "", value, low)

    def _note_binding(
        self, node: tree_sitter.Node, above: tree_sitter.Node | None, owner: int, low: int
    ) -> None:
        name, value = _binding(node)
        spread = above is not None and above.type == "spread_parameter"
        if name and not spread and not self._is_unit(node):
            self._add(owner, Role.ASSIGN, name, value, low)

    def _note_condition(self, node: tree_sitter.Node, kind: str, owner: int) -> None:
        condition = node.child_by_field_name("condition")
        if condition is not None and not kind.startswith("preproc") and "for" not in kind:
            text = without_parentheses(text_of(condition))
            name = "unless" if kind.startswith("unless") else ""
            self._add(owner, Role.CONDITION, name, text, self._row(condition))

    def _add_tokens(self, node: tree_sitter.Node, owner: int, low: int) -> None:
        """Add a leaf, one token a line; a string may be written with either quotation mark."""
        lines = (node.text or b"").decode("utf-8", "replace").split("\n")
        tokens = self.units[owner].tokens
        for line, text in enumerate(lines, start=low):
            at = bisect_left(self.ends, line)
            is_wanted = at < len(self.starts) and self.starts[at] <= line and line >= self.first
            if is_wanted and text.strip():
                tokens.append((line, text.strip().replace("'", '"')))

    def _is_unit(self, node: tree_sitter.Node) -> bool:
        """Return True for a binding of a function that is a unit of its own."""
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        is_multiline = node.end_point.row > node.start_point.row
        return is_multiline and value is not None and value.type in self.language.lambdas

    def _is_macro(self, name: str, owner: int) -> bool:
        """Return True for an annotation macro beside a declaration in the C family."""
        is_outside_function = self.units[owner].kind in {Kind.FILE, Kind.TYPE}
        return is_outside_function and name.isupper() and self.language.name in {"c", "cpp"}

    def _note_call(self, node: tree_sitter.Node, owner: int) -> None:
        callee, name = _callee(node)
        if not name or callee is None:
            return
        arguments = node.child_by_field_name("arguments")
        if arguments is None and node.named_children[-1].type == "arguments":
            arguments = node.named_children[-1]
        arguments_text = text_of(arguments)
        arguments_text = (
            arguments_text[1:-1].strip()
            if arguments_text.startswith("(") and arguments_text.endswith(")")
            else arguments_text
        )
        line = self._row(callee, end=True)
        ruby = self.language.name == "ruby"
        if ruby and name in {"raise", "fail"}:
            self._add(owner, Role.RAISE, _error_of(arguments_text), arguments_text, line)
        elif ruby and name in {"require", "require_relative"}:
            self._add(owner, Role.IMPORT, arguments_text.strip("\"'"), "", line)
        elif self._is_macro(name, owner):
            return
        elif not _test_title(node, self.language):
            self._add(owner, Role.CALL, name, arguments_text, line)


def _declared_type(
    node: tree_sitter.Node,
    above: tree_sitter.Node | None,
    noun: str,
    body: tree_sitter.Node | None,
) -> _Declared | None:
    name = text_of(node.child_by_field_name("name"), 80)
    if not name and above is not None and above.type == "type_definition":
        name = text_of(above.child_by_field_name("declarator"), 80)
    if not name and above is not None and above.type == "export_statement":
        name = "default"
    inner = node.child_by_field_name("type")
    # In the C family a type without a body is used, or declared for later.
    hollow = body is None and inner is None and node.type.endswith("specifier")
    if inner is not None and inner.type in {"struct_type", "interface_type"}:
        noun, body = inner.type.removesuffix("_type"), inner
    is_named = _is_name(name) or name == "default"
    return _Declared(Kind.TYPE, noun, name, body) if is_named and not hollow else None


def _declared_function(
    node: tree_sitter.Node, noun: str, body: tree_sitter.Node | None
) -> _Declared | None:
    name = _function_name(node)
    if noun != "macro" and name.isupper() and len(name) >= 3:
        # In C++ an upper-case "function" is a macro: `TEST(Suite, name) { ... }`.
        arguments_text = text_of(_field_within(node, "parameters"), 80).strip("()")
        return (
            _Declared(Kind.TEST, "test", arguments_text.replace(", ", "."), body)
            if "TEST" in name
            else None
        )
    if node.type == "method" and name.startswith("test "):
        return _Declared(Kind.TEST, "test", name, body)
    return _Declared(Kind.FUNCTION, noun, name, body) if _is_name(name) else None


def _with_wrappers(node: tree_sitter.Node, language: Language) -> tree_sitter.Node:
    """Return a declaration with the nodes around it that hold nothing else."""
    while (above := node.parent) is not None and above.type in language.wrappers:
        has_siblings = above.named_child_count > 1 and above.type.endswith("declaration")
        if has_siblings and not above.type.startswith("template"):
            break
        node = above
    return node


def _above(units: Sequence[Unit], starts: Sequence[int], line: int, around: Unit) -> Unit:
    """Return the unit that a line above its name belongs to, or the one around all."""
    at = bisect_right(starts, line) - 1
    return units[at] if at >= 0 and line < units[at].head else around


def _before(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the node before; comments above a first statement may stand before its block."""
    above = node.parent
    if (
        node.prev_sibling is None
        and above is not None
        and above.type in {"block", "body_statement"}
    ):
        return above.prev_sibling
    return node.prev_sibling


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name not in _NO_NAMES


def _innermost_declarator(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the name in a function's chain of declarators (C); None if it is no function's."""
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


def _function_name(node: tree_sitter.Node) -> str:
    """Return a function's name, after its receiver's type (Go) or its object (Ruby)."""
    name = node.child_by_field_name("name") or _innermost_declarator(node)
    if name is None and node.child_by_field_name("declarator") is not None:
        return ""
    text = text_of(name, 80).replace(" ", "") if name is not None else ""
    receiver = node.child_by_field_name("receiver")
    if receiver is not None:
        kind = re.sub(r"\[.*", "", text_of(receiver, 80).strip("()")).split()
        return f"{kind[-1].lstrip('*')}.{text}" if kind else text
    if node.type == "destructor_declaration":
        return f"~{text}"
    if node.type == "indexer_declaration":
        return "this[]"
    if node.type == "operator_declaration":
        return f"operator {text_of(node.child_by_field_name('operator'), 8)}"
    owner = node.child_by_field_name("object") if node.type == "singleton_method" else None
    return f"{text_of(owner, 40)}.{text}" if owner is not None else text


def _lambda_name(node: tree_sitter.Node) -> str:
    """Return the name that a function value is bound to; "" for a callback.

    The default export of a file is `default`.
    """
    above = node.parent
    while above is not None and above.type in {"parenthesized_expression", "as_expression"}:
        above = above.parent
    if above is not None and above.type == "arguments" and above.named_children[0] == node:
        # `const Panel = memo(function () {...})`
        call = above.parent
        callee = text_of(call.child_by_field_name("function"), 60) if call is not None else ""
        above = (
            call.parent if call is not None and re.fullmatch(r"(?:React\.)?\w+", callee) else None
        )
        if above is not None and above.type != "variable_declarator":
            return ""
    if above is None:
        return ""
    if above.type == "export_statement":
        return "default"
    if above.type in {"variable_declarator", "pair", "field_definition", "public_field_definition"}:
        key_node = next(
            (
                field_node
                for key in ("name", "key", "property")
                if (field_node := above.child_by_field_name(key))
            ),
            None,
        )
        name = text_of(key_node, 80).strip("\"'")
    elif above.type == "assignment_expression":
        name = text_of(above.child_by_field_name("left"), 80)
        name = re.sub(r"^(?:module\.)?exports(?:\.|$)|\.prototype(?=\.)", "", name) or "default"
        name = name.removeprefix("this.")
    else:
        return ""
    return name if re.fullmatch(r"[\w$#.]+", name) else ""


def _test_title(node: tree_sitter.Node, language: Language) -> str:
    """Return the title of a test that is written as a call: `it('adds', () => {...})`."""
    if _test_word(node) not in _TEST_CALLS:
        return ""
    arguments = node.child_by_field_name("arguments")
    if arguments is None or not arguments.named_children:
        return ""
    title = arguments.named_children[0]
    if title.type not in language.strings and title.type not in {
        "identifier",
        "constant",
        "scope_resolution",
    }:
        return ""
    has_body = node.child_by_field_name("block") is not None or any(
        argument.type in language.lambdas for argument in arguments.named_children[1:4]
    )
    return text_of(title, 80).strip("\"'`") if has_body else ""


def _test_word(node: tree_sitter.Node) -> str:
    """Return the word that may make a call a test: `it` of `it.each(table)('adds', ...)`."""
    callee, name = _callee(node)
    if callee is not None and callee.type == "call_expression":
        name = _callee(callee)[1]
    return name.lower().removeprefix("rspec.").partition(".")[0]


def _callee(node: tree_sitter.Node) -> tuple[tree_sitter.Node | None, str]:
    """Return the node and the text of what is called: `client.get`, without earlier calls."""
    callee = None
    for key in ("function", "method", "constructor", "name", "type"):
        callee = node.child_by_field_name(key)
        if callee is not None:
            break
    if callee is None:
        callee = node.named_children[0] if node.named_children else None
    if callee is None:
        return None, ""
    above = next(
        (
            field_node
            for key in ("object", "receiver", "scope")
            if (field_node := node.child_by_field_name(key))
        ),
        None,
    )
    text = text_of(callee, 200)
    if above is not None:
        text = f"{text_of(above, 120)}.{text}"
    text = re.sub(r"<[^<>()]*>", "", text)
    # Of a chain of calls only the last name stands; earlier calls are facts of their own.
    if "(" in text or "[" in text or "…" in text or " " in text:
        text = re.split(r"\.|->|::", text)[-1]
    return callee, text if re.fullmatch(r"[\w$@.:>?!#&*-]+", text) else ""


def _binding(node: tree_sitter.Node) -> tuple[str, str]:
    """Return the bound name and the value of an assignment or a declaration of a field."""
    target = value = None
    for key in ("left", "name", "declarator", "key", "property", "designator"):
        target = node.child_by_field_name(key)
        if target is not None:
            break
    for key in ("right", "value", "default_value"):
        value = node.child_by_field_name(key)
        if value is not None:
            break
    if node.type == "property_declaration" and target is not None:
        # C#'s value may stand in an accessor or behind an arrow.
        text_after = (node.text or b"")[target.end_byte - node.start_byte :].decode(
            "utf-8", "replace"
        )
        return text_of(target, 80), _SPACES.sub(" ", text_after[:MAX_TEXT]).strip(" ;")
    children = node.named_children
    if target is None and children:
        target = children[0]
    if (
        value is None
        and len(children) > 1
        and not node.type.startswith(("field_decl", "enum", "property"))
    ):
        value = children[-1] if children[-1] != target else None
    if value is None:
        value = node.child_by_field_name("type")
        return text_of(target, 80), text_of(value).removeprefix(":").strip()
    name = text_of(target, 80)
    name = name.strip("\"'") if node.type in {"pair", "array_element_initializer"} else name
    operator = text_of(node.child_by_field_name("operator"), 4)
    text = text_of(value)
    return name, f"{operator} {text}" if operator not in {"", "=", ":="} else text


def _after_keyword(node: tree_sitter.Node) -> str:
    """Return a statement's text without its keyword and a final semicolon."""
    return re.sub(r"^(?:[a-z]+\b|=>)", "", text_of(node)).strip().rstrip(";").strip()


def _error_of(value: str) -> str:
    """Return the type of a raised error: `raise ValueError("x")` gives `ValueError`."""
    match = re.match(r"(?:new\s+)?\\?([\w.:\\]+)", value)
    return match[1] if match else ""


def _caught(node: tree_sitter.Node) -> str:
    """Return the errors that a handler names, without the variable; "" for all."""
    if node.child_by_field_name("parameter") is not None:
        return text_of(node.child_by_field_name("type")).removeprefix(":").strip()
    parts: list[str] = []
    for child in node.children[1:]:
        if child.type in _AFTER_CAUGHT:
            break
        parts.append(text_of(child))
    text = re.sub(r"(?<!\s)\s+as\s+\w+$", "", " ".join(parts).lstrip("* "))
    text = without_parentheses(text).rstrip(", ")
    # Java, C#, C++ and PHP put the type before the variable.
    text = re.sub(r"(?<=[\w>&*])\s+[&$*]*\w+$", "", text) if "," not in text else text
    return re.sub(r"^(?:final|const)\s+", "", text)


def _imported(node: tree_sitter.Node) -> list[tuple[str, str]]:
    """Return the names that an import brings in, each with its module; "" for a whole module."""
    names = node.children_by_field_name("name") if node.type in _PYTHON_IMPORTS else []
    if names:
        future = "__future__" if node.type.startswith("future") else ""
        module = text_of(node.child_by_field_name("module_name")) or future
        return [(text_of(name), module) for name in names]
    text = text_of(node).rstrip("; ")
    match = re.fullmatch(r"from (\S+) import \(?([^()]+?),? ?\)?", text)
    if match:
        return [(name.strip(), match[1]) for name in match[2].split(",")]
    match = re.fullmatch(r"import (?:type )?([^\"']+?) from [\"'](.+)[\"']", text)
    if match:
        return [(name.strip(), match[2]) for name in re.split(r"[{},]", match[1]) if name.strip()]
    text = re.sub(r"^(?:#\s*include(?:_next)?|import|using|use)\s+(?:static\s+|type\s+)?", "", text)
    match = re.fullmatch(
        r"(?:[\w.]+ )?[\"'](.+)[\"']", text
    )  # Go's may have another name before it
    return [(match[1] if match else text, "")] if text else []


def _is_doc(around: tree_sitter.Node) -> bool:
    """Return True for what is around a statement of one string, like Python's docstring."""
    return around.type == "expression_statement" and around.named_child_count == 1


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


def _field_within(node: tree_sitter.Node, name: str) -> tree_sitter.Node | None:
    """Return a field of a function, or of the declarator that carries it in the C family."""
    current: tree_sitter.Node | None = node
    for _ in range(MAX_DEPTH_OF_NAMES):
        if current is None:
            return None
        field_node = current.child_by_field_name(name)
        if field_node is not None:
            return field_node
        current = current.child_by_field_name("declarator")
    return None


def _head_tokens(node: tree_sitter.Node, limit: int) -> Iterator[str]:
    """Yield the tokens of a declaration before some byte."""
    stack = [node]
    while stack:
        child = stack.pop()
        if child.start_byte >= limit or "comment" in child.type:
            continue
        if child.child_count and child.child_count < 200:
            stack.extend(reversed(child.children))
        else:
            yield text_of(child, 80)


def _marks(
    node: tree_sitter.Node, outer: tree_sitter.Node, language: Language
) -> Iterator[tree_sitter.Node]:
    """Yield the decorators of a declaration."""
    for holder in (outer, node):
        for child in holder.children[:8]:
            if child.type in language.decorators:
                yield child
            elif child.type == "modifiers":
                yield from (
                    modifier
                    for modifier in child.children[:8]
                    if modifier.type in language.decorators
                )


def _last_parameter(node: tree_sitter.Node, listed: tree_sitter.Node) -> Parameter:
    """Return a parameter for the rest of the arguments, in Java or C#."""
    if node.type != "spread_parameter":
        return Parameter(text_of(node, 120), text_of(listed.child_by_field_name("type")), "", True)
    *_, kind, label = node.named_children
    return Parameter(text_of(label, 120), text_of(kind, 120), "", True)


def _parameters(listed: tree_sitter.Node | None) -> Iterator[Parameter]:
    """Yield the parameters in a list, without the object itself."""
    if listed is None or listed.named_child_count > MAX_PARAMETERS:
        return
    last = listed.child_by_field_name("name")
    for node in listed.named_children or ([listed] if listed.type == "identifier" else []):
        if "comment" in node.type or node.type.endswith("_separator"):
            continue
        if node.type == "spread_parameter" or node == last:
            yield _last_parameter(node, listed)
            continue
        kind = text_of(node.child_by_field_name("type"), 120).removeprefix(":").strip()
        names = [
            name_node for name_node in node.children_by_field_name("name") if name_node.is_named
        ]
        if len(names) > 1:
            yield from (Parameter(text_of(name_node, 80), kind, "", False) for name_node in names)
            continue
        parameter = _parameter(node, kind)
        if parameter.name and parameter.name not in {"self", "cls", "this", "void"}:
            yield parameter


def _parameter(node: tree_sitter.Node, kind: str) -> Parameter:
    value = _first_field(node, "value", "default_value", "right")
    label = _first_field(node, "name", "pattern", "left", "declarator")
    if label is None and (not kind or node.type == "typed_parameter"):
        whole = not node.named_children or node.type in {"identifier", "object_pattern"}
        label = node if whole else node.named_children[0]
    text = text_of(node, 160)
    if "=" in text and value is None and node.type == "parameter":
        value = node.named_children[-1]
    loose = re.search(r"splat|spread|variadic|rest|optional|block", node.type)
    optional = value is not None or bool(loose) or text.startswith(("*", "..."))
    return Parameter(text_of(label, 120).lstrip("*&.$ "), kind, text_of(value, 80), optional)


def _first_field(node: tree_sitter.Node, *names: str) -> tree_sitter.Node | None:
    return next(
        (field_node for name in names if (field_node := node.child_by_field_name(name))), None
    )
