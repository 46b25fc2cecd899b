"""Findings of the new file that continue a finding of the old one."""

from __future__ import annotations

import bisect
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from crscore.records import ChangedFile, DiffLine, Finding, LineKind, Side

Key = Callable[["_Version", Finding], Hashable]

# A single bracket counts as unchanged wherever the differ aligns one.
_LETTER = re.compile(r"\w")
_NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b")

_NEIGHBOUR_DISTANCE = 8
"""Number of lines within which neighbours are searched."""


def find_continued(
    file: ChangedFile,
    new: Sequence[Finding],
    old: Sequence[Finding],
    sources: tuple[Sequence[str], Sequence[str]],
) -> list[Finding | None]:
    """Pair each new finding with the old finding that it continues; each is used once.

    A finding continues where its line is unchanged, was indented or moved together with a
    neighbour, or was edited and has the same message; and where its block continues after a new
    first line. The same code or message elsewhere is another defect.

    Args:
        file: The changed file.
        new: Findings in its new version.
        old: Findings in its old version.
        sources: The lines of the old and of the new version.

    Returns:
        For each new finding, the old one or None.
    """
    edits = _edits(file)
    before = _Version(sources[0], edits[Side.OLD], None)
    after = _Version(sources[1], edits[Side.NEW], Moves(file))
    matches: list[Finding | None] = [None] * len(new)
    is_used = [False] * len(old)
    for key_of in _PASSES:
        waiting: dict[tuple[str, Hashable], list[int]] = defaultdict(list)
        for index, finding in reversed(list(enumerate(old))):
            if not is_used[index]:
                waiting[finding.rule, key_of(before, finding)].append(index)
        for index, finding in enumerate(new):
            key = (finding.rule, key_of(after, finding))
            if matches[index] is None and key[1] is not None and waiting[key]:
                match = waiting[key].pop()
                matches[index], is_used[match] = old[match], True
    return matches


class _Edit(NamedTuple):
    """Position of an added or a removed line among the edits."""

    segment: int
    """Number of its segment; unchanged code separates segments."""
    pair: tuple[int, int] | None
    """Identity of the line of the other version that it replaces, where lines were replaced one by
    one."""


def _is_context(line: DiffLine) -> bool:
    return line.kind is LineKind.CONTEXT


def _edits(file: ChangedFile) -> dict[Side, dict[int, _Edit]]:
    edits: dict[Side, dict[int, _Edit]] = {Side.OLD: {}, Side.NEW: {}}
    segment = run = 0
    for hunk in file.hunks:
        segment += 1
        for unchanged, group in itertools.groupby(hunk.lines, _is_context):
            lines = list(group)
            if unchanged:
                segment += any(_LETTER.search(line.text) for line in lines)
                continue
            run += 1
            removed = [line.old for line in lines if line.old]
            added = [line.new for line in lines if line.new]
            is_one_by_one = len(removed) == len(added)
            for side, line_numbers in ((Side.OLD, removed), (Side.NEW, added)):
                for index, line_number in enumerate(line_numbers):
                    pair = (run, index) if is_one_by_one else None
                    edits[side][line_number] = _Edit(segment, pair)
    return edits


