"""Quality of a study's recorded claims, as judged by its annotators."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from crscore_lab.study.data.study import Correctness, Study, StudyChange

ALL = "all"
"""Name of the row of all languages."""
COUNTED: Final[tuple[Correctness, ...]] = ("correct", "incorrect", "unverifiable")
"""Judgements that make up n: an incomplete claim is neither right nor wrong."""


class ClaimQuality(Struct, frozen=True):
    """Quality of the claims of one language.

    The first three rates are shares of the n judged claims and add up to 1. The fourth is relative
    to n too, but counts other claims, so it can exceed 1.
    """

    language: str
    """A language of the study, or `all`."""
    n: int
    """Claims judged correct, incorrect or unverifiable."""
    accuracy: float | None
    """Share judged correct, in [0, 1]; None when n is 0, as are the other rates."""
    error: float | None
    """Share judged incorrect, in [0, 1]."""
    unverifiable: float | None
    """Share that the annotator could not verify, in [0, 1]."""
    missing: float | None
    """Claims that annotators added, per judged claim; 0 or more."""


def claim_quality(study: Study) -> tuple[ClaimQuality, ...]:
    """Compute the quality of the claims of each language.

    Args:
        study: The study.

    Returns:
        One row per language, in study order, then one for all languages. Empty when no claim of the
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
