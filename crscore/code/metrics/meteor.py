"""METEOR: words aligned with a reference, by equality, stem and synonym; nltk computes it.

The score is the mean of precision and recall over aligned words, minus up to half of it for their
disorder. Recall weighs nine times as much as precision: alpha 0.9, beta 3, gamma 0.5. Two equal
texts score less than 1: one run of m words costs 0.5 / m³.
"""

import functools
import io
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from crscore.code import libraries
from crscore.code.metrics.metric import Metric, Preset, kind_of_tokens, pair_metric, rounding
from crscore.code.tokens import TokenKind, split

DEBIAN: Final = Path("/usr/share/wordnet")
"""Folder of Debian's and Ubuntu's package wordnet-base."""
# nltk requires the names of the 45 files that WordNet was written in; METEOR never shows them.
_LEXNAMES: Final = "".join(f"{number:02d} file{number} 1\n" for number in range(45))

NO_SYNONYMS: Final = SimpleNamespace(synsets=lambda _word: ())
"""WordNet without any synonym: METEOR asks for the sets of synonyms that a word is in."""


@functools.cache
def find_wordnet() -> tuple[SimpleNamespace, str]:
    """Find WordNet in nltk's data folders, then in Debian's.

    Returns:
        WordNet and `wordnet 3.0`, or the version it has; without its files one without synonyms
        and `no wordnet`.

    Raises:
        DependencyError: nltk is not installed.
    """
    corpus = libraries.load("nltk.corpus", "nltk")
    try:
        corpus.wordnet.ensure_loaded()
        reader = corpus.wordnet
    except LookupError:
        if not (DEBIAN / "data.noun").exists():
            return NO_SYNONYMS, "no wordnet"
        reader = _read_debian()
    # Every word is looked up once.
    synonyms = SimpleNamespace(synsets=functools.cache(reader.synsets))
    return synonyms, f"wordnet {reader.get_version()}"


def _read_debian() -> Any:
    """Return nltk's reader of WordNet for Debian's folder."""
    base: Any = libraries.load("nltk.corpus.reader.wordnet", "nltk").WordNetCorpusReader

    class Reader(base):  # type: ignore[misc]
        """nltk's reader for a folder without `lexnames` and without other languages."""

        def open(self, file: str) -> Any:
            return io.StringIO(_LEXNAMES) if file == "lexnames" else super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:  # noqa: ARG002  (nltk's signature)
            return None

    # nltk opens files below its data folders only.
    data = libraries.load("nltk.data", "nltk")
    if str(DEBIAN) not in data.path:
        data.path.append(str(DEBIAN))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The multilingual functions")
        return Reader(str(DEBIAN), None)


@functools.cache
def _stemmer() -> SimpleNamespace:
    """Return Porter's stemmer, which stems every word once."""
    porter = libraries.load("nltk.stem.porter", "nltk").PorterStemmer()
    return SimpleNamespace(stem=functools.lru_cache(maxsize=100_000)(porter.stem))


def create(
    *, tokens: TokenKind | None = None, synonyms: bool | None = None, preset: Preset | None = None
) -> Metric:
    """Create the metric.

    Args:
        tokens: Kind of tokens, as `kind_of_tokens`.
        synonyms: Whether synonyms of WordNet are aligned, where its files are on this machine; by
            default in the preset only.
        preset: With it, tokens are those of tranX, and synonyms are aligned.
    """
    kind = kind_of_tokens(tokens, preset)
    # Synonyms do not improve scores of code, and without them a score is the same on every machine.
    with_synonyms = bool(preset) if synonyms is None else synonyms

    def identify() -> str:
        words = find_wordnet()[1] if with_synonyms else "no synonyms"
        version = libraries.version("nltk")
        return f"meteor|tok:{kind}|{words}|{version}{rounding(preset)}"

    def compare(candidate: str, reference: str, _language: str | None) -> float:
        score = libraries.load("nltk.translate.meteor_score", "nltk").single_meteor_score
        left, right = (split(text, kind) for text in (candidate, reference))
        if not left:
            return float(not right)
        wordnet = find_wordnet()[0] if with_synonyms else NO_SYNONYMS
        # nltk takes the reference first: https://www.nltk.org/api/nltk.translate.meteor_score.html
        value = float(score(right, left, stemmer=_stemmer(), wordnet=wordnet))
        return round(value, 3) if preset else value

    return pair_metric("meteor", identify, compare)
