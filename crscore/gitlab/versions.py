"""Reads merge requests and their versions: with every push, GitLab stores the whole diff.

The list of changed files is not read, because a push between the requests for two pages can move a
file from one page to the other. A version never changes. One version is the change to score, and
others have the hunks that outdated notes were written on.

Source: https://docs.gitlab.com/api/merge_requests/#get-a-single-merge-request-diff-version
"""

import base64
import hashlib
import re
from collections import Counter
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from crscore.diff.languages import language_of
from crscore.diff.parse import DiffLimits
from crscore.errors import HostError
from crscore.gitlab import notes
from crscore.gitlab.client import Client
from crscore.hosts.listed_files import ListedFile, join_files, read_patch
from crscore.hosts.records import Change, HostMessage
from crscore.records import ChangedFile, FileStatus, Side
from crscore.text import count_noun

# All other lines of a patch start with a space, `+`, `-` or a backslash.
_HEADER: Final = re.compile(
    r"^@@ -(?P<old>\d{1,9})(?:,(\d+))? \+(?P<new>\d{1,9})(?:,(\d+))? @@", re.M
)
MAX_CACHED_VERSIONS: Final = 24
"""Maximum number of versions in the cache: the newest, up to `outdated_hunks.MAX_COMMITS` (20) that
outdated notes were written on, and a few to spare."""


class DiffRefs(msgspec.Struct, frozen=True):
    """Commits of the change."""

    base_sha: str = ""
    """Merge base."""
    head_sha: str = ""
    """Newest commit of the merge request."""
    start_sha: str = ""
    """Tip of the target branch when GitLab computed the change."""


class MergeRequest(msgspec.Struct, frozen=True):
    """Response of GitLab's API for a merge request."""

    # `iid` is the number in the project, as in `!7`, and `id` is unique on the server.
    iid: notes.Id
    id: notes.Id = 0
    title: str = ""
    state: str = ""
    web_url: str = ""
    author: notes.User | None = None
    created_at: str = ""
    updated_at: str = ""
    closed_at: str | None = None
    merged_at: str | None = None
    target_branch: str = ""
    sha: str | None = None
    merge_commit_sha: str | None = None
    squash_commit_sha: str | None = None
    diff_refs: DiffRefs | None = None
    """The commits of the change; None until GitLab has computed them, some time after a push."""
    user_notes_count: int | None = None

    def describe_unlisted(self, listed: int) -> str:
        """Return a clause if GitLab counts more or fewer notes than it lists; else ""."""
        counted = self.user_notes_count
        if counted in (None, listed):
            return ""
        return f"GitLab counts {count_noun(counted, 'note')} but lists {listed}"


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
    """Hunks, which on older servers follow the headers of the file; "Binary files ... differ" for a
    binary file."""
    a_mode: str | None = None
    b_mode: str | None = None
    new_file: bool = False
    renamed_file: bool = False
    deleted_file: bool = False
    collapsed: bool | None = None
    too_large: bool | None = None

    @property
    def is_withheld(self) -> bool:
        """Whether GitLab omits the changed lines of the file, or may have omitted them."""
        if self.collapsed is not None or self.too_large is not None:
            return bool(self.collapsed or self.too_large)
        # Before version 18.4, GitLab lists a change that is too large in the same way as an empty
        # file, a pure rename or a mode change. "Binary files a/x.png and b/x.png differ" is the
        # whole change.
        return not re.search(r"^(?:@@ |Binary files |GIT binary patch)", self.diff or "", re.M)


class Version(Entry, frozen=True):
    """Version with its changed files."""

    real_size: str | None = None
    """Number of changed files, such as `3`; `1000+` if there are more than GitLab stores."""
    state: str = ""
    """`collected`, or why files are missing."""
    diffs: tuple[FileRow, ...] = ()


class _File(msgspec.Struct, frozen=True):
    content: str = ""
    content_sha256: str = ""


def request_path(project: str | int, number: int) -> str:
    """Return the path of a merge request in the API, given the project's name or number."""
    return f"/projects/{quote(str(project), safe='')}/merge_requests/{number}"


# Cached, because an audit needs the same version for every note that was written on it.
@lru_cache(maxsize=MAX_CACHED_VERSIONS)
def read_version(client: Client, path: str, number: int) -> Version:
    """Read a version, which never changes.

    Args:
        client: The client.
        path: Path of the merge request.
        number: Id of the version.

    Raises:
        HostError: The version cannot be read.
    """
    return client.get(f"{path}/versions/{number}", Version)


