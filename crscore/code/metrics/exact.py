"""Exact match: whether a candidate equals a reference, white space aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crscore.code.metrics.base import MeanMetric, Metric
from crscore.code.samples import Sample


@dataclass(frozen=True, slots=True)
class Exact(MeanMetric):
    """1 for a candidate that equals a reference up to runs of white space, else 0."""

    @property
    def identity(self) -> str:
        """Name of the metric."""
        return "exact"

    def scores(self, samples: Sequence[Sample]) -> npt.NDArray[np.float64]:
        """Score samples."""
        return np.array(
            [
                float(sample.candidate.split() in [one.split() for one in sample.references])
                for sample in samples
            ]
        )


def create() -> Metric:
    """Create the metric."""
    return Exact()
