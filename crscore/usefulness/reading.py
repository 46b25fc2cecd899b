"""Readings of sentences and comments by the learned models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import numpy.typing as npt

from crscore.records import Aspects, Diff, Kind, PseudoReference, ReferenceKind
from crscore.usefulness import evidence, phrases
from crscore.usefulness.evidence import ChangeWords
from crscore.usefulness.model import Weights

if TYPE_CHECKING:

    class Vectors(Protocol):
        """Unit vectors by text."""

        def __getitem__(self, text: str, /) -> Floats: ...


Floats = npt.NDArray[np.float32]


KINDS: Final = tuple(Kind)
PROPOSED: Final = 0.9
"""Substance of a proposal of code, by rule: there is always something to take over."""
ASPECTS: Final = tuple(field.name for field in fields(Aspects))
SUMMED: Final = ("mean", "most", "any", "log_mean", "count", "proposals")
"""Names of the measures of a comment that its sentences give, before those of the kinds."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChangeEvidence:
    """A change, as evidence for what a text is about."""

    ground: ChangeWords
    """Words of the change."""
    lines: Floats
    """Unit vectors of its windows, shape (W, D)."""
    claims: Floats
    """Unit vectors of its claims, shape (C, D)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SentenceReading:
    """Kind and substance of one sentence."""

    kinds: Floats
    """Probability of each of `KINDS`, shape (8,)."""
    substance: float
    """Probability that there is something to act on."""
    about: float
    """Probability that it is about the change."""


def collect_evidence(
    diff: Diff, refs: Sequence[PseudoReference], rows: Floats, vectors: Vectors
) -> ChangeEvidence:
    """Collect the evidence of a change.

    Args:
        diff: The change.
        refs: Its R pseudo-references.
        rows: Their unit vectors, shape (R, D).
        vectors: Unit vectors of the change's `evidence.windows`.

    Returns:
        The change's words, and the vectors of its lines and claims.
    """
    claims = [at for at, one in enumerate(refs) if one.kind is not ReferenceKind.ISSUE]
    lines = [vectors[one] for one in evidence.windows(diff)]
    return ChangeEvidence(
        ground=evidence.read_change_words(diff),
        lines=evidence.stack(lines, rows.shape[1]),
        claims=rows[claims],
    )


def judge_about(
    text: str, vector: Floats, change: ChangeEvidence, weights: Weights
) -> tuple[list[float], float]:
    """Return the evidence of a text for a change, and the probability that it is about it."""
    measures = evidence.measure_evidence(
        text, vector, change.ground, weights.rarity, change.lines, change.claims
    )
    return measures, sigmoid(float(weights.about.logits((), measures, vector)[0]))


def read_sentence(
    text: str, vector: Floats, weights: Weights, *, about: float, proposal: bool = False
) -> SentenceReading:
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
        return SentenceReading(kinds=kinds, substance=PROPOSED, about=about)
    found = phrases.phrases(text)
    logits = weights.sentence.logits(found, phrases.shape(text), vector)
    first = np.exp(logits[: len(KINDS)] - logits[: len(KINDS)].max())
    return SentenceReading(
        kinds=first / first.sum(),
        substance=sigmoid(float(logits[len(KINDS)])),
        about=about,
    )


def summarize_sentences(read: Sequence[SentenceReading]) -> list[float]:
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
    text: str,
    vector: Floats,
    read: Sequence[SentenceReading],
    change: ChangeEvidence,
    weights: Weights,
) -> tuple[float, list[float]]:
    """Return the probability that a comment is about the change, and its measures."""
    ties, about = judge_about(text, vector, change, weights)
    return about, [*phrases.shape(text), *ties, *summarize_sentences(read)]


def read_comment(
    text: str,
    vector: Floats,
    read: Sequence[SentenceReading],
    change: ChangeEvidence,
    weights: Weights,
) -> tuple[float, Aspects]:
    """Read a whole comment.

    Args:
        text: Its sentences and proposals, joined.
        vector: Its unit vector, shape (D,).
        read: Its sentences and proposals, read; at least one.
        change: The change.
        weights: What was learned.

    Returns:
        The probability that it is about the change, and what people would say of it.
    """
    about, measures = measure_comment(text, vector, read, change, weights)
    logits = weights.comment.logits(phrases.phrases(text), measures, vector)
    return about, Aspects(**dict(zip(ASPECTS, map(sigmoid, map(float, logits)), strict=True)))


def sigmoid(logit: float) -> float:
    """Return the probability of a logit, within (0, 1)."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
