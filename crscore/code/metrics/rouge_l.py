"""ROUGE-L: tokens in common with a reference, in the same order."""

from crscore.code import libraries
from crscore.code.metrics.metric import MAX_CHARACTERS, Metric, TokenOptions, pair_metric


class RougeOptions(TokenOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of ROUGE-L; the preset has tokens of tranX."""


def create(options: RougeOptions) -> Metric:
    """Create the metric."""

    def compare(candidate: str, reference: str, _language: str | None) -> float:
        left, right = map(options.split, (candidate, reference))
        distance = libraries.load("rapidfuzz.distance", "rapidfuzz")
        common: int = distance.LCSseq.similarity(left, right)
        if not common:
            return float(left == right)
        # Not 2 · common / (candidate + reference): the paper's values end in a rounding of this
        # form.
        precision, recall = common / len(left), common / len(right)
        score = 2 * precision * recall / (precision + recall)
        return round(score, 3) if options.preset else score

    identity = f"rouge-l|tok:{options.kind_of_tokens}|beta:1{options.rounding}"
    return pair_metric("rouge_l", lambda: identity, compare, max_characters=MAX_CHARACTERS)
