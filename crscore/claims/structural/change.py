"""Change of one unit of a file, the subject of a topic's sentences."""

from __future__ import annotations

from dataclasses import dataclass, field

from crscore.claims.structural.english import Line
from crscore.claims.structural.parts import UnitPart
from crscore.records import ChangedFile, LineKind
from crscore.syntax.outline import Kind, Unit


@dataclass(slots=True, kw_only=True)
class UnitChange:
    """One changed unit of a file: a topic of the claims."""

    file: ChangedFile
    name: str
    """Qualified name; empty for the file itself."""
    kind: Kind
    noun: str
    state: str
    """`new`, `removed`, `overload` (one more declaration of a name), `less` (one fewer), `renamed`,
    `replaced`, `moved`, `away`, `place`, `layout`, `comments` or `changed`."""
    old: UnitPart
    new: UnitPart
    language: str = ""
    """Name of the language whose grammar parsed it; empty if none did."""
    before: str = ""
    """Former name or path of a unit that was renamed, replaced or moved."""
    origin: UnitChange | None = None
    """For a moved unit, its removal from its former file."""
    members: list[Unit] = field(default_factory=list)
    """Units inside it that belong to this topic."""
    added: list[int] = field(default_factory=list)
    """Changed lines of the new version that belong to it, sorted."""
    removed: list[int] = field(default_factory=list)
    """Changed lines of the old version that belong to it, sorted."""
    similar: list[UnitChange] = field(default_factory=list)
    """Other units that changed in the same way and belong to this topic."""
    aside: frozenset[Line] = frozenset()
    """Changed lines of this topic outside of the unit: the imports of its file."""

    @property
    def short_name(self) -> str:
        """Name without the names of the enclosing units."""
        return self.unit.name.rpartition(".")[2] if self.unit is not None else ""

    @property
    def size(self) -> int:
        """Number of changed lines."""
        return len(self.added) + len(self.removed)

    @property
    def displayed_size(self) -> int:
        """Number of lines as a reader counts them: for a new or removed unit, all of its lines."""
        units = (self.new if self.state == "new" else self.old).units
        if self.state in {"new", "removed"} and self.name and self.noun != "tests":
            return sum(unit.end - unit.start + 1 for unit in units if unit.name)
        return self.size - len(self.aside) + sum(change.size for change in self.similar)

    @property
    def unit(self) -> Unit | None:
        """Its declaration, in the new version if it has one there."""
        return next(iter(self.new.units or self.old.units), None)


def code_of(file: ChangedFile) -> dict[Line, str]:
    """Return the changed lines of a file."""
    return {
        (line.kind is LineKind.ADDED, line.new or line.old or 0): line.text
        for line in file.lines(LineKind.ADDED, LineKind.REMOVED)
    }
