"""METEOR: words aligned with a reference, by equality, stem and synonym; by nltk."""

import functools
from dataclasses import dataclass
from types import SimpleNamespace

from crscore.code import libraries, wordnet
from crscore.code.metrics.base import Metric, PairMetric, TokenOptions


class Options(TokenOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of METEOR; the preset has tokens of tranX, and synonyms."""

    synonyms: bool | None = None
    """Whether synonyms of WordNet are aligned, where its files are on this machine. By default in
    the preset only: of code they improve nothing, and without them a score is the same on every
    machine."""


@dataclass(frozen=True, slots=True)
class Meteor(PairMetric):
    """Mean of precision and recall over aligned words, less up to half of it for their disorder.

    Recall weighs nine times as much as precision: alpha 0.9, beta 3, gamma 0.5. Two equal texts
    have less than 1: one run of m words costs 0.5 / m³.
    """

    options: Options

    @property
    def _has_synonyms(self) -> bool:
        synonyms = self.options.synonyms
        return bool(self.options.preset) if synonyms is None else synonyms

    @property
    def identity(self) -> str:
        """Variant by tokens, WordNet and rounding, with the versions of library and WordNet."""
        words = wordnet.find()[1] if self._has_synonyms else "no synonyms"
        version = libraries.version("nltk")
        return f"meteor|tok:{self.options.kind_of_tokens}|{words}|{version}{self.options.rounding}"

    def compare(self, candidate: str, reference: str, _language: str | None) -> float:
        """Align two texts."""
        score = libraries.load("nltk.translate.meteor_score", "nltk").single_meteor_score
        left, right = map(self.options.split, (candidate, reference))
        if not left:
            return float(not right)
        synonyms = wordnet.find()[0] if self._has_synonyms else wordnet.NoSynonyms()
        # nltk takes the reference first.
        value = float(score(right, left, stemmer=_stemmer(), wordnet=synonyms))
        return round(value, 3) if self.options.preset else value


@functools.cache
def _stemmer() -> SimpleNamespace:
    """Return Porter's stemmer, which stems every word once."""
    porter = libraries.load("nltk.stem.porter", "nltk").PorterStemmer()
    return SimpleNamespace(stem=functools.lru_cache(maxsize=100_000)(porter.stem))


def create(options: Options) -> Metric:
    """Create the metric."""
    return Meteor(options)
