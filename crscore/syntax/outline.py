"""Outline of a source text: its declarations (*units*), and their contents as *facts*."""

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
"""Kinds of units that other code can refer to."""


class Fact(NamedTuple):
    """Effect of one expression or statement, such as a call or an import."""

    role: Role
    name: str
    """Name of what is called, bound, imported, raised or caught, or a decorator; may be empty."""
    text: str
    """Arguments, value, condition, string, comment, or module of an imported name."""
    line: int
    """Line number, 1-based."""


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    type: str
    """Declared type; may be empty."""
    default: str
    """Default value; may be empty."""
    optional: bool
    """Whether a caller may leave it out."""


@dataclass(slots=True, kw_only=True)
class Unit:
    """One declaration, or the file itself."""

    kind: Kind
    noun: str
    """English noun for the unit: `method`, `interface`, `test`."""
    name: str
    """Declared name, or the title of a test; "" for the file."""
    parent: int
    """Index of the enclosing unit; -1 for the file."""
    start: int
    """First line, 1-based, including the comment and the decorators above the declaration."""
    end: int
    """Last line, inclusive."""
    head: int
    """Line of the name; of a test, the first line below the comments and decorators. 0 for the
    file, and for a unit that only the header of a hunk names."""
    real: bool = True
    """False if the unit begins in text that was added to complete a fragment."""
    public: bool = True
    """False if a modifier or the name makes the unit internal."""
    head_tokens: tuple[str, ...] = ()
    """Tokens before the parameters or the body: modifiers, return type, name, bases."""
    parameters: tuple[Parameter, ...] = ()
    tokens: list[tuple[int, str]] = field(default_factory=list)
    """Line and text of each token on the lines to outline, except in comments and nested units."""
    facts: list[Fact] = field(default_factory=list)
    """Facts on the lines to outline, except in nested units."""


@dataclass(slots=True, kw_only=True)
class Outline:
    """Declarations of one text."""

    units: list[Unit]
    """Units in reading order, outer before inner; the first is the file."""
    errors: int
    """Number of bytes that the grammar could not read."""
    section: str = ""
    """For a hunk, the text that git prints after the second `@@`."""
    low: int = 0
    """First line of the whole file, or of the hunk; 0 if it is not known."""
    high: int = 0
    """Last line of the whole file, or of the hunk, inclusive; 0 if it is not known."""

    def qualified(self, index: int) -> str:
        """Return the name of a unit after those of the enclosing units, joined by periods."""
        names: list[str] = []
        while index > 0:
            unit = self.units[index]
            if unit.real:
                names.append(unit.name)
            index = unit.parent
        return ".".join(reversed(names))

    def owners(self, lines: Sequence[int]) -> dict[int, int]:
        """Return, for each of these sorted lines, the index of the innermost unit around it."""
        owner_by_line = dict.fromkeys(lines, 0)
        # Inner units come after the units around them, so they overwrite these.
        for index, unit in enumerate(self.units):
            if index and unit.real:
                low, high = bisect_left(lines, unit.start), bisect_left(lines, unit.end + 1)
                for line in lines[low:high]:
                    owner_by_line[line] = index
        return owner_by_line
