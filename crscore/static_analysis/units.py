"""Prepares the texts that tools read: both versions of a file or, without them, its hunks.

Every text gets a generated file name. Only two properties of the original path are kept: the suffix
and, because it changes the meaning of imports, whether a Python file is an `__init__`.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from crscore.diff import languages
from crscore.records import ChangedFile, Diff, FileStatus, LineKind, Side
from crscore.syntax.change import ParsedChange, ParsedFile

# Characters that end a line for some tools but not in a diff: CR without LF, VT, FF, FS to RS, NEL,
# LS and PS. Tools in Python split lines at them:
# https://docs.python.org/3/library/stdtypes.html#str.splitlines
_ODD_LINE_ENDS = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Form feeds at the start of a line, which Python ignores.
_LEADING_FORM_FEED = re.compile("^\x0c+", re.MULTILINE)
_PACKAGE = "__init__"
_PACKAGE_SUFFIXES = frozenset({".py", ".pyi"})


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """Text that tools read: a file, or a hunk (fragment) between lines that make it parse."""

    path: str
    """Path of the file in the diff."""
    side: Side
    """Version of the file that the text is from."""
    text: str
    """The text, with LF at the end of each line."""
    suffix: str
    """Suffix in lower case with the dot; "" if it is unknown."""
    is_package: bool = False
    """Whether the file is the `__init__` of a Python package."""
    first: int = 1
    """Number of a fragment's first line in the file."""
    before: int = 0
    """Number of lines that were put before a fragment so that it parses."""
    length: int | None = None
    """Number of lines of a fragment, without those put around it; None for a full file."""

    @property
    def is_fragment(self) -> bool:
        """Whether the text is a hunk and not a full file."""
        return self.length is not None

    def file_name(self, index: int) -> str:
        """Return the generated name of the copy that a tool reads, such as `s0007.py`."""
        stem = f"s{index:04}"
        return f"{stem}/{_PACKAGE}{self.suffix}" if self.is_package else f"{stem}{self.suffix}"

    def line_in_file(self, line: int) -> int | None:
        """Return the number of a text's line in the file; None for a line put around a fragment."""
        if self.length is None or line == 0:
            return line
        fragment_line = line - self.before
        return self.first + fragment_line - 1 if 1 <= fragment_line <= self.length else None


def suffix_of(file: ChangedFile) -> str:
    """Return the suffix that determines which tools read a file.

    Args:
        file: A changed file.

    Returns:
        The suffix of the path in lower case or, if it has none, that of the language; "" if the
        language is unknown.
    """
    suffix = PurePosixPath(file.path.replace("\\", "/")).suffix.lower()
    return suffix or languages.suffix_of(file.language or "") or ""


def units_of(diff: Diff) -> tuple[tuple[Unit, ...], ...]:
    """Return the texts of each file of a change.

    Args:
        diff: The change, with full files if these are available. The full content of a new file is
            known from its hunk.

    Returns:
        The texts of each file: the new version and, if there is one, the old version. If the full
        file is not known, the texts are the new sides of the hunks that can be completed to code
        that parses. Binary files and files without added lines have no texts.
    """
    return tuple(tuple(_list_texts(file)) for file in ParsedChange.of(diff).parsed_files)


def adds_lines(file: ChangedFile) -> bool:
    """Return whether a file has added lines that tools can read."""
    if file.is_binary or file.is_submodule or file.status is FileStatus.DELETED:
        return False
    return bool(file.lines(LineKind.ADDED))


def _list_texts(parsed: ParsedFile) -> Iterator[Unit]:
    """Yield the texts of one file: its versions or, if they are not known, completed hunks."""
    file = parsed.file
    if not adds_lines(file):
        return
    suffix = suffix_of(file)
    is_package = suffix in _PACKAGE_SUFFIXES and PurePosixPath(file.path).stem == _PACKAGE
    new = file.new_source
    # The single hunk of a new file has all lines of the file.
    if new is None and file.status is FileStatus.ADDED:
        new = "\n".join([*(line.text for line in file.hunks[0].lines), ""])
    for hunk in file.hunks if new is None else ():
        code = parsed.complete_hunk(hunk, Side.NEW) if hunk.lines_of(LineKind.ADDED) else None
        # A hunk that does not parse is left out, because tools would report errors in it.
        if code and code.outline.errors == 0:
            yield Unit(
                path=file.path,
                side=Side.NEW,
                text=_normalize(code.text + "\n"),
                suffix=suffix,
                first=hunk.new_start,
                before=code.before,
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
    """Replace CRLF by LF, and other characters at which some tools end a line by spaces."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return _ODD_LINE_ENDS.sub(" ", _LEADING_FORM_FEED.sub("", text))
