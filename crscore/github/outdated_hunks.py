"""The hunks that outdated comments were written on, each as a change of its own.

A comment becomes outdated when a later push changes its lines. It is still a review of the lines
that it was written on, so it is scored against those: the whole hunk of the commit it names, or,
where that commit is gone, the part of the hunk that the host keeps with the comment.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from crscore.diff import parse
from crscore.errors import HostError, InputError, NotFoundError
from crscore.records import Comment, Diff, ScopeKind, Side
from crscore.scoring import scopes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crscore.github.host import Host
    from crscore.github.records import Remark
    from crscore.records import ChangedFile

    Local = Callable[[str], bytes | None]

MAX_COMMITS: Final = 20
"""Older versions that are asked for, those with the most comments first."""


class Originals(NamedTuple):
    """What outdated comments were written on."""

    hunks: Mapping[int, Diff]
    """By the comment's id: a change of one file and one hunk."""
    missing: tuple[str, ...]
    """What could not be had and would change a number, one sentence each."""
    notes: tuple[str, ...]
    """What else a reader should know, one sentence each."""


class _File(msgspec.Struct, frozen=True):
    filename: str
    patch: str | None = None
    previous_filename: str | None = None


class _Comparison(msgspec.Struct, frozen=True):
    files: list[_File] = []


@dataclass(slots=True)
class _Versions:
    """The older versions of the change, by commit, as far as they were read."""

    host: Host
    repository: str
    base: str
    local: Local | None
    failed: list[str]
    gone: int = 0

    def read(self, commit: str) -> Mapping[str, ChangedFile]:
        """Give the files of the change as it was at a commit, by path."""
        given = self.local(commit) if self.local else None
        if given is not None:
            try:
                return _by_path(parse.parse_diff(given).files)
            except InputError:
                pass  # the host may show it better
        path = f"/repos/{self.repository}/compare/{self.base}...{commit}"
        try:
            found = self.host.get(path, _Comparison)
        except NotFoundError:
            self.gone += 1
            return {}
        except HostError as exc:
            self.failed.append(f"{commit[:12]} ({exc.reason})")
            return {}
        return _by_path([file for one in found.files if (file := _read(one.filename, one.patch))])


def read_outdated_hunks(
    host: Host,
    repository: str,
    base: str,
    remarks: Sequence[Remark],
    *,
    local: Local | None = None,
) -> Originals:
    """Find what each outdated comment was written on.

    Args:
        host: Where to ask.
        repository: `owner/name`.
        base: Tip of the base branch, 40 hex digits.
        remarks: All remarks; the outdated ones on a line are looked up.
        local: Gives the change up to a commit from a local checkout; None where it cannot.

    Returns:
        The hunks of those that have one.
    """
    outdated = [one for one in remarks if one.outdated and one.path]
    commits = Counter(one.commit for one in outdated if one.commit)
    asked = [commit for commit, _ in sorted(commits.items(), key=lambda item: (-item[1], item[0]))]
    versions = _Versions(host=host, repository=repository, base=base, local=local, failed=[])
    files = {commit: versions.read(commit) for commit in asked[:MAX_COMMITS]}
    hunks: dict[int, Diff] = {}
    kept = 0
    for remark in outdated:
        whole = _whole(files.get(remark.commit or "", {}), remark)
        kept += whole is None
        found = whole or _kept(remark)
        if found is not None:
            hunks[remark.id] = found
    missing = [f"Older versions could not be read: {', '.join(versions.failed)}."]
    notes = [
        f"Of {kept} outdated comments only the kept part of the hunk was read, because the commit "
        "they name is gone, too old or shows other lines."
    ]
    return Originals(
        hunks=hunks,
        missing=tuple(missing) if versions.failed else (),
        notes=tuple(notes) if kept and not versions.failed else (),
    )


def _by_path(files: Sequence[ChangedFile]) -> Mapping[str, ChangedFile]:
    found = {file.old_path: file for file in files if file.old_path}
    return found | {file.path: file for file in files}


def _read(path: str, patch: str | None) -> ChangedFile | None:
    if not patch:
        return None
    try:
        return parse.parse_diff(patch + "\n", path=path).files[0]
    except InputError:
        return None


def _whole(files: Mapping[str, ChangedFile], remark: Remark) -> Diff | None:
    """Take the hunk of the older version, if it is the one that the comment was written on."""
    file = files.get(remark.path or "")
    if file is None:
        return None
    change = Diff(files=(replace(file, path=remark.path or ""),), sha256="")
    if remark.line is None:  # on the file as a whole
        return replace(change, sha256=_name(f"{remark.path}\n{file.hunks}"))
    scope = scopes.attach(
        Comment(
            body=remark.body,
            path=remark.path,
            line=remark.line,
            side=remark.side or Side.NEW,
            diff_hunk=remark.hunk,
            # The kept hunk decides; where there is none, the line counts in this version.
            outdated=remark.hunk is not None,
        ),
        change,
    )
    if scope is None or scope.kind is not ScopeKind.HUNK or scope.hunk is None:
        return None
    hunk = file.hunks[scope.hunk]
    only = replace(change.files[0], hunks=(hunk,))
    return Diff(files=(only,), sha256=_name(f"{remark.path}\n{hunk}"))


def _name(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _kept(remark: Remark) -> Diff | None:
    """Make a change of the part of a hunk that is kept with a comment: its end is missing."""
    header, _, body = (remark.hunk or "").rstrip("\n").partition("\n")
    starts = scopes.starts_of(header)
    if starts is None or not body:
        return None
    lines = [line for line in body.split("\n") if not line.startswith("\\")]
    old = sum(not line.startswith("+") for line in lines)
    new = sum(not line.startswith("-") for line in lines)
    patch = "\n".join([f"@@ -{starts[0]},{old} +{starts[1]},{new} @@", *lines, ""])
    try:
        return parse.parse_diff(patch, path=remark.path)
    except InputError:
        return None
