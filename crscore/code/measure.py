"""Measurement of samples by every metric that applies to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crscore import plugins
from crscore.code import metrics
from crscore.errors import CRScoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from crscore.code.metrics.base import Metric
    from crscore.code.samples import Sample


class Measurement(NamedTuple):
    """Statistics of samples by one metric."""

    name: str
    """Name of the metric."""
    metric: Metric
    """The metric, which makes scores of statistics."""
    statistics: npt.NDArray[np.float64]
    """Shape (N, S), see `Metric.statistics`."""


class Measured(NamedTuple):
    """Samples measured by several metrics."""

    measurements: tuple[Measurement, ...]
    """One of each metric that applies."""
    notes: tuple[str, ...]
    """Metrics that do not, and why."""


def measure(
    samples: Sequence[Sample], names: Sequence[str] | None = None, *, preset: str | None = None
) -> Measured:
    """Measure samples.

    Args:
        samples: At least one.
        names: Metrics; None for all. A metric that cannot judge these samples becomes a note; one
            that fails does so only when it was not named.
        preset: Preset of the metrics that have one.

    Raises:
        ConfigError: A metric does not know the preset.
        CRScoreError: A named metric fails: its package or its model is missing.
        UnknownPluginError: No such metric.
    """
    measurements, notes = [], []
    for name in metrics.names() if names is None else dict.fromkeys(names):
        metric = plugins.create("metrics", name, offered={"preset": preset} if preset else {})
        reason = metric.inapplicable(samples)
        if reason is not None:
            notes.append(f"{name} cannot judge this: {reason}")
            continue
        try:
            measurements.append(Measurement(name, metric, metric.statistics(samples)))
        except CRScoreError as exc:
            if names is not None:
                raise
            notes.append(f"{name} is left out: {exc}")
    return Measured(tuple(measurements), tuple(notes))
