"""Older versions of a pull request's change, for its outdated comments."""

from collections.abc import Sequence
from contextlib import suppress

import msgspec

from crscore.diff import parse
from crscore.errors import InputError
from crscore.github.client import Client
from crscore.hosts import outdated_hunks
from crscore.hosts.outdated_hunks import Local, OutdatedHunks
from crscore.hosts.records import HostMessage
from crscore.records import ChangedFile


class _File(msgspec.Struct, frozen=True):
    filename: str
    patch: str | None = None


class _Comparison(msgspec.Struct, frozen=True):
    files: list[_File] = []


def read_outdated_hunks(
    client: Client,
    repository: str,
    base: str,
    messages: Sequence[HostMessage],
    *,
    local: Local | None = None,
) -> OutdatedHunks:
    """Read the hunk that each outdated comment was written on.

    Args:
        client: GitHub client.
        repository: `owner/name`.
        base: Tip of the base branch, 40 hex digits.
        messages: All messages; only outdated ones with a path are looked up.
        local: Returns the change up to a commit from a local checkout, or None when unavailable.
    """

    def read_version(commit: str) -> list[ChangedFile]:
        path = f"/repos/{repository}/compare/{base}...{commit}"
        files: list[ChangedFile] = []
        for row in client.get(path, _Comparison).files:
            with suppress(InputError):
                # A row is one file; GitHub omits the last line feed of its patch.
                files += parse.parse_diff(f"{row.patch or ''}\n", path=row.filename).files[:1]
        return files

    return outdated_hunks.read_outdated_hunks(messages, read_version=read_version, local=local)
