"""Makes the outline of a source text in one walk over its syntax tree, without recursion.

A declaration (*unit*) is a function, a type, a test or the file itself. The contents of a unit are
kept as *facts*: calls, conditions, returned values, raised and caught errors, bindings, imports and
comments. Two versions can be compared without pairing their statements, because the facts that both
have cancel out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from crscore.diff.languages import node_types
from crscore.syntax import nodes
from crscore.syntax.grammars import Language, parse
from crscore.syntax.nodes import WORDS, Declared, field_text, first_field, text_of
from crscore.syntax.outline import Fact, Kind, Outline, Role, Unit

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_NODES = 3_000_000
"""Maximum number of nodes that are visited; the code after them has no units and no facts."""
MAX_DEPTH = 50
"""Maximum depth of nested declarations; a deeper declaration belongs to the unit around it."""
MIN_MEMBER_ROWS = 6
"""Minimum number of lines of a type's member that is a separate unit."""

# Matches "test", "test_it", "testIt" and "TestIt", but not "testament" or "Tester".
_TEST_NAME = re.compile(r"test(?=_|[A-Z]|$)|Test(?=_|[A-Z])")
# Matches "@Test", "@ParameterizedTest", "[Fact]", "[Theory]" and "[TestMethod]".
_TEST_MARK = re.compile(r"\W(?:pytest\.|Parameterized)?(?:Test|Fact|Theory|TestMethod|test)\b")
# Matches "#hide", "_hide" and "__hide", but not Python's "__init__" or PHP's "__construct".
_INTERNAL = re.compile(r"#|_(?!_(?:\w+__|construct|invoke)$)")
# Matches qualifiers of functions in CUDA, as in "__global__ void f()", and macros that annotate a
# function (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html), as in "int f() const REQUIRES(a)
# {". The grammars know neither, and would read what follows as an error.
_MACRO = re.compile(
    r"\b__(?:global|device|host|forceinline|noinline)__\b"
    r"|(?:(?<=\))|(?<=\) )|(?<=\)\n)|(?<=const )|(?<=noexcept ))"
    r"[A-Z][A-Z0-9_]{3,}\([^()\n]*\)(?=\s*\{)"
)


def read_outline(
    language: Language,
    source: str,
    *,
    lines: Sequence[tuple[int, int]] | None = None,
    first: int = 1,
    skip: int = 0,
    root: Node | None = None,
) -> Outline:
    """Return the outline of a text.

    Args:
        language: Language of the text.
        source: The whole file, or a fragment.
        lines: Inclusive ranges of lines to read, sorted and disjoint; None for all lines. Only
            units that overlap these lines are kept.
        first: Line number of the first line after the skipped lines.
        skip: Number of lines that were added before a fragment to make it parse.
        root: Syntax tree of the text; None to parse it.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    root = root or parse_text(language, source)
    outliner = _Outliner(language, root, [(1, 1 << 60)] if lines is None else lines, first, skip)
    outliner.walk(root)
    return Outline(units=outliner.units, errors=errors_in(root))


def parse_text(language: Language, source: str) -> Node:
    """Return the syntax tree of a text.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    # Each macro is replaced by as many spaces, so that rows and columns do not change.
    text = source
    if language.name in {"c", "cpp"}:  # keywords of CUDA, and macros that annotate a function
        text = _MACRO.sub(lambda match: re.sub(r"\S", " ", match[0]), source)
    return parse(language, text.encode("utf-8", "replace"))


