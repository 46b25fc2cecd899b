"""Whole files at the head of a pull request, many in one request.

GraphQL returns up to fifty blobs by name where REST takes a request for each. A blob's name is a
hash of its content, so a blob is read only once.

Without whole files the analyzers read less and the claims differ: a text that is unavailable
because a request failed changes the numbers and is `missing`. A file omitted because of a limit is
omitted every time, and is a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from crscore.cache import Store
from crscore.diff import full_files
from crscore.diff.paths import format_paths
from crscore.errors import HostError
from crscore.github.changed_files import Change
from crscore.github.client import Client
from crscore.github.graphql import Blob
from crscore.records import Diff, FileStatus

OBJECTS_PER_QUERY: Final = 50
"""Objects requested in one query."""
_NAME: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class _Data(msgspec.Struct, frozen=True):
    repository: dict[str, Blob | None] | None = None


class FullFiles(NamedTuple):
    """Changed files at the head, as far as they could be read."""

    diff: Diff
    """Change; a file of which only the mode changed is no longer treated as binary."""
    texts: Mapping[str, str]
    """Text at the head, by path."""
    missing: tuple[str, ...]
    """Data that could not be read and changes numbers, one sentence each."""
    notes: tuple[str, ...]
    """Omitted files, one sentence each."""


class _Wanted(NamedTuple):
    """Requested object."""

    expression: str
    """A blob's name, or `commit:path`."""
    is_blob: bool
    """True for a blob's name, whose text is requested; else only the name is."""

    @property
    def key(self) -> str:
        return f"{'blob' if self.is_blob else 'blob-name'} {self.expression}"


def blobs_query(are_blobs: Sequence[bool]) -> str:
    """Make a query for objects, which are named in the variables `v0`, `v1`, and so on.

    Args:
        are_blobs: For each object, True for a blob's name, whose text is requested, False for
            `commit:path`, of which only the name is.
    """
    declared = "".join(
        f", $v{at}: {'GitObjectID!' if is_blob else 'String!'}"
        for at, is_blob in enumerate(are_blobs)
    )
    objects = "".join(
        f"    o{at}: object(oid: $v{at}) {{ oid ... on Blob {{ isBinary isTruncated text }} }}\n"
        if is_blob
        else f"    o{at}: object(expression: $v{at}) {{ oid }}\n"
        for at, is_blob in enumerate(are_blobs)
    )
    return (
        f"query ($owner: String!, $name: String!{declared}) {{\n"
        f"  repository(owner: $owner, name: $name) {{\n{objects}  }}\n}}"
    )


def read_blobs(
    client: Client,
    repository: str,
    change: Change,
    limits: full_files.Limits,
    store: Store | None = None,
    base: str | None = None,
) -> FullFiles:
    """Read the changed files at the head.

    Args:
        client: GitHub client.
        repository: `owner/name` of the base; it has the objects of forks too.
        change: The change.
        limits: Size limits.
        store: Stores objects between runs; None to store nothing.
        base: Tip of the base branch, 40 hex digits. With it, files of which only the mode changed
            are distinguished from binary ones: the host lists both without lines.

    Returns:
        The texts. One request is sent for every fifty objects that are not stored.
    """
    need = full_files.needed(change.diff, limits)
    names = {path: _Wanted(change.blobs.get(path, ""), is_blob=True) for path in need.paths}
    unshown = _find_unshown(change, base)
    askable = [one for one in names.values() if _NAME.fullmatch(one.expression)]
    found, failures = _read_objects(client, repository, [*askable, *unshown.values()], store)
    texts = {
        path: None if blob.is_binary or blob.is_truncated else blob.text
        for path, one in names.items()
        if (blob := found.get(one.expression)) is not None
    }
    same = frozenset(
        path
        for path, one in unshown.items()
        if one.expression in found and found[one.expression].oid == change.blobs[path]
    )
    sizes = {path: None if text is None else len(text.encode()) for path, text in texts.items()}
    chosen = full_files.fit(sizes, need.paths, limits)
    unread = [path for path in need.paths if path not in texts]
    unknown = [path for path, one in unshown.items() if one.expression not in found]
    return FullFiles(
        diff=_mark_modes(change.diff, same),
        texts={path: texts[path] or "" for path in chosen.paths},
        missing=tuple(_missing(unread, unknown if failures else [], failures)),
        notes=(*need.notes, *chosen.notes),
    )


def _read_objects(
    client: Client, repository: str, wanted: Sequence[_Wanted], store: Store | None
) -> tuple[dict[str, Blob], list[str]]:
    """Return the available objects by expression, and why others are missing."""
    found: dict[str, Blob] = {}
    failures: list[str] = []
    for one in wanted:
        kept = store.get(one.key) if store is not None else None
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            found[one.expression] = msgspec.json.decode(kept or b"", type=Blob)
    unknown = [one for one in dict.fromkeys(wanted) if one.expression not in found]
    owner, _, name = repository.partition("/")
    for start in range(0, len(unknown), OBJECTS_PER_QUERY):
        batch = unknown[start : start + OBJECTS_PER_QUERY]
        variables = {f"v{at}": one.expression for at, one in enumerate(batch)}
        query = blobs_query([one.is_blob for one in batch])
        try:
            data = client.graphql(query, {"owner": owner, "name": name, **variables}, _Data)
        except HostError as exc:
            failures.append(exc.reason)
            continue
        for at, one in enumerate(batch):
            blob = (data.repository or {}).get(f"o{at}")
            # a blob requested by its name must have that name
            if blob is not None and (blob.oid == one.expression or not one.is_blob):
                found[one.expression] = blob
                if store is not None:
                    store.put(one.key, msgspec.json.encode(blob))
    return found, failures


def _find_unshown(change: Change, base: str | None) -> dict[str, _Wanted]:
    """Return the previous blobs of the files that are listed without lines and were not moved."""
    if base is None:
        return {}
    return {
        file.path: _Wanted(f"{base}:{file.path}", is_blob=False)
        for file in change.diff.files
        if file.is_binary and file.status is FileStatus.MODIFIED and file.path in change.blobs
    }


def _mark_modes(change: Diff, same: frozenset[str]) -> Diff:
    files = tuple(
        replace(file, is_binary=False, status=FileStatus.MODE_CHANGED)
        if file.path in same
        else file
        for file in change.files
    )
    return replace(change, files=files)


def _missing(
    unread: Sequence[str], unknown: Sequence[str], failures: Sequence[str]
) -> Iterator[str]:
    why = "; ".join(dict.fromkeys(failures)) or "the host does not have them"
    if unread:
        yield (
            f"{len(unread)} changed files could not be read whole ({why}), only their hunks: "
            f"{format_paths(unread)}."
        )
    if unknown:
        yield (
            f"{len(unknown)} files without shown lines may have changed in their mode only, which "
            f"could not be asked ({why}): {format_paths(unknown)}."
        )
