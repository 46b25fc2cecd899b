"""Character edit similarity, by rapidfuzz.

1 - insertions, deletions and replacements of characters / length of the longer text, white space
at either end left out.
"""

from crscore.code import libraries
from crscore.code.metrics.metric import MAX_CHARACTERS, Metric, pair_metric


def create() -> Metric:
    """Create the metric, which has no options."""

    def compare(candidate: str, reference: str, _language: str | None) -> float:
        levenshtein = libraries.load("rapidfuzz.distance", "rapidfuzz").Levenshtein
        return float(levenshtein.normalized_similarity(candidate.strip(), reference.strip()))

    # Without a version, because the distance is the same in every library.
    return pair_metric("edit", lambda: "edit", compare, max_characters=MAX_CHARACTERS)
