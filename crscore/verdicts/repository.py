"""Code that remarks are checked against: both versions of a change, and its repository."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from crscore.diff import checkout
from crscore.diff.languages import language_of
from crscore.records import ChangedFile, Diff, FileStatus, Side
from crscore.syntax import grammars
from crscore.syntax.change import ParsedChange, ParsedFile, Version
from crscore.syntax.grammars import Language
from crscore.syntax.outline import Unit
from crscore.syntax.outliner import parse_text, read_outline

# If the line is a decorator or a comment, its declaration begins on a later line.
LINES_BELOW: Final = 2
"""Number of lines below a line that are also read to find the declaration of the line."""
MAX_FILES: Final = 200
"""Maximum number of files of a change that are read."""
MAX_TEXTS: Final = 60
"""Maximum number of files that contain a name; if there are more, none of them is searched."""


@dataclass(eq=False)
class FileText:
    """One version of a file."""

    version: Version
    language: Language | None

    @property
    def path(self) -> str:
        """Path of the file in this version."""
        return self.version.file.path_on(self.version.side)

    @cached_property
    def _source(self) -> str:
        return "\n".join(self.version.lines.values())

    @cached_property
    def _root(self) -> Any:
        return parse_text(self.language, self._source) if self.language else None

    def nodes_named(self, name: str) -> Iterator[tuple[int, Any]]:
        """Yield the line number and the syntax node of each occurrence of a name.

        If the language has no grammar, the node is None. If only hunks of the file are known, they
        are parsed as one text, so the nodes may be wrong.
        """
        if name not in self.version.words:
            return
        word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
        for row, (number, line) in enumerate(self.version.lines.items()):
            for match in word.finditer(line):
                # tree-sitter counts columns in bytes.
                columns = (len(line[:end].encode("utf-8", "replace")) for end in match.span())
                start, end = ((row, column) for column in columns)
                root = self._root
                node = root.descendant_for_point_range(start, end) if root is not None else None
                yield number, node

    def unit_at(self, line: int) -> Unit | None:
        """Return the innermost declaration around a line.

        Returns:
            The declaration; None if there is none, the language has no grammar, or only hunks of
            the file are known.
        """
        if self.language is None or not self.version.is_whole:
            return None
        nearby = [(line, line + LINES_BELOW)]
        units = read_outline(self.language, self._source, lines=nearby, root=self._root).units[1:]
        around = [unit for unit in units if unit.real and unit.start <= line <= unit.end]
        return around[-1] if around else None


class Repository:
    """The new version of a change's repository, whose files are read on first use.

    Args:
        read: Function that reads the files.
    """

    def __init__(self, read: checkout.ReadTree) -> None:
        self._read = read
        self._files: dict[str, FileText] = {}

    @classmethod
    def of_folder(cls, folder: Path) -> Self:
        """Return the repository of a work tree."""
        return cls(lambda: checkout.read_folder(folder))

    @cached_property
    def _tree(self) -> checkout.Tree:
        return self._read()

    @property
    def is_whole(self) -> bool:
        """Whether all files were read, so that a name that none of them contains is unused."""
        return self._tree.reason is None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on files that were left out; empty if all files were read, or none was needed."""
        # Reading up to 64 MB only to write a note would be too slow.
        if "_tree" not in self.__dict__ or self.is_whole:
            return ()
        reason = self._tree.reason
        return (f"The absence of code from the repository cannot be proven: {reason}.",)

    def has_path(self, path: str) -> bool:
        """Return whether the path of a file or folder is this path, or ends with it."""
        suffix = f"/{path.strip('/')}"
        return any(
            f"/{known_path}".endswith(suffix) or f"{suffix}/" in f"/{known_path}"
            for known_path in self._tree.texts
        )

    def texts_with(self, name: str, diff: Diff) -> list[FileText] | None:
        """Return the unchanged files that contain a name, even only as a part of a longer name.

        Returns:
            The files; None if there are too many to search.
        """
        changed = {path for file in diff.files for path in (file.path, file.old_path)}
        word = name.encode()
        paths = [
            path
            for path, content in self._tree.texts.items()
            if word in content and path not in changed
        ]
        if len(paths) > MAX_TEXTS:
            return None
        for path in paths:
            if path not in self._files:
                source = self._tree.texts[path].decode("utf-8", "replace")
                language = language_of(path)
                # The file is treated as a changed file without changes, of which both versions are
                # known.
                file = ChangedFile(
                    path=path,
                    old_path=None,
                    status=FileStatus.MODIFIED,
                    language=language,
                    hunks=(),
                    old_source=source,
                    new_source=source,
                )
                grammar = grammars.language_of(language)
                self._files[path] = FileText(ParsedFile(file, grammar).new, grammar)
        return [self._files[path] for path in paths]


class Code:
    """Both versions of all files of a change, and its repository if it is known."""

    def __init__(self, change: ParsedChange, repository: Repository | None) -> None:
        self.change = change
        self.repository = repository
        parsed_files = [parsed for parsed in change.parsed_files[:MAX_FILES] if parsed.file.hunks]
        self.texts = {
            Side.OLD: [FileText(parsed.old, parsed.language) for parsed in parsed_files],
            Side.NEW: [FileText(parsed.new, parsed.language) for parsed in parsed_files],
        }
        """Texts of the changed files, by side."""

    @property
    def is_complete(self) -> bool:
        """Whether the new version of the whole repository is known."""
        if self.repository is None or len(self.change.files) > MAX_FILES:
            return False
        is_known = all(new.version.is_whole for new in self.texts[Side.NEW])
        return is_known and self.repository.is_whole
