"""Changed unit on both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from crscore.claims.structural.regions import Area
    from crscore.syntax.model import Part, Unit


class Change(NamedTuple):
    """Changed unit on both sides, with its place."""

    area: Area
    old: Unit
    new: Unit
    where: str

    def part(self, part: Part) -> tuple[str, str]:
        """Return a piece before and after."""
        return self.old.part(part), self.new.part(part)

    def differs(self, part: Part) -> bool:
        """Return True when a piece changed."""
        return self.old.part(part) != self.new.part(part)
