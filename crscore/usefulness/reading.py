"""Readings of sentences and comments by the learned models."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.records import Aspects, Kind
from crscore.usefulness import evidence, phrases
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.model import Weights

Floats = npt.NDArray[np.float32]

KINDS: Final = tuple(Kind)
PROPOSED: Final = 0.9
"""Substance of a proposal of code, by rule: there is always something to take over."""
ASPECTS: Final = tuple(field.name for field in fields(Aspects))
SUMMED: Final = ("mean", "most", "any", "log_mean", "count", "proposals")
"""Names of the measures of a comment that its sentences give, before those of the kinds."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SentenceReading:
    """Kind and substance of one sentence."""

    kinds: Floats
    """Probability of each of `KINDS`, shape (8,)."""
    substance: float
    """Probability that there is something to act on."""
    about: float
    """Probability that it is about the change."""


def judge_about(
    text: str, vector: Floats, change: ChangeEvidence, weights: Weights
) -> tuple[list[float], float]:
    """Return the evidence of a text for a change, and the probability that it is about it."""
    measures = evidence.measure_evidence(text, vector, change, weights.rarity)
    return measures, sigmoid(float(weights.about.logits((), measures, vector)[0]))


def read_sentence(
    text: str, vector: Floats, weights: Weights, *, about: float, proposal: bool = False
) -> SentenceReading:
    """Read a sentence.

    Args:
        text: The sentence.
        vector: Its unit vector, shape (D,).
        weights: Learned weights.
        about: Probability that it is about the change.
        proposal: Whether it is a proposal of code, read from a block.

    Returns:
        Its kind and its substance.
    """
    if proposal:
        kinds = np.array([float(kind is Kind.PROPOSAL) for kind in KINDS], dtype=np.float32)
        return SentenceReading(kinds=kinds, substance=PROPOSED, about=about)
    logits = weights.sentence.logits(phrases.phrases(text), phrases.measure_shape(text), vector)
    # Minus the maximum, because `exp` of a large logit overflows.
    odds = np.exp(logits[: len(KINDS)] - logits[: len(KINDS)].max())
    substance = sigmoid(float(logits[len(KINDS)]))
    return SentenceReading(kinds=odds / odds.sum(), substance=substance, about=about)


def summarize_sentences(readings: Sequence[SentenceReading]) -> list[float]:
    """Measure a comment by its sentences: `SUMMED`, then the kinds' means, then their highest."""
    # A comment of suggestions only can have no sentence.
    acts = np.array([item.substance for item in readings] or [0.0])
    kinds = np.stack([item.kinds for item in readings] or [np.zeros(len(KINDS), dtype=np.float32)])
    # Exactly 1 only by the rule for proposals.
    proposals = sum(float(item.kinds[KINDS.index(Kind.PROPOSAL)]) == 1.0 for item in readings)
    return [
        float(acts.mean()),
        float(acts.max()),
        float(1 - np.prod(1 - acts)),
        math.log(0.02 + float(acts.mean())),
        math.log1p(len(readings)),
        math.log1p(proposals),
        *map(float, kinds.mean(axis=0)),
        *map(float, kinds.max(axis=0)),
    ]


def measure_comment(
    text: str,
    vector: Floats,
    readings: Sequence[SentenceReading],
    change: ChangeEvidence,
    weights: Weights,
) -> tuple[float, list[float]]:
    """Return the probability that a comment is about the change, and its measures."""
    ties, about = judge_about(text, vector, change, weights)
    return about, [*phrases.measure_shape(text), *ties, *summarize_sentences(readings)]


def read_comment(
    text: str,
    vector: Floats,
    readings: Sequence[SentenceReading],
    change: ChangeEvidence,
    weights: Weights,
) -> tuple[float, Aspects]:
    """Read a whole comment.

    Args:
        text: Its sentences and proposals, joined.
        vector: Its unit vector, shape (D,).
        readings: Its sentences and proposals, read; at least one.
        change: The change.
        weights: Learned weights.

    Returns:
        The probability that it is about the change, and how people would rate it.
    """
    about, measures = measure_comment(text, vector, readings, change, weights)
    logits = weights.comment.logits(phrases.phrases(text), measures, vector)
    return about, Aspects(**dict(zip(ASPECTS, map(sigmoid, map(float, logits)), strict=True)))


def sigmoid(logit: float) -> float:
    """Return the probability of a logit, within (0, 1)."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
