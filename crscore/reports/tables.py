"""Results as a table for pandas (extra `export`), which writes it as JSON Lines, CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from crscore.errors import CRScoreError, DependencyError
from crscore.records import Result
from crscore.reports import view

if TYPE_CHECKING:
    import pandas as pd

_TYPES = {
    "diff": "string",
    "files": "Int64",
    "added": "Int64",
    "removed": "Int64",
    "comments": "Int64",
    "sentences": "Int64",
    "references": "Int64",
    "words": "Int64",
    "repeated_tokens": "Float64",
    "standing": "Int64",
    "about": "Float64",
    "substance": "Float64",
    "relevance": "Float64",
    "conciseness": "Float64",
    "comprehensiveness": "Float64",
    "unaddressed": "Int64",
    "reason": "string",
    "partial": "boolean",
    "signature": "string",
}
"""Columns in their order; the types are pandas's that have a missing value."""


def results_frame(results: Iterable[Result | CRScoreError]) -> pd.DataFrame:
    """Return a table of results, one row for each, in their order.

    Args:
        results: Results of `Scorer.score_many`, also with errors that it kept.

    Returns:
        Columns: `diff` (SHA-256), `files`, `added` and `removed` (lines), `comments`, `sentences`,
        `references` (counted ones), `words`, `repeated_tokens` (in [0, 1]), `standing` (0 to 100),
        `about`, `substance`, `relevance`, `conciseness`, `comprehensiveness` (in [0, 1]),
        `unaddressed` (points), `reason` (of an abstention), `partial`, `signature`. What is not
        known is `pandas.NA`; an error has its text as the reason, and nothing else.

    Raises:
        DependencyError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415
    except ImportError as exc:
        raise DependencyError("pandas", "pip install 'crscore[export]'") from exc
    return pd.DataFrame([_row(result) for result in results], columns=list(_TYPES)).astype(_TYPES)


def _row(result: Result | CRScoreError) -> dict[str, Any]:
    if isinstance(result, CRScoreError):
        return {"reason": str(result)}
    sizes, useful = [view.lines_of(file) for file in result.diff.files], result.usefulness
    return {
        "diff": result.diff.sha256,
        "files": len(sizes),
        "added": sum(size.added for size in sizes),
        "removed": sum(size.removed for size in sizes),
        "comments": len(result.comments),
        "sentences": result.scores.sentences,
        "references": result.scores.references,
        "words": result.baselines.words,
        "repeated_tokens": result.baselines.repeated_tokens,
        "standing": None if useful is None else useful.standing,
        "about": None if useful is None else useful.about,
        "substance": None if useful is None else useful.substance,
        "relevance": result.relevance,
        "conciseness": result.conciseness,
        "comprehensiveness": result.comprehensiveness,
        "unaddressed": len(view.unaddressed(result)),
        "reason": result.scores.reason,
        "partial": bool(result.missing),
        "signature": result.signature,
    }
