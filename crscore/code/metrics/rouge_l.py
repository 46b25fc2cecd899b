"""ROUGE-L, ROUGE-1 and ROUGE-2: tokens in common with a reference, in order or not."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.code import libraries, limits, tokens
from crscore.code.metrics.base import MeanMetric, Metric
from crscore.code.ngrams import ngrams
from crscore.code.samples import Sample


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of ROUGE."""

    preset: Literal["out-of-the-bleu"] | None = None
    """That paper's variant: tokens of tranX, and scores rounded to 3 decimals."""
    tokens: tokens.TokenKind | None = None
    """Kind of tokens; the default is `code`, or `tranx` in the preset."""
    kind: Literal["L", "1", "2"] = "L"
    """In common: the longest common subsequence, single tokens, or pairs of neighbours."""


@dataclass(frozen=True, slots=True)
class Rouge(MeanMetric):
    """F1 of tokens in common with the best reference."""

    options: Options

    @property
    def _kind(self) -> tokens.TokenKind:
        return self.options.tokens or ("tranx" if self.options.preset else "code")

    @property
    def identity(self) -> str:
        """Variant by kind, tokens and rounding."""
        rounded = "|round:3" if self.options.preset else ""
        return f"rouge-{self.options.kind.lower()}|tok:{self._kind}|beta:1{rounded}"

    def inapplicable(self, samples: Sequence[Sample]) -> str | None:
        """Refuse code that would take minutes."""
        return limits.too_long(samples)

    def scores(self, samples: Sequence[Sample]) -> npt.NDArray[np.float64]:
        """Score samples."""
        limits.check_length(samples, "rouge_l")
        split = functools.cache(tokens.TOKENIZERS[self._kind])
        values = []
        for sample in samples:
            candidate = split(sample.candidate)
            values.append(max(self._score(candidate, split(text)) for text in sample.references))
        return np.array(values, dtype=np.float64)

    def _score(self, candidate: list[str], reference: list[str]) -> float:
        if self.options.kind == "L":
            distance = libraries.load("rapidfuzz.distance", "rapidfuzz")
            common = distance.LCSseq.similarity(candidate, reference)
            sizes = len(candidate), len(reference)
        else:
            order = int(self.options.kind)
            first, second = ngrams(candidate, order), ngrams(reference, order)
            common = (first & second).total()
            sizes = first.total(), second.total()
        if not any(sizes):  # no token, or one each where pairs are counted
            return float(candidate == reference)
        score = _f1(common, *sizes)
        return round(score, 3) if self.options.preset else score


def _f1(common: int, candidate: int, reference: int) -> float:
    if not common:
        return 0.0
    # Not 2 · common / (candidate + reference): the paper's values end in a rounding of this form.
    precision, recall = common / candidate, common / reference
    return 2 * precision * recall / (precision + recall)


def create(options: Options) -> Metric:
    """Create the metric."""
    return Rouge(options)
