"""ROUGE-L, ROUGE-1 and ROUGE-2: tokens in common with a reference, in order or not."""

from functools import partial
from typing import Literal

from crscore.code import libraries
from crscore.code.metrics.metric import MAX_CHARACTERS, Metric, TokenOptions, pair_metric
from crscore.code.ngrams import count_ngrams


class RougeOptions(TokenOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of ROUGE; the preset has tokens of tranX."""

    kind: Literal["L", "1", "2"] = "L"
    """In common: the longest common subsequence, single tokens, or pairs of neighbours."""


def _compare(options: RougeOptions, candidate: str, reference: str, _language: str | None) -> float:
    left, right = map(options.split, (candidate, reference))
    if options.kind == "L":
        distance = libraries.load("rapidfuzz.distance", "rapidfuzz")
        common, sizes = distance.LCSseq.similarity(left, right), (len(left), len(right))
    else:
        counts = [count_ngrams(side, int(options.kind)) for side in (left, right)]
        common = (counts[0] & counts[1]).total()
        sizes = counts[0].total(), counts[1].total()
    if not any(sizes):  # no token, or one each where pairs are counted
        return float(left == right)
    score = _f1(common, *sizes)
    return round(score, 3) if options.preset else score


def _f1(common: int, candidate: int, reference: int) -> float:
    if not common:
        return 0.0
    # Not 2 · common / (candidate + reference): the paper's values end in a rounding of this form.
    precision, recall = common / candidate, common / reference
    return 2 * precision * recall / (precision + recall)


def create(options: RougeOptions) -> Metric:
    """Create the metric."""
    variant = f"tok:{options.kind_of_tokens}|beta:1{options.rounding}"
    return pair_metric(
        "rouge_l",
        lambda: f"rouge-{options.kind.lower()}|{variant}",
        partial(_compare, options),
        max_characters=MAX_CHARACTERS,
    )
