"""Readings of texts: the stance, the ratings, and how surely a text is about the change.

A network reads the text: the encoder with some layers tuned for it. A linear model of words and
pairs of words, with code masked, joins it, because a few words often say how much a finding is
worth ("never closed", "typo"). It carries over to other repositories at least as well as the
network, and the mean of both is better than either. It cannot use names of the change: it reads
each as the same word.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore.records import GIVES_FROM, Aspects, Importance, Reading, Remark, Stance
from crscore.text import find_code_spans, mask_names, stem
from crscore.usefulness.evidence import ChangeEvidence, Rarity, measure_evidence

Floats = npt.NDArray[np.float32]

STANCES: Final = tuple(Stance)
RATINGS: Final = (
    "gives", "importance", "worth", "informative", "relevant", "clear", "acted_on",
    "functional", "accepted",
)  # fmt: skip
"""Outputs of the network after the outputs of the stances, each a logit."""
OUTPUTS: Final = (*(stance.name for stance in STANCES), *RATINGS)
PHRASED: Final = ("importance", "worth", "functional")
"""Ratings that are also read from phrases; the others need the whole sentence."""
_PHRASED_AT: Final = [OUTPUTS.index(name) for name in PHRASED]
FUNCTIONAL_WEIGHT: Final = 0.4
"""Weight, in the importance, of the rating that a remark is about how the code works."""
# Each level is as frequent as in ratings by people.
LEVELS: Final = (
    (0.88, Importance.CRITICAL),
    (0.66, Importance.MAJOR),
    (0.38, Importance.MINOR),
    (0.0, Importance.NIT),
)
"""Minimum importance for each level, highest first."""
PROPOSED: Final = 0.9
"""Minimum probability, by rule, that a proposal of code gives the author something to answer."""
_ACTING: Final = (Stance.REQUEST, Stance.PROBLEM, Stance.PROPOSAL, Stance.QUESTION)
# They are critical in whatever mood they are named: four real comments that name one have an
# importance of 4 and a worth of 4 as readers judge them, and of 3.5 and 2.5 without this rule.
SECURITY: Final = re.compile(
    r"\b(?:(?:sql|command|shell|code|html|script|template|ldap)[- ]injections?|xss|cross[- ]site"
    r"|csrf|ssrf|(?:path|directory) traversal|(?:remote|arbitrary) code|privilege escalation"
    r"|data loss|los(?:es?|ing) (?:\w+ )?data)\b",
    re.IGNORECASE,
)
"""Names of the gravest consequences."""
SECURITY_IMPORTANCE: Final = 0.9
"""Minimum importance of a remark that names one of them and asks for something."""
SECURITY_WORTH: Final = 0.5
"""Log-odds by which such a remark is worth more."""
MIN_PROBABILITY: Final = 0.02
"""Minimum probability that the phrases assign to a rating, and to its opposite."""
MAX_CHARS: Final = 4_000
"""Maximum characters of a text whose phrases are read."""
_WORD: Final = re.compile(r"[a-z]+(?:'t)?|[?!]|\d+")
DOUBT: Final = 0.5
"""Share of the mean log-odds of an author's other remarks that lowers those of one: with 1, a
review that is rephrased as questions moves farther."""
MAX_DOUBT: Final = 4.0
"""Maximum log-odds of one of these other remarks."""


class TextReading(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Reading of a sentence, or of a remark, before it is compared with the change."""

    text: str
    columns: tuple[int, ...] = ()
    """Sentences and proposals of a remark; empty for a sentence."""
    stance: Stance
    """The most probable stance that agrees with `gives`."""
    gives: float
    """Probability that the author of the change has something to answer."""
    importance: float
    """Importance if it is right, as a share of the scale."""
    level: Importance
    worth: float
    """Expected worth if it is about the change, as a share of the scale."""
    aspects: Aspects
    acts: float
    """Probability that the author changes the code for it."""
    describes: float
    """Probability that it only describes the change."""


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
    masked: tuple[str, ...]
    """Text of each remark, with its names masked."""
    notes: tuple[str, ...] = ()
    """Notes for readers of the result, one sentence each."""


