"""Measurement of samples by every metric that applies to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from crscore import plugins
from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.errors import CRScoreError, InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from crscore.code.metrics.base import Metric


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
    skipped: tuple[tuple[str, str], ...]
    """Names of the metrics that do not, and why."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Metrics that do not apply, a sentence each."""
        return tuple(f"{name} is left out: {reason}" for name, reason in self.skipped)


def make_metrics(
    specs: Sequence[str] | None = None, *, preset: str | None = None
) -> dict[str, Metric]:
    """Make metrics.

    Args:
        specs: NAME, or NAME:OPTION=VALUE:OPTION=VALUE; all metrics when None.
        preset: Preset of the metrics that have one.

    Returns:
        The metrics by spec, each once.

    Raises:
        ConfigError: An option is unknown or has a wrong value.
        UnknownPluginError: No such metric.
    """
    made = {}
    for spec in metrics.names() if specs is None else specs:
        # A colon that no `KEY=` follows belongs to the value.
        name, *options = re.split(r":(?=\w+=)", spec)
        values = dict(one.partition("=")[::2] for one in options)
        offered = {"preset": preset} if preset else {}
        made[spec] = plugins.create("metrics", name, values, offered=offered)
    return made


def measure(
    samples: Sequence[Sample], specs: Sequence[str] | None = None, *, preset: str | None = None
) -> Measured:
    """Measure samples.

    Args:
        samples: At least one.
        specs: Metrics as `make_metrics` takes them; None for all that apply. Of those asked for,
            each must apply.
        preset: Preset of the metrics that have one.

    Raises:
        ConfigError: As `make_metrics`.
        CRScoreError: A metric that was asked for does not apply, or its package is missing.
        UnknownPluginError: As `make_metrics`.
    """
    measurements: list[Measurement] = []
    skipped: list[tuple[str, str]] = []
    for spec, metric in make_metrics(specs, preset=preset).items():
        try:
            reason = metric.inapplicable(samples)
            if reason is not None:
                raise InputError(f"{spec} cannot judge this: {reason}")
            measurements.append(Measurement(spec, metric, metric.statistics(samples)))
        except CRScoreError as exc:
            if specs is not None:
                raise
            skipped.append((spec, str(exc)))
    return Measured(tuple(measurements), tuple(skipped))
