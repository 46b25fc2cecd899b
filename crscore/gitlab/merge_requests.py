"""Merge request as GitLab lists it, its files and its versions."""

import base64
import hashlib
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import msgspec

from crscore.errors import HostError
from crscore.gitlab import notes
from crscore.gitlab.client import Client
from crscore.gitlab.versions import Version
from crscore.text import count_noun

# The newest version, and those that outdated notes were written on (`MAX_COMMITS`).
MAX_CACHED_VERSIONS: Final = 24


class DiffRefs(msgspec.Struct, frozen=True):
    """Commits of the change."""

    base_sha: str = ""
    head_sha: str = ""
    start_sha: str = ""


class MergeRequest(msgspec.Struct, frozen=True):
    """Merge request."""

    iid: notes.Id
    id: notes.Id = 0
    title: str = ""
    state: str = ""
    draft: bool = False
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
    """None until GitLab has computed them, some time after a push."""
    user_notes_count: int | None = None

    def describe_unlisted(self, listed: int) -> str:
        """Return a clause if GitLab's count differs from the number of listed notes; else ""."""
        counted = self.user_notes_count
        if counted in (None, listed):
            return ""
        return f"GitLab counts {count_noun(counted, 'note')} but lists {listed}"


class _File(msgspec.Struct, frozen=True):
    content: str = ""
    content_sha256: str = ""


def request_path(project: str | int, number: int) -> str:
    """Return the API's path of a merge request; a project has a name and a number."""
    return f"/projects/{quote(str(project), safe='')}/merge_requests/{number}"


@lru_cache(maxsize=MAX_CACHED_VERSIONS)
def read_version(client: Client, path: str, number: int) -> Version:
    """Read a version, which never changes.

    Args:
        client: The client.
        path: Path of the merge request.
        number: Id of the version.

    Raises:
        HostError: It cannot be read.
    """
    return client.get(f"{path}/versions/{number}", Version)


def read_file(client: Client, project: str | int, path: str, ref: str) -> bytes:
    """Read a file at a commit or branch, and check with its hash that it is complete.

    Raises:
        HostError: It cannot be read.
    """
    # A path is one part of the address, so its slashes are escaped too.
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
