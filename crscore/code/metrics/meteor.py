"""METEOR: words aligned with a reference, by equality, stem and synonym; by nltk."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.code import libraries, tokens, wordnet
from crscore.code.metrics.base import MeanMetric, Metric
from crscore.code.samples import Sample


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of METEOR."""

    preset: Literal["out-of-the-bleu"] | None = None
    """That paper's variant: tokens of tranX, synonyms, and scores rounded to 3 decimals."""
    tokens: tokens.TokenKind | None = None
    """Kind of tokens; the default is `code`, which agrees better with people, or `tranx` in the
    preset."""
    synonyms: bool | None = None
    """Whether synonyms of WordNet are aligned, where its files are on this machine. By default in
    the preset only: of code they improve nothing, and without them a score is the same on every
    machine."""


class Stemmer:
    """Porter's stemmer that takes every word once."""

    def __init__(self) -> None:
        porter = libraries.load("nltk.stem.porter", "nltk").PorterStemmer()
        self.stem = functools.cache(porter.stem)


@dataclass(frozen=True, slots=True)
class Meteor(MeanMetric):
    """Mean of precision and recall over aligned words, less up to half of it for their disorder.

    Recall weighs nine times as much as precision: alpha 0.9, beta 3, gamma 0.5. Two equal texts
    have less than 1: one run of m words costs 0.5 / m³.
    """

    options: Options

    @property
    def _kind(self) -> tokens.TokenKind:
        return self.options.tokens or ("tranx" if self.options.preset else "code")

    @property
    def _synonyms(self) -> bool:
        given = self.options.synonyms
        return bool(self.options.preset) if given is None else given

    @property
    def identity(self) -> str:
        """Variant by tokens, WordNet and rounding, with the versions of library and WordNet."""
        words = wordnet.find()[1] if self._synonyms else "no synonyms"
        rounded = "|round:3" if self.options.preset else ""
        return f"meteor|tok:{self._kind}|{words}|{libraries.version('nltk')}{rounded}"

    def scores(self, samples: Sequence[Sample]) -> npt.NDArray[np.float64]:
        """Score samples."""
        score = libraries.load("nltk.translate.meteor_score", "nltk").single_meteor_score
        known = wordnet.find()[0] if self._synonyms else wordnet.NoSynonyms()
        align = functools.partial(score, stemmer=Stemmer(), wordnet=known)
        split = functools.cache(tokens.TOKENIZERS[self._kind])
        values = []
        for sample in samples:
            candidate = split(sample.candidate)
            references = [split(text) for text in sample.references]
            if candidate:
                found = [float(align(reference, candidate)) for reference in references]
            else:
                found = [float(not reference) for reference in references]
            best = max(found)
            values.append(round(best, 3) if self.options.preset else best)
        return np.array(values, dtype=np.float64)


def create(options: Options) -> Metric:
    """Create the metric."""
    return Meteor(options)
