"""How texts read to the author of a change: about it or not, and what they do."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np

from crscore.records import Aspects, Kind
from crscore.usefulness import evidence, phrases

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from crscore.usefulness.evidence import Ground
    from crscore.usefulness.model import Weights

    Floats = npt.NDArray[np.float32]

KINDS: Final = tuple(Kind)
PROPOSED: Final = 0.9
"""Probability that a proposal of code is something to act on: 93 % of real ones led to a change."""
ASPECTS: Final = tuple(field.name for field in fields(Aspects))
SUMMED: Final = ("mean", "most", "any", "log_mean", "count", "proposals")
"""Names of the measures of a comment that its sentences give, before those of the kinds."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Beside:
    """A change, as texts are laid beside it."""

    ground: Ground
    """Words of the change."""
    lines: Floats
    """Unit vectors of its windows, shape (W, D)."""
    claims: Floats
    """Unit vectors of its claims, shape (C, D)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Read:
    """One sentence, read."""

    kinds: Floats
    """Probability of each of `KINDS`, shape (8,)."""
    substance: float
    """Probability that there is something to act on."""
    about: float
    """Probability that it is about the change."""


def tie(text: str, vector: Floats, beside: Beside, weights: Weights) -> tuple[list[float], float]:
    """Return what ties a text to a change, and the probability that it is about it."""
    measures = evidence.weigh_evidence(
        text, vector, beside.ground, weights.rarity, beside.lines, beside.claims
    )
    return measures, sigmoid(float(weights.about.logits((), measures, vector)[0]))


def read_sentence(
    text: str, vector: Floats, weights: Weights, *, about: float, proposal: bool = False
) -> Read:
    """Read a sentence.

    Args:
        text: The sentence.
        vector: Its unit vector, shape (D,).
        weights: What was learned.
        about: Probability that it is about the change.
        proposal: Whether it is a proposal of code, read from a block.

    Returns:
        Its kind and its substance.
    """
    if proposal:
        kinds = np.array([float(kind is Kind.PROPOSAL) for kind in KINDS], dtype=np.float32)
        return Read(kinds=kinds, substance=PROPOSED, about=about)
    found = phrases.phrases(text)
    logits = weights.sentence.logits(found, phrases.shape(text), vector)
    first = np.exp(logits[: len(KINDS)] - logits[: len(KINDS)].max())
    return Read(
        kinds=first / first.sum(),
        substance=sigmoid(float(logits[len(KINDS)])),
        about=about,
    )


def sum_up(read: Sequence[Read]) -> list[float]:
    """Measure a comment by its sentences: `SUMMED`, then the kinds' means, then their highest."""
    acts = np.array([one.substance for one in read] or [0.0])
    kinds = np.stack([one.kinds for one in read] or [np.zeros(len(KINDS), dtype=np.float32)])
    proposals = sum(float(one.kinds[KINDS.index(Kind.PROPOSAL)]) == 1.0 for one in read)
    return [
        float(acts.mean()),
        float(acts.max()),
        float(1 - np.prod(1 - acts)),
        math.log(0.02 + float(acts.mean())),
        math.log1p(len(read)),
        math.log1p(proposals),
        *map(float, kinds.mean(axis=0)),
        *map(float, kinds.max(axis=0)),
    ]


def measure_comment(
    text: str, vector: Floats, read: Sequence[Read], beside: Beside, weights: Weights
) -> tuple[float, list[float]]:
    """Return the probability that a comment is about the change, and its measures."""
    ties, about = tie(text, vector, beside, weights)
    return about, [*phrases.shape(text), *ties, *sum_up(read)]


def read_comment(
    text: str, vector: Floats, read: Sequence[Read], beside: Beside, weights: Weights
) -> tuple[float, Aspects]:
    """Read a whole comment.

    Args:
        text: Its sentences and proposals, joined.
        vector: Its unit vector, shape (D,).
        read: Its sentences and proposals, read; at least one.
        beside: The change.
        weights: What was learned.

    Returns:
        The probability that it is about the change, and what people would say of it.
    """
    about, measures = measure_comment(text, vector, read, beside, weights)
    logits = weights.comment.logits(phrases.phrases(text), measures, vector)
    return about, Aspects(**dict(zip(ASPECTS, map(sigmoid, map(float, logits)), strict=True)))


def sigmoid(logit: float) -> float:
    """Return the probability of a logit, within (0, 1)."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
