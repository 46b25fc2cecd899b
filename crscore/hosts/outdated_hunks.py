"""Reads the hunks that outdated comments were written on, each as a separate change.

A comment becomes outdated when a later push changes its lines. The comment is still a review of the
lines that it was written on, so it is scored against the whole hunk at the comment's commit. If
that commit is gone, the part of the hunk that the host stores with the comment is used instead.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from msgspec import structs

from crscore.diff import parse
from crscore.errors import InputError, NotFoundError
from crscore.hosts.records import HostMessage
from crscore.records import ChangedFile, Comment, Diff, ScopeKind, Side
from crscore.review.read import find_scope
from crscore.text import count_noun

# Each version takes a request, and a pull request can have hundreds of pushes.
MAX_COMMITS: Final = 20
"""Maximum number of older versions to read, the ones with the most comments first."""


def read_outdated_hunks(
    messages: Sequence[HostMessage],
    *,
    read_version: Callable[[str], Sequence[ChangedFile]] | None = None,
    local: Callable[[str], bytes | None] | None = None,
) -> tuple[Mapping[int, Diff], tuple[str, ...]]:
    """Read the hunk that each outdated comment was written on.

    Args:
        messages: All messages; only outdated messages with a path are used.
        read_version: Reads from the host the files that the pull request changed up to a commit;
            None to use only the local checkout and the stored parts.
        local: Returns the diff up to a commit from a local checkout, or None if it is unavailable.

    Returns:
        A mapping from the comment's id to a change of one file, with the comment's hunk, or with
        all hunks if the comment is on the whole file; and notes for the report. A comment whose
        hunk is unknown has no entry.

    Raises:
        HostError: A version could not be read. A version that is gone is no error.
    """
    outdated = [message for message in messages if message.outdated and message.path]
    # The versions with the most comments are read first, each once for all of its comments.
    counts = Counter(message.commit for message in outdated if message.commit)
    commits = sorted(counts, key=lambda commit: (-counts[commit], commit))
    versions: dict[str, Mapping[str, ChangedFile]] = {}
    for commit in commits[:MAX_COMMITS]:
        files: Sequence[ChangedFile] = ()
        if (text := local(commit) if local else None) is not None:
            with suppress(InputError):  # the host may have the complete change
                files = parse.parse_diff(text).files
        if not files and read_version is not None:
            with suppress(NotFoundError):  # the commit is gone
                files = read_version(commit)
        # In a renamed file, a comment on removed lines can have the old path.
        by_old_path = {file.old_path: file for file in files if file.old_path}
        versions[commit] = by_old_path | {file.path: file for file in files}
    hunks: dict[int, Diff] = {}
    partial = 0
    for message in outdated:
        hunk = _find_hunk(versions.get(message.commit or "", {}), message)
        partial += hunk is None
        # The part that the host stores ends at the comment's line.
        with suppress(InputError):
            hunks[message.id] = hunk or parse.parse_diff(message.hunk or "", path=message.path)
    notes = []
    if partial:
        notes.append(
            f"For {count_noun(partial, 'outdated comment')}, only the stored part of the hunk was "
            f"read: the commit is gone, has other lines or is not among the {MAX_COMMITS} read."
        )
    return hunks, tuple(notes)


def mark_outdated(message: HostMessage, change: Diff) -> HostMessage:
    """Mark a comment on a whole file as outdated if the change no longer has the file.

    Hosts mark only comments on lines as outdated.
    """
    if message.path is None or message.line is not None or message.outdated:
        return message
    file = change.file_at(message.path, message.side or Side.NEW)
    return message if file is not None or not change.files else replace(message, outdated=True)


def _find_hunk(files: Mapping[str, ChangedFile], message: HostMessage) -> Diff | None:
    """Return the comment's hunk in an older version, as a change; None if it is not there."""
    file = files.get(message.path or "")
    if file is None:
        return None
    file = structs.replace(file, path=message.path or "")
    hunks = file.hunks
    if message.line is not None:  # else it is a comment on the whole file
        comment = Comment(
            body=message.body,
            path=message.path,
            line=message.line,
            side=message.side or Side.NEW,
            diff_hunk=message.hunk,
            # For an outdated comment, `find_scope` uses only the stored hunk. If there is none, the
            # line number is used, which applies to this version.
            outdated=message.hunk is not None,
        )
        scope = find_scope(comment, Diff(files=(file,), sha256=""))
        if scope is None or scope.kind is not ScopeKind.HUNK or scope.hunk is None:
            return None
        hunks = (file.hunks[scope.hunk],)
    content = f"{message.path}\n{hunks}".encode("utf-8", "surrogatepass")
    return Diff(
        files=(structs.replace(file, hunks=hunks),), sha256=hashlib.sha256(content).hexdigest()
    )
