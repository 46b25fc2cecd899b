"""Converts results to a pandas table (extra `pandas`), which pandas can save as CSV or Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from crscore.errors import CRScoreError, requires
from crscore.records import Result
from crscore.reports import view

if TYPE_CHECKING:
    import pandas as pd

# `Int64`, because `int64` has no missing value:
# https://pandas.pydata.org/docs/user_guide/integer_na.html
_COLUMNS: Final[dict[str, tuple[str, Callable[[Result], Any]]]] = {
    "diff": ("string", lambda result: result.diff.sha256),
    "files": ("Int64", lambda result: len(result.diff.files)),
    "added": ("Int64", lambda result: view.change_size(result.diff)[0]),
    "removed": ("Int64", lambda result: view.change_size(result.diff)[1]),
    "comments": ("Int64", lambda result: len(result.comments)),
    "sentences": ("Int64", lambda result: result.scores.sentences),
    "references": ("Int64", lambda result: result.scores.references),
    "words": ("Int64", lambda result: result.baselines.words),
    "repeated_tokens": ("Float64", lambda result: result.baselines.repeated_tokens),
    "standing": ("Int64", lambda result: getattr(result.usefulness, "standing", None)),
    "low": ("Int64", lambda result: getattr(result.usefulness, "low", None)),
    "high": ("Int64", lambda result: getattr(result.usefulness, "high", None)),
    "about": ("Float64", lambda result: getattr(result.usefulness, "about", None)),
    "importance": ("Float64", lambda result: getattr(result.usefulness, "importance", None)),
    "relevance": ("Float64", lambda result: result.relevance),
    "conciseness": ("Float64", lambda result: result.conciseness),
    "comprehensiveness": ("Float64", lambda result: result.comprehensiveness),
    "unaddressed": ("Int64", lambda result: len(view.list_unaddressed(result))),
    "reason": ("string", lambda result: result.scores.reason),
    "signature": ("string", lambda result: result.signature),
}
"""Pandas type of each column, which allows missing values, and function that returns its value."""


def results_frame(results: Iterable[Result | CRScoreError]) -> pd.DataFrame:
    """Return a table with a row for each result, in the given order.

    Args:
        results: Results of `Scorer.score_many`, including the errors that it kept.

    Returns:
        Columns: `diff` (SHA-256); the numbers `files`, `added` and `removed` (lines), `comments`,
        `sentences`, `references` (those counted) and `words`; `repeated_tokens`, in [0, 1];
        `standing` and the ends of its interval, `low` and `high`, from 0 to 100; `about`,
        `importance`, `relevance`, `conciseness` and `comprehensiveness`, in [0, 1]; `unaddressed`
        (number of topics); `reason` (why there is no score); `signature`. Unknown values are
        `pandas.NA`; the row of an error has only a `reason`, the text of the error.

    Raises:
        DependencyError: pandas is not installed.
    """
    with requires("pandas", "pip install 'crscore[pandas]'"):
        import pandas as pd  # noqa: PLC0415
    types = {name: kind for name, (kind, _) in _COLUMNS.items()}
    rows = [
        {"reason": str(result)}
        if isinstance(result, CRScoreError)
        else {name: read(result) for name, (_, read) in _COLUMNS.items()}
        for result in results
    ]
    return pd.DataFrame(rows, columns=list(types)).astype(types)
