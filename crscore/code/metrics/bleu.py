"""BLEU-4 as in sacrebleu: n-grams of tokens that a candidate has in common with its references.

A sample's score leaves out lengths of n-grams that the candidate is too short for (effective
order). The score of a set leaves none out, as a set is hardly ever too short.
"""

from __future__ import annotations

from functools import partial

from crscore.code import ngrams, tokens
from crscore.code.metrics.metric import Floats, Metric, PresetOptions


class BleuOptions(PresetOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of BLEU."""

    tokens: tokens.TokenKind = "tranx"
    """Kind of tokens; n-grams need the punctuation."""


def create(options: BleuOptions) -> Metric:
    """Create the metric."""

    def sentence_scores(statistics: Floats) -> Floats:
        scores = ngrams.bleu(statistics, effective_order=True)
        return scores.round(3) if options.preset else scores

    return Metric(
        name="bleu",
        identify=lambda: f"bleu|tok:{options.tokens}|smooth:exp|eff:sentence{options.rounding}",
        reduce=lambda samples: ngrams.statistics(samples, options.tokens),
        sentence_scores=sentence_scores,
        corpus_scores=partial(ngrams.bleu, effective_order=False),
    )
