"""Exact match: whether a candidate equals a reference, white space aside."""

from dataclasses import dataclass

from crscore.code.metrics.base import Metric, PairMetric


@dataclass(frozen=True, slots=True)
class Exact(PairMetric):
    """1 for a candidate that equals a reference up to runs of white space, else 0."""

    @property
    def identity(self) -> str:
        """Name of the metric."""
        return "exact"

    def compare(self, candidate: str, reference: str, _language: str | None) -> float:
        """Compare two texts."""
        return float(candidate.split() == reference.split())


def create() -> Metric:
    """Create the metric."""
    return Exact()
