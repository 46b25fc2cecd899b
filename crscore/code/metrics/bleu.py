"""BLEU: n-grams of tokens that a candidate has in common with its references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.code import ngrams, tokens
from crscore.code.metrics.base import Metric
from crscore.code.samples import Sample

Floats = npt.NDArray[np.float64]


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of BLEU."""

    preset: Literal["out-of-the-bleu"] | None = None
    """That paper's variant: tokens of tranX, and scores of samples rounded to 3 decimals."""
    tokens: tokens.TokenKind | None = None
    """Kind of tokens; the default is `tranx`: n-grams need the punctuation."""
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
    def _kind(self) -> tokens.TokenKind:
        return self.options.tokens or "tranx"

    @property
    def identity(self) -> str:
        """Variant by tokens, smoothing and rounding."""
        rounded = "|round:3" if self.options.preset else ""
        return f"bleu|tok:{self._kind}|smooth:{self.options.smoothing}|eff:sentence{rounded}"

    def statistics(self, samples: Sequence[Sample]) -> Floats:
        """Count n-grams; shape (N, 10), see `ngrams.References.statistics`."""
        return ngrams.statistics(samples, tokens.TOKENIZERS[self._kind])

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