class _Version:
    """Version of a file, with keys for the surroundings of a finding that both versions share.

    Each key is None where it does not apply.
    """

    def __init__(
        self, lines: Sequence[str], edits: Mapping[int, _Edit], moves: Moves | None
    ) -> None:
        self.codes = [" ".join(line.split()) for line in lines]
        self.indents = [indent_of(line) for line in lines]
        self.edits = edits
        self.moves = moves
        self.definitions = Definitions(lines)
        # By line: the number of code lines above, the number of unchanged ones among them, and the
        # next unchanged one.
        self.code, self.kept, self.next = [0], [0], [len(lines) + 1]
        for line_number, code in enumerate(self.codes, 1):
            self.code.append(self.code[-1] + bool(code))
            self.kept.append(self.kept[-1] + (bool(code) and line_number not in edits))
        for line_number in range(len(lines), 0, -1):
            is_kept = self.kept[line_number] > self.kept[line_number - 1]
            self.next.append(line_number if is_kept else self.next[-1])
        self.next.reverse()

    def unchanged(self, finding: Finding) -> Hashable:
        """Return the line number in the old version."""
        is_edited = finding.line < 1 or finding.line in self.edits
        return None if is_edited else self._before(finding.line)

    def indented(self, finding: Finding) -> Hashable:
        """Return the code, where both versions of it are in one segment and one definition."""
        edit = self.edits.get(finding.line)
        if not edit:
            return None
        return edit.segment, self.definitions.around(finding.line), self._code(finding.line)

    def moved(self, finding: Finding) -> Hashable:
        """Return the code with its neighbours, at least one of which must have moved along."""
        line = finding.line
        sides = self._neighbour(line, -1), self._neighbour(line, 1)
        return (self._code(line), sides) if line in self.edits and any(sides) else None

    def replaced(self, finding: Finding) -> Hashable:
        """Return the message, where a line replaced another."""
        edit = self.edits.get(finding.line)
        return (edit.pair, self._message_key(finding)) if edit and edit.pair else None

    def edited(self, finding: Finding) -> Hashable:
        """Return the message, in one segment and definition, for lines without counterparts."""
        edit = self.edits.get(finding.line)
        if not edit or edit.pair:
            return None
        return edit.segment, self.definitions.around(finding.line), _words(finding.text)

    def block(self, finding: Finding) -> Hashable:
        """Return the first unchanged line of a block with a new first line; half must remain."""
        line, end = finding.line, min(finding.end_line, len(self.codes))
        if line not in self.edits or end <= line:
            return None
        n_kept = self.kept[end] - self.kept[line - 1]
        # Additions do not make a block another one.
        n_lost = self.code[end] - self.code[line - 1] - n_kept if self.moves is None else 0
        if not n_kept or n_lost > n_kept:
            return None
        return self._before(self.next[line - 1]), self._message_key(finding)

    def file(self, finding: Finding) -> Hashable:
        """Return the message, for a finding on the whole file."""
        return _words(finding.text) if finding.line < 1 else None

    def _before(self, line: int) -> int | None:
        return line if self.moves is None else self.moves.before(line)

    def _message_key(self, finding: Finding) -> str:
        """Return the message without the name of the definition that it is about."""
        name = self.definitions.starting_at(finding.line)
        # The severity of a whole definition may be in words: "very high risk".
        return "" if name and finding.end_line > finding.line else _words(finding.text, name)

    def _neighbour(self, line: int, step: int) -> str:
        """Return the code before or after in the same block; "" where it ends or changed."""
        indent, neighbour = self._indent(line), line + step
        while abs(neighbour - line) < _NEIGHBOUR_DISTANCE and not self._code(neighbour):
            neighbour += step
        if neighbour not in self.edits or self._indent(neighbour) < indent:
            return ""
        is_far = neighbour != line + step
        is_other_block = is_far and (not indent or self._indent(neighbour) > indent)
        return "" if is_other_block else self._code(neighbour)

    def _indent(self, line: int) -> int:
        return self.indents[line - 1] if 0 < line <= len(self.indents) else 0

    def _code(self, line: int) -> str:
        return self.codes[line - 1] if 0 < line <= len(self.codes) else ""


_PASSES: tuple[Key, ...] = (
    _Version.unchanged,
    _Version.indented,
    _Version.moved,
    _Version.replaced,
    _Version.edited,
    _Version.block,
    _Version.file,
)


def _words(text: str, name: str = "") -> str:
    """Remove measures and the name of a definition; other names are part of the meaning."""
    parts = text.split("`")
    for index, part in enumerate(parts):
        if index % 2 == 0:
            parts[index] = _NUMBER.sub("", part)
        elif name and re.split(r"\W+", part.partition("(")[0])[-1] == name:
            parts[index] = ""
    return "`".join(parts)


