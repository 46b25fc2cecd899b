"""Writes the JSON document about a pull request, which follows `schemas/pull.schema.json`.

The document has the overview's fields, `comments` with a row for each post that was scored, and
`result`, the document of `reports/json.py`.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from crscore.hosts.records import MessageKind
from crscore.pull_request.overview import Overview
from crscore.pull_request.reviewers.identify import ReviewerThread
from crscore.records import Result
from crscore.reports import escape
from crscore.reports import json as report


class PostRow(Struct, frozen=True, kw_only=True):
    """Scored post. The result's comment that contains the post has its scores."""

    id: int
    """Id of the post on the host."""
    kind: MessageKind
    """Where the post was written."""
    url: str
    """Address of the post."""
    reviewer: str
    """Author of the post, as in `reviewers`."""
    comment: int
    """Index in the result's `comments` of the comment that contains the post."""
    resolved: bool | None
    """Whether the post's thread is resolved; null without a thread, or if this is unknown."""
    outdated: bool
    """Whether the post is on lines that are no longer part of the change."""


class PullDocument(Overview, frozen=True, kw_only=True):
    """Document about one pull request: the overview for people, and the complete data."""

    comments: Sequence[PostRow]
    """The posts that were scored."""
    result: report.Result
    """The complete result."""


def render_json(overview: Overview, threads: Sequence[ReviewerThread], result: Result) -> str:
    """Write the JSON document about a pull request.

    Args:
        overview: Overview of the pull request.
        threads: Threads that were scored, in the order of the result's comments.
        result: Result that the overview was made from.

    Returns:
        One JSON object and a newline.
    """
    fields: dict[str, Any] = msgspec.structs.asdict(overview)
    rows = [
        report.copy_fields(PostRow, post, reviewer=thread.reviewer, comment=index)
        for index, thread in enumerate(threads)
        for post in thread.posts
    ]
    document = PullDocument(**fields, comments=rows, result=report.document(result))
    return escape.write_json(document, indent=None)
