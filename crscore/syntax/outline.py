"""Outline of a source text: its declarations, and what the lines asked for do in each.

One walk over the tree, without recursion. A declaration (*unit*) is a function, a type, a test or the
file itself. What is inside a unit is kept as *facts*: calls, conditions, returned values, raised and
caught errors, bindings, imports, comments. Comparing the facts of two versions needs no pairing of
statements: what both have cancels.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from crscore.syntax.grammars import parser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import tree_sitter

    from crscore.syntax.grammars import Language

MAX_TEXT = 400
"""Characters kept of one piece of code."""
MAX_NODES = 3_000_000
"""Nodes visited; what follows belongs to the unit that is open and has no facts."""
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
        found = dict.fromkeys(lines, 0)
        for index, unit in enumerate(self.units):
            if index and unit.real:
                low, high = bisect_left(lines, unit.start), bisect_left(lines, unit.end + 1)
                for line in lines[low:high]:
                    found[line] = index
        return found


_TEST_CALLS = frozenset({"describe", "context", "suite", "it", "test", "specify", "scenario"})
_SUITES = frozenset({"describe", "context", "suite"})
_TEST_NAME = re.compile(r"test(?=_|[A-Z]|$)|Test(?=_|[A-Z])")
_TEST_MARK = re.compile(r"@?\[?(?:pytest\.|Parameterized)?(?:Test|Fact|Theory|TestMethod|test)\b")
_NAME = re.compile(r"[~@$A-Za-z_][\w$:.~<>@!?=, *&\[\]-]*|operator\W+")
_NO_NAMES = frozenset(
    "if else for while do switch case catch try return function class struct enum new delete throw "
    "default static const public private protected void int char bool namespace using template "
    "typename sizeof override final finally elif except with import from".split()
)
_HIDDEN = frozenset({"private", "protected", "internal"})
_SPACES = re.compile(r"\s+")
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
    root = parser(language).parse(source.encode("utf-8", "replace")).root_node
    reader = _Reader(language, lines, first - 1 - skip, first)
    reader.walk(root)
    return Outline(units=reader.units, errors=errors_in(root))


def unreadable(language: Language, source: str) -> int:
    """Return the bytes of a text that the grammar cannot read, without reading the rest.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    return errors_in(parser(language).parse(source.encode("utf-8", "replace")).root_node)


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
        self.units = [
            Unit(kind=Kind.FILE, noun="file", name="", parent=-1, start=first, end=first, head=0)
        ]

    def walk(self, root: tree_sitter.Node) -> None:
        """Visit every node on the lines asked for once, in reading order."""
        self.units[0].end = root.end_point.row + 1 + self.offset
        stack: list[tuple[tree_sitter.Node, int]] = [(root, 0)]
        left = MAX_NODES
        atoms = self.language.strings
        while stack and left:
            left -= 1
            node, owner = stack.pop()
            low, high = self._row(node), self._row(node, end=True)
            at = bisect_left(self.ends, low)
            if at == len(self.starts) or self.starts[at] > high:
                continue
            kind = node.type
            if node.is_named:
                if "comment" in kind:
                    self._add(owner, Role.COMMENT, "", text_of(node), low)
                    continue
                owner = self._open(node, kind, owner)
                self._note(node, kind, owner, low)
            children = () if kind in atoms else node.children
            if children:
                stack.extend((child, owner) for child in reversed(children))
            else:
                self._add_tokens(node, owner, low)
        self._give_comments()

    def _row(self, node: tree_sitter.Node, *, end: bool = False) -> int:
        point = node.end_point if end else node.start_point
        # A node that ends with a line break ends on the previous line.
        back = end and point.column == 0 and point.row > node.start_point.row
        return point.row + 1 + self.offset - back

    def _add(self, owner: int, role: Role, name: str, text: str, line: int) -> None:
        if line >= self.first:
            self.units[owner].facts.append(Fact(role, name, text, line))

    def _give_comments(self) -> None:
        """Move the comments above a declaration from the unit around it into the declaration."""
        for index, unit in enumerate(self.units):
            if index and unit.start < unit.head:
                around = self.units[unit.parent].facts
                taken = [
                    fact
                    for fact in around[-200:]
                    if fact.role is Role.COMMENT and unit.start <= fact.line < unit.head
                ]
                if taken:
                    unit.facts[:0] = taken
                    around[:] = [fact for fact in around if fact not in taken]

    def _open(self, node: tree_sitter.Node, kind: str, owner: int) -> int:
        """Start a unit when the node is one; else return the owner."""
        found = self._declared(node, kind)
        if found is None:
            return owner
        what, noun, name, body = found
        outer = node
        while outer.parent is not None and outer.parent.type in self.language.wrappers:
            if outer.parent.named_child_count > 1 and outer.parent.type.endswith("declaration"):
                if not outer.parent.type.startswith("template"):
                    break
            outer = outer.parent
        start = self._row(outer)
        head = self._row(node)
        before = outer.prev_sibling
        while before is not None and "comment" in before.type:
            row = self._row(before)
            alone = before.prev_sibling is None or self._row(before.prev_sibling, end=True) < row
            if self._row(before, end=True) < start - 1 or not alone:
                break
            start = min(start, row)
            before = before.prev_sibling
        named = node.child_by_field_name("name")
        parameters = _field_within(node, "parameters") if what is Kind.FUNCTION else None
        limit = min(
            (part.start_byte for part in (parameters, body) if part is not None),
            default=node.end_byte,
        )
        tokens = tuple(_head_tokens(node, limit)) if what in {Kind.FUNCTION, Kind.TYPE} else ()
        marks = " ".join(text_of(one, 60) for one in _marks(node, outer, self.language))
        if what is Kind.FUNCTION and (_TEST_NAME.match(name) or _TEST_MARK.search(marks)):
            what, noun = Kind.TEST, "test"
        self.units.append(
            Unit(
                kind=what,
                noun=noun,
                name=name,
                parent=owner,
                start=max(start, self.first),
                end=self._row(outer, end=True),
                head=self._row(named) if named is not None and what is not Kind.TEST else head,
                real=head >= self.first,
                public=not (_HIDDEN & set(tokens)) and not name.rpartition(".")[2].startswith(("_", "#")),
                head_tokens=tokens,
                parameters=tuple(_parameters(parameters)),
            )
        )
        return len(self.units) - 1

    def _declared(
        self, node: tree_sitter.Node, kind: str
    ) -> tuple[Kind, str, str, tree_sitter.Node | None] | None:
        """Return what a node declares: kind, noun, name and body."""
        language = self.language
        body = next((one for key in _BODIES if (one := node.child_by_field_name(key))), None)
        if kind in language.types:
            name = text_of(node.child_by_field_name("name"), 80)
            if not name and node.parent is not None and node.parent.type == "type_definition":
                name = text_of(node.parent.child_by_field_name("declarator"), 80)
            inner = node.child_by_field_name("type")
            noun = language.types[kind]
            if inner is not None and inner.type in {"struct_type", "interface_type"}:
                noun, body = inner.type.removesuffix("_type"), inner
            hollow = body is None and node.child_by_field_name("type") is None
            hollow = hollow and noun in {"struct", "class", "union", "enum"} and kind.endswith("specifier")
            return (Kind.TYPE, noun, name, body) if _is_name(name) and not hollow else None
        if kind in language.members:
            name = text_of(node.child_by_field_name("name"), 80)
            several = node.end_point.row - node.start_point.row > 4
            return (Kind.FUNCTION, language.members[kind], name, body) if several else None
        if kind in language.functions:
            name, noun = _function_name(node), language.functions[kind]
            if noun == "macro" or not name.isupper() or len(name) < 3:
                if kind == "method" and name.startswith("test "):
                    return Kind.TEST, "test", name, body
                return (Kind.FUNCTION, noun, name, body) if _is_name(name) else None
            # In C++ an upper-case "function" is a macro: `TEST(Suite, name) { ... }`.
            given = text_of(_field_within(node, "parameters"), 80).strip("()")
            if "TEST" in name:
                return Kind.TEST, "test", given.replace(", ", "."), body
            return None
        if kind in language.lambdas:
            name = _lambda_name(node)
            several = node.end_point.row > node.start_point.row
            return (Kind.FUNCTION, "function", name, body) if name and several else None
        if kind in language.calls and node.end_point.row > node.start_point.row:
            title = _test_title(node, language)
            if title:
                callee = _callee(node)[1].partition(".")[0].lower()
                noun = "test suite" if callee in _SUITES else "test"
                return Kind.TEST, noun, title, None
        return None

    def _note(self, node: tree_sitter.Node, kind: str, owner: int, low: int) -> None:
        """Add the facts of a node."""
        language = self.language
        if kind in language.calls:
            self._note_call(node, owner)
        elif kind in language.assigns:
            name, value = _binding(node)
            if name and not self._is_unit(node):
                self._add(owner, Role.ASSIGN, name, value, low)
        elif kind == "return_statement" or (kind == "return" and node.child_count > 0):
            self._add(owner, Role.RETURN, "", _after_keyword(node), low)
        elif kind == "arrow_expression_clause":
            self._add(owner, Role.RETURN, "", text_of(node).removeprefix("=>").strip(), low)
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
        elif kind in language.strings and _is_doc(node):
            self._add(owner, Role.COMMENT, "", text_of(node), low)
        elif kind in language.strings and not _is_of_import(node, language):
            self._add(owner, Role.STRING, "", text_of(node), low)
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
            wanted = at < len(self.starts) and self.starts[at] <= line and line >= self.first
            if wanted and text.strip():
                tokens.append((line, text.strip().replace("'", '"')))

    def _is_unit(self, node: tree_sitter.Node) -> bool:
        """Return True for a binding of a function that is a unit of its own."""
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        several = node.end_point.row > node.start_point.row
        return several and value is not None and value.type in self.language.lambdas

    def _note_call(self, node: tree_sitter.Node, owner: int) -> None:
        callee, name = _callee(node)
        if not name or callee is None:
            return
        given = text_of(node.child_by_field_name("arguments"))
        given = given[1:-1].strip() if given.startswith("(") and given.endswith(")") else given
        line = self._row(callee, end=True)
        ruby = self.language.name == "ruby"
        if ruby and name in {"raise", "fail"}:
            self._add(owner, Role.RAISE, _error_of(given), given, line)
        elif ruby and name in {"require", "require_relative"}:
            self._add(owner, Role.IMPORT, given.strip("\"'"), "", line)
        elif name.isupper() and self.units[owner].kind in {Kind.FILE, Kind.TYPE}:
            return  # in C++ an annotation macro beside a declaration
        elif not _test_title(node, self.language):
            self._add(owner, Role.CALL, name, given, line)


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name not in _NO_NAMES


