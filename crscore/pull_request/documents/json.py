r"""The JSON document, as `schemas/pull.schema.json` describes it.

It has the overview's fields, `comments` with one row for each remark that was scored, and `result`,
the document of `reports/json.py`. Half a surrogate pair, which some diffs hold, is written as
U+FFFD: strict readers, ours among them, refuse the whole document for one.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from crscore.reports import escape
from crscore.reports import json as report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.github.records import Remark
    from crscore.pull_request.overview import Overview
    from crscore.records import Result

_HALF_PAIR = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A remark and the comment that it became a part of."""

    remark: Remark
    """As the host has it."""
    reviewer: str
    """Who spoke."""
    comment: int
    """Index of the comment in the result's `comments`."""


def render_json(found: Overview, spoken: Sequence[Spoken], result: Result) -> str:
    """Write the document.

    Args:
        found: The overview.
        spoken: The remarks that were scored.
        result: What the overview was condensed from.

    Returns:
        One JSON object and a newline.
    """
    value = {
        **msgspec.to_builtins(found),
        "comments": [_row(one, result) for one in spoken],
        "result": report.document(result),
    }
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return escape.json_text(_HALF_PAIR.sub("\N{REPLACEMENT CHARACTER}", text)) + "\n"


def _row(one: Spoken, result: Result) -> dict[str, Any]:
    """Make a remark's row; the scores are those of the whole comment that it is a part of."""
    remark, scored = one.remark, result.comments[one.comment]
    return {
        "id": remark.id,
        "kind": remark.kind.value,
        "url": remark.url,
        "reviewer": one.reviewer,
        "comment": one.comment,
        "scope": {
            "kind": scored.scope.kind.value,
            "path": scored.scope.path,
            "hunk": scored.scope.hunk,
        },
        "scores": asdict(scored.scores),
        "resolved": remark.resolved,
        "outdated": remark.outdated,
    }
