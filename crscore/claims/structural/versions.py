"""Both versions of a changed file, and the units that each changed line belongs to."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from crscore.diff.ranges import join_ranges
from crscore.records import ChangedFile, DiffLine, Hunk, LineKind, Side
from crscore.syntax.fragments import complete
from crscore.syntax.grammars import Language
from crscore.syntax.outline import Fact, Kind, Outline, Unit
from crscore.syntax.reader import read

MAX_ERRORS = 0.45
"""Bytes of a hunk that its grammar cannot read, as a share of its characters, from which nothing of
it is read: it begins inside a text, or is another language."""
MAX_SOURCE = 4_000_000
"""Characters of a whole file that are parsed; of a larger one only the hunks are."""

_WORD = re.compile(r"[\w$]+")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_LAST_COMMA = re.compile(r",(?=\s+[\])}])")
_SPACES = re.compile(r"\s+")


class Piece(NamedTuple):
    """Outline of a whole file, or of one hunk."""

    outline: Outline
    section: str
    """What git prints after the second `@@`; "" for a whole file."""
    low: int
    """First line."""
    high: int
    """Last line, inclusive."""


@dataclass(frozen=True, eq=False)
class Block:
    """Changed lines with no unchanged line between them: number and text."""

    removed: list[tuple[int, str]]
    added: list[tuple[int, str]]

    @cached_property
    def added_texts(self) -> frozenset[str]:
        """Distinct texts of the added lines."""
        return frozenset(text for _, text in self.added)


@dataclass(kw_only=True)
class Version:
    """One version of a changed file, as far as it is known."""

    side: Side
    lines: dict[int, str]
    """Text by line number: of the whole file, or of the hunks."""
    changed: list[int]
    """Changed lines, sorted."""
    file: ChangedFile
    """The changed file."""
    is_whole: bool
    """Whether `lines` is the whole file."""
    outlines: list[Piece] = field(default_factory=list)
    """Outline of the whole file, or of each hunk."""

    _declared: frozenset[str] | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the known text."""
        return frozenset(word for line in self.lines.values() for word in _WORD.findall(line))

    @cached_property
    def all_squeezed(self) -> str:
        """The known text, squeezed."""
        return squeeze("\n".join(self.lines.values()))

    @cached_property
    def word_text(self) -> str:
        """The words of the known text, for comparing prose."""
        return words_of("\n".join(self.lines.values()))

    @cached_property
    def blocks(self) -> dict[int, Block]:
        """The block of each changed line of this version."""
        block_by_line: dict[int, Block] = {}
        for run in runs_of(self.file):
            block = Block([], [])
            for line in run:
                number, target = (
                    (line.new, block.added) if line.old is None else (line.old, block.removed)
                )
                target.append((number or 0, line.text.strip().rstrip(",;")))
            own_lines = block.removed if self.side is Side.OLD else block.added
            block_by_line.update((line_number, block) for line_number, _ in own_lines)
        return block_by_line

    def declares(self, name: str, language: Language) -> bool:
        """Return whether a file declares a qualified name; False where only hunks are known."""
        if not self.is_whole:
            return False
        if self._declared is None:
            outline = read(language, "\n".join(self.lines.values()))
            self._declared = frozenset(map(outline.qualified, range(len(outline.units))))
        return name in self._declared

    def squeezed(self, spans: Sequence[tuple[int, int]]) -> str:
        """Return the known text of some lines, squeezed."""
        return squeeze("\n".join(self._texts(spans)))

    def words_in(self, spans: Sequence[tuple[int, int]]) -> frozenset[str]:
        """Return the words of some lines."""
        return frozenset(word for text in self._texts(spans) for word in _WORD.findall(text))

    def _texts(self, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
        return (
            self.lines.get(line_number, "")
            for low, high in spans
            for line_number in range(low, high + 1)
        )


def squeeze(text: str) -> str:
    """Return code without what does not change its meaning: layout and kind of quotes.

    The comma before a closing bracket is layout on lines of their own; in `(x,)` it is not.
    """
    return _SPACES.sub("", _LAST_COMMA.sub("", text)).replace("'", '"')


def words_of(text: str) -> str:
    """Return only the words of a text, for comparing prose whatever its line breaks and markers."""
    return " ".join(_WORD.findall(text))


def runs_of(file: ChangedFile) -> Iterator[list[DiffLine]]:
    """Yield the changed lines of a file that have no unchanged line between them."""
    for hunk in file.hunks:
        for is_context, run in groupby(hunk.lines, key=lambda line: line.kind is LineKind.CONTEXT):
            if not is_context:
                yield list(run)


def versions_of(file: ChangedFile, language: Language | None) -> tuple[Version, Version]:
    """Read both versions of a file; without a language nothing is parsed."""
    whole = _sources_fit(file)
    old, new = (_version(file, language, side, whole=whole) for side in (Side.OLD, Side.NEW))
    if language is not None and not whole:
        _read_hunks(file, language, old, new)
    return old, new


def _version(file: ChangedFile, language: Language | None, side: Side, *, whole: bool) -> Version:
    old = side is Side.OLD
    kind = LineKind.REMOVED if old else LineKind.ADDED
    numbered = [
        (number, line)
        for line in file.lines(LineKind.CONTEXT, kind)
        if (number := line.old if old else line.new) is not None
    ]
    source = (file.old_source if old else file.new_source) or ""
    if whole:
        lines = dict(enumerate(source.split("\n"), start=1))
    else:
        lines = {number: line.text for number, line in numbered}
    version = Version(
        side=side,
        lines=lines,
        changed=[number for number, line in numbered if line.kind is not LineKind.CONTEXT],
        file=file,
        is_whole=whole,
    )
    if whole and language is not None and numbered:
        spans = join_ranges((_reach(hunk, old=old) for hunk in file.hunks), gap=1)
        outline = read(language, source, lines=spans)
        version.outlines.append(Piece(outline, "", 1, len(lines)))
    return version


def _read_hunks(file: ChangedFile, language: Language, old: Version, new: Version) -> None:
    """Add the outlines of the hunks; of an unreadable one the tokens alone."""
    for hunk in file.hunks:
        # git names the list of imports that a hunk begins in.
        above = ["import ("] if language.name == "go" and hunk.section == "import (" else []
        pieces: list[tuple[Version, Piece]] = []
        errors = size = 0
        for version, kind in ((old, LineKind.REMOVED), (new, LineKind.ADDED)):
            texts = [line.text for line in hunk.lines_of(LineKind.CONTEXT, kind)]
            if texts:
                low = max(hunk.old_start if version is old else hunk.new_start, 1)
                outline = complete(language, [*above, *texts], low - len(above)).outline
                errors, size = errors + outline.errors, size + sum(map(len, texts))
                piece = Piece(outline, hunk.section, low, low + len(texts) - 1)
                pieces.append((version, piece))
                version.outlines.append(piece)
        for version, piece in pieces if errors > MAX_ERRORS * size else ():
            file_unit = piece.outline.units[0]
            file_unit.facts, lines = [], range(piece.low, piece.high + 1)
            file_unit.tokens = [(n, t) for n in lines for t in _TOKEN.findall(version.lines[n])]
            piece.outline.units[:] = [file_unit]


def _reach(hunk: Hunk, *, old: bool) -> tuple[int, int]:
    """Return a hunk's lines on one side, with the line before an insertion without context."""
    start, length = (hunk.old_start, hunk.old_length) if old else (hunk.new_start, hunk.new_length)
    return (max(start, 1), max(start + length - 1, start, 1))


def _sources_fit(file: ChangedFile) -> bool:
    """Return whether the sources are known and agree with the hunks."""
    old, new = file.old_source, file.new_source
    lines = file.lines()
    needs_old = any(line.kind is not LineKind.ADDED for line in lines)
    needs_new = any(line.kind is not LineKind.REMOVED for line in lines)
    if (needs_old and old is None) or (needs_new and new is None) or (old is None and new is None):
        return False
    if max(len(old or ""), len(new or "")) > MAX_SOURCE:
        return False
    old_lines, new_lines = (old or "").split("\n"), (new or "").split("\n")
    return all(
        _is_at(old_lines, line.old, line.text) and _is_at(new_lines, line.new, line.text)
        for line in lines
    )


def _is_at(lines: list[str], number: int | None, text: str) -> bool:
    if number is None:
        return True
    return 0 < number <= len(lines) and lines[number - 1].rstrip("\r") == text.rstrip("\r")


@dataclass(slots=True, kw_only=True)
class Part:
    """What one version says about one unit: its declarations (overloads are one) and lines."""

    units: list[Unit] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """Changed lines that belong to it and to no unit inside it, sorted."""
    facts: list[Fact] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    parent: str = ""
    """Name of the unit around it; "" for the file."""

    @property
    def is_declared_in_change(self) -> bool:
        """Whether every declaration begins on a changed line."""
        changed = set(self.lines)
        return bool(self.units) and all(unit.head in changed for unit in self.units)


def parts_of(version: Version, language: Language) -> dict[str, Part]:
    """Return the parts of a version by the qualified name of their unit; "" is the file."""
    parts: dict[str, Part] = {}
    for piece in version.outlines:
        _Reader(piece, version, language).read_into(parts)
    return parts


class _Reader:
    """Reader of one outline, which may begin inside a unit that git names (`around`)."""

    def __init__(self, piece: Piece, version: Version, language: Language) -> None:
        self.outline = piece.outline
        self.version = version
        self.low, self.high = piece.low, piece.high
        self.around = _unit_of(piece.section, language) if piece.section.strip() else None
        self.flush = _flush(piece, version, language) if self.around is not None else 0

    def read_into(self, parts: dict[str, Part]) -> None:
        """Add lines, units, facts and tokens to the parts of a file."""
        changed = self.version.changed
        start, stop = bisect_left(changed, self.low), bisect_left(changed, self.high + 1)
        for line, index in self.outline.owners(changed[start:stop]).items():
            parts.setdefault(self._key(index, line), Part()).lines.append(line)
        for index, unit in enumerate(self.outline.units):
            owner = index if unit.real else 0
            if index == 0:
                self._add_outer(parts)
            elif owner:
                part = parts.setdefault(self._key(index, unit.head), Part())
                part.units.append(unit)
                part.parent = self._key(unit.parent, unit.head)
            for fact in unit.facts:
                parts.setdefault(self._key(owner, fact.line), Part()).facts.append(fact)
            for line, text in unit.tokens:
                parts.setdefault(self._key(owner, line), Part()).tokens.append(text)

    def _add_outer(self, parts: dict[str, Part]) -> None:
        """Add the file, or the unit that git names, as the unit around all others."""
        if self.around is None:
            parts.setdefault("", Part()).units.append(self.outline.units[0])
        elif self.flush > self.low:
            parts.setdefault(self.around.name, Part()).units.append(self.around)

    def _key(self, index: int, line: int) -> str:
        """Return the qualified name of a unit that has a line."""
        name = self.outline.qualified(index)
        if self.around is None or line >= self.flush:
            return name
        if not name:
            return self.around.name
        return f"{self.around.name}.{name}" if self.around.kind is Kind.TYPE else name


def _unit_of(section: str, language: Language) -> Unit | None:
    """Return the declaration that git shows for a hunk that begins inside it."""
    # git cuts the line, so the brace that opens the body may be missing.
    # In C the type of a function may be on the line above.
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


def _flush(piece: Piece, version: Version, language: Language) -> int:
    """Return the first line of a hunk that is outside of what began before the hunk."""
    for line in range(piece.low, piece.high + 1):
        text = version.lines.get(line, "")
        if text.rstrip() in {"}", "};", language.closing_word or "}"}:
            return line + 1
        # Comments and directives at the margin may still be inside, but not those of a declaration.
        if text.startswith((" *", "/**")) or (text[:1].strip() and text[0] not in "}])#/*"):
            return line
    return piece.high + 1