def _function_name(node: tree_sitter.Node) -> str:
    """Return a function's name, after its receiver's type (Go) or its object (Ruby)."""
    name = node.child_by_field_name("name")
    current = node.child_by_field_name("declarator") if name is None else None
    seen_function = current is None
    for _ in range(MAX_DEPTH_OF_NAMES):
        if current is None:
            break
        seen_function = seen_function or current.type == "function_declarator"
        name = current
        inner = current.child_by_field_name("declarator")
        if inner is None and current.type in {"reference_declarator", "parenthesized_declarator"}:
            inner = current.named_children[-1] if current.named_children else None
        current = inner
    if not seen_function:
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
        above = call.parent if call is not None and re.fullmatch(r"(?:React\.)?\w+", callee) else None
        if above is not None and above.type != "variable_declarator":
            return ""
    if above is None:
        return ""
    if above.type == "export_statement":
        return "default"
    if above.type in {"variable_declarator", "pair", "field_definition", "public_field_definition"}:
        found = next(
            (one for key in ("name", "key", "property") if (one := above.child_by_field_name(key))),
            None,
        )
        name = text_of(found, 80).strip("\"'")
    elif above.type == "assignment_expression":
        name = text_of(above.child_by_field_name("left"), 80)
        name = re.sub(r"^(?:module\.)?exports(?:\.|$)|\.prototype(?=\.)", "", name) or "default"
        name = name.removeprefix("this.")
    else:
        return ""
    return name if re.fullmatch(r"[\w$#.]+", name) else ""


