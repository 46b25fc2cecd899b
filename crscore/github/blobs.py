"""Whole files at the head of a pull request, many in one request.

GraphQL hands out up to fifty blobs by name where REST would take a request for each. A blob's name
says what is in it, so what was read once is never asked for again.

Without whole files the analyzers read less and other claims are made: a text that could not be had
because a request failed changes the numbers and is `missing`. What is left out by a limit is left
out every time, and is a note.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from crscore.diff import full_files
from crscore.errors import HostError
from crscore.records import FileStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crscore.cache import Store
    from crscore.github.change import Change
    from crscore.github.host import Host
    from crscore.records import Diff

A_QUERY: Final = 50
"""Objects asked for in one query."""
_NAME: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class _Blob(msgspec.Struct, frozen=True, rename="camel"):
    """An object as GraphQL tells it; a tree or a commit has nothing but its name."""

    oid: str = ""
    text: str | None = None
    is_binary: bool | None = None
    is_truncated: bool = False

    @property
    def readable(self) -> str | None:
        """The text, when it is one and whole."""
        return None if self.is_binary or self.is_truncated else self.text


class _Data(msgspec.Struct, frozen=True):
    repository: dict[str, _Blob | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wholes:
    """What was found of the files."""

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


@dataclass(slots=True)
class _Reader:
    """Reads objects, and remembers those that it was given once."""

    host: Host
    repository: str
    store: Store | None
    failures: list[str]

    def read(self, wanted: Sequence[_Wanted]) -> dict[str, _Blob]:
        """Give the objects by expression; those that could not be had are left out."""
        found = {one.expression: kept for one in wanted if (kept := self._kept(one)) is not None}
        unknown = [one for one in dict.fromkeys(wanted) if one.expression not in found]
        for start in range(0, len(unknown), A_QUERY):
            try:
                found |= self._ask(unknown[start : start + A_QUERY])
            except HostError as exc:
                self.failures.append(exc.reason)
        return found

    def _ask(self, wanted: Sequence[_Wanted]) -> dict[str, _Blob]:
        owner, _, name = self.repository.partition("/")
        variables = {f"v{at}": one.expression for at, one in enumerate(wanted)}
        query = blobs_query([one.is_blob for one in wanted])
        data = self.host.graphql(query, {"owner": owner, "name": name, **variables}, _Data)
        objects = data.repository or {}
        found: dict[str, _Blob] = {}
        for at, one in enumerate(wanted):
            blob = objects.get(f"o{at}")
            # what is asked for by its name answers to that name, or it is something else
            if blob is None or (one.is_blob and blob.oid != one.expression):
                continue
            found[one.expression] = blob
            if self.store is not None:
                self.store.put(_key(one), msgspec.json.encode(blob))
        return found

    def _kept(self, one: _Wanted) -> _Blob | None:
        data = self.store.get(_key(one)) if self.store is not None else None
        if data is None:
            return None
        try:
            return msgspec.json.decode(data, type=_Blob)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None


def _key(one: _Wanted) -> str:
    return f"{'blob' if one.is_blob else 'blob-name'} {one.expression}"


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
    host: Host,
    repository: str,
    change: Change,
    limits: full_files.Limits,
    store: Store | None = None,
    base: str | None = None,
) -> Wholes:
    """Read the changed files as they are at the head.

    Args:
        host: Where to ask.
        repository: `owner/name` of the base; it has the objects of forks too.
        change: The change.
        limits: How much to read.
        store: Remembers objects between runs; None to remember nothing.
        base: Tip of the base branch, 40 hex digits. With it, files whose mode alone changed are
            told from binary ones: the host lists both without lines.

    Returns:
        The texts. One request for each fifty objects that are not remembered.
    """
    reader = _Reader(host=host, repository=repository, store=store, failures=[])
    need = full_files.needed(change.diff, limits)
    names = {path: _Wanted(change.blobs.get(path, ""), is_blob=True) for path in need.paths}
    silent = _silent(change, base)
    askable = [one for one in names.values() if _NAME.fullmatch(one.expression)]
    found = reader.read([*askable, *silent.values()])
    texts = {
        path: found[one.expression].readable
        for path, one in names.items()
        if one.expression in found
    }
    same = frozenset(
        path
        for path, one in silent.items()
        if one.expression in found and found[one.expression].oid == change.blobs[path]
    )
    chosen = full_files.fit({path: _size(text) for path, text in texts.items()}, need.paths, limits)
    unread = [path for path in need.paths if path not in texts]
    untold = [path for path, one in silent.items() if one.expression not in found]
    return Wholes(
        diff=_with_modes(change.diff, same),
        texts={path: texts[path] or "" for path in chosen.paths},
        missing=tuple(_missing(unread, untold if reader.failures else [], reader.failures)),
        notes=(*need.notes, *chosen.notes),
    )


def _size(text: str | None) -> int | None:
    return None if text is None else len(text.encode("utf-8", "surrogatepass"))


def _silent(change: Change, base: str | None) -> dict[str, _Wanted]:
    """For files that are listed without lines and stay in their place: what they were before."""
    if base is None:
        return {}
    return {
        file.path: _Wanted(f"{base}:{file.path}", is_blob=False)
        for file in change.diff.files
        if file.is_binary and file.status is FileStatus.MODIFIED and file.path in change.blobs
    }


def _with_modes(change: Diff, same: frozenset[str]) -> Diff:
    files = tuple(
        replace(file, is_binary=False, status=FileStatus.MODE_CHANGED)
        if file.path in same
        else file
        for file in change.files
    )
    return replace(change, files=files)


def _missing(
    unread: Sequence[str], untold: Sequence[str], failures: Sequence[str]
) -> Iterator[str]:
    why = "; ".join(dict.fromkeys(failures)) or "the host does not have them"
    if unread:
        yield (
            f"{len(unread)} changed files could not be read whole ({why}), only their hunks: "
            f"{full_files.named(unread)}."
        )
    if untold:
        yield (
            f"{len(untold)} files without shown lines may have changed in their mode only, which "
            f"could not be asked ({why}): {full_files.named(untold)}."
        )
