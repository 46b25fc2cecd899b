"""Parts of a version: each unit with the changed lines that belong to it."""

from bisect import bisect_left
from dataclasses import dataclass, field

from crscore.syntax.change import OutlinedLines, Version
from crscore.syntax.fragments import complete
from crscore.syntax.grammars import Language
from crscore.syntax.outline import Fact, Kind, Unit


@dataclass(slots=True, kw_only=True)
class UnitPart:
    """Unit of one version, with its declarations (overloads are one unit) and changed lines."""

    units: list[Unit] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """Changed lines of the unit, without the units inside it, sorted."""
    facts: list[Fact] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    parent: str = ""
    """Name of the enclosing unit; empty for the file."""

    @property
    def is_declared_in_change(self) -> bool:
        """Whether every declaration begins on a changed line."""
        changed = set(self.lines)
        return bool(self.units) and all(unit.head in changed for unit in self.units)


def parts_of(version: Version, language: Language) -> dict[str, UnitPart]:
    """Return the parts of a version by the qualified name of their unit, empty for the file."""
    parts: dict[str, UnitPart] = {}
    for outlined in version.outlines:
        _Reader(outlined, version, language).read_into(parts)
    return parts


class _Reader:
    """Reader of one outline, which may begin inside a unit that git names (`enclosing`)."""

    def __init__(self, outlined: OutlinedLines, version: Version, language: Language) -> None:
        self.outline = outlined.outline
        self.version = version
        self.low, self.high = outlined.low, outlined.high
        self.enclosing = _unit_of(outlined.section, language) if outlined.section.strip() else None
        self.flush = _flush(outlined, version, language) if self.enclosing is not None else 0

    def read_into(self, parts: dict[str, UnitPart]) -> None:
        """Add lines, units, facts and tokens to the parts of a file."""
        changed = self.version.changed
        start, stop = bisect_left(changed, self.low), bisect_left(changed, self.high + 1)
        for line, index in self.outline.owners(changed[start:stop]).items():
            parts.setdefault(self._key(index, line), UnitPart()).lines.append(line)
        for index, unit in enumerate(self.outline.units):
            owner = index if unit.real else 0
            if index == 0:
                self._add_outer(parts)
            elif owner:
                part = parts.setdefault(self._key(index, unit.head), UnitPart())
                part.units.append(unit)
                part.parent = self._key(unit.parent, unit.head)
            for fact in unit.facts:
                parts.setdefault(self._key(owner, fact.line), UnitPart()).facts.append(fact)
            for line, text in unit.tokens:
                parts.setdefault(self._key(owner, line), UnitPart()).tokens.append(text)

    def _add_outer(self, parts: dict[str, UnitPart]) -> None:
        """Add the file, or the unit that git names, as the outermost unit."""
        if self.enclosing is None:
            parts.setdefault("", UnitPart()).units.append(self.outline.units[0])
        elif self.flush > self.low:
            parts.setdefault(self.enclosing.name, UnitPart()).units.append(self.enclosing)

    def _key(self, index: int, line: int) -> str:
        """Return the qualified name of a unit, given a line in it."""
        name = self.outline.qualified(index)
        if self.enclosing is None or line >= self.flush:
            return name
        if not name:
            return self.enclosing.name
        return f"{self.enclosing.name}.{name}" if self.enclosing.kind is Kind.TYPE else name


def _unit_of(section: str, language: Language) -> Unit | None:
    """Return the declaration that git shows for a hunk that begins inside it."""
    # git cuts the line, so the brace that opens the body may be missing.
    # In C, the type of a function may be on the previous line.
    typed = ("void " + section.rstrip(" {") + " {") if language.name in {"c", "cpp"} else section
    for text in (section, section.rstrip(" {") + " {", typed):
        units = complete(language, [text], 1).outline.units
        real = [unit for unit in units[1:] if unit.real]
        if real:
            unit = real[-1]
            # The line is not part of the hunk, so its number is unknown.
            unit.start = unit.end = unit.head = 0
            unit.facts.clear()
            return unit
    return None


def _flush(outlined: OutlinedLines, version: Version, language: Language) -> int:
    """Return the first line of a hunk after the unit that began before the hunk."""
    for line in range(outlined.low, outlined.high + 1):
        text = version.lines.get(line, "")
        if text.rstrip() in {"}", "};", language.closing_word or "}"}:
            return line + 1
        # Comments and directives at the margin may still be inside the unit, except the comment of
        # a declaration.
        if text.startswith((" *", "/**")) or (text[:1].strip() and text[0] not in "}])#/*"):
            return line
    return outlined.high + 1