def _test_title(node: tree_sitter.Node, language: Language) -> str:
    """Return the title of a test that is written as a call: `it('adds', () => {...})`."""
    callee, name = _callee(node)
    if callee is None or name.partition(".")[0].lower() not in _TEST_CALLS:
        return ""
    given = node.child_by_field_name("arguments")
    if given is None or not given.named_children:
        return ""
    title = given.named_children[0]
    if title.type not in language.strings and title.type not in {"identifier", "constant", "scope_resolution"}:
        return ""
    has_body = node.child_by_field_name("block") is not None or any(
        one.type in language.lambdas for one in given.named_children[1:4]
    )
    return text_of(title, 80).strip("\"'`") if has_body else ""


def _callee(node: tree_sitter.Node) -> tuple[tree_sitter.Node | None, str]:
    """Return the node and the text of what is called: `client.get`, without earlier calls."""
    found = None
    for key in ("function", "method", "constructor", "name", "type"):
        found = node.child_by_field_name(key)
        if found is not None:
            break
    if found is None:
        found = node.named_children[0] if node.named_children else None
    if found is None:
        return None, ""
    above = next(
        (one for key in ("object", "receiver", "scope") if (one := node.child_by_field_name(key))),
        None,
    )
    text = text_of(found, 200)
    if above is not None:
        text = f"{text_of(above, 120)}.{text}"
    text = re.sub(r"<[^<>()]*>", "", text)
    # Of a chain of calls only the last name stands; earlier calls are facts of their own.
    if "(" in text or "[" in text or "…" in text or " " in text:
        text = re.split(r"\.|->|::", text)[-1]
    return found, text if re.fullmatch(r"[\w$@.:>?!#&*-]+", text) else ""


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
    children = node.named_children
    if target is None and children:
        target = children[0]
    if value is None and len(children) > 1 and not node.type.startswith(("field_decl", "enum", "property")):
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
    return text_of(node).partition(" ")[2].strip().rstrip(";").strip()


