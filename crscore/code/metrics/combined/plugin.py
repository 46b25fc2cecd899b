"""Learned metric: how likely a candidate is right, from its likeness to the references.

Candidate and references are compared on code whose own names are replaced by how they are used,
without comments and layout: tokens, tree, calls, literals, operators, and token vectors of the
embedded encoder. The score is the logistic function of a weighted sum of these features, learned
from pairs of candidates of one problem that people or tests tell apart (`MODEL_CARD.md`).
"""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.code import limits
from crscore.code.metrics.base import MeanMetric, Metric
from crscore.code.metrics.codebertscore.embedded import EmbeddedSource
from crscore.code.metrics.codebertscore.tokens import TokenSource
from crscore.code.metrics.combined.compared import Compared, compare_samples
from crscore.code.metrics.combined.weights import Weights, read_weights
from crscore.code.samples import Sample
from crscore.encoders.minilm import MiniLM
from crscore.errors import InputError

Floats = npt.NDArray[np.float64]

MAX_CHARACTERS: Final = 10_000
"""Longest code that is compared, which bounds time and memory."""
WEIGHTS: Final = "weights.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined(MeanMetric):
    """Learned combination of likenesses."""

    source: TokenSource
    weights: Weights

    @property
    def identity(self) -> str:
        """Version of the weights, and the encoder."""
        return f"combined[{self.weights.version},{self.source.identity}]"

    def inapplicable(self, samples: Sequence[Sample]) -> str | None:
        """Return why the samples cannot be judged: no grammar, or code that is too long."""
        return limits.no_grammar(samples) or limits.too_long(samples, MAX_CHARACTERS)

    def scores(self, samples: Sequence[Sample]) -> Floats:
        """Score samples.

        Raises:
            InputError: There is no grammar for a sample's language, or its code is too long.
            DependencyError: A package is missing.
            ModelNotFoundError: The encoder's files are not available.
        """
        reason = self.inapplicable(samples)
        if reason is not None:
            raise InputError(f"combined: {reason}")
        return np.array(
            [self.score(one) for one in compare_samples(samples, self.source)], dtype=np.float64
        )

    def score(self, compared: Compared) -> float:
        """Return the score beside the best reference."""
        learned = self.weights.score(compared.rows)
        return float(np.where(np.isnan(compared.fixed), learned, compared.fixed).max())


@functools.cache
def shipped_weights() -> Weights:
    """Return the weights in the package."""
    folder = importlib.resources.files(__package__)
    with importlib.resources.as_file(folder / WEIGHTS) as path:
        return read_weights(path)


def create() -> Metric:
    """Create the metric."""
    return Combined(source=EmbeddedSource(MiniLM()), weights=shipped_weights())
