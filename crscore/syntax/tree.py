"""Conversion of source text to a flat tree of units, without recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.syntax.grammars import parser
from crscore.syntax.model import Part, Role, Token, Tree, Unit
from crscore.syntax.parts import (
    carriers,
    declared_name,
    declared_or_name,
    field_of,
    function_part,
    names_for,
    parameters_of,
    parts_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import tree_sitter

    from crscore.syntax.model import Language, Parameter

MAX_UNITS = 20_000
"""Units kept of one side; later content belongs to the unit that is open."""
MAX_TOKENS = 200_000
"""Tokens kept of one side."""

MAX_CALLEE = 80
"""Characters kept of a callee."""

_BODY = ("body",)
_STARTS = ("initializer", "init", "update", "increment")
_VALUES = (Role.ASSIGN, Role.FIELD, Role.ENTRY)


def parse_source(
    language: Language,
    source: str,
    *,
    lines: Sequence[tuple[int, int]] | None = None,
    first: int = 1,
    skip: int = 0,
) -> Tree:
    """Parse a text and keep the units that touch some lines.

    Args:
        language: Language of the text.
        source: The whole file, or a fragment.
        lines: Inclusive ranges of line numbers to keep, sorted; all when None. Anything outside
            them is parsed but skipped.
        first: Number of the first line of the text after `skip`.
        skip: Lines put before the fragment to make it parse; they get no tokens.

    Returns:
        The module unit and every unit that overlaps the ranges.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    parsed = parser(language).parse(source.encode("utf-8", "replace"))
    reader = _Reader(language, lines, first - 1 - skip, first)
    reader.walk(parsed.root_node)
    return Tree(units=reader.freeze(), errors=reader.errors)


_MADE_UP = frozenset({Role.CLASS, Role.FUNCTION, Role.ASSIGN, Role.CALL})
"""Roles of the text added before a fragment; such a unit has no name of its own."""


class _Draft:
    """Unit whose tokens are still being collected."""

    __slots__ = ("calls", "core", "end", "name", "parent", "role", "start", "tokens", "word")

    def __init__(
        self,
        parent: int,
        role: Role,
        word: str,
        core: tree_sitter.Node | None,
        span: tuple[int, int],
    ) -> None:
        self.parent = parent
        self.role = role
        self.word = word
        self.core = core
        self.start, self.end = span
        self.name = ""
        self.tokens: list[Token] = []
        self.calls: list[str] = []