def _error_of(value: str) -> str:
    """Return the type of a raised error: `raise ValueError("x")` gives `ValueError`."""
    match = re.match(r"(?:new\s+)?\\?([\w.:\\]+)", value)
    return match[1] if match else ""


def _caught(node: tree_sitter.Node) -> str:
    """Return the errors that a handler names, without the variable; "" for all."""
    raw = (node.text or b"")[:400].decode("utf-8", "replace")
    # A body begins after a brace, or after the colon or line end of Python and Ruby.
    raw = re.split(r"\{|(?<!:):(?!:)(?=\s|$)|\n|\bthen\b", raw, maxsplit=1)[0]
    text = re.sub(r"^(?:except|catch|rescue)\b\*?\s*", "", _SPACES.sub(" ", raw).strip()).strip(" :{")
    text = re.sub(r"\s*(?:\bas|=>)\s+\w+$", "", text.partition(" when ")[0]).strip()
    text = text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text
    # Java, C#, C++ and PHP put the type before the variable; JavaScript has the variable alone.
    text = re.sub(r"(?<=[\w>&*])\s*\s[&$*]*\w+$", "", text) if "," not in text else text
    text = re.sub(r"^(?:final|const)\s+", "", text)
    return "" if text.islower() and text.isidentifier() else text


