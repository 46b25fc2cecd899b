"""Quality of the claims stored in a study, as judged by its annotators."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from crscore_lab.study.data.study import Correctness, Study, StudyChange

ALL = "all"
"""Language of the row that sums up all languages."""
COUNTED: Final[tuple[Correctness, ...]] = ("correct", "incorrect", "unverifiable")
"""Judgements that count in `ClaimQuality.n`. `incomplete` does not: such a claim is neither right
nor wrong."""


class ClaimQuality(Struct, frozen=True):
    """Quality of the claims of one language.

    `accuracy`, `error` and `unverifiable` are shares of the n claims and add up to 1. `missing` is
    also divided by n, but counts claims that are not among the n, so it can exceed 1.
    """

    language: str
    """A language of the study, or `all`."""
    n: int
    """Number of claims judged correct, incorrect or unverifiable."""
    accuracy: float | None
    """Share of claims judged correct, in [0, 1]; None if n is 0."""
    error: float | None
    """Share of claims judged incorrect, in [0, 1]; None if n is 0."""
    unverifiable: float | None
    """Share of claims that the annotator could not verify, in [0, 1]; None if n is 0."""
    missing: float | None
    """Number of claims that annotators added, divided by n; at least 0, None if n is 0."""


def claim_quality(study: Study) -> tuple[ClaimQuality, ...]:
    """Compute the quality of the claims of each language.

    Args:
        study: The study.

    Returns:
        One row per language, in study order, then one for all languages. Empty if no claim of the
        study is judged.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801v2, table 1.
    """
    languages = dict.fromkeys(change.language for change in study.changes)
    rows = [
        _row(language, [change for change in study.changes if change.language == language])
        for language in languages
    ]
    total = _row(ALL, study.changes)
    return (*rows, total) if total.n else ()


def _row(language: str, changes: Sequence[StudyChange]) -> ClaimQuality:
    counts = Counter(claim.correctness for change in changes for claim in change.llm_claims or ())
    n = sum(counts[verdict] for verdict in COUNTED)
    added = sum(len(change.added_claims or ()) for change in changes)
    numbers = (*(counts[verdict] for verdict in COUNTED), added)
    accuracy, error, unverifiable, missing = (number / n if n else None for number in numbers)
    return ClaimQuality(language, n, accuracy, error, unverifiable, missing)
