"""Versions of a merge request: GitLab keeps the change of every push, with its commits.

A version never changes, so its files cannot move between pages, as they can in the list of current
files. One version is the change to score; the others have the hunks that outdated notes were
written on.

Source: https://docs.gitlab.com/api/merge_requests/#get-a-single-merge-request-diff-version
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from crscore.diff import parse
from crscore.diff.full_files import Limits
from crscore.diff.languages import language_of
from crscore.diff.paths import format_paths
from crscore.errors import InputError, NotFoundError
from crscore.hosts.records import HostMessage
from crscore.records import ChangedFile, Diff, FileStatus, Side

# All other lines of a patch start with a space, `+`, `-` or a backslash.
_HEADER: Final = re.compile(
    r"^@@ -(?P<old>\d{1,9})(?:,(\d+))? \+(?P<new>\d{1,9})(?:,(\d+))? @@", re.M
)
# "Binary files a/x.png and b/x.png differ"
_EXPLAINED: Final = re.compile(r"^(?:@@ |Binary files |GIT binary patch)", re.M)
_SUBMODULE: Final = "160000"
_NO_FILE: Final = "0"
_HIDDEN: Final = "the host did not show it"
_LIMITED: Final = "it is over a limit of crscore"
"""Reason that is not the host's: a change of any size can reach it."""
MAX_COMPARED: Final = 200
"""Maximum number of files without lines whose contents are compared."""


class Entry(msgspec.Struct, frozen=True):
    """Item in the list of a merge request's versions."""

    id: int
    head_commit_sha: str = ""
    base_commit_sha: str = ""
    created_at: str = ""


class FileRow(msgspec.Struct, frozen=True):
    """Changed file of a version."""

    old_path: str
    new_path: str
    diff: str | None = None
    """Hunks. Older servers put headers before them; binary files have a sentence instead."""
    a_mode: str | None = None
    b_mode: str | None = None
    new_file: bool = False
    renamed_file: bool = False
    deleted_file: bool = False
    collapsed: bool | None = None
    too_large: bool | None = None

    @property
    def is_withheld(self) -> bool | None:
        """Whether GitLab omits its lines; None if only its contents can tell."""
        if self.collapsed is not None or self.too_large is not None:
            return bool(self.collapsed or self.too_large)
        if _EXPLAINED.search(self.diff or ""):
            return False
        has_reason = self.new_file or self.deleted_file or self.renamed_file
        return None if has_reason or self.a_mode != self.b_mode else True