def read_file(client: Client, project: str | int, path: str, ref: str) -> bytes:
    """Read a file at a commit or branch, and check with its hash that it is complete.

    Raises:
        HostError: The file cannot be read, or does not match its hash.
    """
    # The path is a single part of the address, so its slashes must be escaped.
    name = quote(str(project), safe="")
    address = f"/projects/{name}/repository/files/{quote(path, safe='')}"
    file = client.get(address, _File, {"ref": ref})
    # https://docs.gitlab.com/api/repository_files/#get-file-from-repository
    try:
        data = base64.b64decode(file.content, validate=True)
    except ValueError:
        data = b""
    if file.content_sha256 and hashlib.sha256(data).hexdigest() != file.content_sha256:
        raise HostError(f"GET {address}", "the file does not match its hash")
    return data


def convert_version(version: Version, limits: DiffLimits) -> Change:
    """Convert a version to a change, within the size limits of a diff."""
    listing = {row.new_path: _convert_row(row, limits) for row in version.diffs}
    change = join_files(listing, limits)
    missing = (*change.missing, *_describe_count_mismatch(version, len(listing)))
    return change._replace(missing=missing)


def cut_hunk(version: Version, message: HostMessage) -> str | None:
    """Return the hunk that a message is on, up to its line, as GitHub stores it with a comment.

    The result is None if the message is on a whole file, or the version does not show its line.
    """
    row = next((r for r in version.diffs if message.path in (r.new_path, r.old_path)), None)
    if row is None or message.line is None:
        return None
    lines: list[str] = []
    numbers = {"-": 0, "+": 0}
    side_prefix = "-" if message.side is Side.OLD else "+"
    for text in (row.diff or "").split("\n"):
        if match := _HEADER.match(text):
            numbers, lines = {"-": int(match["old"]), "+": int(match["new"])}, [text]
        elif lines and text:
            lines.append(text)
            if text[0] in (" ", side_prefix) and numbers[side_prefix] == message.line:
                return "\n".join(lines)
            for prefix in numbers:
                numbers[prefix] += text[0] in (" ", prefix)
    return None


def count_lines(version: Version) -> tuple[int | None, str | None]:
    """Return the number of changed lines and the language with the most of these.

    The number is None if GitLab omits lines; the language is None if no file's language is known.
    """
    lines: Counter[str] = Counter()
    total = 0
    for row in version.diffs:
        start = (row.diff or "").find("@@ ")
        changed = (row.diff or "")[max(start, 0) :].split("\n")
        count = sum(text[:1] in ("+", "-") for text in changed) if start >= 0 else 0
        total += count
        if (language := language_of(row.new_path)) is not None:
            lines[language] += count
    # GitLab lists files beyond its limits without lines, or not at all:
    # https://docs.gitlab.com/administration/diff_limits/
    cut = any(row.is_withheld for row in version.diffs)
    is_complete = not cut and not _describe_count_mismatch(version, len(version.diffs))
    # In a tie, the first language by name is taken, so that the result is reproducible.
    main = min(lines, key=lambda language: (-lines[language], language), default=None)
    return total if is_complete else None, main


def _convert_row(row: FileRow, limits: DiffLimits) -> ListedFile:
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
        is_submodule="160000" in (row.a_mode, row.b_mode),  # git's mode of a commit
    )
    text = row.diff or ""
    start = 0 if text.startswith("@@") else text.find("\n@@") + 1
    if text.startswith("@@") or start:
        patch = text[start:]
        listed = read_patch(file, patch if patch.endswith("\n") else f"{patch}\n", limits)
        announced = sum(
            int(length or 1) for match in _HEADER.findall(patch) for length in (match[1], match[3])
        )
        hunks = listed.file.hunks
        if not listed.reason and announced != sum(
            hunk.old_length + hunk.new_length for hunk in hunks
        ):
            # A note puts the number of files before the reason: "3 files have a truncated patch".
            return listed.hide("have a truncated patch")
        return listed
    if row.is_withheld:
        reason = "have a change that the host omits because it is too large"
        return ListedFile(file).hide(reason)
    modes = {row.a_mode, row.b_mode} - {None, "0"}  # "0" where there is no file
    if not text.strip() and status is FileStatus.MODIFIED and len(modes) > 1:
        return ListedFile(replace(file, status=FileStatus.MODE_CHANGED))
    # Any other file without changed lines is binary, empty, or renamed and otherwise unchanged.
    return ListedFile(replace(file, is_binary=bool(text.strip()) or status is FileStatus.MODIFIED))


def _describe_count_mismatch(version: Version, count: int) -> list[str]:
    """Return one sentence if GitLab counts more or fewer files than it lists; else nothing."""
    size = version.real_size or ""
    if not size or size == str(count):
        return []
    return [f"GitLab lists {count_noun(count, 'changed file')}; the merge request counts {size}."]
