"""BLEU-4 as in sacrebleu: n-grams of tokens that a candidate has in common with its references.

A sample's score leaves out lengths of n-grams for which the candidate is too short (effective
order). The score of a set uses all lengths, because a set is hardly ever too short.
"""

from __future__ import annotations

from functools import partial

from crscore.code import ngrams
from crscore.code.metrics.metric import Doubles, Metric, Preset, rounding
from crscore.code.tokens import TokenKind


def create(*, tokens: TokenKind = "tranx", preset: Preset | None = None) -> Metric:
    """Create the metric.

    Args:
        tokens: Kind of tokens; the default keeps punctuation, which n-grams of code need.
        preset: With it, the scores of samples are rounded to 3 decimals.
    """

    def sentence_scores(statistics: Doubles) -> Doubles:
        # In sacrebleu, `sentence_bleu` uses the effective order by default, `corpus_bleu` does not:
        # https://github.com/mjpost/sacrebleu/blob/master/sacrebleu/compat.py
        scores = ngrams.bleu(statistics, effective_order=True)
        return scores.round(3) if preset else scores

    return Metric(
        name="bleu",
        identify=lambda: f"bleu|tok:{tokens}|smooth:exp|eff:sentence{rounding(preset)}",
        reduce=lambda samples: ngrams.statistics(samples, tokens),
        sentence_scores=sentence_scores,
        corpus_scores=partial(ngrams.bleu, effective_order=False),
    )
