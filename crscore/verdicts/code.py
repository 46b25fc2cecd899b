"""Both versions of a change as searchable code, and the rest of the repository."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

from crscore.records import Diff, LineSpan, Side
from crscore.syntax.change import ParsedChange, Version
from crscore.syntax.grammars import Language
from crscore.syntax.outline import Unit
from crscore.syntax.reader import parse_text, read

LINES_BELOW: Final = 2
"""Number of lines read below a line: a decorator or a comment is above its declaration."""
MAX_FILES: Final = 200
"""Maximum number of files of a change that are read."""


class SourceLine(NamedTuple):
    """Line of one version of a file."""

    text: "FileText"
    number: int

    @property
    def code(self) -> str:
        """Text of the line."""
        return self.text.lines[self.number].removesuffix("\r")

    @property
    def span(self) -> LineSpan:
        """The line as the proof of a receipt."""
        text, number = self.text, self.number
        return LineSpan(path=text.path, side=text.side, start=number, end=number)


@dataclass(eq=False)
class FileText:
    """One version of a file."""

    version: Version
    language: Language | None

    @property
    def path(self) -> str:
        """Path of the file in this version."""
        return self.version.file.path_on(self.side)

    @property
    def side(self) -> Side:
        """The version."""
        return self.version.side

    @property
    def lines(self) -> dict[int, str]:
        """Known lines by number."""
        return self.version.lines

    @cached_property
    def _source(self) -> str:
        return "\n".join(self.lines.values())

    @cached_property
    def _root(self) -> Any:
        return parse_text(self.language, self._source) if self.language else None

    def nodes_named(self, name: str) -> Iterator[tuple[SourceLine, Any]]:
        """Yield the lines that contain a name, each with the name's node in the syntax tree.

        The file must be fully known. Without a grammar, the node is None.
        """
        if name not in self.version.words:
            return
        word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
        for row, (number, line) in enumerate(self.lines.items()):
            for match in word.finditer(line):
                columns = (len(line[:end].encode("utf-8", "replace")) for end in match.span())
                start, end = ((row, column) for column in columns)
                root = self._root
                node = root.descendant_for_point_range(start, end) if root is not None else None
                yield SourceLine(self, number), node

    def unit_at(self, line: int) -> Unit | None:
        """Return the innermost declaration around a line; None without a grammar or the full file.

        Only the lines next to it are read.
        """
        if self.language is None or not self.version.is_whole:
            return None
        nearby = [(line, line + LINES_BELOW)]
        units = read(self.language, self._source, lines=nearby, root=self._root).units[1:]
        around = [unit for unit in units if unit.real and unit.start <= line <= unit.end]
        return around[-1] if around else None


class RestOfRepository(Protocol):
    """Files of the repository that a change does not touch."""

    @property
    def is_whole(self) -> bool:
        """Whether all these files are known."""
        ...

    def has_path(self, path: str) -> bool:
        """Return whether a file or a folder has a path."""
        ...

    def texts_with(self, words: Sequence[str], diff: Diff) -> list[FileText] | None:
        """Return the files that have all of some words; None if there are too many."""
        ...


class Code:
    """Both versions of all files of a change, and the rest of its repository if it is known."""

    def __init__(self, diff: Diff, repository: RestOfRepository | None = None) -> None:
        self.diff = diff
        self.repository = repository
        self._files: list[tuple[FileText, FileText]] = []
        for parsed in ParsedChange.of(diff).parsed_files[:MAX_FILES]:
            if parsed.file.hunks:
                old, new = (FileText(text, parsed.language) for text in (parsed.old, parsed.new))
                self._files.append((old, new))

    @property
    def is_everything(self) -> bool:
        """Whether the new version of the whole repository is known."""
        return (
            self.repository is not None
            and self.repository.is_whole
            and len(self.diff.files) <= MAX_FILES
            and all(new.version.is_whole for _, new in self._files)
        )

    def texts(self, side: Side) -> list[FileText]:
        """Return the texts of one side."""
        return [new if side is Side.NEW else old for old, new in self._files]
