"""Change of a pull request, from GitHub's list of changed files.

The list alone is unreliable: patches of large files are omitted, files beyond GitHub's limits are
listed as if unchanged, and after a force-push the list may be outdated. So it is compared with the
pull request's own totals, and discrepancies are reported as missing. If a patch cannot be parsed,
or does not match the row's line counts, only its own file is omitted:
see docs/design/018-the-diff.md.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from crscore.diff import parse
from crscore.diff.full_files import Limits
from crscore.diff.languages import language_of
from crscore.diff.paths import format_paths
from crscore.errors import InputError
from crscore.github.client import Client
from crscore.records import ChangedFile, Diff, FileStatus, LineKind
from crscore.text import count_noun

MAX_LISTED: Final = 3_000
"""Maximum number of files that GitHub lists for a pull request."""
EMPTY_BLOBS: Final = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)
"""Blob names of the empty file, by SHA-1 and SHA-256."""
_STATUS: Final = {
    "added": FileStatus.ADDED,
    "removed": FileStatus.DELETED,
    "renamed": FileStatus.RENAMED,
    "copied": FileStatus.COPIED,
}
_HIDDEN: Final = "the host did not show it"
_MOVED: Final = frozenset({FileStatus.RENAMED, FileStatus.COPIED})
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# Matches `https://github.com/o/r/blob/<commit>/path`.
_SHOWN_AT: Final = re.compile(r"/blob/([0-9a-f]{40}(?:[0-9a-f]{24})?)/")


class PatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """Changed file as listed by GitHub."""

    filename: str
    """Path at the head; the old path of a removed file."""
    status: str
    """added, removed, modified, renamed, copied, changed or unchanged."""
    additions: int
    """Lines added, as counted by GitHub."""
    deletions: int
    """Lines removed, as counted by GitHub."""
    patch: str | None = None
    """Hunks, without file headers and without the last line feed; None if not shown."""
    previous_filename: str | None = None
    """Path before a rename or copy."""
    sha: str | None = None
    """Name of the file's blob at the head, or of the old blob if the file was removed."""
    contents_url: str | None = None
    """Address of its content, which contains the commit of the list."""
    blob_url: str | None = None
    """Its page on GitHub, which contains the same commit."""

    @property
    def commit(self) -> str | None:
        """Head for which GitHub made the list; None if the row does not contain it.

        A removed file does not exist at the head, so its row can name another commit.
        """
        if self.status == "removed":
            return None
        for name in parse_qs(urlsplit(self.contents_url or "").query).get("ref", []):
            if _COMMIT.fullmatch(name):
                return name
        match = _SHOWN_AT.search(self.blob_url or "")
        return match[1] if match else None