class Moves:
    """Mapping from the unchanged lines of the new file to the old one."""

    def __init__(self, file: ChangedFile) -> None:
        self.inside = {line.new: line.old for line in file.lines() if line.new}
        # The first line after each hunk, and its offset in the old file. An empty side has the
        # number of the line before it.
        self.after_hunks = [
            (
                hunk.new_start + (hunk.new_length or 1),
                hunk.old_start + (hunk.old_length or 1) - hunk.new_start - (hunk.new_length or 1),
            )
            for hunk in file.hunks
        ]
        self.starts = [start for start, _ in self.after_hunks]

    def before(self, line: int) -> int | None:
        """Return the line number in the old file; None for an added line."""
        if line in self.inside:
            return self.inside[line]
        index = bisect.bisect_right(self.starts, line) - 1
        return line + (self.after_hunks[index][1] if index >= 0 else 0)


_WORD = re.compile(r"\w+")
_HEAD = re.compile(r"[({:=<]|\b(?:extends|implements)\b")
_COMMENT = ("#", "//", "/*", "*")
_TRAILING = re.compile(r"\s(?:#|//).*")
_JOINS = (")", "]", "}", "{")
_CONTROL = re.compile(
    r"(?:async\s+)?(?:if|elif|else|for|foreach|while|do|loop|try|except|catch|finally|with|using|switch"
    r"|case|default|match|when|unless|synchronized|lock|return|await|yield|throw|new)\b"
)


class Definitions:
    """Definitions of a file, in any language with indentation.

    A definition is a line that opens a block with `:` or `{` and does not begin with a control-flow
    keyword. A call with a function argument (`on("x", () => {`) opens none.

    Example:
        >>> definitions = Definitions(["class A:", "  def f(self):", "    if x:", "      y()"])
        >>> definitions.around(4), definitions.starting_at(2), definitions.starting_at(3)
        ('f', 'f', '')
    """

    def __init__(self, lines: Sequence[str]) -> None:
        # Every line begins a statement except continuations: `):`, `} else {`.
        self._first: list[int] = []
        self._heads: list[str] = []
        self._names: list[str] = []
        self._parents: list[int | None] = []
        self._of_line: list[int | None] = []
        self._read(lines)
        self._around: list[str] = []
        for name, parent in zip(self._names, self._parents, strict=True):
            self._around.append(name or ("" if parent is None else self._around[parent]))

    def around(self, line: int) -> str:
        """Return the definition that contains or begins on a line; "" for none."""
        statement = self._statement(line)
        return "" if statement is None else self._around[statement]

    def starting_at(self, line: int) -> str:
        """Return the definition that begins on a line; "" for none."""
        statement = self._statement(line)
        return "" if statement is None or self._first[statement] != line else self._names[statement]

    def _statement(self, line: int) -> int | None:
        return self._of_line[line - 1] if 0 < line <= len(self._of_line) else None

    def _read(self, lines: Sequence[str]) -> None:
        opened: list[tuple[int, int]] = []
        for line_number, line in enumerate(lines, 1):
            code = _TRAILING.sub("", line.strip()).rstrip()
            if not code or code.startswith(_COMMENT):
                self._of_line.append(opened[-1][1] if opened else None)
                continue
            indent = indent_of(line)
            while opened and opened[-1][0] > indent:
                opened.pop()
            is_next = bool(opened) and opened[-1][0] == indent
            if not (is_next and code.startswith(_JOINS)):
                del opened[len(opened) - is_next :]
                parent = opened[-1][1] if opened else None
                opened.append((indent, self._begin(line_number, code, parent)))
            statement = opened[-1][1]
            self._of_line.append(statement)
            is_call = code.count("(") > code.count(")")
            if code.endswith((":", "{")) and not is_call:
                self._names[statement] = _name(self._heads[statement])

    def _begin(self, line_number: int, code: str, parent: int | None) -> int:
        self._first.append(line_number)
        self._heads.append(code)
        self._names.append("")
        self._parents.append(parent)
        return len(self._first) - 1


def indent_of(line: str) -> int:
    """Return the number of columns before the code of a line."""
    wide = line.expandtabs()
    return len(wide) - len(wide.lstrip())


def _name(head: str) -> str:
    words = _WORD.findall(_HEAD.split(head, maxsplit=1)[0])
    return "" if not words or _CONTROL.match(head.lstrip("}]) ")) else words[-1]