def _imported(node: tree_sitter.Node) -> list[tuple[str, str]]:
    """Return the names that an import brings in, each with its module; "" for a whole module."""
    text = text_of(node).rstrip("; ")
    match = re.fullmatch(r"from (\S+) import \(?([^()]+?),? ?\)?", text)
    if match:
        return [(name.strip(), match[1]) for name in match[2].split(",")]
    match = re.fullmatch(r"import (?:type )?([^\"']+?) from [\"'](.+)[\"']", text)
    if match:
        return [(name.strip(), match[2]) for name in re.split(r"[{},]", match[1]) if name.strip()]
    text = re.sub(r"^(?:#\s*include(?:_next)?|import|using|use)\s+(?:static\s+|type\s+)?", "", text)
    match = re.fullmatch(r"(?:[\w.]+ )?[\"'](.+)[\"']", text)  # Go's may have another name before it
    return [(match[1] if match else text, "")] if text else []


def _is_of_import(node: tree_sitter.Node, language: Language) -> bool:
    """Return True for the module in an import, which is no text of the program."""
    return node.parent is not None and node.parent.type in language.imports


def _is_doc(node: tree_sitter.Node) -> bool:
    """Return True for a string that is a statement of its own, like Python's docstring."""
    above = node.parent
    return above is not None and above.type == "expression_statement" and above.named_child_count == 1


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
        found = current.child_by_field_name(name)
        if found is not None:
            return found
        current = current.child_by_field_name("declarator")
    return None


def _head_tokens(node: tree_sitter.Node, limit: int) -> Iterator[str]:
    """Yield the tokens of a declaration before some byte."""
    stack = [node]
    while stack:
        one = stack.pop()
        if one.start_byte >= limit or "comment" in one.type:
            continue
        if one.child_count and one.child_count < 200:
            stack.extend(reversed(one.children))
        else:
            yield text_of(one, 80)


def _marks(
    node: tree_sitter.Node, outer: tree_sitter.Node, language: Language
) -> Iterator[tree_sitter.Node]:
    """Yield the decorators of a declaration."""
    for holder in (outer, node):
        for child in holder.children[:8]:
            if child.type in language.decorators:
                yield child
            elif child.type == "modifiers":
                yield from (one for one in child.children[:8] if one.type in language.decorators)


def _parameters(listed: tree_sitter.Node | None) -> Iterator[Parameter]:
    """Yield the parameters in a list, without the object itself."""
    if listed is None:
        return
    if listed.named_child_count > MAX_PARAMETERS:
        return
    nodes = listed.named_children or ([listed] if listed.type == "identifier" else [])
    for node in nodes:
        if "comment" in node.type:
            continue
        kind = text_of(node.child_by_field_name("type"), 120).removeprefix(":").strip()
        names = [one for one in node.children_by_field_name("name") if one.is_named]
        if len(names) > 1:
            yield from (Parameter(text_of(one, 80), kind, "", False) for one in names)
            continue
        value = next(
            (one for key in ("value", "default_value", "right") if (one := node.child_by_field_name(key))),
            None,
        )
        label = next(
            (
                one
                for key in ("name", "pattern", "left", "declarator")
                if (one := node.child_by_field_name(key))
            ),
            None,
        )
        text = text_of(node, 160)
        if label is None and (not kind or node.type == "typed_parameter"):
            label = node.named_children[0] if node.named_children and node.type not in {"identifier", "object_pattern"} else node
        name = text_of(label, 120).lstrip("*&.$ ")
        if "=" in text and value is None and node.type == "parameter":
            value = node.named_children[-1]
        loose = bool(re.search(r"splat|spread|variadic|rest|optional|block|keyword", node.type))
        if name and name not in {"self", "cls", "this", "void"}:
            yield Parameter(name, kind, text_of(value, 80), value is not None or loose or text.startswith(("*", "...")))
