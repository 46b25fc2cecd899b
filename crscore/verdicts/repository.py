"""Rest of a repository: the files that a change does not touch."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, Self

from crscore.diff import languages, tree
from crscore.diff.checkout import Checkout
from crscore.records import ChangedFile, Diff, FileStatus
from crscore.syntax.change import ParsedFile
from crscore.syntax.grammars import language_of
from crscore.verdicts.code import FileText

MAX_TEXTS: Final = 60
"""Maximum number of files with a word that are searched."""


class Repository:
    """Repository around a change, in its new version; read on first use.

    Args:
        read: Function that reads its files.
    """

    def __init__(self, read: tree.ReadTree) -> None:
        self._read = read
        self._texts: dict[tuple[str, ...], list[str]] = {}
        self._files: dict[str, FileText] = {}

    @classmethod
    def of_folder(cls, folder: Path) -> Self:
        """Return the repository of a work tree."""
        return cls(lambda: tree.read_folder(folder))

    @classmethod
    def of_checkout(cls, checkout: Checkout) -> Self:
        """Return the repository at the head of a change."""
        return cls(checkout.tree)

    @cached_property
    def _tree(self) -> tree.Tree:
        return self._read()

    @property
    def is_whole(self) -> bool:
        """Whether all its files were read, so that a name in none of them is unused."""
        return self._tree.reason is None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on files that were left out; empty if nothing was read."""
        if "_tree" not in self.__dict__ or self.is_whole:
            return ()
        reason = self._tree.reason
        return (f"The absence of code from the repository cannot be proven: {reason}.",)

    def has_path(self, path: str) -> bool:
        """Return whether a file, or a folder, has a path or a path that ends in it."""
        suffix = f"/{path.strip('/')}"
        return any(
            f"/{known_path}".endswith(suffix) or f"{suffix}/" in f"/{known_path}"
            for known_path in self._tree.texts
        )

    def texts_with(self, words: Sequence[str], diff: Diff) -> list[FileText] | None:
        """Return the files that a change does not touch and that have all of some words.

        Args:
            words: Names; parts of other names count, too.
            diff: The change.

        Returns:
            The files; None if there are too many to search.
        """
        key = tuple(words)
        if key not in self._texts:
            needles = [word.encode() for word in words]
            self._texts[key] = [
                path
                for path, content in self._tree.texts.items()
                if all(needle in content for needle in needles)
            ]
        changed = {path for file in diff.files for path in (file.path, file.old_path)}
        paths = [path for path in self._texts[key] if path not in changed]
        return list(map(self._file, paths)) if len(paths) <= MAX_TEXTS else None

    def _file(self, path: str) -> FileText:
        if path not in self._files:
            source = self._tree.texts[path].decode("utf-8", "replace")
            language = languages.language_of(path)
            file = ChangedFile(
                path=path,
                old_path=None,
                status=FileStatus.MODIFIED,
                language=language,
                hunks=(),
                old_source=source,
                new_source=source,
            )
            grammar = language_of(language)
            self._files[path] = FileText(ParsedFile(file, grammar).new, grammar)
        return self._files[path]
