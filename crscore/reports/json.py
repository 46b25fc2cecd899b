r"""The report for programs: one JSON document as `schemas/result.schema.json` describes it.

One result is the object itself; several are `{"results": [...]}`. Keys stand in a
fixed order. Texts are given whole and unchanged; what a terminal could act on is
written as `\uXXXX`, which any JSON reader turns back.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from crscore.reports import escape, view
from crscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from crscore.records import (
        Baselines,
        ChangedFile,
        CommentResult,
        LineSpan,
        Match,
        PseudoReference,
        Result,
        ReviewResult,
        Scores,
    )
    from crscore.reports.base import Report

SCHEMA = "urn:crscore:result:4"
"""The `$id` of the schema that the document keeps to."""
DECIMALS = 6
"""Of similarities and degrees."""

# `[`, numbers one on a line, `]`: a string never holds a raw line end, so this is no text.
_NUMBERS = re.compile(r"\[\n\s+([-+\d.e]+(?:,\n\s+[-+\d.e]+)*)\n\s+\]")


@dataclass(frozen=True, slots=True)
class Json:
    """Renders for programs."""

    def render(self, results: Sequence[Result]) -> str:
        """Render one result as an object, several as `{"results": [...]}`."""
        documents = [document(result) for result in results]
        value = documents[0] if len(documents) == 1 else {"results": documents}
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
        text = _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
        return escape.json_text(text) + "\n"


def document(result: Result) -> dict[str, Any]:
    """Make the object of one result, ready for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "signature": result.signature,
        "threshold": result.threshold,
        "decision": result.decision,
        "scores": _scores(result.scores),
        "baselines": _baselines(result.baselines),
        "diff": {
            "sha256": result.diff.sha256,
            "files": [_file(file) for file in result.diff.files],
            "notes": list(result.diff.notes),
        },
        "references": [
            _reference(index, item, match)
            for index, (item, match) in enumerate(
                zip(result.references, result.reference_matches, strict=True)
            )
        ],
        "analysis": {
            "coverage": result.analysis.coverage.value,
            "tools": [{**asdict(run), "state": run.state.value} for run in result.analysis.tools],
            "findings": [
                {**asdict(one), "severity": one.severity.value} for one in result.analysis.findings
            ],
        },
        "sentences": [
            {
                "index": index,
                "text": item.text,
                "comment": item.comment,
                "hidden": item.hidden,
                "flag": None if flag is None else flag.value,
                "best_reference": match.index,
                "similarity": _rounded(match.similarity),
                "degree": _rounded(match.degree),
                "matched": match.matched,
            }
            for index, (item, flag, match) in enumerate(
                zip(result.sentences, result.sentence_flags, result.sentence_matches, strict=True)
            )
        ],
        "similarity": _matrix(result.similarity),
        "degrees": _matrix(result.degrees),
        "comments": [_comment(index, item) for index, item in enumerate(result.comments)],
        "reviews": [_review(item) for item in result.reviews],
        "notes": list(result.notes),
    }


def _scores(scores: Scores) -> dict[str, Any]:
    return asdict(scores)


def _baselines(baselines: Baselines) -> dict[str, Any]:
    return asdict(baselines)


def _file(file: ChangedFile) -> dict[str, Any]:
    size = view.lines_of(file)
    return {
        "path": file.path,
        "old_path": file.old_path,
        "status": file.status.value,
        "language": file.language,
        "added": size.added,
        "removed": size.removed,
        "is_binary": file.is_binary,
        "is_submodule": file.is_submodule,
        "is_missing": file.is_missing,
    }


def _reference(index: int, item: PseudoReference, match: Match) -> dict[str, Any]:
    return {
        "index": index,
        "text": item.text,
        "kind": item.kind.value,
        "source": item.source,
        "spans": [_span(span) for span in item.spans],
        "identifiers": list(item.identifiers),
        "reading": item.reading or item.text,
        "weight": item.weight,
        "counted": item.counted,
        "best_sentence": match.index,
        "similarity": _rounded(match.similarity),
        "degree": _rounded(match.degree),
        "matched": match.matched,
    }


def _span(span: LineSpan) -> dict[str, Any]:
    return {"path": span.path, "side": span.side.value, "start": span.start, "end": span.end}


def _comment(index: int, item: CommentResult) -> dict[str, Any]:
    comment = item.comment
    return {
        "index": index,
        "id": comment.id,
        "author": comment.author,
        "path": comment.path,
        "line": comment.line,
        "start_line": comment.start_line,
        "side": comment.side.value,
        "scope": {
            "kind": item.scope.kind.value,
            "path": item.scope.path,
            "hunk": item.scope.hunk,
        },
        "scores": _scores(item.scores),
        "sentences": list(item.sentences),
        "references": list(item.references),
        "suggestions": list(item.suggestions),
    }


def _review(item: ReviewResult) -> dict[str, Any]:
    return {
        "author": item.author,
        "scores": _scores(item.scores),
        "baselines": _baselines(item.baselines),
        "comments": list(item.comments),
    }


def _matrix(values: npt.NDArray[np.float32]) -> list[list[float]]:
    return [[round(value, DECIMALS) for value in row] for row in values.tolist()]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)


def create() -> Report:
    """Make the report; it takes no options: programs always get everything."""
    return Json()
