"""BLEU: n-grams of tokens that a candidate has in common with its references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crscore.code import ngrams, tokens
from crscore.code.metrics.base import Floats, Metric, PresetOptions
from crscore.code.samples import Sample


class Options(PresetOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of BLEU."""

    tokens: tokens.TokenKind = "tranx"
    """Kind of tokens; n-grams need the punctuation."""
    smoothing: ngrams.Smoothing = "exp"
    """Precision of an n-gram length without a match."""


@dataclass(frozen=True, slots=True)
class Bleu(Metric):
    """BLEU-4 as in sacrebleu, on tokens of code.

    A sample's score leaves out lengths of n-grams that the candidate is too short for (effective
    order); that of a set does not, as it hardly ever is too short.
    """

    options: Options

    @property
    def identity(self) -> str:
        """Variant by tokens, smoothing and rounding."""
        options = self.options
        variant = f"tok:{options.tokens}|smooth:{options.smoothing}"
        return f"bleu|{variant}|eff:sentence{options.rounding}"

    def statistics(self, samples: Sequence[Sample]) -> Floats:
        """Count n-grams; shape (N, 10), see `ngrams.References.statistics`."""
        return ngrams.statistics(samples, self.options.tokens)

    def sentence_scores(self, statistics: Floats) -> Floats:
        """Score each sample, with effective order."""
        scores = ngrams.bleu(statistics, effective_order=True, smoothing=self.options.smoothing)
        return scores.round(3) if self.options.preset else scores

    def corpus_scores(self, totals: Floats) -> Floats:
        """Score sets of samples."""
        return ngrams.bleu(totals, effective_order=False, smoothing=self.options.smoothing)


def create(options: Options) -> Metric:
    """Create the metric."""
    return Bleu(options)
