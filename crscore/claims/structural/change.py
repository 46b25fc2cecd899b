"""Changed units of a file: the parts of its versions, and the subjects of the sentences."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

from crscore.claims.structural.quoting import Line
from crscore.diff.paths import MACHINE_MADE, role_of
from crscore.records import ChangedFile, LineKind
from crscore.syntax.change import Version
from crscore.syntax.fragments import complete
from crscore.syntax.grammars import Language
from crscore.syntax.outline import Fact, Kind, Outline, Unit


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
    parts: defaultdict[str, UnitPart] = defaultdict(UnitPart)
    for outline in version.outlines:
        _add_parts(parts, outline, version, language)
    return dict(parts)


def _add_parts(
    parts: defaultdict[str, UnitPart], outline: Outline, version: Version, language: Language
) -> None:
    """Add lines, units, facts and tokens of one outline to the parts of a file."""
    # A hunk may begin inside a unit that git names, and that ends before the line `flush`.
    enclosing = _unit_of(outline.section, language) if outline.section.strip() else None
    flush = 0 if enclosing is None else _flush(outline, version, language)

    @cache  # asked for every token, 200,000 times in a large pull request
    def key(index: int, line: int) -> str:
        """Return the qualified name of a unit, given a line in it."""
        name = outline.qualified(index)
        if enclosing is None or line >= flush:
            return name
        is_member = bool(name) and enclosing.kind is Kind.TYPE
        return f"{enclosing.name}.{name}" if is_member else name or enclosing.name

    changed = version.changed
    start, stop = bisect_left(changed, outline.low), bisect_left(changed, outline.high + 1)
    for line, index in outline.owners(changed[start:stop]).items():
        parts[key(index, line)].lines.append(line)
    if enclosing is None:
        parts[""].units.append(outline.units[0])
    elif flush > outline.low:
        parts[enclosing.name].units.append(enclosing)
    for index, unit in enumerate(outline.units):
        owner = index if unit.real else 0
        if owner:
            part = parts[key(index, unit.head)]
            part.units.append(unit)
            part.parent = key(unit.parent, unit.head)
        for fact in unit.facts:
            parts[key(owner, fact.line)].facts.append(fact)
        for line, text in unit.tokens:
            parts[key(owner, line)].tokens.append(text)


def _unit_of(section: str, language: Language) -> Unit | None:
    """Return the declaration that git shows for a hunk that begins inside it."""
    # git cuts the line at 80 bytes (`struct func_line` in
    # https://github.com/git/git/blob/master/xdiff/xemit.c), so the brace that opens the body may be
    # missing.
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


def _flush(outline: Outline, version: Version, language: Language) -> int:
    """Return the first line of a hunk after the unit that began before the hunk."""
    for line in range(outline.low, outline.high + 1):
        text = version.lines.get(line, "")
        if text.rstrip() in {"}", "};", language.closing_word or "}"}:
            return line + 1
        # Comments and directives at the margin may still be inside the unit, except the comment of
        # a declaration.
        if text.startswith((" *", "/**")) or (text[:1].strip() and text[0] not in "}])#/*"):
            return line
    return outline.high + 1


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
    `replaced`, `moved`, `place`, `layout`, `comments` or `changed`."""
    old: UnitPart
    new: UnitPart
    language: str = ""
    """Name of the language whose grammar parsed it; empty if none did."""
    before: str = ""
    """Former name or path of a unit that was renamed, replaced or moved."""
    origin: UnitChange | None = None
    """For a moved unit, the change that removed it from its former file."""
    members: list[Unit] = field(default_factory=list)
    """Units inside this unit that belong to its topic."""
    added: list[int] = field(default_factory=list)
    """Changed lines of the new version that belong to this topic, sorted."""
    removed: list[int] = field(default_factory=list)
    """Changed lines of the old version that belong to this topic, sorted."""
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
        """Declaration of the unit, in the new version if the unit is declared there."""
        return next(iter(self.new.units or self.old.units), None)


def code_of(file: ChangedFile) -> dict[Line, str]:
    """Return the changed lines of a file."""
    return {
        (line.kind is LineKind.ADDED, line.new or line.old or 0): line.text
        for line in file.lines(LineKind.ADDED, LineKind.REMOVED)
    }


def role_of_change(change: UnitChange) -> str:
    """Return the role of a change's file, by its path and content."""
    return "machine" if change.noun in MACHINE_MADE else role_of(change.file.path)


def is_shipped(change: UnitChange) -> bool:
    """Return whether users run the code of a unit, which is then not a test or an example."""
    role = role_of(change.file.path or change.file.old_path or "")
    return change.kind is not Kind.TEST and role in {"code", "config"}
