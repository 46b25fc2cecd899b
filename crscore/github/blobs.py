"""Reads full files at the head of a pull request, many in one request.

One GraphQL query returns up to fifty blobs; REST needs one request per blob.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from crscore.diff import full_files
from crscore.diff.parse import DiffLimits
from crscore.github.client import Client
from crscore.github.graphql import GitObject
from crscore.hosts.listed_files import add_full_files
from crscore.hosts.records import Change
from crscore.records import Diff, FileStatus

OBJECTS_PER_QUERY: Final = 50
"""Maximum number of Git objects per query."""
_Response = dict[str, dict[str, GitObject | None] | None]
# SHA-1 or SHA-256: https://git-scm.com/docs/hash-function-transition
_NAME: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def blobs_query(expressions: Sequence[str]) -> str:
    """Return the query for Git objects, each given as the name of a blob or as `commit:path`.

    The caller passes the expressions again, as the variables `v0`, `v1`, ... of the query.
    """
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


def read_full_files(
    client: Client,
    repository: str,
    change: Diff,
    blob_names: Mapping[str, str],
    limits: DiffLimits,
    *,
    base: str,
) -> Change:
    """Add the full files at the head to a change, with one request for every fifty files.

    Args:
        client: GitHub client.
        repository: `owner/name` of the base repository, which also has the objects of its forks.
        change: The diff of the change.
        blob_names: Path -> name of the file's blob at the head.
        limits: Size limits.
        base: Tip of the base branch, 40 hex digits. GitHub lists a binary file and a file of which
            only the mode changed in the same way, without lines. The blob at the base shows which
            of the two a file is.

    Returns:
        The change, with sentences about the files that could not be read.

    Raises:
        HostError: A request failed.
    """
    paths, _ = full_files.list_needed(change, limits)
    at_base = {
        file.path: f"{base}:{file.path}"
        for file in change.files
        if file.is_binary and file.status is FileStatus.MODIFIED and file.path in blob_names
    }
    names = [blob_names[path] for path in paths if _NAME.fullmatch(blob_names.get(path, ""))]
    blobs = _read_objects(client, repository, [*names, *at_base.values()])
    texts = {
        # A file that GitHub has but cannot return as text gets None. A file that GitHub does not
        # have gets no entry.
        path: None if blob.is_binary or blob.is_truncated else blob.text
        for path in paths
        if (blob := blobs.get(blob_names.get(path, ""))) is not None
    }
    files = tuple(
        replace(file, is_binary=False, status=FileStatus.MODE_CHANGED)
        if (before := blobs.get(at_base.get(file.path, ""))) and before.oid == blob_names[file.path]
        else file
        for file in change.files
    )
    return add_full_files(replace(change, files=files), texts, limits)


def _read_objects(
    client: Client, repository: str, expressions: Sequence[str]
) -> dict[str, GitObject]:
    """Return a mapping from each expression to its object, without those that GitHub lacks."""
    blobs: dict[str, GitObject] = {}
    unique = list(dict.fromkeys(expressions))
    owner, _, name = repository.partition("/")
    for start in range(0, len(unique), OBJECTS_PER_QUERY):
        batch = unique[start : start + OBJECTS_PER_QUERY]
        variables = {f"v{index}": expression for index, expression in enumerate(batch)}
        variables |= {"owner": owner, "name": name}
        data = client.graphql(blobs_query(batch), variables, _Response)
        for index, expression in enumerate(batch):
            blob = (data.get("repository") or {}).get(f"o{index}")
            # A blob with another name than the requested one is another file, so it is ignored.
            if blob is not None and (":" in expression or blob.oid == expression):
                blobs[expression] = blob
    return blobs
