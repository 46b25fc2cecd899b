"""Fields of GitLab's answers as its published API description has them, for those used here.

From the OpenAPI 3 description of GitLab 19.5 (`doc/api/openapi/openapi_v3.yaml`), which says of a
note's position only that it is an object: `Position`, `Range` and `Point` are from the page on
discussions (https://docs.gitlab.com/api/discussions/), `File` is from that on repository files.
"""

from __future__ import annotations

import re
from typing import Any, Final

Kind = type | str | list[str]

ENTITIES: Final[dict[str, dict[str, Kind]]] = {
    "UserBasic": {"id": int, "username": str, "name": str, "state": str, "web_url": str},
    "MergeRequestAuthor": {"id": int, "username": str, "name": str, "state": str, "bot": bool},
    "UserPublic": {"id": int, "username": str, "name": str, "state": str, "bot": bool},
    "Member": {"id": int, "username": str, "name": str, "state": str, "access_level": int},
    "Job": {"id": int, "user": "UserPublic"},
    "DiffRefs": {"base_sha": str, "head_sha": str, "start_sha": str},
    "CommitDetail": {"id": str, "short_id": str, "title": str, "created_at": str},
    "Project": {"id": int, "path_with_namespace": str, "default_branch": str},
    "MergeRequest": {
        "id": int,
        "iid": int,
        "draft": bool,
        "created_at": str,
        "updated_at": str,
        "closed_at": str,
        "merged_at": str,
        "merge_commit_sha": str,
        "squash_commit_sha": str,
        "title": str,
        "state": str,
        "web_url": str,
        "sha": str,
        "target_branch": str,
        "author": "MergeRequestAuthor",
        "user_notes_count": int,
        "diff_refs": "DiffRefs",
    },
    "MergeRequestDiff": {
        "id": int,
        "head_commit_sha": str,
        "base_commit_sha": str,
        "start_commit_sha": str,
        "created_at": str,
        "state": str,
        "real_size": str,
    },
    "MergeRequestDiffFull": {
        "id": int,
        "head_commit_sha": str,
        "base_commit_sha": str,
        "start_commit_sha": str,
        "created_at": str,
        "state": str,
        "real_size": str,
        "diffs": ["Diff"],
    },
    "Diff": {
        "diff": str,
        "collapsed": bool,
        "too_large": bool,
        "new_path": str,
        "old_path": str,
        "a_mode": str,
        "b_mode": str,
        "new_file": bool,
        "renamed_file": bool,
        "deleted_file": bool,
        "generated_file": bool,
    },
    "Discussion": {"id": str, "individual_note": bool, "notes": ["Note"]},
    "Note": {
        "id": int,
        "type": str,
        "body": str,
        "author": "UserBasic",
        "created_at": str,
        "updated_at": str,
        "system": bool,
        "noteable_type": str,
        "noteable_iid": int,
        "commit_id": str,
        "position": "Position",
        "resolvable": bool,
        "resolved": bool,
        "resolved_by": "UserBasic",
        "confidential": bool,
        "internal": bool,
    },
    "Position": {
        "base_sha": str,
        "start_sha": str,
        "head_sha": str,
        "old_path": str,
        "new_path": str,
        "position_type": str,
        "old_line": int,
        "new_line": int,
        "line_range": "Range",
    },
    "Range": {"start": "Point", "end": "Point"},
    "Point": {"line_code": str, "type": str, "old_line": int, "new_line": int},
    "File": {
        "file_name": str,
        "file_path": str,
        "size": int,
        "encoding": str,
        "content": str,
        "content_sha256": str,
        "ref": str,
        "blob_id": str,
        "commit_id": str,
    },
}
_PROJECT: Final = r"/projects/(?:\d+|[A-Za-z][^/]*/[^/]+)"
_MERGE_REQUEST: Final = rf"{_PROJECT}/merge_requests/\d+"
ANSWERS: Final[dict[str, Kind]] = {
    r"/user": "UserPublic",
    r"/job": "Job",
    rf"{_PROJECT}/repository/files/.+": "File",
    rf"{_PROJECT}/repository/commits/[0-9a-f]+": "CommitDetail",
    rf"{_PROJECT}/members/all": ["Member"],
    _PROJECT: "Project",
    r"/groups/[^/]+/projects": ["Project"],
    rf"{_PROJECT}/merge_requests": ["MergeRequest"],
    _MERGE_REQUEST: "MergeRequest",
    rf"{_MERGE_REQUEST}/versions": ["MergeRequestDiff"],
    rf"{_MERGE_REQUEST}/versions/\d+": "MergeRequestDiffFull",
    rf"{_MERGE_REQUEST}/discussions": ["Discussion"],
    rf"{_MERGE_REQUEST}/notes": ["Note"],
    rf"{_MERGE_REQUEST}/notes/\d+": "Note",
}
"""What each path answers to a reading request; a written note is answered as a note."""


def deviations(path: str, value: Any, *, is_list: bool) -> list[str]:
    """Return where an answer is not what the description says.

    Args:
        path: Path below `/api/v4`, unquoted.
        value: The answer, decoded.
        is_list: Whether a list is read; False for a single resource, and for a write.
    """
    kinds = [kind for form, kind in ANSWERS.items() if re.fullmatch(form, path)]
    if not kinds:
        return [f"{path} is not described"]
    kind = kinds[0] if is_list or isinstance(kinds[0], str) else kinds[0][0]  # type: ignore[index]
    return list(_differences(path, value, kind))


def _differences(place: str, value: Any, kind: Kind) -> list[str]:
    if value is None:
        return []
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{place} is no list"]
        return [text for item in value for text in _differences(f"{place}[]", item, kind[0])]
    if isinstance(kind, type):
        # In Python, true is a number.
        return [] if type(value) is kind else [f"{place} is {type(value).__name__}"]
    if not isinstance(value, dict):
        return [f"{place} is no object"]
    fields = ENTITIES[kind]
    differences = [f"{place}.{name} is not described" for name in value if name not in fields]
    for name in fields.keys() & value.keys():
        differences += _differences(f"{place}.{name}", value[name], fields[name])
    return differences