class Totals(NamedTuple):
    """Total size of a change."""

    files: int
    """Changed files."""
    additions: int
    """Lines added."""
    deletions: int
    """Lines removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedChange:
    """Change, as far as it could be read."""

    diff: Diff
    """Files sorted by path as in git; files whose change is unknown have `is_missing`."""
    missing: tuple[str, ...] = ()
    """Data that could not be read, one sentence each; empty when the change is complete."""
    blobs: Mapping[str, str]
    """Blob names of the files that exist at the head, by path."""


class ReadFile(NamedTuple):
    """Changed file of one row, with `is_missing` if the row is not usable."""

    file: ChangedFile
    """The file."""
    notes: tuple[str, ...] = ()
    """Repairs made by the parser."""
    reason: str | None = None
    """Why the change is unknown, to continue "N of the changed files ..."; None if it is known."""
    is_limit: bool = False
    """Whether the reason is a limit of crscore, which a change of any size can reach."""


def read_change(
    client: Client,
    repository: str,
    number: int,
    totals: Totals,
    head: str,
    limits: Limits,
) -> ListedChange:
    """Read the change of a pull request.

    Args:
        client: GitHub client.
        repository: `owner/name` of the base.
        number: The pull request's number.
        totals: Totals as counted by GitHub.
        head: Its newest commit, 40 hex digits.
        limits: Size limits; files beyond them are reported as missing.

    Returns:
        The change, independent of the order of rows and pages. An empty diff for a pull request
        without changed files.

    Raises:
        HostError: The list could not be read.
    """
    path = f"/repos/{repository}/pulls/{number}/files"
    for _ in range(2):
        listed = client.pages(path, PatchRow, key=attrgetter("filename"))
        rows = {row.filename: row for row in listed if row.status != "unchanged"}
        # After a force-push, GitHub returns the list of the former head for a while.
        stale = {name for name, row in rows.items() if row.commit not in (None, head)}
        if not stale and len(rows) == min(totals.files, MAX_LISTED):
            break
    disagreements = tuple(_disagreements(_sum_rows(rows.values()), totals))
    if len(rows) < totals.files > MAX_LISTED:
        disagreements += (f"Files are not listed: the host lists {MAX_LISTED:,} at most.",)
    files: dict[str, ReadFile] = {}
    digest = hashlib.sha256()
    size = hunks = 0
    # Sorted by bytes, as in git; an unpaired surrogate must not raise an error.
    for name in sorted(rows, key=lambda name: name.encode("utf-8", "surrogatepass")):
        row = rows[name]
        if name in stale:
            file = _without_change(row, "are listed for another commit than the head")
        else:
            # Rows without lines are trusted only if all counts agree.
            file = read_row(row, zeros_are_reliable=not disagreements, limits=limits.diff)
        patch_size = len((row.patch or "").encode("utf-8", "surrogatepass"))
        for limit, count in (
            ("max_diff_bytes", size + patch_size),
            ("max_files", len(files) + 1),
            ("max_hunks", hunks + len(file.file.hunks)),
        ):
            if file.reason is None and count > getattr(limits.diff, limit):
                file = _without_change(row, f"come after {limit} was reached", is_limit=True)
        patch = None
        if file.reason is None:
            patch, size, hunks = row.patch, size + patch_size, hunks + len(file.file.hunks)
        files[name] = file
        digest.update(msgspec.json.encode([name, row.status, row.previous_filename, patch]))
    return ListedChange(
        diff=Diff(
            files=tuple(entry.file for entry in files.values()),
            sha256=digest.hexdigest(),
            notes=(
                *_unseen_files(files, are_limits=True),
                *(f"{name!r}: {note}" for name, entry in files.items() for note in entry.notes),
            ),
        ),
        missing=(*_unseen_files(files), *disagreements),
        blobs={
            name: row.sha
            for name, row in sorted(rows.items())
            if row.sha is not None and row.status != "removed" and name not in stale
        },
    )


def reconcile(change: Diff, totals: Totals) -> tuple[str, ...]:
    """Compare a change with the pull request's own totals.

    Args:
        change: The change, from any source.
        totals: Totals as counted by GitHub.

    Returns:
        A sentence if files or lines differ; otherwise empty.
    """
    counts = [_count_lines(file) for file in change.files]
    change_totals = Totals(
        files=len({file.path for file in change.files}),
        additions=sum(added for added, _ in counts),
        deletions=sum(removed for _, removed in counts),
    )
    return tuple(_disagreements(change_totals, totals))


def read_row(row: PatchRow, *, zeros_are_reliable: bool, limits: parse.DiffLimits) -> ReadFile:
    """Convert a row to a changed file.

    Args:
        row: Row to convert.
        zeros_are_reliable: Whether a row without lines can be trusted: GitHub lists binary files
            without lines, but also files beyond its limits.
        limits: Size limits of the patch.

    Returns:
        The file. GitHub does not provide its modes.
    """
    file = _file_without_hunks(row)
    if row.patch is None:
        # Only the blob's name shows that an added file without a patch is empty, not binary.
        is_empty = row.status in ("added", "removed") and row.sha in EMPTY_BLOBS
        if row.additions or row.deletions:
            return _without_change(row, "have changed lines that the host did not show")
        if not zeros_are_reliable and not is_empty:
            return _without_change(row, "were listed without a change, despite the totals")
        # A renamed file without a patch did not change; any other file without lines is binary.
        return ReadFile(replace(file, is_binary=not is_empty and file.status not in _MOVED))
    try:
        read = parse.parse_diff(row.patch, source=row.filename, path=row.filename, limits=limits)
    except InputError as exc:
        # The reason has no file name, so that files can be grouped by it.
        limit = getattr(exc, "limit", "")
        reason = f"have a patch that cannot be read ({limit or 'it is damaged'})"
        return _without_change(row, reason, is_limit=bool(limit))
    parsed = read.files[0]
    file = replace(file, hunks=parsed.hunks, is_submodule=parsed.is_submodule)
    if (
        [file.path for file in read.files] != [row.filename]
        or not (parsed.hunks or parsed.is_submodule)
        or _count_lines(file) != (row.additions, row.deletions)
    ):
        reason = "have a patch that does not match the host's line counts"
        if parsed.is_missing:
            reason = f"have a patch that cannot be read ({parsed.missing})"
        return _without_change(row, reason, parsed.missing or _HIDDEN, is_limit=parsed.is_missing)
    return ReadFile(file, read.notes)


def _without_change(
    row: PatchRow, reason: str, missing: str = _HIDDEN, *, is_limit: bool = False
) -> ReadFile:
    """Make a changed file whose change is unknown."""
    return ReadFile(replace(_file_without_hunks(row), missing=missing), (), reason, is_limit)


def _file_without_hunks(row: PatchRow) -> ChangedFile:
    status = _STATUS.get(row.status, FileStatus.MODIFIED)
    # A rename or copy needs a different former name.
    if status in _MOVED and row.previous_filename in (None, "", row.filename):
        status = FileStatus.MODIFIED
    return ChangedFile(
        path=row.filename,
        old_path=row.previous_filename if status in _MOVED else None,
        status=status,
        language=language_of(row.filename),
        hunks=(),
    )


def _count_lines(file: ChangedFile) -> tuple[int, int]:
    """Count the added and removed lines; a submodule has one per version, outside hunks."""
    if file.is_submodule:
        return int(file.status is not FileStatus.DELETED), int(file.status is not FileStatus.ADDED)
    kinds = [line.kind for hunk in file.hunks for line in hunk.lines]
    return kinds.count(LineKind.ADDED), kinds.count(LineKind.REMOVED)


def _sum_rows(rows: Collection[PatchRow]) -> Totals:
    additions = sum(row.additions for row in rows)
    return Totals(len(rows), additions, sum(row.deletions for row in rows))


def _unseen_files(files: Mapping[str, ReadFile], *, are_limits: bool = False) -> Iterator[str]:
    """Yield one sentence for each reason, with the number and some names of its files."""
    groups: dict[str, list[str]] = {}
    for name, file in files.items():
        if file.reason is not None and file.is_limit is are_limits:
            groups.setdefault(file.reason, []).append(name)
    for reason, names in sorted(groups.items()):
        yield f"{len(names)} of the changed files {reason}: {format_paths(names)}."


def _disagreements(change: Totals, totals: Totals) -> Iterator[str]:
    if change.files != totals.files:
        yield f"Changed files found: {change.files}; the pull request counts {totals.files}."
    elif change != totals:
        yield (
            f"The files found add {count_noun(change.additions, 'line')} and remove "
            f"{change.deletions:,}; the pull "
            f"request counts {totals.additions} and {totals.deletions}."
        )