class Version(Entry, frozen=True):
    """Version with its changed files."""

    real_size: str | None = None
    """Number of changed files, such as `3`; `1000+` if there are more than GitLab stores."""
    state: str = ""
    """`collected`, or a state that says why files are missing."""
    diffs: tuple[FileRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadVersion:
    """Change of a version, as far as it could be read."""

    diff: Diff
    missing: tuple[str, ...]
    """Data that could not be read, one sentence each."""


def find_withheld(version: Version, read: Callable[[str, str], bytes]) -> frozenset[str]:
    """Return the paths of the files whose lines GitLab omits without a flag.

    Before 18.4, a change that is too large is listed like a file that is empty, only renamed or has
    another mode: only the contents tell them apart. Binary files have a sentence instead of lines.

    Args:
        version: The version.
        read: Reads a file, by path and commit.

    Raises:
        HostError: A file cannot be read.
    """
    rows = [row for row in version.diffs if row.is_withheld is None]
    withheld = {row.new_path for row in rows[MAX_COMPARED:]}
    for row in rows[:MAX_COMPARED]:
        old = new = None
        # A file that the host does not have may have had lines.
        with suppress(NotFoundError):
            old = b"" if row.new_file else read(row.old_path, version.base_commit_sha)
            new = b"" if row.deleted_file else read(row.new_path, version.head_commit_sha)
        if old is None or new is None or (old != new and b"\0" not in (old + new)):
            withheld.add(row.new_path)
    return frozenset(withheld)


def read_version(
    version: Version, limits: Limits, withheld: Collection[str] = frozenset()
) -> ReadVersion:
    """Convert a version to a change.

    Args:
        version: The version.
        limits: Size limits; files beyond them are reported as missing.
        withheld: Paths from `find_withheld`.

    Returns:
        The change, with its files sorted as git sorts them.
    """
    rows = {row.new_path: row for row in version.diffs}
    files: list[ChangedFile] = []
    digest = hashlib.sha256()
    size = hunks = 0
    for name in sorted(rows, key=lambda name: name.encode("utf-8", "surrogatepass")):
        file, text = _read_file(rows[name], limits, withheld), rows[name].diff or ""
        text_size = len(text.encode("utf-8", "surrogatepass"))
        for limit, count in (
            ("max_diff_bytes", size + text_size),
            ("max_files", len(files) + 1),
            ("max_hunks", hunks + len(file.hunks)),
        ):
            if not file.missing and count > getattr(limits.diff, limit):
                file = _without_change(file, f"come after {limit} was reached", _LIMITED)
        size, hunks = size + (0 if file.missing else text_size), hunks + len(file.hunks)
        files.append(file)
        digest.update(msgspec.json.encode([name, file.status, file.old_path, text, file.missing]))
    return ReadVersion(
        diff=Diff(
            files=tuple(files),
            sha256=digest.hexdigest(),
            notes=tuple(_unseen(files, _LIMITED)),
        ),
        missing=(*_unseen(files, _HIDDEN), *_uncounted(version, len(files))),
    )


def hunk_until(version: Version, message: HostMessage) -> str | None:
    """Return the hunk of a message, cut after its line, as GitHub stores it with a comment.

    None for a message on a file, and for a line outside the hunks.
    """
    row = next((r for r in version.diffs if message.path in (r.new_path, r.old_path)), None)
    if row is None or message.line is None:
        return None
    lines: list[str] = []
    numbers = {"-": 0, "+": 0}
    sign = "-" if message.side is Side.OLD else "+"
    for text in (row.diff or "").split("\n"):
        if match := _HEADER.match(text):
            numbers, lines = {"-": int(match["old"]), "+": int(match["new"])}, [text]
        elif lines and text:
            lines.append(text)
            if text[0] in (" ", sign) and numbers[sign] == message.line:
                return "\n".join(lines)
            for mark in numbers:
                numbers[mark] += text[0] in (" ", mark)
    return None


def count_lines(
    version: Version, withheld: Collection[str] = frozenset()
) -> tuple[int | None, str | None]:
    """Return the number of changed lines, None if GitLab omits some, and the main language."""
    lines: Counter[str] = Counter()
    total = 0
    for row in version.diffs:
        start = (row.diff or "").find("@@ ")
        changed = (row.diff or "")[max(start, 0) :].split("\n")
        count = sum(text[:1] in ("+", "-") for text in changed) if start >= 0 else 0
        total += count
        if (language := language_of(row.new_path)) is not None:
            lines[language] += count
    cut = withheld or any(row.is_withheld for row in version.diffs)
    is_complete = not cut and not _uncounted(version, len(version.diffs))
    # If several languages have the most lines, the first by name.
    main = min(lines, key=lambda language: (-lines[language], language), default=None)
    return total if is_complete else None, main


def _read_file(row: FileRow, limits: Limits, withheld: Collection[str]) -> ChangedFile:
    moved = row.renamed_file and row.old_path != row.new_path
    status = FileStatus.MODIFIED
    for flag, value in (
        (row.new_file, FileStatus.ADDED),
        (row.deleted_file, FileStatus.DELETED),
        (moved, FileStatus.RENAMED),
    ):
        status = value if flag else status
    file = ChangedFile(
        path=row.new_path,
        old_path=row.old_path if moved else None,
        status=status,
        language=language_of(row.new_path),
        hunks=(),
        is_submodule=_SUBMODULE in (row.a_mode, row.b_mode),
    )
    text = row.diff or ""
    start = 0 if text.startswith("@@") else text.find("\n@@") + 1
    if text.startswith("@@") or start:
        return _with_hunks(file, text[start:], limits)
    if row.is_withheld or row.new_path in withheld:
        return _without_change(file, "have a change that the host omits because it is too large")
    if text.strip():
        return replace(file, is_binary=True)
    modes = {row.a_mode, row.b_mode} - {None, _NO_FILE}
    if status is FileStatus.MODIFIED and len(modes) > 1:
        return replace(file, status=FileStatus.MODE_CHANGED)
    # Other files without lines are empty, only renamed, or binary.
    return replace(file, is_binary=status is FileStatus.MODIFIED)


def _with_hunks(file: ChangedFile, text: str, limits: Limits) -> ChangedFile:
    text = text if text.endswith("\n") else f"{text}\n"
    try:
        parsed = parse.parse_diff(text, source=file.path, path=file.path, limits=limits.diff)
    except InputError as exc:
        limit = getattr(exc, "limit", "")
        reason = f"have a patch that cannot be read ({limit or 'it is damaged'})"
        return _without_change(file, reason, _LIMITED if limit else _HIDDEN)
    first = parsed.files[0]
    if first.is_missing:
        reason = f"have a patch that cannot be read ({first.missing})"
        return _without_change(file, reason, _LIMITED)
    if len(parsed.files) > 1 or not (first.hunks or first.is_submodule):
        return _without_change(file, "have a patch that cannot be read")
    announced = sum(
        int(length or 1) for match in _HEADER.findall(text) for length in (match[1], match[3])
    )
    if announced != sum(hunk.old_length + hunk.new_length for hunk in first.hunks):
        return _without_change(file, "have a patch that is cut")
    return replace(file, hunks=first.hunks, is_submodule=first.is_submodule)


def _without_change(file: ChangedFile, reason: str, cause: str = _HIDDEN) -> ChangedFile:
    """Mark the change of a file as unknown; `reason` continues "N of the changed files ..."."""
    return replace(file, hunks=(), is_binary=False, missing=f"{cause}: {reason}")


def _unseen(files: Sequence[ChangedFile], cause: str) -> list[str]:
    """Return one sentence for each reason, with the number and some names of its files."""
    groups: dict[str, list[str]] = {}
    for file in files:
        if file.missing.startswith(cause):
            groups.setdefault(file.missing.partition(": ")[2], []).append(file.path)
    return [
        f"{len(names)} of the changed files {reason}: {format_paths(names)}."
        for reason, names in sorted(groups.items())
    ]


def _uncounted(version: Version, count: int) -> list[str]:
    size = version.real_size or ""
    if not size or size == str(count):
        return []
    return [f"Changed files listed: {count}; the merge request counts {size}."]
