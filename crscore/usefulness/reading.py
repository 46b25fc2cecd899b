"""Readings of sentences and remarks by the network that was tuned for them."""

import math
from collections.abc import Sequence
from typing import Final, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore.records import GIVES_FROM, Aspects, Reading, Remark, Stance
from crscore.text import find_code_spans
from crscore.usefulness import evidence
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.model import Weights
from crscore.usefulness.phrases import Phrases

Floats = npt.NDArray[np.float32]

STANCES: Final = tuple(Stance)
RATINGS: Final = (
    "gives", "importance", "worth", "informative", "relevant", "clear", "acted_on",
    "functional", "accepted",
)  # fmt: skip
"""Outputs of the network after the outputs of the stances, each a logit."""
OUTPUTS: Final = (*(stance.name for stance in STANCES), *RATINGS)
FUNCTIONAL_WEIGHT: Final = 0.4
"""Weight, in the importance, of the rating that a remark is about how the code works."""
PROPOSED: Final = 0.9
"""Minimum probability, by rule, that a proposal of code gives the author something to answer."""
_ACTING: Final = (Stance.REQUEST, Stance.PROBLEM, Stance.PROPOSAL, Stance.QUESTION)


class Network(Protocol):
    """Network that reads texts."""

    def read(self, texts: Sequence[str]) -> Floats:
        """Return the outputs for N texts, shape (N, len(OUTPUTS))."""
        ...


class TunedNetwork(msgspec.Struct, frozen=True, eq=False):
    """Encoder with tuned layers, and a linear layer behind the mean of its tokens."""

    encoder: MiniLM
    layers: TunedLayers
    head: Floats
    """Shape (D + 1, len(OUTPUTS)), the bias last."""

    def read(self, texts: Sequence[str]) -> Floats:
        """Return the outputs for N texts, shape (N, len(OUTPUTS))."""
        means = self.encoder.tuned_means(texts, self.layers)
        outputs: Floats = means @ self.head[:-1] + self.head[-1]
        return outputs


PHRASED: Final = ("importance", "worth", "functional")
"""Ratings that are also read from phrases; the others need the whole sentence."""
_PHRASED_AT: Final = [OUTPUTS.index(name) for name in PHRASED]


class JoinedNetwork(msgspec.Struct, frozen=True, eq=False):
    """Network whose outputs are joined with the ratings of the phrases."""

    network: Network
    phrases: Phrases
    worth: Floats
    """Weights of `measure`'s columns in the logit of the worth, the bias last."""

    def measure(self, texts: Sequence[str]) -> Floats:
        """Return the inputs of the estimated worth, shape (N, len(OUTPUTS) + len(PHRASED))."""
        return np.hstack([self.network.read(texts), self.phrases.read(texts)])

    def read(self, texts: Sequence[str]) -> Floats:
        """Return the outputs for N texts, shape (N, len(OUTPUTS))."""
        measures = self.measure(texts)
        outputs, phrased = np.split(measures.copy(), [len(OUTPUTS)], axis=1)
        outputs[:, _PHRASED_AT] = (outputs[:, _PHRASED_AT] + phrased) / 2
        # All outputs tell the worth better than the output that was trained for it: rank
        # correlation with readers 0.37 against 0.31 (benchmarks/README.md).
        outputs[:, OUTPUTS.index("worth")] = measures @ self.worth[:-1] + self.worth[-1]
        return outputs


class TextReading(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Reading of a sentence, or of a remark."""

    stances: Floats
    """Probability of each of `STANCES`, shape (8,)."""
    ratings: Floats
    """Probability of each of `RATINGS`, in (0, 1)."""

    def __getattr__(self, name: str) -> float:
        """Return a rating by its name."""
        if name in RATINGS:
            return float(self.ratings[RATINGS.index(name)])
        raise AttributeError(name)

    @property
    def stance(self) -> Stance:
        """The most probable stance that agrees with the rating `gives`."""
        # Otherwise a request could be shown as a description.
        candidates = _ACTING if self.gives >= GIVES_FROM else STANCES
        return max(candidates, key=lambda stance: float(self.stances[STANCES.index(stance)]))


class ReviewReadings(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Readings of the sentences and remarks of one review, compared with its change."""

    sentences: tuple[Reading, ...]
    """Reading of each of the S sentences, without the claim that it is about."""
    restates: tuple[bool, ...]
    """For each sentence, whether it almost certainly only describes the change."""
    remarks: tuple[Remark, ...]
    """Remarks in the order of the comments; receipts are only of a language model."""
    aspects: tuple[Aspects, ...]
    """Aspects of each remark."""
    notes: tuple[str, ...] = ()
    """Notes for readers of the result, one sentence each."""


def read_text(outputs: Floats, *, proposal: bool = False) -> TextReading:
    """Read a text from the network's outputs.

    Args:
        outputs: Shape (len(OUTPUTS),).
        proposal: Whether it is or contains a proposal of code that was read from a block.
    """
    split = len(STANCES)
    ratings = (1 / (1 + np.exp(-np.clip(outputs[split:], -30, 30)))).astype(np.float32)
    # The maximum is subtracted, because `exp` of a large logit overflows.
    odds = np.exp(outputs[:split] - outputs[:split].max())
    stances = odds / odds.sum()
    if proposal:
        stances = np.array([stance is Stance.PROPOSAL for stance in STANCES], dtype=np.float32)
        ratings[RATINGS.index("gives")] = max(PROPOSED, ratings[RATINGS.index("gives")])
    return TextReading(stances=stances, ratings=ratings)


def weigh_importance(text: TextReading) -> float:
    """Return the importance of a remark, raised if it is about how the code works."""
    return sigmoid(logit(text.importance) + FUNCTIONAL_WEIGHT * logit(text.functional))


def judge_acts(text: str, read: TextReading, *, proposes: bool) -> float:
    """Return the probability that the author changes the code for a remark.

    Args:
        text: The remark.
        read: Its reading.
        proposes: Whether it has a proposal of code.
    """
    # Authors do what they can do at once: a request rather than a question, with the code in it.
    # Set by hand, because the network's output `acted_on` has learned who writes: in its data,
    # authors act on 79 % of comments by people and on 20 % of those by bots, so that its AUC
    # within bots was 0.29, held out (docs/design/010-usefulness.md).
    asks = sum(read.stances[STANCES.index(stance)] for stance in (Stance.REQUEST, Stance.PROPOSAL))
    spans = math.log1p(len(find_code_spans(text)))
    return sigmoid((spans + 2 * asks + proposes) / 2 - 1.2)


def judge_about(text: str, vector: Floats, change: ChangeEvidence, weights: Weights) -> float:
    """Return the probability that a text is about a change."""
    measures = evidence.measure_evidence(text, vector, change, weights.rarity)
    return sigmoid(float(np.dot(weights.about[:-1], measures) + weights.about[-1]))


def logit(probability: float) -> float:
    """Return the log-odds of a probability, within about -9 and 9."""
    bounded = min(1 - 1e-4, max(1e-4, probability))
    return math.log(bounded / (1 - bounded))


def sigmoid(logit: float) -> float:
    """Return the probability of a logit, within (0, 1)."""
    # `exp` overflows from 710 on; beyond 30, the probability differs from 0 or 1 by less than
    # 1e-13.
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
