"""Outline of a source text: its declarations, and what they contain as *facts*."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple


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


DECLARED: Final = frozenset({Kind.FUNCTION, Kind.TYPE})
"""Kinds of units that other code may use."""


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
    """Tokens before the parameters or the body: modifiers, return type, name, bases."""
    parameters: tuple[Parameter, ...] = ()
    tokens: list[tuple[int, str]] = field(default_factory=list)
    """Line and text of its own code on the requested lines, without comments and nested units."""
    facts: list[Fact] = field(default_factory=list)
    """Its own facts on the requested lines."""


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
        """Return the index of the innermost unit around each of some sorted lines."""
        owner_by_line = dict.fromkeys(lines, 0)
        # Inner units follow outer ones, and overwrite them.
        for index, unit in enumerate(self.units):
            if index and unit.real:
                low, high = bisect_left(lines, unit.start), bisect_left(lines, unit.end + 1)
                for line in lines[low:high]:
                    owner_by_line[line] = index
        return owner_by_line
