"""METEOR: words aligned with a reference, by equality, stem and synonym; by nltk.

The score is the mean of precision and recall over aligned words, minus up to half of it for their
disorder. Recall weighs nine times as much as precision: alpha 0.9, beta 3, gamma 0.5. Two equal
texts score less than 1: one run of m words costs 0.5 / m³.
"""

import functools
from types import SimpleNamespace

from crscore.code import libraries, wordnet
from crscore.code.metrics.metric import Metric, TokenOptions, pair_metric


class MeteorOptions(TokenOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of METEOR; the preset has tokens of tranX, and synonyms."""

    synonyms: bool | None = None
    """Whether synonyms of WordNet are aligned, where its files are on this machine. By default in
    the preset only: for code they improve nothing, and without them a score is the same on every
    machine."""

    @property
    def uses_synonyms(self) -> bool:
        """Whether synonyms are aligned."""
        return bool(self.preset) if self.synonyms is None else self.synonyms


@functools.cache
def _stemmer() -> SimpleNamespace:
    """Return Porter's stemmer, which stems every word once."""
    porter = libraries.load("nltk.stem.porter", "nltk").PorterStemmer()
    return SimpleNamespace(stem=functools.lru_cache(maxsize=100_000)(porter.stem))


def create(options: MeteorOptions) -> Metric:
    """Create the metric."""

    def identify() -> str:
        words = wordnet.find()[1] if options.uses_synonyms else "no synonyms"
        version = libraries.version("nltk")
        return f"meteor|tok:{options.kind_of_tokens}|{words}|{version}{options.rounding}"

    def compare(candidate: str, reference: str, _language: str | None) -> float:
        score = libraries.load("nltk.translate.meteor_score", "nltk").single_meteor_score
        left, right = map(options.split, (candidate, reference))
        if not left:
            return float(not right)
        synonyms = wordnet.find()[0] if options.uses_synonyms else wordnet.NO_SYNONYMS
        # nltk takes the reference first: https://www.nltk.org/api/nltk.translate.meteor_score.html
        value = float(score(right, left, stemmer=_stemmer(), wordnet=synonyms))
        return round(value, 3) if options.preset else value

    return pair_metric("meteor", identify, compare)
