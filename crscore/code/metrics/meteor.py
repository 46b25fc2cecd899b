"""METEOR: words aligned with a reference by equality, stem or synonym; computed by nltk.

The score is a weighted harmonic mean of precision and recall of aligned words, minus up to half
if their order differs. Recall weighs nine times as much as precision (alpha 0.9, beta 3, gamma
0.5). Even two equal texts score less than 1, because a single run of m aligned words costs
0.5 / m³ of the mean.
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
# nltk requires a list of the names of the 45 files that WordNet was written in, which Debian's
# package lacks. METEOR does not use the names.
_LEXNAMES: Final = "".join(f"{number:02d} file{number} 1\n" for number in range(45))

NO_SYNONYMS: Final = SimpleNamespace(synsets=lambda _word: ())
"""Stand-in for WordNet that has no synonyms: `synsets` returns the sets that contain a word."""


@functools.cache
def find_wordnet() -> tuple[SimpleNamespace, str]:
    """Find WordNet in nltk's data folders, then in Debian's.

    Returns:
        WordNet, and a text with its version (`wordnet 3.0`). If its files are not installed,
        `NO_SYNONYMS` and `no wordnet`.

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
    # The lookups are cached, because a text repeats its words.
    synonyms = SimpleNamespace(synsets=functools.cache(reader.synsets))
    return synonyms, f"wordnet {reader.get_version()}"


def _read_debian() -> Any:
    """Return nltk's reader of WordNet for Debian's folder."""
    base: Any = libraries.load("nltk.corpus.reader.wordnet", "nltk").WordNetCorpusReader

    class Reader(base):  # type: ignore[misc]
        """nltk's reader, for a folder that has no `lexnames` and no other languages."""

        def open(self, file: str) -> Any:
            return io.StringIO(_LEXNAMES) if file == "lexnames" else super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:  # noqa: ARG002  (nltk's signature)
            return None

    # nltk opens only files below its data folders.
    data = libraries.load("nltk.data", "nltk")
    if str(DEBIAN) not in data.path:
        data.path.append(str(DEBIAN))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The multilingual functions")
        return Reader(str(DEBIAN), None)


@functools.cache
def _stemmer() -> SimpleNamespace:
    """Return Porter's stemmer with a cache, because a text repeats its words."""
    porter = libraries.load("nltk.stem.porter", "nltk").PorterStemmer()
    return SimpleNamespace(stem=functools.lru_cache(maxsize=100_000)(porter.stem))


def create(
    *, tokens: TokenKind | None = None, synonyms: bool | None = None, preset: Preset | None = None
) -> Metric:
    """Create the metric.

    Args:
        tokens: Kind of tokens; None for the default (`kind_of_tokens`).
        synonyms: Whether to align synonyms of WordNet, if its files are installed; None to align
            them only with a preset.
        preset: With it, the scores of samples are rounded to 3 decimals, and the other two options
            have the paper's values by default.
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
