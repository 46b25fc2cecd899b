"""Reads the code of a change: both versions of each file, once for a whole run.

Claims, verdicts and analyzers share the lines, outlines and completed hunks. Syntax trees are not
kept, because the tree of a Python file takes 28 times the memory of its text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Self

from crscore.diff.ranges import join_ranges
from crscore.records import ChangedFile, Diff, DiffLine, Hunk, LineKind, Side
from crscore.syntax.fragments import Completed, complete
from crscore.syntax.grammars import Language, language_of, languages_known
from crscore.syntax.outline import Outline
from crscore.syntax.outliner import read_outline

MAX_ERRORS = 0.45
"""Maximum share of a hunk that its grammar may fail to read, in unreadable bytes per character. A
hunk above this limit starts inside a string or is in another language, so its outline has only
tokens."""
# The syntax tree of a file of this size takes about 112 MB.
MAX_SOURCE = 4_000_000
"""Maximum number of characters of a file that is parsed in full; of a larger file, only the hunks
are parsed."""

MAX_GUESS_LINES = 120
"""Maximum number of lines that are parsed to guess their language; further lines are ignored."""
MAX_GUESS_CHARACTERS = 20_000
"""Maximum number of characters of code whose language is guessed."""
MAX_GUESS_ERRORS = 0.03
"""Maximum share of code that the grammar of the guessed language may fail to read, in unreadable
bytes per character."""

# Matches "max_tries" and "$scope", but not "+" or "()".
_WORD = re.compile(r"[\w$]+")
_TOKEN = re.compile(r"\w+|[^\w\s]")
# Matches the last comma of "call(\n  a,\n)", which formatters add and remove.
_LAST_COMMA = re.compile(r",(?=\s+[\])}])")


@dataclass(frozen=True, eq=False)
class Block:
    """Changed lines with no unchanged line between them, each with its number and text."""

    removed: list[tuple[int, str]]
    added: list[tuple[int, str]]

    @cached_property
    def added_texts(self) -> frozenset[str]:
        """Distinct texts of the added lines."""
        return frozenset(text for _, text in self.added)


@dataclass(kw_only=True)
class Version:
    """The known lines of one version of a changed file."""

    side: Side
    lines: dict[int, str]
    """Text of each line by its number, for the whole file or for its hunks."""
    changed: list[int]
    """Numbers of the changed lines, in ascending order."""
    file: ChangedFile
    """Parsed diff of the file."""
    is_whole: bool
    """Whether `lines` is the whole file."""
    outlines: list[Outline] = field(default_factory=list)
    """Outline of the whole file, or of each hunk; `ParsedFile.outlined` fills the list."""

    _declared: frozenset[str] | None = None
    """Qualified names that the file declares; None until `declares` has read them."""

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the known text."""
        return frozenset(self.word_text.split())

    @cached_property
    def all_squeezed(self) -> str:
        """The known text without white space (see `squeeze`)."""
        return squeeze("\n".join(self.lines.values()))

    @cached_property
    def word_text(self) -> str:
        """The words of the known text, separated by spaces, to compare prose."""
        return words_of("\n".join(self.lines.values()))

    @cached_property
    def blocks(self) -> dict[int, Block]:
        """The block of each changed line of this version, by line number."""
        block_by_line: dict[int, Block] = {}
        for run in runs_of(self.file):
            block = Block([], [])
            for line in run:
                number, target = (
                    (line.new, block.added) if line.old is None else (line.old, block.removed)
                )
                # A separator at the end of a line is left out, because the last item of a list may
                # gain or lose it.
                target.append((number or 0, line.text.strip().rstrip(",;")))
            own_lines = block.removed if self.side is Side.OLD else block.added
            block_by_line.update((line_number, block) for line_number, _ in own_lines)
        return block_by_line

    def declares(self, name: str, language: Language) -> bool:
        """Return whether the file declares a qualified name; False if only its hunks are known."""
        # A line that the hunks do not show may declare the name.
        if not self.is_whole:
            return False
        if self._declared is None:
            outline = read_outline(language, "\n".join(self.lines.values()))
            self._declared = frozenset(map(outline.qualified, range(len(outline.units))))
        return name in self._declared

    def text_of(self, spans: Sequence[tuple[int, int]]) -> str:
        """Return the known text of the lines in some inclusive ranges."""
        lines = (line for low, high in spans for line in range(low, high + 1))
        return "\n".join(self.lines.get(line, "") for line in lines)


