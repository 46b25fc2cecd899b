"""Reads the change of a pull request from GitHub's list of changed files.

The list alone is unreliable: patches of large files are omitted, files beyond GitHub's limits are
listed as if unchanged, and after a force-push the list may be outdated. So the list is compared
with the pull request's own totals, and differences are reported as missing data. If a patch does
not match the line counts of its row, only the file of that row is left out: see
docs/design/018-the-diff.md.
"""

import re
from collections.abc import Mapping
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from crscore.diff.languages import language_of
from crscore.diff.parse import DiffLimits
from crscore.github.client import Client
from crscore.hosts.listed_files import ListedFile, join_files, read_patch
from crscore.hosts.records import Change
from crscore.records import ChangedFile, Diff, FileStatus, LineKind
from crscore.text import count_noun

# https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files
MAX_LISTED: Final = 3_000
"""Maximum number of files that GitHub lists for a pull request."""
# The output of `git hash-object -t blob /dev/null` in repositories of both kinds.
EMPTY_BLOBS: Final = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)
"""Names of the blob of an empty file: its SHA-1 and its SHA-256."""
_STATUS: Final = {
    "added": FileStatus.ADDED,
    "removed": FileStatus.DELETED,
    "renamed": FileStatus.RENAMED,
    "copied": FileStatus.COPIED,
}
# If a renamed or copied file has no changed lines, its content is unchanged. Any other file without
# changed lines is empty or binary.
_MOVED: Final = frozenset({FileStatus.RENAMED, FileStatus.COPIED})
# https://api.github.com/repos/o/r/contents/path?ref=<commit>
_LISTED_AT: Final = re.compile(r"[?&]ref=([0-9a-f]{40}(?:[0-9a-f]{24})?)(?:&|\Z)")


class PatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """Changed file as GitHub lists it."""

    filename: str
    """Path at the head; the old path of a removed file."""
    status: str
    """added, removed, modified, renamed, copied, changed or unchanged."""
    additions: int
    """Lines added, as counted by GitHub."""
    deletions: int
    """Lines removed, as counted by GitHub."""
    patch: str | None = None
    """Hunks, without file headers and without the last line feed; None if GitHub omits them."""
    previous_filename: str | None = None
    """Path before a rename or copy."""
    sha: str | None = None
    """Name of the file's blob at the head, or of the old blob if the file was removed."""
    contents_url: str | None = None
    """Address of the file's content at the commit for which GitHub made the list."""

    @property
    def commit(self) -> str | None:
        """Head for which GitHub made the list; None if the row does not show it.

        The row of a removed file never shows it: the file does not exist at the head, so its
        address can contain another commit.
        """
        match = _LISTED_AT.search(self.contents_url or "") if self.status != "removed" else None
        return match[1] if match else None


class Totals(NamedTuple):
    """Total size of a change."""

    files: int
    """Number of changed files."""
    additions: int
    """Number of added lines."""
    deletions: int
    """Number of removed lines."""


