"""METEOR of one text without its synonyms, by nltk (tried with 3.10).

METEOR aligns equal words, then words of equal stem, then synonyms. The synonyms come from
WordNet, which nltk downloads; nothing is downloaded here, so that stage finds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crscore.study.baselines._libraries import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


class _NoSynonyms:
    """Stands where nltk asks WordNet."""

    def synsets(self, word: str) -> tuple[()]:  # noqa: ARG002  (nltk's signature)
        """Know no synonym of any word."""
        return ()


def score(hypotheses: Sequence[str], references: Sequence[str]) -> Floats:
    """Score each text against its reference.

    Args:
        hypotheses: N texts.
        references: The reference of each.

    Returns:
        Shape (N,), each in [0, 1); higher is more alike. The mean of precision and recall over
        aligned words (recall weighs nine times as much), less up to half of it for words in
        another order. Words are runs of letters and digits, or of other signs, in lower case.
        A pair without an aligned word has 0, and so has one with a blank side.

    Raises:
        DependencyError: nltk is not installed.

    Source:
        Lavie and Agarwal, WMT 2007, without the synonyms: alpha 0.9, beta 3, gamma 0.5.

    Example:
        One chunk of three words: 1 - 0.5 * (1 / 3) ** 3.

        >>> score(["Close the files"], ["closing the file"]).round(4).tolist()
        [0.9815]
    """
    meteor = load("nltk.translate.meteor_score", "nltk").single_meteor_score
    split = load("nltk.tokenize", "nltk").wordpunct_tokenize
    stemmer = load("nltk.stem.porter", "nltk").PorterStemmer()
    pairs = zip(hypotheses, references, strict=True)
    return np.array(
        [
            meteor(split(reference), split(text), stemmer=stemmer, wordnet=_NoSynonyms())
            for text, reference in pairs
        ],
        dtype=np.float64,
    )
