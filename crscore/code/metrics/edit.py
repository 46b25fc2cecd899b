"""Character edit similarity, by rapidfuzz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crscore.code import libraries, limits
from crscore.code.metrics.base import MeanMetric, Metric
from crscore.code.samples import Sample


@dataclass(frozen=True, slots=True)
class Edit(MeanMetric):
    """1 - insertions, deletions and replacements of characters / length of the longer text.

    White space at either end is left out.
    """

    @property
    def identity(self) -> str:
        """Name of the metric; the distance is defined whatever the library's version."""
        return "edit"

    def inapplicable(self, samples: Sequence[Sample]) -> str | None:
        """Refuse code that would take minutes."""
        return limits.too_long(samples)

    def scores(self, samples: Sequence[Sample]) -> npt.NDArray[np.float64]:
        """Score samples."""
        limits.check_length(samples, "edit")
        similarity = libraries.load(
            "rapidfuzz.distance", "rapidfuzz"
        ).Levenshtein.normalized_similarity
        return np.array(
            [
                max(
                    similarity(sample.candidate.strip(), reference.strip())
                    for reference in sample.references
                )
                for sample in samples
            ],
            dtype=np.float64,
        )


def create() -> Metric:
    """Create the metric."""
    return Edit()
