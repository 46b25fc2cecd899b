"""Data about the changed units of a file: their parts in both versions, and their changes."""

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
    """One unit in one version of a file."""

    units: list[Unit] = field(default_factory=list)
    """Declarations of the unit; overloads are several declarations of one unit."""
    lines: list[int] = field(default_factory=list)
    """Numbers of the unit's changed lines, sorted, without those of units inside it."""
    facts: list[Fact] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    parent: str = ""
    """Qualified name of the enclosing unit; "" if it is the file."""

    @property
    def is_declared_in_change(self) -> bool:
        """Whether every declaration begins on a changed line."""
        changed = set(self.lines)
        return bool(self.units) and all(unit.head in changed for unit in self.units)


def parts_of(version: Version, language: Language) -> dict[str, UnitPart]:
    """Return each unit's part of a version, keyed by the unit's qualified name; "" is the file."""
    parts: defaultdict[str, UnitPart] = defaultdict(UnitPart)
    for outline in version.outlines:
        _add_parts(parts, outline, version, language)
    return dict(parts)


def _add_parts(
    parts: defaultdict[str, UnitPart], outline: Outline, version: Version, language: Language
) -> None:
    """Add the lines, units, facts and tokens of one outline to the parts of a file."""
    # If a hunk begins inside a unit, git names the unit in the hunk's header. The unit ends before
    # the line `end`.
    enclosing = _parse_section(outline.section, language) if outline.section.strip() else None
    end = 0 if enclosing is None else _find_end(outline, version, language)

    @cache  # called for every token, 200,000 times in a large pull request
    def key(index: int, line: int) -> str:
        """Return the qualified name of a unit, given its index and one of its lines."""
        name = outline.qualified(index)
        if enclosing is None or line >= end:
            return name
        is_member = bool(name) and enclosing.kind is Kind.TYPE
        return f"{enclosing.name}.{name}" if is_member else name or enclosing.name

    changed = version.changed
    start, stop = bisect_left(changed, outline.low), bisect_left(changed, outline.high + 1)
    for line, index in outline.owners(changed[start:stop]).items():
        parts[key(index, line)].lines.append(line)
    if enclosing is None:
        parts[""].units.append(outline.units[0])
    elif end > outline.low:
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


def _parse_section(section: str, language: Language) -> Unit | None:
    """Return the declaration that git shows in a hunk's header, or None if it cannot be parsed."""
    # git cuts the declaration at 80 bytes (`struct func_line` in
    # https://github.com/git/git/blob/master/xdiff/xemit.c), so its opening brace may be missing. In
    # C, the type of a function may be on the line before.
    typed = ("void " + section.rstrip(" {") + " {") if language.name in {"c", "cpp"} else section
    for text in (section, section.rstrip(" {") + " {", typed):
        units = complete(language, [text], 1).outline.units
        real = [unit for unit in units[1:] if unit.real]
        if real:
            unit = real[-1]
            # The declaration is not part of the hunk, so its lines are unknown.
            unit.start = unit.end = unit.head = 0
            unit.facts.clear()
            return unit
    return None


def _find_end(outline: Outline, version: Version, language: Language) -> int:
    """Return the number of the first line after the unit in which a hunk begins."""
    for line in range(outline.low, outline.high + 1):
        text = version.lines.get(line, "")
        if text.rstrip() in {"}", "};", language.closing_word or "}"}:
            return line + 1
        # Code without indentation ends the unit. Comments and directives without indentation may be
        # inside the unit, except the documentation comment of the next declaration.
        if text.startswith((" *", "/**")) or (text[:1].strip() and text[0] not in "}])#/*"):
            return line
    return outline.high + 1


@dataclass(slots=True, kw_only=True)
class UnitChange:
    """Change of one unit of a file: a topic of the claims."""

    file: ChangedFile
    name: str
    """Qualified name of the unit; "" for the file itself."""
    kind: Kind
    noun: str
    """Noun for the unit in sentences, such as "function"."""
    state: str
    """`new`, `removed`, `overload` (one more declaration of a name), `less` (one fewer), `renamed`,
    `replaced`, `moved`, `place`, `layout`, `comments` or `changed`."""
    old: UnitPart
    """The unit in the old version; empty for a new unit."""
    new: UnitPart
    """The unit in the new version; empty for a removed unit."""
    language: str = ""
    """Name of the language whose grammar parsed the file; "" if the file was not parsed."""
    before: str = ""
    """Former name or path of a unit that was renamed, replaced or moved; "" for other units."""
    origin: UnitChange | None = None
    """For a unit that moved, the change that removed the unit from its former file."""
    members: list[Unit] = field(default_factory=list)
    """Units inside this unit that have no topic of their own."""
    added: list[int] = field(default_factory=list)
    """Numbers of the topic's changed lines in the new version, sorted."""
    removed: list[int] = field(default_factory=list)
    """Numbers of the topic's changed lines in the old version, sorted."""
    similar: list[UnitChange] = field(default_factory=list)
    """Changes of other units that changed in the same way and belong to this topic."""
    lines_outside: frozenset[Line] = frozenset()
    """Changed lines of this topic that are outside of the unit, such as imports of its file."""

    @property
    def short_name(self) -> str:
        """Name of the unit without the names of enclosing units; "" if it is not declared."""
        return self.unit.name.rpartition(".")[2] if self.unit is not None else ""

    @property
    def size(self) -> int:
        """Number of changed lines of the topic, without similar units."""
        return len(self.added) + len(self.removed)

    @property
    def displayed_size(self) -> int:
        """Number of lines that a sentence names: all lines of a new or removed unit."""
        units = (self.new if self.state == "new" else self.old).units
        if self.state in {"new", "removed"} and self.name and self.noun != "tests":
            return sum(unit.end - unit.start + 1 for unit in units if unit.name)
        return self.size - len(self.lines_outside) + sum(change.size for change in self.similar)

    @property
    def unit(self) -> Unit | None:
        """First declaration of the unit, in the new version if possible; None if there is none."""
        return next(iter(self.new.units or self.old.units), None)


def code_of(file: ChangedFile) -> dict[Line, str]:
    """Return the text of each changed line of a file."""
    return {
        (line.kind is LineKind.ADDED, line.new or line.old or 0): line.text
        for line in file.lines(LineKind.ADDED, LineKind.REMOVED)
    }


def role_of_change(change: UnitChange) -> str:
    """Return the role of a change's file, such as "code", from its path and content."""
    return "machine" if change.noun in MACHINE_MADE else role_of(change.file.path)


def is_shipped(change: UnitChange) -> bool:
    """Return whether users run the code of a unit, unlike that of a test or an example."""
    role = role_of(change.file.path or change.file.old_path or "")
    return change.kind is not Kind.TEST and role in {"code", "config"}
