r"""JSON document that follows `schemas/pull.schema.json`.

It has the overview's fields, `comments` with one row for each remark that was scored, and `result`,
the document of `reports/json.py`. A lone surrogate, which some diffs contain, is written as U+FFFD:
strict readers, including crscore's, would reject the whole document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from crscore.github.records import Remark, RemarkKind
from crscore.pull_request.overview import SCHEMA, Overview
from crscore.records import Result, Scope, Scores, Usefulness
from crscore.reports import escape
from crscore.reports import json as report

__all__ = ["SCHEMA", "PullDocument", "RemarkRow", "ScoredRemark", "render_json"]

_HALF_PAIR = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRemark:
    """Remark, with the comment it is part of."""

    remark: Remark
    """Remark as stored by the host."""
    reviewer: str
    """Name of the reviewer who wrote it."""
    comment: int
    """Index of the comment in the result's `comments`."""


class RemarkRow(Struct, frozen=True, kw_only=True):
    """Scored remark; the scores are those of the comment that it is part of."""

    id: int
    """The host's id."""
    kind: RemarkKind
    """Where it was posted."""
    url: str
    """Its page."""
    reviewer: str
    """Author of the remark."""
    comment: int
    """Index of its comment in the result's `comments`."""
    scope: Scope
    """Part of the change that the comment was scored against."""
    usefulness: Usefulness | None
    """How useful the comment is; null with an encoder that has no weights for it."""
    scores: Scores
    """Scores of the comment against that scope."""
    resolved: bool | None
    """Whether its thread is resolved; null when it has none or that could not be read."""
    outdated: bool
    """Whether it is on lines that are no longer part of the change."""


class PullDocument(Overview, frozen=True, kw_only=True):
    """Document about one pull request: the overview for people, and the complete data."""

    comments: Sequence[RemarkRow]
    """The remarks that were scored."""
    result: report.Result
    """The whole result."""


def render_json(overview: Overview, remarks: Sequence[ScoredRemark], result: Result) -> str:
    """Write the document.

    Args:
        overview: The overview.
        remarks: The remarks that were scored.
        result: Result from which the overview was made.

    Returns:
        One JSON object and a newline.
    """
    fields: dict[str, Any] = msgspec.structs.asdict(overview)
    rows = [_row(remark, result) for remark in remarks]
    document = PullDocument(**fields, comments=rows, result=report.document(result))
    text = json.dumps(
        msgspec.to_builtins(document), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return escape.json_text(_HALF_PAIR.sub("\N{REPLACEMENT CHARACTER}", text)) + "\n"


def _row(scored_remark: ScoredRemark, result: Result) -> RemarkRow:
    remark, scored = scored_remark.remark, result.comments[scored_remark.comment]
    return RemarkRow(
        id=remark.id,
        kind=remark.kind,
        url=remark.url,
        reviewer=scored_remark.reviewer,
        comment=scored_remark.comment,
        scope=scored.scope,
        usefulness=scored.usefulness,
        scores=scored.scores,
        resolved=remark.resolved,
        outdated=remark.outdated,
    )
