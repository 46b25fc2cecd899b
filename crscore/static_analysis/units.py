"""Prepares the texts that tools read: full files in two versions, or only the hunks of a file.

Every text gets a generated name. A path of the change determines only the suffix, and whether a
Python file is its package's `__init__`, because that changes the meaning of its imports.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from crscore.diff import languages
from crscore.records import ChangedFile, Diff, FileStatus, LineKind, Side
from crscore.syntax.change import ParsedChange, ParsedFile

# Characters that end a line for some tools but not for a diff: a lone CR, VT, FF, FS to RS,
# NEL, LS, PS. Tools in Python split at them:
# https://docs.python.org/3/library/stdtypes.html#str.splitlines
_ODD_LINE_ENDS = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Python ignores a form feed at the start of a line.
_LEADING_FORM_FEED = re.compile("^\x0c+", re.MULTILINE)
_PACKAGE = "__init__"
_OF_PACKAGES = frozenset({".py", ".pyi"})


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """Text to be analyzed."""

    path: str
    """Path of the file in the diff."""
    side: Side
    """Version of the file."""
    text: str
    """Text; lines end with LF."""
    suffix: str
    """Suffix in lower case, with the dot; "" when neither path nor language determines one."""
    is_package: bool = False
    """Whether the file is a Python `__init__`."""
    first: int = 1
    """Number, in the file, of the first line of a fragment."""
    before: int = 0
    """Number of lines added before a fragment to make it parse."""
    length: int | None = None
    """Number of lines of a fragment; None for a full file."""

    @property
    def is_fragment(self) -> bool:
        """Whether it is a hunk rather than a file."""
        return self.length is not None

    def file_name(self, index: int) -> str:
        """Return the name of the copy that a tool reads."""
        stem = f"s{index:04}"
        return f"{stem}/{_PACKAGE}{self.suffix}" if self.is_package else f"{stem}{self.suffix}"

    def line_in_file(self, line: int) -> int | None:
        """Return a line's number in the file; None for an added wrapper line."""
        if self.length is None or line == 0:
            return line
        fragment_line = line - self.before
        return self.first + fragment_line - 1 if 1 <= fragment_line <= self.length else None


def suffix_of(file: ChangedFile) -> str:
    """Return the suffix that determines which tools read a file.

    Args:
        file: A changed file.

    Returns:
        The suffix of the path in lower case, else the language's; "" when neither is known.
    """
    suffix = PurePosixPath(file.path.replace("\\", "/")).suffix.lower()
    return suffix or languages.suffix_of(file.language or "") or ""


def units_of(diff: Diff) -> tuple[tuple[Unit, ...], ...]:
    """List the texts of a change.

    Args:
        diff: The change, with full files where available. A file that the change adds is
            complete in its hunk.

    Returns:
        For each file: its new version and its old one, if any; without sources, the new sides of
        those hunks that can be completed. Binary files and files with removed lines only have no
        texts.
    """
    return tuple(tuple(_of_file(file)) for file in ParsedChange.of(diff).parsed_files)


def adds_lines(file: ChangedFile) -> bool:
    """Return whether the change of a file can introduce an issue."""
    if file.is_binary or file.is_submodule or file.status is FileStatus.DELETED:
        return False
    return bool(file.lines(LineKind.ADDED))


def _of_file(parsed: ParsedFile) -> Iterator[Unit]:
    """Yield the texts of one file: both versions or, without sources, completed hunks."""
    file = parsed.file
    if not adds_lines(file):
        return
    suffix = suffix_of(file)
    is_package = suffix in _OF_PACKAGES and PurePosixPath(file.path).stem == _PACKAGE
    new = file.new_source
    # The hunk of a new file has all of its lines.
    if new is None and file.status is FileStatus.ADDED:
        new = "\n".join([*(line.text for line in file.hunks[0].lines), ""])
    for hunk in file.hunks if new is None else ():
        whole = parsed.complete_hunk(hunk, Side.NEW) if hunk.lines_of(LineKind.ADDED) else None
        # Code that does not parse is left out, because a tool would report it as an error.
        if whole and whole.outline.errors == 0:
            yield Unit(
                path=file.path,
                side=Side.NEW,
                text=_normalize(whole.text + "\n"),
                suffix=suffix,
                first=hunk.new_start,
                before=whole.before,
                length=len(hunk.lines_of(LineKind.CONTEXT, LineKind.ADDED)),
            )
    old = None if new is None or file.status is FileStatus.ADDED else file.old_source
    for side, text in ((Side.NEW, new), (Side.OLD, old)):
        if text is not None:
            yield Unit(
                path=file.path,
                side=side,
                text=_normalize(text),
                suffix=suffix,
                is_package=is_package,
            )


def _normalize(text: str) -> str:
    """Replace characters that some tools count as line ends."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return _ODD_LINE_ENDS.sub(" ", _LEADING_FORM_FEED.sub("", text))
