"""Readings of reviews, and the network that makes them.

The network is the encoder with some layers tuned to read reviews. A few of its ratings are averaged
with those of a linear model of words and pairs of words, because a few words often say how much a
finding is worth ("never closed", "typo"). On other repositories, the linear model is at least as
good as the network, and the mean of both is better than either. The linear model does not learn the
names in changes, because it reads all code as the same word.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore.records import Aspects, Importance, Reading, Remark, Stance
from crscore.text import mask_names, stem

Floats = npt.NDArray[np.float32]
Authors = Mapping[str | None, Sequence[int]]
"""Author -> indices of the author's comments, in order of first appearance. The author None has the
comments without an author."""

STANCES: Final = tuple(Stance)
RATINGS: Final = (
    "actionable", "importance", "worth", "informative", "relevant", "clear", "acted_on",
    "functional", "accepted",
)  # fmt: skip
"""Outputs of the network that follow those of the stances; each is a logit."""
OUTPUTS: Final = (*(stance.name for stance in STANCES), *RATINGS)
"""All outputs of the network."""
PHRASED: Final = ("importance", "worth", "functional")
"""Ratings that the linear model of phrases also gives; the others need the whole sentence."""
_PHRASED_AT: Final = [OUTPUTS.index(name) for name in PHRASED]
MIN_PROBABILITY: Final = 0.02
"""A rating by the phrases is at least this, and at most 1 minus this."""
MAX_CHARS: Final = 4_000
"""Number of characters at the start of a text whose phrases are read."""
_WORD: Final = re.compile(r"[a-z]+(?:'t)?|[?!]|\d+")


class TextReading(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Reading of a sentence, or of a remark, before it is compared with the change."""

    text: str
    indices: tuple[int, ...] = ()
    """Indices of a remark's sentences and proposals in the review; empty for a sentence."""
    stance: Stance
    """The most probable stance that agrees with `actionable`."""
    actionable: float
    """Probability that the author of the change has something to answer."""
    importance: float
    """Importance of the text if it is right, in [0, 1]."""
    level: Importance
    worth: float
    """Expected worth of the text if it is about the change, in [0, 1]."""
    aspects: Aspects
    acts: float
    """Probability that the author changes the code because of the text."""
    describes: float
    """Probability that the text only describes the change."""


class ReviewReadings(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Readings of the sentences and remarks of one review, compared with its change."""

    sentences: tuple[Reading, ...]
    """Reading of each of the S sentences, without the claim that the sentence is about."""
    restates: tuple[bool, ...]
    """For each sentence, whether it probably only describes the change."""
    remarks: tuple[Remark, ...]
    """Remarks in the order of the comments. Only the remarks that a language model confirmed or
    refuted have receipts."""
    aspects: tuple[Aspects, ...]
    """Aspects of each remark."""
    masked: tuple[str, ...]
    """Text of each remark, with its names masked."""
    notes: tuple[str, ...] = ()
    """Notes for readers of the result, one sentence each."""


class TunedNetwork(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Tuned layers of the encoder, a linear layer on their mean token vector, and phrases."""

    layers: TunedLayers
    """Layers of the encoder, tuned to read reviews."""
    head: Floats
    """Linear layer from the mean token vector to the outputs, shape (D + 1, K), the bias last."""
    phrases: "Phrases"
    """Linear model of the ratings in `PHRASED`."""
    worth: Floats
    """Weights of the result of `raw_outputs` in the logit of the worth, shape (P + 1,), bias last.
    """

    def read(self, texts: Sequence[str], encoder: MiniLM) -> Floats:
        """Return the outputs for N texts, shape (N, len(OUTPUTS)).

        The ratings in `PHRASED` are averaged with those of the phrases.
        """
        raw = self.raw_outputs(texts, encoder)
        outputs, phrased = np.split(raw.copy(), [len(OUTPUTS)], axis=1)
        outputs[:, _PHRASED_AT] = (outputs[:, _PHRASED_AT] + phrased) / 2
        # All outputs together predict the worth better than the output that was trained for it.
        outputs[:, OUTPUTS.index("worth")] = raw @ self.worth[:-1] + self.worth[-1]
        return outputs

    def raw_outputs(self, texts: Sequence[str], encoder: MiniLM) -> Floats:
        """Return the outputs of the linear layer, followed by those of the phrases.

        Returns:
            Logits, shape (N, len(OUTPUTS) + len(PHRASED)).
        """
        outputs = encoder.tuned_means(texts, self.layers) @ self.head[:-1] + self.head[-1]
        return np.hstack([outputs, self.phrases.read(texts)])


@dataclass(frozen=True, eq=False)
class Phrases:
    """Linear model of the ratings in `PHRASED`, over words and pairs of words."""

    terms: tuple[str, ...]
    """The T phrases that the model knows."""
    rarity: Floats
    """Inverse document frequency of each phrase, shape (T,)."""
    weights: Floats
    """Weights of the phrases in the K ratings of `PHRASED`, shape (T + 1, K), the bias last."""

    def read(self, texts: Sequence[str]) -> Floats:
        """Return the logits of the ratings of N texts, shape (N, K)."""
        ratings = np.empty((len(texts), self.weights.shape[1]), dtype=np.float32)
        for row, text in enumerate(texts):
            columns, values = self.weigh_phrases(text)
            ratings[row] = values @ self.weights[columns] + self.weights[-1]
        # A linear model may predict a rating outside of 0 to 1, and 0 and 1 have no finite logit.
        bounded = np.clip(ratings, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
        logits: Floats = np.log(bounded / (1 - bounded))
        return logits

    def weigh_phrases(self, text: str) -> tuple[list[int], Floats]:
        """Return the indices of a text's known phrases, and a unit vector of their values."""
        counts = Counter(
            self._columns[phrase] for phrase in split_phrases(text) if phrase in self._columns
        )
        # A repeated phrase has a slightly higher value, as with `sublinear_tf` of
        # https://scikit-learn.org/stable/modules/generated/sklearn.feature_extraction.text.TfidfTransformer.html
        columns = list(counts)
        values = np.array(
            [(1 + math.log(count)) * self.rarity[column] for column, count in counts.items()],
            dtype=np.float32,
        )
        return columns, values / max(1e-9, float(np.linalg.norm(values)))

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms)}


def split_phrases(text: str) -> list[str]:
    """Return the stems of a text, and the pairs of adjacent stems.

    Example:
        >>> split_phrases("`f.close()` is never called?")
        ['x', 'is', 'nev', 'cal', '?', 'x is', 'is nev', 'nev cal', 'cal ?']
    """
    words = _WORD.findall(mask_names(text[:MAX_CHARS]).lower())
    stems = ["0" if word.isdigit() else stem(word) for word in words]
    return [*stems, *map(" ".join, itertools.pairwise(stems))]
