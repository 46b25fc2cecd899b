"""Scores of a whole set of samples."""

from collections.abc import Sequence

from crscore.code.metrics.measurement import Measurement
from crscore.code.metrics.metric import Metric
from crscore.code.samples import Sample


def corpus_score(metric: Metric, samples: Sequence[Sample]) -> float:
    """Return the score of all samples together."""
    return Measurement("", metric, metric.statistics(samples)).corpus_score