class _Reader:
    """State of one walk over a parsed side."""

    def __init__(
        self,
        language: Language,
        lines: Sequence[tuple[int, int]] | None,
        offset: int,
        first: int,
    ) -> None:
        self.language = language
        self.lines = lines
        self.offset = offset
        self.first = first
        self.errors = 0
        self.drafts = [_Draft(-1, Role.MODULE, "file", None, (first, first))]
        self.handled: set[int] = set()
        self.tokens = 0
        self.end = 0

    def walk(self, root: tree_sitter.Node) -> None:
        """Visit every node once, in reading order, with an explicit stack."""
        self.drafts[0].end = root.end_point.row + 1 + self.offset
        stack: list[tuple[tree_sitter.Node, int, bool]] = [(root, 0, False)]
        while stack:
            node, owner, flat = stack.pop()
            if not self._wanted(node):
                continue
            if node.is_error or node.is_missing:
                self.errors += max(1, node.end_byte - node.start_byte)
            if not flat and node.is_named:
                owner, flat = self._open(node, owner)
            if node.type in self.language.calls:
                self._note_call(node, owner)
            children = () if node.type in self.language.atoms else node.children
            if children:
                stack.extend((child, owner, flat) for child in reversed(children))
            else:
                self._add_tokens(node, owner)

    def _wanted(self, node: tree_sitter.Node) -> bool:
        if self.lines is None:
            return True
        start = node.start_point.row + 1 + self.offset
        end = node.end_point.row + 1 + self.offset
        return any(low <= end and start <= high for low, high in self.lines)

    def _open(self, node: tree_sitter.Node, owner: int) -> tuple[int, bool]:
        """Start a unit when the node is one; else return the owner."""
        if node.id in self.handled or len(self.drafts) >= MAX_UNITS:
            return owner, False
        role, core = self._role(node)
        if role is None or (node.type in self.language.hollow and field_of(node, _BODY) is None):
            return owner, self._is_flat(node)
        if role in {Role.ENTRY, Role.MARKUP} and _beside_parent(node):
            return owner, False
        if core is not node:
            self.handled.add(core.id)
        span = (node.start_point.row + 1 + self.offset, _last_row(node) + 1 + self.offset)
        draft = _Draft(owner, role, self._word(node, core), core, span)
        draft.name = self._name(node, core, role)
        if role in {Role.IF, Role.LOOP, Role.SWITCH}:
            self.handled.update(_starts(core))
        self.drafts.append(draft)
        return len(self.drafts) - 1, False

    def _word(self, node: tree_sitter.Node, core: tree_sitter.Node) -> str:
        """Return the noun for a node, by its declared type, its own type or its wrapper's type."""
        words = self.language.words
        kind = core.child_by_field_name("type")
        declared = words.get(f"{core.type}/{kind.type}", "") if kind is not None else ""
        return declared or words.get(core.type) or words.get(node.type, "")

    def _is_flat(self, node: tree_sitter.Node) -> bool:
        """Return True for a function value on one line, which is part of its expression."""
        one_line = node.start_point.row == node.end_point.row
        return one_line and node.type in self.language.lambdas

    def _role(self, node: tree_sitter.Node) -> tuple[Role | None, tree_sitter.Node]:
        language = self.language
        kind = node.type
        if kind in language.wrappers:
            inner = node.child_by_field_name(language.wrappers[kind])
            if inner is not None:
                role, core = self._role(inner)
                self.handled.add(inner.id)
                return (role or language.roles.get(kind)), core
        if kind in language.statements:
            inner = _unwrap(node)
            return self._value_role(inner, language.expressions.get(inner.type, Role.OTHER))
        if kind in language.lambdas:
            return self._lambda_role(node), node
        if kind in language.expressions and _is_statement(node, language):
            return self._value_role(node, language.expressions[kind])
        role = language.roles.get(kind)
        return self._value_role(node, role) if role is not None else (None, node)

    def _value_role(self, node: tree_sitter.Node, role: Role) -> tuple[Role, tree_sitter.Node]:
        """Return a value's role and node: the function itself when a function is assigned."""
        if role is Role.CALL and self.language.keyword_calls:
            callee = text_of(field_of(node, names_for(self.language, Part.CALLEE)), 40)
            return self.language.keyword_calls.get(callee, role), node
        if role not in _VALUES:
            return role, node
        core = self._through(node)
        if core is not node:
            return Role.FUNCTION, core
        declares = role is not Role.ENTRY and node.child_by_field_name("declarator") is not None
        if declares and function_part(node, "parameters") is not None and not _has_value(node):
            return Role.FUNCTION, node
        return role, node

    def _through(self, node: tree_sitter.Node) -> tree_sitter.Node:
        """Return the function that a declaration names, else the node itself."""
        value = field_of(node, ("right", "value"))
        if value is None:
            held = carriers(node)
            value = held[0].child_by_field_name("value") if len(held) == 1 else None
        if (
            value is not None
            and value.type in self.language.lambdas
            and _is_block(value, self.language)
        ):
            return value
        return node

    def _lambda_role(self, node: tree_sitter.Node) -> Role | None:
        if node.start_point.row == node.end_point.row or not _is_block(node, self.language):
            return None
        return Role.LAMBDA

    def _name(self, node: tree_sitter.Node, core: tree_sitter.Node, role: Role) -> str:
        if role is Role.LAMBDA:
            return _callback_label(core, self.language)
        if core.type in self.language.lambdas:
            return _target_name(node, self.language)
        found = field_of(core, names_for(self.language, Part.NAME))
        if found is None and role in {Role.FUNCTION, Role.FIELD, Role.ASSIGN, Role.ALIAS}:
            held = carriers(core)
            if held:
                return ", ".join(declared_or_name(item) for item in held)
            declarator = core.child_by_field_name("declarator")
            return declared_name(declarator) if declarator is not None else ""
        return text_of(found, 80)

    def _note_call(self, node: tree_sitter.Node, owner: int) -> None:
        callee = field_of(node, names_for(self.language, Part.CALLEE))
        above = field_of(node, ("object", "receiver", "scope"))
        if callee is None and node.named_children:
            callee = node.named_children[0]
        text = text_of(callee, MAX_CALLEE)
        if above is not None and above is not callee:
            text = f"{text_of(above, 60)}.{text}"
        elif callee is not None and callee.end_byte - callee.start_byte > MAX_CALLEE:
            text = _method_of(callee) or text
        if text and len(self.drafts[owner].calls) < 12:
            self.drafts[owner].calls.append(text)

    def _add_tokens(self, node: tree_sitter.Node, owner: int) -> None:
        row = node.start_point.row + 1 + self.offset
        raw = (node.text or b"").decode("utf-8", "replace")
        gap = node.start_byte > self.end
        self.end = node.end_byte
        for line, text in enumerate(raw.split("\n"), start=row):
            stripped = text.strip()
            if stripped and line >= self.first and self.tokens < MAX_TOKENS:
                self.tokens += 1
                self.drafts[owner].tokens.append(Token(stripped, line, node.is_named, gap))
            gap = True

    def freeze(self) -> tuple[Unit, ...]:
        """Return the finished units; `after` comes from the last unit inside each."""
        after = list(range(1, len(self.drafts) + 1))
        for index in range(len(self.drafts) - 1, 0, -1):
            parent = self.drafts[index].parent
            after[parent] = max(after[parent], after[index])
        return tuple(
            self._unit(index, draft, after[index]) for index, draft in enumerate(self.drafts)
        )

    def _unit(self, index: int, draft: _Draft, after: int) -> Unit:
        parts: dict[Part, str] = {}
        parameters: tuple[Parameter, ...] = ()
        made_up = draft.start < self.first and draft.role in _MADE_UP
        if draft.core is not None and not made_up:
            parts = parts_of(draft.core, draft.role, self.language)
            if draft.role in {Role.FUNCTION, Role.LAMBDA}:
                parameters = parameters_of(draft.core, self.language)
        return Unit(
            index=index,
            parent=draft.parent,
            after=after,
            role=Role.OTHER if made_up and draft.role is Role.CALL else draft.role,
            word=draft.word,
            name="" if made_up else draft.name,
            start=draft.start,
            end=draft.end,
            tokens=tuple(draft.tokens),
            parts=parts,
            parameters=parameters,
            calls=() if made_up else tuple(draft.calls),
        )


