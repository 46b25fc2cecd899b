"""Language-neutral model of a piece of source code.

A parsed side is a flat tuple of units in reading order: declarations and statements, each with its
own tokens but not those of nested units. Only `Language` depends on a grammar's node names; all
other code is language-neutral.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Role(StrEnum):
    """Role of a unit."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LAMBDA = "lambda"
    FIELD = "field"
    MEMBER = "member"
    ENTRY = "entry"
    IMPORT = "import"
    DECORATOR = "decorator"
    ALIAS = "alias"
    IF = "if"
    ELSE = "else"
    SWITCH = "switch"
    CASE = "case"
    LOOP = "loop"
    RETURN = "return"
    YIELD = "yield"
    RAISE = "raise"
    TRY = "try"
    CATCH = "catch"
    FINALLY = "finally"
    WITH = "with"
    ASSIGN = "assign"
    CALL = "call"
    ASSERT = "assert"
    JUMP = "jump"
    DELETE = "delete"
    MARKUP = "markup"
    COMMENT = "comment"
    DOC = "doc"
    OTHER = "other"


class Part(StrEnum):
    """Role of a part of a unit."""

    NAME = "name"
    PARAMETERS = "parameters"
    RETURNS = "returns"
    CONDITION = "condition"
    TARGET = "target"
    VALUE = "value"
    CALLEE = "callee"
    ARGUMENTS = "arguments"
    BASES = "bases"
    TYPE = "type"
    MODIFIERS = "modifiers"
    OPERATOR = "operator"
    HEAD = "head"


class Token(NamedTuple):
    """One leaf of the tree, or one line of a multi-line leaf."""

    text: str
    """As in the source, without surrounding blanks."""
    line: int
    """1-based line of its side."""
    named: bool
    """True for identifiers and literals, False for keywords and punctuation."""
    gap: bool
    """True when white space or a line end precedes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a function."""

    name: str
    """Its name, or the destructuring pattern."""
    type: str
    """Its declared type; empty when there is none."""
    default: str
    """Its default value; empty when there is none."""
    optional: bool
    """True when a caller may leave it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One declaration or statement."""

    index: int
    """Its index in the tree's `units`."""
    parent: int
    """Index of the enclosing unit; -1 for the module."""
    after: int
    """Index after its last nested unit: its subtree is `units[index:after]`."""
    role: Role
    """Role."""
    word: str
    """The English noun for it (`method`, `interface`); may be empty."""
    name: str
    """Declared name, or the label of a callback; may be empty."""
    start: int
    """First line, 1-based."""
    end: int
    """Last line, inclusive."""
    tokens: tuple[Token, ...]
    """Its own tokens, without those of nested units."""
    parts: Mapping[Part, str]
    """Text of its pieces on one line, bounded in length."""
    parameters: tuple[Parameter, ...] = ()
    """Parameters of a function."""
    calls: tuple[str, ...] = ()
    """Callees in its own expressions, outermost first."""

    def part(self, part: Part) -> str:
        """Return the text of a piece; empty when the unit has none."""
        return self.parts.get(part, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Parsed source of one side."""

    units: tuple[Unit, ...]
    """In reading order; the first is the module."""
    errors: int
    """Number of bytes the grammar could not parse."""

    def ancestors(self, unit: Unit) -> tuple[Unit, ...]:
        """Return the units around a unit, innermost first, without the module."""
        found: list[Unit] = []
        while unit.parent > 0:
            unit = self.units[unit.parent]
            found.append(unit)
        return tuple(found)

    def children(self, unit: Unit) -> tuple[Unit, ...]:
        """Return the units directly inside a unit, in order."""
        found: list[Unit] = []
        index = unit.index + 1
        while index < unit.after:
            child = self.units[index]
            found.append(child)
            index = child.after
        return tuple(found)

    def subtree(self, unit: Unit) -> tuple[Unit, ...]:
        """Return a unit and everything inside it, in reading order."""
        return self.units[unit.index : unit.after]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Mapping of one grammar's node types to roles and parts."""

    name: str
    """As in `ChangedFile.language`."""
    package: str
    """Import name of the grammar's wheel."""
    roles: Mapping[str, Role]
    """Role by node type; nodes of unlisted types are transparent."""
    entry: str = "language"
    """Function of the wheel that returns the grammar."""
    aliases: frozenset[str] = frozenset()
    """Other names of the language that use this table."""
    words: Mapping[str, str] = field(default_factory=dict)
    """English noun by node type, where it differs from the role's."""
    statements: frozenset[str] = frozenset({"expression_statement"})
    """Types that wrap one expression; the expression gives the role."""
    expressions: Mapping[str, Role] = field(default_factory=dict)
    """Role by type of a wrapped expression."""
    bodies: frozenset[str] = frozenset()
    """Types whose direct children are statements without a wrapper."""
    wrappers: Mapping[str, str] = field(default_factory=dict)
    """Types around a declaration that belong to it, with the field that holds it."""
    hollow: frozenset[str] = frozenset()
    """Types that are a unit only when they have a body (unlike C#'s `get;`)."""
    calls: frozenset[str] = frozenset({"call_expression"})
    """Types of calls and object creations."""
    keyword_calls: Mapping[str, Role] = field(default_factory=dict)
    """Callees that correspond to keywords of other languages (Ruby's `raise`)."""
    lambdas: frozenset[str] = frozenset()
    """Types of functions written as a value."""
    blocks: frozenset[str] = frozenset()
    """Types of bodies that hold statements."""
    atoms: frozenset[str] = frozenset({"string", "string_literal"})
    """Types taken as one token with their whole content."""
    fields: Mapping[Part, tuple[str, ...]] = field(default_factory=dict)
    """Field names tried for a part before the common ones."""
    typed_left: bool = False
    """True when a function's `type` field is its return type (Java, C)."""
    self_names: frozenset[str] = frozenset()
    """Parameters for the object itself, which callers do not pass."""
    fragments: tuple[tuple[str, str], ...] = ()
    """Text added before and after a fragment that does not parse alone."""
    openers: Mapping[str, str] = field(default_factory=dict)
    """Text that opens a `class`, `function`, `block`, `object` or `callback` missing from a
    fragment.
    """
    prolog: str = ""
    """Text required before every fragment."""
    indented: bool = False
    """True when indentation delimits blocks."""
    closing_word: str = ""
    """Word that ends a block in a language without braces."""
    precedence: int = 9
    """Priority when two grammars parse a text of unknown language equally well; lower wins."""
    line_comments: tuple[str, ...] = ("//",)
    """Marker of a comment that extends to the end of the line."""
