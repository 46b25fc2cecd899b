"""Sketch equality: whether a candidate equals a reference but for the names that it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crscore.code import limits
from crscore.code.metrics.base import MeanMetric, Metric
from crscore.code.samples import Sample
from crscore.suggestions.sketch import sketch_tokens
from crscore.syntax.grammars import fingerprint


@dataclass(frozen=True, slots=True)
class SketchEquality(MeanMetric):
    """1 for a candidate that equals a reference but for its own names, layout and comments."""

    @property
    def identity(self) -> str:
        """Name of the metric, and the grammars."""
        return f"sketch|grammars:{fingerprint()}"

    def inapplicable(self, samples: Sequence[Sample]) -> str | None:
        """Return the language of a sample that has no grammar."""
        return limits.no_grammar(samples)

    def scores(self, samples: Sequence[Sample]) -> npt.NDArray[np.float64]:
        """Score samples."""
        return np.array([float(_equals_one(sample)) for sample in samples])


def _equals_one(sample: Sample) -> bool:
    own, *others = (
        sketch_tokens(code, sample.language) for code in (sample.candidate, *sample.references)
    )
    return own in others


def create() -> Metric:
    """Create the metric."""
    return SketchEquality()