class TunedNetwork(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Tuned layers of the encoder with a linear layer behind their mean token, and phrases."""

    layers: TunedLayers
    """Layers of the encoder, tuned to read reviews."""
    head: Floats
    """Linear layer from the mean token vector to the outputs, shape (D + 1, K), the bias last."""
    phrases: "Phrases"
    """Linear model of the ratings."""
    worth: Floats
    """Weights of `measure` in the logit of the worth, shape (P + 1,), the bias last."""

    def read(self, texts: Sequence[str], encoder: MiniLM) -> Floats:
        """Return the outputs for N texts, joined with the phrases, shape (N, len(OUTPUTS))."""
        measures = self.measure(texts, encoder)
        outputs, phrased = np.split(measures.copy(), [len(OUTPUTS)], axis=1)
        outputs[:, _PHRASED_AT] = (outputs[:, _PHRASED_AT] + phrased) / 2
        # All outputs tell the worth better than the output that was trained for it: rank
        # correlation with readers 0.37 against 0.31 (benchmarks/README.md).
        outputs[:, OUTPUTS.index("worth")] = measures @ self.worth[:-1] + self.worth[-1]
        return outputs

    def measure(self, texts: Sequence[str], encoder: MiniLM) -> Floats:
        """Return the outputs of the layers, then of the phrases.

        Returns:
            Shape (N, len(OUTPUTS) + len(PHRASED)).
        """
        outputs = encoder.tuned_means(texts, self.layers) @ self.head[:-1] + self.head[-1]
        return np.hstack([outputs, self.phrases.read(texts)])


@dataclass(frozen=True, eq=False)
class Phrases:
    """Linear model of the ratings."""

    terms: tuple[str, ...]
    """Its T phrases."""
    rarity: Floats
    """Inverse document frequency of each phrase, shape (T,)."""
    weights: Floats
    """Weights of phrases in the K ratings of `PHRASED`, shape (T + 1, K), the bias last."""

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

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms)}


def split_phrases(text: str) -> list[str]:
    """Return the stems of a text and the pairs of stems next to each other.

    Example:
        >>> split_phrases("`f.close()` is never called?")
        ['x', 'is', 'nev', 'cal', '?', 'x is', 'is nev', 'nev cal', 'cal ?']
    """
    words = _WORD.findall(mask_names(text[:MAX_CHARS]).lower())
    stems = ["0" if word.isdigit() else stem(word) for word in words]
    return [*stems, *map(" ".join, itertools.pairwise(stems))]


def read_text(
    text: str, outputs: Floats, *, proposes: bool = False, columns: tuple[int, ...] = ()
) -> TextReading:
    """Read a text from its outputs of the network.

    Args:
        text: A sentence or a remark.
        outputs: Shape (len(OUTPUTS),).
        proposes: Whether it is or contains a proposal of code that was read from a block.
        columns: Sentences and proposals of a remark.
    """
    split = len(STANCES)
    ratings = (1 / (1 + np.exp(-np.clip(outputs[split:], -30, 30)))).astype(np.float32)
    # The maximum is subtracted, because `exp` of a large logit overflows.
    odds = np.exp(outputs[:split] - outputs[:split].max())
    stances = odds / odds.sum()
    if proposes:
        stances = np.array([stance is Stance.PROPOSAL for stance in STANCES], dtype=np.float32)
        ratings[RATINGS.index("gives")] = max(PROPOSED, ratings[RATINGS.index("gives")])
    rated = dict(zip(RATINGS, ratings.tolist(), strict=True))
    by_stance = dict(zip(STANCES, stances, strict=True))
    # Otherwise a request could be shown as a description.
    candidates = _ACTING if rated["gives"] >= GIVES_FROM else STANCES
    # Authors do what they can do at once: a request rather than a question, with the code in it.
    # Set by hand, because the network's output `acted_on` has learned who writes: in its data,
    # authors act on 79 % of comments by people and on 20 % of those by bots, so that its AUC
    # within bots was 0.29, held out (docs/design/010-usefulness.md).
    asks = by_stance[Stance.REQUEST] + by_stance[Stance.PROPOSAL]
    spans = math.log1p(len(find_code_spans(text)))
    # It is more important if it is about how the code works.
    importance = sigmoid(
        logit(rated["importance"]) + FUNCTIONAL_WEIGHT * logit(rated["functional"])
    )
    stance = max(candidates, key=by_stance.__getitem__)
    worth = rated["worth"]
    if stance in _ACTING and SECURITY.search(text):
        importance = max(importance, SECURITY_IMPORTANCE)
        worth = sigmoid(logit(worth) + SECURITY_WORTH)
    return TextReading(
        text=text,
        columns=columns,
        stance=stance,
        gives=rated["gives"],
        importance=importance,
        level=name_level(importance),
        worth=worth,
        aspects=Aspects(**{name: rated[name] for name in Aspects.__struct_fields__}),
        acts=sigmoid((spans + 2 * asks + proposes) / 2 - 1.2),
        describes=float(by_stance[Stance.DESCRIPTION]),
    )


def name_level(importance: float) -> Importance:
    """Return the level of an importance, which is a share of the scale."""
    return next(level for threshold, level in LEVELS if importance >= threshold)


def judge_about(
    text: str,
    vector: Floats,
    change: ChangeEvidence,
    rarity: Rarity,
    weights: Floats,
    *,
    shift: float = 0.0,
) -> float:
    """Return the probability that a text is about a change.

    Args:
        text: A sentence, or a remark.
        vector: Its unit vector, shape (D,).
        change: The change.
        rarity: Rarity of stems in changes.
        weights: Weights of the evidence, the bias last.
        shift: Log-odds by which it is likelier.
    """
    measures = measure_evidence(text, vector, change, rarity)
    about = sigmoid(float(np.dot(weights[:-1], measures) + weights[-1]))
    return sigmoid(logit(about) + shift) if shift else about


def doubt(abouts: Sequence[float]) -> list[float]:
    """Lower the probabilities of an author's remarks whose other remarks are about something else.

    A remark about another change may share words with this one by chance; its neighbours rarely all
    do. They never raise it: true remarks may not carry one that is not on topic.

    Args:
        abouts: Probability that each of an author's remarks is about the change.
    """
    # Of real reviews on another change of the same repository, 26 % of the worth counts instead of
    # 35 %, on their own 81 % as before (`python benchmarks/usefulness.py DATA`).
    logits = [max(-MAX_DOUBT, min(MAX_DOUBT, logit(about))) for about in abouts]
    neighbours = max(1, len(logits) - 1)
    means = [DOUBT * (math.fsum(logits) - value) / neighbours for value in logits]
    return [
        min(about, sigmoid(logit(about) + mean)) if mean < 0 else about
        for about, mean in zip(abouts, means, strict=True)
    ]


def logit(probability: float) -> float:
    """Return the log-odds of a probability, within about -9 and 9."""
    bounded = min(1 - 1e-4, max(1e-4, probability))
    return math.log(bounded / (1 - bounded))


def sigmoid(logit: float) -> float:
    """Return the probability of a logit, within (0, 1)."""
    # `exp` overflows from 710 on; beyond 30, the probability differs from 0 or 1 by less than
    # 1e-13.
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
