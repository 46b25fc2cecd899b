"""Whole files at the head of a pull request, many in one request.

GraphQL hands out up to fifty blobs by name where REST takes a request for each. A blob's name
says what is in it, so what was read once is never asked for again.

Without whole files the analyzers read less and other claims are made: a text that could not be had
because a request failed changes the numbers and is `missing`. What is left out by a limit is left
out every time, and is a note.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from crscore.diff import full_files
from crscore.errors import HostError
from crscore.records import FileStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crscore.cache import Store
    from crscore.github.changed_files import Change
    from crscore.github.client import Client
    from crscore.records import Diff

OBJECTS_PER_QUERY: Final = 50
"""Objects asked for in one query."""
_NAME: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class _Blob(msgspec.Struct, frozen=True, rename="camel"):
    """An object as GraphQL tells it; a tree or a commit has nothing but its name."""

    oid: str = ""
    text: str | None = None
    is_binary: bool | None = None
    is_truncated: bool = False


class _Data(msgspec.Struct, frozen=True):
    repository: dict[str, _Blob | None] | None = None


class FullFiles(NamedTuple):
    """The changed files at the head, as far as they could be read."""

    diff: Diff
    """The change; a file of which only the mode changed is no longer taken for binary."""
    texts: Mapping[str, str]
    """Path -> text at the head."""
    missing: tuple[str, ...]
    """What could not be had and changes numbers, one sentence each."""
    notes: tuple[str, ...]
    """What was left out, one sentence each."""


class _Wanted(NamedTuple):
    """An object to ask for."""

    expression: str
    """A blob's name, or `commit:path`."""
    is_blob: bool
    """True for a name, of which the text is wanted; else only the name is."""

    @property
    def key(self) -> str:
        return f"{'blob' if self.is_blob else 'blob-name'} {self.expression}"


def blobs_query(are_blobs: Sequence[bool]) -> str:
    """Write a query for objects, which are to be named in the variables `v0`, `v1`, and so on.

    Args:
        are_blobs: For each object, True when it is named and its text is wanted, False when it
            is `commit:path` and only its name is.
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
    """Read the changed files as they are at the head.

    Args:
        client: Client to ask with.
        repository: `owner/name` of the base; it has the objects of forks too.
        change: The change.
        limits: How much to read.
        store: Remembers objects between runs; None to remember nothing.
        base: Tip of the base branch, 40 hex digits. With it, files whose mode alone changed are
            told from binary ones: the host lists both without lines.

    Returns:
        The texts. One request for each fifty objects that are not remembered.
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
) -> tuple[dict[str, _Blob], list[str]]:
    """Return the objects by expression, as far as they could be had, and why others could not."""
    found: dict[str, _Blob] = {}
    failures: list[str] = []
    for one in wanted:
        kept = store.get(one.key) if store is not None else None
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            found[one.expression] = msgspec.json.decode(kept or b"", type=_Blob)
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
            # what is asked for by its name answers to that name, or it is something else
            if blob is not None and (blob.oid == one.expression or not one.is_blob):
                found[one.expression] = blob
                if store is not None:
                    store.put(one.key, msgspec.json.encode(blob))
    return found, failures


def _find_unshown(change: Change, base: str | None) -> dict[str, _Wanted]:
    """Return what files were before that are listed without lines and stay in their place."""
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
            f"{full_files.named(unread)}."
        )
    if unknown:
        yield (
            f"{len(unknown)} files without shown lines may have changed in their mode only, which "
            f"could not be asked ({why}): {full_files.named(unknown)}."
        )
