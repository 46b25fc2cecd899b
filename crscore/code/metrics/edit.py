"""Character edit similarity, by rapidfuzz.

The score is 1 - (insertions + deletions + replacements of characters) / length of the longer text.
White space at either end of a text is left out.
"""

from crscore.code import libraries
from crscore.code.metrics.metric import MAX_CHARACTERS, Metric, pair_metric


def create() -> Metric:
    """Create the metric, which has no options."""

    def compare(candidate: str, reference: str, _language: str | None) -> float:
        levenshtein = libraries.load("rapidfuzz.distance", "rapidfuzz").Levenshtein
        return float(levenshtein.normalized_similarity(candidate.strip(), reference.strip()))

    # The identity has no version, because the distance is the same in every library.
    return pair_metric("edit", lambda: "edit", compare, max_characters=MAX_CHARACTERS)
