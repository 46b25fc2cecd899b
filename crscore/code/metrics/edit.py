"""Character edit similarity, by rapidfuzz."""

from dataclasses import dataclass

from crscore.code import libraries
from crscore.code.metrics.base import MAX_CHARACTERS, Metric, PairMetric


@dataclass(frozen=True, slots=True)
class Edit(PairMetric):
    """1 - insertions, deletions and replacements of characters / length of the longer text.

    White space at either end is left out.
    """

    max_characters = MAX_CHARACTERS

    @property
    def identity(self) -> str:
        """Name of the metric; the distance is defined whatever the library's version."""
        return "edit"

    def compare(self, candidate: str, reference: str, _language: str | None) -> float:
        """Compare two texts."""
        levenshtein = libraries.load("rapidfuzz.distance", "rapidfuzz").Levenshtein
        return float(levenshtein.normalized_similarity(candidate.strip(), reference.strip()))


def create() -> Metric:
    """Create the metric."""
    return Edit()
