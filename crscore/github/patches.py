"""One row of the host's list of changed files, and the change it shows.

A row has no `diff --git` header, so one is written as git would, and crscore's own reader reads
both. A row whose patch cannot be read, or does not have the lines that the row counts, silences
its file and no other.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from crscore.diff import parse
from crscore.diff.languages import language_of
from crscore.errors import InputError
from crscore.records import ChangedFile, FileStatus, LineKind

if TYPE_CHECKING:
    from collections.abc import Iterator

EMPTY_BLOBS: Final = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)
"""Names of the empty file, by SHA-1 and SHA-256."""
_STATUS: Final = {
    "added": FileStatus.ADDED,
    "removed": FileStatus.DELETED,
    "renamed": FileStatus.RENAMED,
    "copied": FileStatus.COPIED,
}
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHOWN_AT: Final = re.compile(r"/blob/([0-9a-f]{40}(?:[0-9a-f]{24})?)/")
# what git writes as a letter after a backslash; the other special bytes become octal
_LETTERS: Final = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
# git leaves spaces bare; a reader has to split such a pair of names by trial, and tries so often
_BARE_SPACES: Final = 16


class PatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """A changed file, as the host lists it."""

    filename: str
    """Path at the head; the old path of a removed file."""
    status: str
    """added, removed, modified, renamed, copied, changed or unchanged."""
    additions: int
    """Lines added, as the host counts."""
    deletions: int
    """Lines removed, as the host counts."""
    patch: str | None = None
    """The hunks, without headers and without a last line feed; None when not shown."""
    previous_filename: str | None = None
    """Path before a rename or copy."""
    sha: str | None = None
    """Name of the file's blob at the head; of the old one when it was removed."""
    contents_url: str | None = None
    """Where its content is; names the commit that the list was made for."""
    blob_url: str | None = None
    """The page it is shown on; names the same commit."""

    @property
    def changes(self) -> int:
        """Lines added and removed."""
        return self.additions + self.deletions

    @property
    def is_empty_file(self) -> bool:
        """True when the host names the empty file's blob: there is nothing that could be shown."""
        return self.status in ("added", "removed") and self.sha in EMPTY_BLOBS

    @property
    def commit(self) -> str | None:
        """The commit that the list was made for; None when the row does not say.

        A removed file is not at the head, and may be shown at another commit.
        """
        if self.status == "removed":
            return None
        for named in parse_qs(urlsplit(self.contents_url or "").query).get("ref", []):
            if _COMMIT.fullmatch(named):
                return named
        shown = _SHOWN_AT.search(self.blob_url or "")
        return shown[1] if shown else None


class Shown(NamedTuple):
    """What could be made of a row."""

    file: ChangedFile
    """The file; with `is_missing` when there is a reason."""
    text: str
    """The change as git would print it, with its header; the header alone without a patch."""
    notes: tuple[str, ...]
    """What the reader repaired."""
    reason: str | None
    """Why the change is not seen, a clause after "N of the changed files"; None when it is."""


def show(row: PatchRow, *, zeros_are_true: bool, limits: parse.Limits) -> Shown:
    """Read a row.

    Args:
        row: The row.
        zeros_are_true: Whether a row without lines may be believed: the host shows no lines for
            a binary file, and none for a file that came after its limits.
        limits: How large the patch may be.

    Returns:
        The file. Its modes stay unknown: the host does not tell them.
    """
    if row.patch is None:
        if row.changes:
            return silence(row, "have changed lines that the host did not show")
        if not zeros_are_true and not row.is_empty_file:
            return silence(row, "were listed without any change, which does not add up")
    text = compose(row)
    try:
        read = parse.parse_diff(text, source=row.filename, limits=limits)
    except InputError as exc:
        return silence(row, f"have a patch that cannot be read ({_cause(exc)})")
    file = replace(read.files[0], old_mode=None, new_mode=None)
    if (
        len(read.files) != 1
        or file.path != row.filename
        or _counts(file, row) != (row.additions, row.deletions)
    ):
        return silence(row, "have a patch that does not have the lines that the host counts")
    return Shown(file, text + "\n", read.notes, None)