def squeeze(text: str) -> str:
    """Return code without white space and with double quotes, so that its format does not matter.

    A comma before a closing bracket is left out if white space follows the comma, but kept in
    `(x,)`, where it makes a tuple.
    """
    # The slow expression is used only if needed: a large pull request has 200,000 facts to squeeze.
    text = _LAST_COMMA.sub("", text) if "," in text else text
    return "".join(text.split()).replace("'", '"')


def words_of(text: str) -> str:
    """Return only the words of a text, so that prose compares equal despite its line breaks."""
    return " ".join(_WORD.findall(text))


def runs_of(file: ChangedFile) -> Iterator[list[DiffLine]]:
    """Yield the runs of changed lines of a file; an unchanged line or a new hunk ends a run."""
    for hunk in file.hunks:
        for is_context, run in groupby(hunk.lines, key=lambda line: line.kind is LineKind.CONTEXT):
            if not is_context:
                yield list(run)


class ParsedFile:
    """Changed file whose two versions are each read once, on first use.

    Args:
        file: The file.
        language: Language of the file; None if the file is not parsed.
    """

    def __init__(self, file: ChangedFile, language: Language | None) -> None:
        self.file = file
        self.language = language
        self._completed: dict[tuple[int, Side, tuple[str, ...]], Completed] = {}

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the texts of both versions are known and agree with the hunks."""
        old, new = self.file.old_source, self.file.new_source
        lines = self.file.lines()
        needs_old = any(line.kind is not LineKind.ADDED for line in lines)
        needs_new = any(line.kind is not LineKind.REMOVED for line in lines)
        if (needs_old and old is None) or (needs_new and new is None) or old is new is None:
            return False
        if max(len(old or ""), len(new or "")) > MAX_SOURCE:
            return False
        # If a text and the hunks are from different versions, only the hunks are used.
        old_lines, new_lines = (old or "").split("\n"), (new or "").split("\n")
        return all(
            _is_at(old_lines, line.old, line.text) and _is_at(new_lines, line.new, line.text)
            for line in lines
        )

    @cached_property
    def old(self) -> Version:
        """The old version; it has outlines only after `outlined` was read."""
        return self._read_version(Side.OLD)

    @cached_property
    def new(self) -> Version:
        """The new version; it has outlines only after `outlined` was read."""
        return self._read_version(Side.NEW)

    def _read_version(self, side: Side) -> Version:
        """Read one version: the whole file if it is known, otherwise the lines in the hunks."""
        numbered = [
            (number, line)
            for line in self.file.lines(LineKind.CONTEXT, side.changed_kind)
            if (number := line.number_on(side)) is not None
        ]
        return Version(
            side=side,
            lines=dict(enumerate(self.file.source_on(side).split("\n"), start=1))
            if self._is_whole
            else {number: line.text for number, line in numbered},
            changed=[number for number, line in numbered if line.kind is not LineKind.CONTEXT],
            file=self.file,
            is_whole=self._is_whole,
        )

    @cached_property
    def outlined(self) -> tuple[Version, Version]:
        """The old and the new version, with outlines if the file has a language."""
        if self.language is not None and self._is_whole:
            for version in (self.old, self.new):
                if not self.file.lines(LineKind.CONTEXT, version.side.changed_kind):
                    continue
                ranges = (hunk.range_of(version.side) for hunk in self.file.hunks)
                # If a hunk has no lines on this side, its range begins at the line before it.
                reached = ((max(low, 1), max(low + length - 1, low, 1)) for low, length in ranges)
                source, spans = self.file.source_on(version.side), join_ranges(reached, gap=1)
                outline = read_outline(self.language, source, lines=spans)
                outline.low, outline.high = 1, len(version.lines)
                version.outlines.append(outline)
        elif self.language is not None:
            for hunk in self.file.hunks:
                self._outline_hunk(hunk, self.language)
        return self.old, self.new

    def _outline_hunk(self, hunk: Hunk, language: Language) -> None:
        """Add the outlines of both sides of a hunk, or only tokens if the hunk is unreadable."""
        # After `@@`, git shows `import (` if a hunk starts inside of an import list:
        # https://git-scm.com/docs/gitattributes#_defining_a_custom_hunk_header
        above = ("import (",) if language.name == "go" and hunk.section == "import (" else ()
        sides: list[tuple[Version, Outline]] = []
        errors = size = 0
        for version in (self.old, self.new):
            kind = version.side.changed_kind
            texts = [line.text for line in hunk.lines_of(LineKind.CONTEXT, kind)]
            if completed := self.complete_hunk(hunk, version.side, above):
                outline = completed.outline
                outline.section, outline.low = hunk.section, max(hunk.range_of(version.side)[0], 1)
                outline.high = outline.low + len(texts) - 1
                errors, size = errors + outline.errors, size + sum(map(len, texts))
                sides.append((version, outline))
                version.outlines.append(outline)
        # Both sides keep their declarations, or neither side does, because otherwise all code would
        # seem to be added or removed.
        for version, outline in sides if errors > MAX_ERRORS * size else ():
            file_unit = outline.units[0]
            file_unit.facts, lines = [], range(outline.low, outline.high + 1)
            file_unit.tokens = [(n, t) for n in lines for t in _TOKEN.findall(version.lines[n])]
            outline.units[:] = [file_unit]

    def complete_hunk(
        self, hunk: Hunk, side: Side, above: tuple[str, ...] = ()
    ) -> Completed | None:
        """Complete one side of a hunk so that it parses.

        Args:
            hunk: A hunk of the file.
            side: The side to complete.
            above: Lines that are known to precede the hunk.

        Returns:
            The completed lines; None if the language is unknown or the side has no lines.
        """
        key = id(hunk), side, above
        lines = [line.text for line in hunk.lines_of(LineKind.CONTEXT, side.changed_kind)]
        if self.language is None or not lines:
            return None
        if key not in self._completed:
            low = max(hunk.range_of(side)[0], 1)
            self._completed[key] = complete(self.language, [*above, *lines], low - len(above))
        return self._completed[key]


class ParsedChange(Diff, frozen=True, dict=True):
    """Diff that keeps its parsed files.

    `pipeline.run` wraps each diff, so that claims, analyzers and verdicts share the parsed files.
    """

    @classmethod
    def of(cls, diff: Diff) -> Self:
        """Return `diff` if it is already a `ParsedChange`; otherwise wrap it."""
        if isinstance(diff, cls):
            return diff
        return cls(files=diff.files, sha256=diff.sha256, notes=diff.notes)

    # Caches and recordings look up a diff by its content, so parsed files must make no difference.
    def __eq__(self, value: object) -> bool:
        return isinstance(value, Diff) and (self.files, self.sha256, self.notes) == (
            value.files,
            value.sha256,
            value.notes,
        )

    # A class that defines `__eq__` does not inherit `__hash__`:
    # https://docs.python.org/3/reference/datamodel.html#object.__hash__
    __hash__ = Diff.__hash__

    @cached_property
    def parsed_files(self) -> tuple[ParsedFile, ...]:
        """The files, in the order of the diff."""
        return tuple(ParsedFile(file, self._find_language(file)) for file in self.files)

    def _find_language(self, file: ChangedFile) -> Language | None:
        """Return the language of a file; None if it has no grammar."""
        if file.language is None:
            # The language is guessed only for a hunk without a file name: in 900 commits, 21 of 49
            # files with an unknown suffix had a guess, which was right only for snapshots of
            # JavaScript.
            nameless = file.hunks and not file.path
            return guess_language([row.text for row in file.hunks[0].lines]) if nameless else None
        if file.language == "c" and file.path.endswith(".h"):
            text = file.new_source or "\n".join(line.text for line in file.lines())
            paths = [changed.path for changed in self.files]
            return language_of("cpp" if is_cpp_header(text, paths) else "c")
        return language_of(file.language)


def _is_at(lines: list[str], number: int | None, text: str) -> bool:
    if number is None:
        return True
    return 0 < number <= len(lines) and lines[number - 1].rstrip("\r") == text.rstrip("\r")


def guess_language(lines: Sequence[str]) -> Language | None:
    """Return the language whose grammar parses some code best, or None if none parses it well.

    Args:
        lines: Lines of a hunk.
    """
    tried = lines[:MAX_GUESS_LINES]
    size = sum(map(len, tried))
    if not 0 < size <= MAX_GUESS_CHARACTERS:
        return None
    best: tuple[float, float, int] | None = None
    best_language: Language | None = None
    for language in languages_known():
        outline = complete(language, tried, 1).outline
        share, information = outline.errors / size, _measure_information(outline)
        # JavaScript also parses as TypeScript, and C as C++. Rounding makes their shares of errors
        # equal, so that the information and then the precedence decide.
        rank = (round(share, 3), -information, language.precedence)
        # Prose such as "It's odd." can parse as names; text without a declaration or a fact is not
        # code.
        is_code = share <= MAX_GUESS_ERRORS and information > 0
        if is_code and (best is None or rank < best):
            best, best_language = rank, language
    return best_language


def _measure_information(outline: Outline) -> float:
    """Return the facts per token, to one decimal; a declaration counts as three facts."""
    units = outline.units
    tokens = sum(len(unit.tokens) for unit in units)
    count = sum(len(unit.facts) for unit in units) + 3 * (len(units) - 1)
    return round(count / tokens, 1) if tokens else 0.0


# Matches "class A {", "namespace n {", "public:", "std::" and "#include <vector>", but not C's
# "#include <stdio.h>" or "struct class *f(struct class *class);", where `class` is a name.
_CPP_ONLY = re.compile(
    # Repetition is bounded, because a hostile line may consist only of these words.
    r"(?<!struct )\bclass\s+\w[^;\n]{0,300}[;{<:]"
    r"|\b(?:namespace|template|typename|constexpr|nullptr|noexcept|decltype|using)\b"
    r"[^;\n]{0,300}[;{<:]"
    r"|\b(?:public|private|protected)\s*:|\bstd::|\boperator\s*[<>=!+*()-]|^[^\S\n]*#\s*include\s*<[a-z_]+>",
    re.MULTILINE,
)
# Matches "src/a.cpp" and "a.hh", but not "a.h", which may be C.
_CPP_FILE = re.compile(r"\.(?:cc|cpp|cxx|hpp|hh|hxx|ipp|inl)$")
# The last alternative matches a line of a comment that starts above the known part of the header.
_COMMENTS = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|^[^\S\n]*\*[^\n]*", re.DOTALL | re.MULTILINE)


def is_cpp_header(text: str, paths: Sequence[str]) -> bool:
    """Return whether a `.h` file is C++, by its content or else by the other changed files.

    Args:
        text: Text of the header, or the known part of it.
        paths: Paths of all changed files.
    """
    if _CPP_ONLY.search(_COMMENTS.sub("", text[:MAX_GUESS_CHARACTERS])):
        return True
    has_c = any(path.endswith(".c") for path in paths)
    return not has_c and any(_CPP_FILE.search(path) for path in paths)
