"""Weights of the headline with values set by hand."""

from collections.abc import Mapping

import numpy as np

from crscore.usefulness import evidence, headline, phrases, reading
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.model import Linear, Weights

KINDS = len(reading.KINDS)
ASPECTS = len(reading.ASPECTS)
TIES = len(evidence.FEATURES)
SHAPE = len(phrases.SHAPE_FEATURES)
WHOLE = SHAPE + TIES + len(reading.SUMMED) + 2 * KINDS


def linear(
    measures: int,
    outputs: int,
    *,
    width: int = 0,
    phrase_weights: Mapping[str, float] | None = None,
) -> Linear:
    """Zeros, but for phrases that speak for the first output."""
    phrase_weights = phrase_weights or {}
    rows = np.zeros((len(phrase_weights), outputs), dtype=np.float32)
    rows[:, 0] = list(phrase_weights.values())
    return Linear(
        phrases={phrase: at for at, phrase in enumerate(phrase_weights)},
        rows=rows,
        measures=np.zeros((measures, outputs), dtype=np.float32),
        vector=np.zeros((width, outputs), dtype=np.float32),
        bias=np.zeros(outputs, dtype=np.float32),
    )


def weights(**changes: object) -> Weights:
    """Weights that know nothing: each probability is a half."""
    parts = {
        "encoder": "hashing:256",
        "data_sha256": "ab" * 32,
        "rarity": Rarity(frequency={"limit": 4, "été": 9}, documents=99),
        "about": linear(TIES, 1),
        "sentence": linear(
            SHAPE, KINDS + 1, width=256, phrase_weights={"should be": 2.0, "été ?": 0.5}
        ),
        "comment": linear(WHOLE, ASPECTS, width=256),
        "reference": {
            size: np.linspace(0, 1, 101, dtype=np.float32) for size in headline.CHANGE_SIZES
        },
    }
    return Weights(**(parts | changes))