def compose(row: PatchRow) -> str:
    r"""Write a row's change as git would, without a last line feed.

    Args:
        row: The row; without a patch it is taken for binary unless it was only renamed, copied
            or is empty.

    Returns:
        The header with C-quoted names, then the patch.

    Example:
        >>> row = Row(filename="a b.py", status="added", additions=1, deletions=0,
        ...           patch="@@ -0,0 +1 @@\n+x")
        >>> compose(row).splitlines()[:2]
        ['diff --git a/a b.py b/a b.py', 'new file mode 100644']
    """
    return "\n".join([*_header(row), *([] if row.patch is None else [row.patch])])


def quoted(name: str) -> str:
    r"""Quote a path as git does when it holds a special character.

    Args:
        name: A path, with or without prefix.

    Returns:
        The name itself, or in double quotes with escapes for its UTF-8 bytes.

    Example:
        >>> print(quoted('a/x.py'), quoted('a/ä"x'))
        a/x.py "a/\303\244\"x"
    """
    data = name.encode("utf-8", "surrogatepass")
    if name.count(" ") <= _BARE_SPACES and all(
        32 <= byte < 127 and byte not in _LETTERS for byte in data
    ):
        return name
    return '"' + "".join(map(_escaped, data)) + '"'


def _escaped(byte: int) -> str:
    if byte in _LETTERS:
        return f"\\{_LETTERS[byte]}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _header(row: PatchRow) -> Iterator[str]:
    status = _status(row)
    moved = status in (FileStatus.RENAMED, FileStatus.COPIED)
    before = (row.previous_filename if moved else None) or row.filename
    old, new = quoted(f"a/{before}"), quoted(f"b/{row.filename}")
    yield f"diff --git {old} {new}"
    if status is FileStatus.ADDED:
        old = "/dev/null"
        yield "new file mode 100644"
    elif status is FileStatus.DELETED:
        new = "/dev/null"
        yield "deleted file mode 100644"
    elif moved:
        verb = "rename" if status is FileStatus.RENAMED else "copy"
        yield f"{verb} from {quoted(before)}"
        yield f"{verb} to {quoted(row.filename)}"
    if row.patch is not None:
        yield f"--- {_ended(old)}"
        yield f"+++ {_ended(new)}"
    elif not moved and not row.is_empty_file:
        yield f"Binary files {old} and {new} differ"


def _ended(name: str) -> str:
    """Git ends a bare name with spaces by a tab, so that a time after it could be told apart."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _status(row: PatchRow) -> FileStatus:
    status = _STATUS.get(row.status, FileStatus.MODIFIED)
    if status in (FileStatus.RENAMED, FileStatus.COPIED) and (
        row.previous_filename in (None, "", row.filename)
    ):
        return FileStatus.MODIFIED
    return status


def _counts(file: ChangedFile, row: PatchRow) -> tuple[int, int]:
    """Count the lines added and removed; a submodule's stand in the patch alone."""
    if file.is_submodule:
        lines = (row.patch or "").split("\n")
        signs = [line[:1] for line in lines]
        return signs.count("+"), signs.count("-")
    kinds = [line.kind for hunk in file.hunks for line in hunk.lines]
    return kinds.count(LineKind.ADDED), kinds.count(LineKind.REMOVED)


def silence(row: PatchRow, reason: str) -> Shown:
    """Show that a file changed, and not what.

    Args:
        row: Its row.
        reason: Why, a clause that follows "N of the changed files".
    """
    status = _status(row)
    moved = status in (FileStatus.RENAMED, FileStatus.COPIED)
    file = ChangedFile(
        path=row.filename,
        old_path=row.previous_filename if moved else None,
        status=status,
        language=language_of(row.filename),
        hunks=(),
        is_missing=True,
    )
    header = next(_header(row))
    return Shown(file, f"{header}\n", (), reason)


def _cause(exc: InputError) -> str:
    """Name the kind of trouble without the file's name, so that files group by it."""
    return getattr(exc, "limit", "") or "it is damaged"