def errors_in(root: Node) -> int:
    """Return the number of bytes in a node that the grammar could not read.

    A missing token counts as one byte.
    """
    total, stack = 0, [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            total += max(1, node.end_byte - node.start_byte)
        if node.has_error:
            stack.extend(node.children)
    return total


class _Outliner:
    """State of a walk over a syntax tree."""

    def __init__(
        self,
        language: Language,
        root: Node,
        lines: Iterable[tuple[int, int]],
        first: int,
        skip: int,
    ) -> None:
        self.language, self.first = language, first
        # The walk finds rows and text by byte positions, because asking each node for them would
        # take a third of the walk's time.
        self.source, self.base = root.text or b"", root.start_byte
        self.breaks = [self.base + at.end() for at in re.finditer(rb"\n", self.source)]
        """Byte positions at which the second and each later line begins."""
        self.offset = first - skip + root.start_point.row
        """Line number of the first line of the text."""
        spans = [(self._start_of(low), self._start_of(high + 1)) for low, high in lines]
        self.starts, self.ends = [low for low, _ in spans], [high for _, high in spans]
        """Byte positions at which the requested ranges of lines begin and end."""
        self.hidden: dict[int, bool] = {}
        """Whether the next members of a type are not public, by the index of the type."""
        self.declaring = frozenset().union(
            language.types, language.functions, language.members, language.lambdas, language.calls
        )
        # The walk checks this set first, because most of a pull request's 500,000 nodes are of
        # other kinds.
        self.noted = frozenset().union(
            language.calls, language.assigns, node_types("returns"), language.raises,
            language.catches, language.imports, language.decorators, language.strings,
        )  # fmt: skip
        """Types of nodes that may have facts."""
        self.depths = [0]
        """Number of units around each unit."""
        self.code_row = 0
        """Last line of the code visited so far."""
        self.units = [
            Unit(kind=Kind.FILE, noun="file", name="", parent=-1, start=first, end=first, head=0)
        ]

    def walk(self, root: Node) -> None:
        """Visit every node on the requested lines once, in reading order."""
        self.units[0].end = self.offset + len(self.breaks)
        # Each entry has a node, its parent, the index of its unit, and whether the node is in a
        # function that is part of an expression. The parent is kept, because looking it up takes
        # time in proportion to the number of siblings.
        stack: list[tuple[Node, Node | None, int, bool]] = [(root, None, 0, False)]
        left = MAX_NODES
        atoms, sections, callbacks = (
            self.language.strings, self.language.sections, self.language.callbacks
        )  # fmt: skip
        while stack and left:
            left -= 1
            node, parent, owner, nested = stack.pop()
            kind, start = node.type, node.start_byte
            # Sections are read even outside of the requested lines: `private:` applies to the lines
            # below.
            is_section = kind in sections and self.units[owner].kind is Kind.TYPE
            if is_section and (word := text_of(node, 12)) in WORDS["sections"]:
                self.hidden[owner] = word != "public"
            if not self._is_requested(start, node.end_byte):
                continue
            row = self.offset + bisect_right(self.breaks, start)
            children = () if kind in atoms else node.children
            if node.is_named:
                if "comment" in kind:
                    self._add(owner, Role.COMMENT, "", text_of(node), row)
                    continue
                enclosing = owner
                if kind in self.declaring:
                    owner = self._add_unit(node, parent, kind, owner)
                # The value that a callback returns is not returned by the unit.
                nested = enclosing == owner and (nested or kind in callbacks)
                if kind in self.noted:
                    self._note(node, parent, owner, row, nested=nested)
                if children:
                    self._note_condition(node, kind, owner)
            if children:
                stack += [(child, node, owner, nested) for child in reversed(children)]
            else:
                self._add_tokens(node, owner, row)
        self._move_leading_lines()

    def _start_of(self, line: int) -> int:
        """Return the byte position of a line: 0 before the first line, 1 << 60 after the last."""
        index = line - self.offset
        return 0 if index <= 0 else self.breaks[index - 1] if index <= len(self.breaks) else 1 << 60

    def _is_requested(self, start: int, end: int) -> bool:
        """Return whether a requested line contains any of the bytes from `start` to `end`."""
        index = bisect_right(self.ends, start)
        return index < len(self.ends) and self.starts[index] < max(end, start + 1)

    def _row(self, node: Node, *, end: bool = False) -> int:
        # A node that ends with a line break ends on the previous line.
        position = max(node.end_byte - 1, node.start_byte) if end else node.start_byte
        return self.offset + bisect_right(self.breaks, position)

    def _add(self, owner: int, role: Role, name: str, text: str, line: int) -> None:
        """Add a fact; a comment directly below another one continues it."""
        facts = self.units[owner].facts
        before = facts[-1] if facts else None
        if (
            role is Role.COMMENT
            and line != self.code_row  # a comment after code on its line is about that code
            and before is not None
            and before.role is role
            and line == before.line + before.text.count("\n") + 1
        ):
            facts[-1] = before._replace(text=f"{before.text}\n{text}")  # one comment of many lines
        elif line >= self.first or role is Role.COMMENT:  # a comment may begin before a fragment
            facts.append(Fact(role, name, text, max(line, self.first)))

    def _move_leading_lines(self) -> None:
        """Move comments and decorators above a declaration into the unit of the declaration."""
        units_by_parent: dict[int, list[Unit]] = {}
        for unit in self.units[1:]:
            if unit.start < unit.head:
                units_by_parent.setdefault(unit.parent, []).append(unit)
        for index, units in units_by_parent.items():
            enclosing = self.units[index]
            starts = [unit.start for unit in units]
            contents = [(unit, unit.facts, unit.tokens) for unit in units]
            facts, tokens = enclosing.facts, enclosing.tokens
            for unit in (enclosing, *units):
                unit.facts, unit.tokens = [], []
            for fact in facts:
                _owner_at(units, starts, fact.line, enclosing).facts.append(fact)
            for token in tokens:
                _owner_at(units, starts, token[0], enclosing).tokens.append(token)
            for unit, own_facts, own_tokens in contents:
                unit.facts += own_facts
                unit.tokens += own_tokens

    def _add_unit(self, node: Node, parent: Node | None, kind: str, owner: int) -> int:
        """Add a unit and return its index if the node declares one; otherwise return the owner."""
        declared = self._read_declaration(node, parent, kind)
        if declared is None or self.depths[owner] == MAX_DEPTH:
            return owner
        unit_kind, noun, name, body = declared
        is_function = unit_kind is Kind.FUNCTION
        outer = nodes.with_wrappers(node, self.language)
        parameters = nodes.field_within(node, "parameters") if is_function else None
        if is_function and parameters is None:
            parameters = node.child_by_field_name("parameter")
        starts = [part.start_byte for part in (parameters, body) if part is not None]
        tokens: tuple[str, ...] = ()
        if unit_kind is not Kind.TEST:
            tokens = tuple(nodes.head_tokens(node, min(starts, default=node.end_byte)))
        head, name_node = self._row(node), node.child_by_field_name("name")
        name_node = name_node or (nodes.innermost_declarator(node) if is_function else None)
        decorators = nodes.decorators(node, outer, self.language)
        marks = " ".join(text_of(decorator, 60) for decorator in decorators)
        if is_function and (_TEST_NAME.match(name) or _TEST_MARK.search(marks)):
            unit_kind, noun = Kind.TEST, "test"
        is_test = unit_kind is Kind.TEST
        last_name = name.rpartition(".")[2]
        # Go exports what begins with a capital: https://go.dev/ref/spec#Exported_identifiers
        is_go = self.language.name == "go"
        is_hidden = last_name[0].islower() if is_go else bool(_INTERNAL.match(last_name))
        is_hidden = is_hidden or self.hidden.get(owner, False) or bool(WORDS["hidden"] & {*tokens})
        self.units.append(
            Unit(
                kind=unit_kind,
                noun=noun,
                name=name,
                parent=owner,
                start=max(self._top(outer), self.first),
                end=self._row(outer, end=True),
                head=head if is_test or name_node is None else self._row(name_node),
                real=head >= self.first,
                public=is_test or not is_hidden,
                head_tokens=tokens,
                parameters=tuple(nodes.parameters_in(parameters)),
            )
        )
        self.depths.append(self.depths[owner] + 1)
        index = len(self.units) - 1
        # Members of a C++ class are private until a section says otherwise.
        if kind == "class_specifier":
            self.hidden[index] = True
        return index

    def _top(self, outer: Node) -> int:
        """Return the first line of a declaration, including comments and decorators above it."""
        start = self._row(outer)
        before = nodes.node_before(outer)
        while before is not None:
            row, previous = self._row(before), before.prev_sibling
            mark = before.type in self.language.decorators
            if not mark and "comment" not in before.type:
                break
            # A comment after code on its line is about that code.
            is_alone = mark or previous is None or self._row(previous, end=True) < row
            if self._row(before, end=True) < start - 1 or not is_alone:
                break
            start = min(start, row)
            before = nodes.node_before(before)
        return start

    def _read_declaration(self, node: Node, parent: Node | None, kind: str) -> Declared | None:
        """Return the declaration that a node makes; None if it makes none."""
        if kind not in self.declaring:
            return None
        language = self.language
        rows = node.end_point.row - node.start_point.row + 1
        body = first_field(node, "body", "block", "value")
        if kind in language.types:
            return nodes.declared_type(node, parent, language.types[kind], body)
        if kind in language.functions:
            return nodes.declared_function(node, language.functions[kind], body)
        name = noun = ""
        unit_kind = Kind.FUNCTION
        if kind in language.members and rows >= MIN_MEMBER_ROWS:
            name, noun = field_text(node, "name", 80), language.members[kind]
        elif kind in language.lambdas and rows > 1:
            name, noun = nodes.lambda_name(node), "function"
        elif kind in language.calls and rows > 1:
            unit_kind, name, body = Kind.TEST, nodes.test_title(node, language), None
            noun = "test suite" if name and nodes.test_keyword(node) in WORDS["suites"] else "test"
        return (unit_kind, noun, name, body) if name else None

    def _note(self, node: Node, parent: Node | None, owner: int, row: int, *, nested: bool) -> None:
        """Add the facts of a node; `nested` is as in the entries of `walk`."""
        language, kind = self.language, node.type
        if kind in language.calls:
            self._note_call(node, owner)
        elif kind in language.assigns:
            self._note_binding(node, parent, owner, row)
        elif kind in node_types("returns"):
            self._note_return(node, owner, row, nested=nested)
        elif kind in language.raises:
            value = nodes.after_keyword(node)
            self._add(owner, Role.RAISE, nodes.error_of(value), value, row)
        elif kind in language.catches:
            caught = nodes.caught_errors(node)
            self._add(owner, Role.CATCH, caught, caught, row)
        elif kind in language.imports:
            for name, module in nodes.imported_names(node):
                self._add(owner, Role.IMPORT, name, module, row)
        elif kind in language.decorators:
            self._add(owner, Role.DECORATOR, text_of(node, 120), "", row)
        elif kind in language.strings and not (parent and parent.type in language.imports):
            # In Python, a statement that is only a string is documentation.
            holder = parent if parent and parent.type == "expression_statement" else None
            is_doc = language.indented and holder is not None and holder.named_child_count == 1
            role = Role.COMMENT if is_doc else Role.STRING
            self._add(owner, role, "", text_of(node), row)

    def _note_return(self, node: Node, owner: int, row: int, *, nested: bool) -> None:
        value = nodes.after_keyword(node)
        if not nested and not value.startswith("throw "):
            self._add(owner, Role.RETURN, "", value, row)

    def _note_binding(self, node: Node, parent: Node | None, owner: int, row: int) -> None:
        # In markup or in an incomplete statement, the node may not really be a binding.
        name, value = ("", "") if node.has_error else nodes.binding(node)
        spread = parent is not None and parent.type == "spread_parameter"
        bound = first_field(node, "value", "right")
        # A function of several lines is a separate unit.
        is_multiline = node.end_point.row > node.start_point.row
        is_unit = is_multiline and bound is not None and bound.type in self.language.lambdas
        if name and name not in WORDS["not_names"] and not spread and not is_unit:
            self._add(owner, Role.ASSIGN, name, value, row)

    def _note_condition(self, node: Node, kind: str, owner: int) -> None:
        """Add the condition of a node as a fact, if the node has one."""
        condition = node.child_by_field_name("condition")
        if kind == "jsx_expression" and node.named_child_count == 1:  # `{ready && <List />}`
            content = node.named_children[0]
            is_guard = field_text(content, "operator") == "&&"
            condition = content.child_by_field_name("left") if is_guard else None
        # If markup is read as code, a part of a tag may look like a comparison: `"flex" > {a`.
        if condition is None or condition.has_error or kind.startswith("preproc"):
            return
        if "for" not in kind:
            text = nodes.without_parentheses(text_of(condition))
            if text.lstrip("!").isidentifier():  # Go's `value, ok := values[key]; ok`
                text = "; ".join(filter(None, (field_text(node, "initializer"), text)))
            name = "unless" if kind.startswith("unless") else ""
            self._add(owner, Role.CONDITION, name, text, self._row(condition))

    def _add_tokens(self, node: Node, owner: int, row: int) -> None:
        """Add a leaf, one token per line; both kinds of quotation marks count as the same."""
        span = slice(node.start_byte - self.base, node.end_byte - self.base)
        text = self.source[span].decode("utf-8", "replace")
        tokens = self.units[owner].tokens
        if "\n" not in text:  # true of nearly all leaves; the line was requested
            self.code_row = row
            if row >= self.first and (text := text.strip()):
                tokens.append((row, text.replace("'", '"')))
            return
        lines = text.split("\n")
        self.code_row = row + len(lines) - 1
        for line, text in enumerate(lines, start=row):
            at = self._start_of(line)
            if line >= self.first and self._is_requested(at, at) and text.strip():
                tokens.append((line, text.strip().replace("'", '"')))

    def _note_call(self, node: Node, owner: int) -> None:
        """Add the fact of a call, which in Ruby may also raise an error or import a file."""
        callee, name = nodes.callee(node)
        if not name or callee is None:
            return
        arguments = node.child_by_field_name("arguments")
        if arguments is None and node.named_children[-1].type == "arguments":
            arguments = node.named_children[-1]
        text = text_of(arguments)
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1].strip()
        line = self._row(callee, end=True)
        ruby = self.language.name == "ruby"
        # In C and C++, a call in upper case outside of functions is a macro that annotates a
        # declaration.
        is_outside_function = self.units[owner].kind in {Kind.FILE, Kind.TYPE}
        is_macro = is_outside_function and name.isupper() and self.language.name in {"c", "cpp"}
        if ruby and name in {"raise", "fail"}:
            self._add(owner, Role.RAISE, nodes.error_of(text), text, line)
        elif ruby and name in {"require", "require_relative"}:
            self._add(owner, Role.IMPORT, text.strip("\"'"), "", line)
        elif not is_macro and not nodes.test_title(node, self.language):
            self._add(owner, Role.CALL, name, text, line)


def _owner_at(units: Sequence[Unit], starts: Sequence[int], line: int, enclosing: Unit) -> Unit:
    """Return the unit whose leading lines include a line, or else the enclosing unit."""
    at = bisect_right(starts, line) - 1
    return units[at] if at >= 0 and line < units[at].head else enclosing