def _starts(node: tree_sitter.Node) -> Iterator[int]:
    """Yield the ids of nodes before a body (`i = 0`, `err := f()`), which are no units."""
    clauses = (child for child in node.named_children[:3] if child.type == "for_clause")
    for holder in (node, *clauses):
        for name in _STARTS:
            found = holder.child_by_field_name(name)
            if found is not None:
                yield found.id


def _method_of(callee: tree_sitter.Node) -> str:
    """Return the method at the end of a long chain of calls, after its truncated receiver."""
    name = field_of(callee, ("property", "field", "attribute", "name"))
    above = field_of(callee, ("object", "operand", "argument", "value"))
    return f"{text_of(above, 40)}.{text_of(name, 60)}" if above and name else ""


def _last_row(node: tree_sitter.Node) -> int:
    # A node that ends with a line break ends on the previous line.
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row


def _beside_parent(node: tree_sitter.Node) -> bool:
    return node.parent is not None and node.parent.start_point.row == node.start_point.row


def _unwrap(node: tree_sitter.Node) -> tree_sitter.Node:
    for _ in range(4):
        inner = next(
            (child for child in node.named_children[:3] if "comment" not in child.type), None
        )
        if inner is None:
            break
        node = inner
        if not node.type.startswith(("await", "parenthesized")):
            break
    return node


def _has_value(node: tree_sitter.Node) -> bool:
    declarator = node.child_by_field_name("declarator")
    return declarator is not None and declarator.child_by_field_name("value") is not None


def _is_statement(node: tree_sitter.Node, language: Language) -> bool:
    """Return True for a statement in a grammar that does not wrap statements."""
    above = node.parent
    if above is None or above.type not in language.bodies:
        return False
    condition = above.child_by_field_name("condition")
    return condition is None or condition.id != node.id


def _is_block(node: tree_sitter.Node, language: Language) -> bool:
    body = node.child_by_field_name("body")
    return body is not None and body.type in language.blocks


def _target_name(node: tree_sitter.Node, language: Language) -> str:
    inner = _unwrap(node) if node.type in language.statements else node
    if node.type in language.wrappers:
        inner = node.child_by_field_name(language.wrappers[node.type]) or node
    found = field_of(inner, names_for(language, Part.TARGET))
    held = carriers(inner) if found is None else []
    return text_of(found, 80) if not held else declared_or_name(held[0])


def _callback_label(node: tree_sitter.Node, language: Language) -> str:
    """Return the callee that takes a callback, with its text argument: `it 'adds numbers'`."""
    above = node.parent
    for _ in range(4):
        if above is None:
            return ""
        if above.type in language.calls:
            called = field_of(above, names_for(language, Part.CALLEE))
            if called is not None and called.start_byte <= node.start_byte < called.end_byte:
                return ""
            callee = text_of(called, 60)
            arguments = function_part(above, "arguments")
            label = next(
                (
                    text_of(child, 80)
                    for child in (arguments.named_children[:2] if arguments is not None else ())
                    if child.type in language.atoms
                ),
                "",
            )
            return f"{callee} {label}".strip()
        above = above.parent
    return ""
