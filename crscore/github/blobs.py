"""Full files at the head of a pull request, many in one request.

One GraphQL query returns up to fifty blobs; REST takes a request for each. A blob's name is a hash
of its content, so a blob is read only once.

Without full files, the analyzers see less and the claims differ: a text that GitHub does not have
could change a score, so it is reported in `missing`. A file beyond a limit is omitted every time,
so it is only reported in `notes`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from crscore.cache import Store
from crscore.diff import full_files
from crscore.diff.paths import format_paths
from crscore.github.changed_files import ListedChange
from crscore.github.client import Client
from crscore.github.graphql import Blob
from crscore.records import Diff, FileStatus
from crscore.text import count_noun

OBJECTS_PER_QUERY: Final = 50
"""Number of objects per query."""
_NAME: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class _Data(msgspec.Struct, frozen=True):
    repository: dict[str, Blob | None] | None = None


class FullFiles(NamedTuple):
    """Changed files at the head, as far as they could be read."""

    diff: Diff
    """Change; a file with only a changed mode is no longer marked as binary."""
    texts: Mapping[str, str]
    """Text at the head, by path."""
    missing: tuple[str, ...]
    """Missing data that could change a score, one sentence each."""
    notes: tuple[str, ...]
    """Sentences about files beyond a limit."""


def blobs_query(expressions: Sequence[str]) -> str:
    """Return the query for objects; `$v0`, `$v1`, ... are blob names or `commit:path`."""
    declared, objects = "", ""
    for index, expression in enumerate(expressions):
        argument, kind = ("expression", "String") if ":" in expression else ("oid", "GitObjectID")
        fields = "oid" if ":" in expression else "oid ... on Blob { isBinary isTruncated text }"
        declared += f", $v{index}: {kind}!"
        objects += f"o{index}: object({argument}: $v{index}) {{ {fields} }}\n"
    return (
        f"query ($owner: String!, $name: String!{declared}) {{\n"
        f"repository(owner: $owner, name: $name) {{\n{objects}}} }}"
    )


def read_blobs(
    client: Client,
    repository: str,
    change: ListedChange,
    limits: full_files.Limits,
    store: Store | None = None,
    base: str | None = None,
) -> FullFiles:
    """Read the changed files at the head.

    Args:
        client: GitHub client.
        repository: `owner/name` of the base; it also has the objects of forks.
        change: The change.
        limits: Size limits.
        store: Cache for objects; None to cache nothing.
        base: Tip of the base branch, 40 hex digits; None if unknown. It distinguishes files with
            only a changed mode from binary ones: GitHub lists both without lines.

    Returns:
        The files. One request is sent for every fifty objects that are not cached.

    Raises:
        HostError: A request failed.
    """
    need = full_files.needed(change.diff, limits)
    names = {path: change.blobs.get(path, "") for path in need.paths}
    previous = _previous_blobs(change, base)
    expressions = [name for name in names.values() if _NAME.fullmatch(name)]
    blobs = _read_objects(client, repository, [*expressions, *previous.values()], store)
    texts = {
        # None: the file exists but has no text. Absent: GitHub does not have the file.
        path: None if blob.is_binary or blob.is_truncated else blob.text
        for path, name in names.items()
        if (blob := blobs.get(name)) is not None
    }
    unchanged = frozenset(
        path
        for path, expression in previous.items()
        if expression in blobs and blobs[expression].oid == change.blobs[path]
    )
    sizes = {path: None if text is None else len(text.encode()) for path, text in texts.items()}
    selection = full_files.fit(sizes, need.paths, limits)
    unread = [path for path in need.paths if path not in texts]
    return FullFiles(
        diff=_mark_modes(change.diff, unchanged),
        texts={path: texts[path] or "" for path in selection.paths},
        missing=tuple(_missing(unread)),
        notes=(*need.notes, *selection.notes),
    )


def _previous_blobs(change: ListedChange, base: str | None) -> dict[str, str]:
    """Return the old version (`commit:path`) of each file listed without lines and not moved."""
    if base is None:
        return {}
    return {
        file.path: f"{base}:{file.path}"
        for file in change.diff.files
        if file.is_binary and file.status is FileStatus.MODIFIED and file.path in change.blobs
    }


def _read_objects(
    client: Client, repository: str, expressions: Sequence[str], store: Store | None
) -> dict[str, Blob]:
    """Return the objects that GitHub has, by expression."""
    blobs: dict[str, Blob] = {}
    for expression in expressions:
        # A blob's name identifies its content, so an entry never expires.
        entry = store.get(f"blob {expression}") if store is not None else None
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            blobs[expression] = msgspec.json.decode(entry or b"", type=Blob)
    unknown = [name for name in dict.fromkeys(expressions) if name not in blobs]
    owner, _, name = repository.partition("/")
    for start in range(0, len(unknown), OBJECTS_PER_QUERY):
        batch = unknown[start : start + OBJECTS_PER_QUERY]
        variables = {f"v{index}": expression for index, expression in enumerate(batch)}
        variables |= {"owner": owner, "name": name}
        data = client.graphql(blobs_query(batch), variables, _Data)
        for index, expression in enumerate(batch):
            blob = (data.repository or {}).get(f"o{index}")
            # Discard a blob with another name than the requested one.
            if blob is not None and (":" in expression or blob.oid == expression):
                blobs[expression] = blob
                if store is not None:
                    store.put(f"blob {expression}", msgspec.json.encode(blob))
    return blobs


def _mark_modes(change: Diff, unchanged: frozenset[str]) -> Diff:
    files = tuple(
        replace(file, is_binary=False, status=FileStatus.MODE_CHANGED)
        if file.path in unchanged
        else file
        for file in change.files
    )
    return replace(change, files=files)


def _missing(unread: Sequence[str]) -> Iterator[str]:
    if unread:
        yield (
            "Read by their hunks only, as the host does not have the whole: "
            f"{count_noun(len(unread), 'changed file')} ({format_paths(unread)})."
        )
