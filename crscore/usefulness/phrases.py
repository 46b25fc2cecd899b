"""Ratings of a text read from its words and pairs of words, with code masked.

A few words often say how much a finding is worth ("never closed", "typo"). A linear model of these
words carries over to other repositories at least as well as the tuned network, and the mean of both
is better than either. The model cannot use names of the change: it reads each as the same word.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.text import mask_names, stem

Floats = npt.NDArray[np.float32]

MIN_PROBABILITY: Final = 0.02
"""Minimum probability that the model assigns to a rating, and to its opposite."""
MAX_CHARS: Final = 4_000
"""Maximum characters of a text that are read."""
_WORD: Final = re.compile(r"[a-z]+(?:'t)?|[?!]|\d+")


def split_phrases(text: str) -> list[str]:
    """Return the stems of a text and the pairs of stems next to each other.

    Example:
        >>> split_phrases("`f.close()` is never called?")
        ['x', 'is', 'nev', 'cal', '?', 'x is', 'is nev', 'nev cal', 'cal ?']
    """
    words = _WORD.findall(mask_names(text[:MAX_CHARS]).lower())
    stems = ["0" if word.isdigit() else stem(word) for word in words]
    return [*stems, *map(" ".join, itertools.pairwise(stems))]


@dataclass(frozen=True, eq=False)
class Phrases:
    """Linear model of the ratings."""

    terms: tuple[str, ...]
    """Its T phrases."""
    rarity: Floats
    """Inverse document frequency of each phrase, shape (T,)."""
    weights: Floats
    """Weights of phrases in the K ratings of `reading.PHRASED`, shape (T + 1, K), the bias last."""

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms)}

    def measure(self, text: str) -> tuple[list[int], Floats]:
        """Return the columns of the known phrases of a text, and their weights, of length 1."""
        counts = Counter(
            self._columns[phrase] for phrase in split_phrases(text) if phrase in self._columns
        )
        # A word that is repeated counts a little more, as with `sublinear_tf` of
        # https://scikit-learn.org/stable/modules/generated/sklearn.feature_extraction.text.TfidfTransformer.html
        columns = list(counts)
        values = np.array(
            [(1 + math.log(count)) * self.rarity[column] for column, count in counts.items()],
            dtype=np.float32,
        )
        return columns, values / max(1e-9, float(np.linalg.norm(values)))

    def read(self, texts: Sequence[str]) -> Floats:
        """Return the logits of the ratings of N texts, shape (N, K)."""
        ratings = np.empty((len(texts), self.weights.shape[1]), dtype=np.float32)
        for row, text in enumerate(texts):
            columns, values = self.measure(text)
            ratings[row] = values @ self.weights[columns] + self.weights[-1]
        # A linear model may leave 0 to 1, whose ends have no finite logit.
        bounded = np.clip(ratings, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
        logits: Floats = np.log(bounded / (1 - bounded))
        return logits