def read_change(
    client: Client, repository: str, number: int, totals: Totals, head: str, limits: DiffLimits
) -> tuple[Change, Mapping[str, str]]:
    """Read the change of a pull request.

    Args:
        client: GitHub client.
        repository: `owner/name` of the base repository.
        number: The pull request's number.
        totals: Totals as counted by GitHub.
        head: The pull request's newest commit, 40 hex digits.
        limits: Size limits of the diff.

    Returns:
        The change, and a mapping from each path to the name of its blob at the head. The change
        does not depend on the order of rows and pages. Its diff is empty if the pull request
        changes no files.

    Raises:
        HostError: The list could not be read.
    """
    path = f"/repos/{repository}/pulls/{number}/files"
    for _ in range(2):
        items = client.pages(path, PatchRow, key=attrgetter("filename"))
        rows = {row.filename: row for row in items if row.status != "unchanged"}
        # For a while after a force-push, GitHub returns the list of the former head, so a list that
        # is outdated or incomplete is read once more.
        stale = {name for name, row in rows.items() if row.commit not in (None, head)}
        if not stale and len(rows) == min(totals.files, MAX_LISTED):
            break
    listed_totals = Totals(
        files=len(rows),
        additions=sum(row.additions for row in rows.values()),
        deletions=sum(row.deletions for row in rows.values()),
    )
    disagreements = compare_totals(listed_totals, totals)
    if len(rows) < totals.files > MAX_LISTED:
        disagreements += (f"Some files are not listed: GitHub lists at most {MAX_LISTED:,}.",)
    listing = {}
    for name, row in rows.items():
        # If the patches together exceed GitHub's limit of about 20,000 lines, the remaining files
        # are listed like binary files, with 0 lines. So rows without lines are trusted only if all
        # counts agree.
        # https://docs.github.com/en/repositories/creating-and-managing-repositories/repository-limits
        listing[name] = read_row(row, zeros_are_reliable=not disagreements, limits=limits)
        if name in stale:
            listing[name] = listing[name].hide("are listed for another commit than the head")
    change = join_files(listing, limits)
    blobs = {
        name: row.sha
        for name, row in sorted(rows.items())
        if row.sha is not None and row.status != "removed" and name not in stale
    }
    return change._replace(missing=(*change.missing, *disagreements)), blobs


def read_row(row: PatchRow, *, zeros_are_reliable: bool, limits: DiffLimits) -> ListedFile:
    """Convert a row to a changed file.

    Args:
        row: Row to convert.
        zeros_are_reliable: False if a row without lines can be a file beyond GitHub's limits, so
            that its change is unknown; True if such a file is binary, empty or moved.
        limits: Size limits of the patch.

    Returns:
        The file, or the reason why its change is unknown. GitHub's list does not show file modes.
    """
    status = _STATUS.get(row.status, FileStatus.MODIFIED)
    # A rename or copy without a different former path is treated as a modification.
    if status in _MOVED and row.previous_filename in (None, "", row.filename):
        status = FileStatus.MODIFIED
    file = ChangedFile(
        path=row.filename,
        old_path=row.previous_filename if status in _MOVED else None,
        status=status,
        language=language_of(row.filename),
        hunks=(),
    )
    if row.patch is not None:
        listed = read_patch(file, row.patch, limits)
        if not listed.reason and _count_lines(listed.file) != (row.additions, row.deletions):
            return listed.hide("have a patch that does not match the host's line counts")
        return listed
    # Only the blob's name shows whether an added or removed file without a patch is empty or
    # binary.
    is_empty = row.status in ("added", "removed") and row.sha in EMPTY_BLOBS
    if row.additions or row.deletions:
        return ListedFile(file).hide("have changed lines that the host did not show")
    if not zeros_are_reliable and not is_empty:
        return ListedFile(file).hide("were listed without changed lines, but the totals differ")
    # A moved file without a patch is unchanged, and any other file without a patch is binary.
    return ListedFile(replace(file, is_binary=not is_empty and file.status not in _MOVED))


def count_totals(change: Diff) -> Totals:
    """Count the files and lines of a change from any source."""
    counts = [_count_lines(file) for file in change.files]
    return Totals(
        files=len({file.path for file in change.files}),
        additions=sum(added for added, _ in counts),
        deletions=sum(removed for _, removed in counts),
    )


def compare_totals(actual: Totals, expected: Totals) -> tuple[str, ...]:
    """Return one sentence if the totals of a change are not the pull request's; else nothing."""
    if actual == expected:
        return ()
    listed, counted = (
        f"{count_noun(size.files, 'changed file')}, +{size.additions:,} -{size.deletions:,}"
        for size in (actual, expected)
    )
    return (f"GitHub lists {listed}; the pull request counts {counted}.",)


def _count_lines(file: ChangedFile) -> tuple[int, int]:
    """Return the numbers of added and removed lines.

    A submodule counts as one line in each version that has the submodule.
    """
    if file.is_submodule:
        return int(file.status is not FileStatus.DELETED), int(file.status is not FileStatus.ADDED)
    kinds = [line.kind for hunk in file.hunks for line in hunk.lines]
    return kinds.count(LineKind.ADDED), kinds.count(LineKind.REMOVED)
