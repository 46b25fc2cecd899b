"""ROUGE-L: tokens in common with a reference, in the same order."""

from crscore.code import libraries
from crscore.code.metrics.metric import (
    MAX_CHARACTERS,
    Metric,
    Preset,
    kind_of_tokens,
    pair_metric,
    rounding,
)
from crscore.code.tokens import TokenKind, split


def create(*, tokens: TokenKind | None = None, preset: Preset | None = None) -> Metric:
    """Create the metric, which measures the longest common subsequence of tokens.

    Args:
        tokens: Kind of tokens; None for the default (`kind_of_tokens`).
        preset: With it, the scores of samples are rounded to 3 decimals.
    """
    kind = kind_of_tokens(tokens, preset)

    def compare(candidate: str, reference: str, _language: str | None) -> float:
        left, right = (split(text, kind) for text in (candidate, reference))
        distance = libraries.load("rapidfuzz.distance", "rapidfuzz")
        common: int = distance.LCSseq.similarity(left, right)
        if not common:
            return float(left == right)
        # The formula 2 · common / (candidate + reference) is equivalent, but its rounding errors
        # differ from those of the paper's values.
        precision, recall = common / len(left), common / len(right)
        score = 2 * precision * recall / (precision + recall)
        return round(score, 3) if preset else score

    identity = f"rouge-l|tok:{kind}|beta:1{rounding(preset)}"
    return pair_metric("rouge_l", lambda: identity, compare, max_characters=MAX_CHARACTERS)
