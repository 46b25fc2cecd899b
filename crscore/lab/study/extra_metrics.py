"""Metrics reported with the score: published baselines, and metrics computed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crscore import plugins
from crscore.encoders.base import Encoder, TokenEncoder
from crscore.lab.study.baselines import outside
from crscore.lab.study.baselines import run as published
from crscore.lab.study.measure import ExtraMetrics, Measurements, Metric
from crscore.lab.study.run import Extra

TOKENS = "minilm"
"""Encoder for BERTScore where the run's own does not expose tokens."""


def baselines() -> Extra:
    """Return a function that computes the published baselines for a run.

    Returns:
        A function for `run.run`.

    Raises:
        DependencyError: A library is not installed; raised before the work begins.
    """
    published.require_libraries()
    return _baselines


def from_files(paths: Sequence[Path]) -> Extra:
    """Return a function that reads the metrics of files for a run.

    Args:
        paths: Files as `baselines.outside` reads them.

    Returns:
        A function for `run.run`; it raises InputError where a metric lacks a review.

    Raises:
        InputError: A file cannot be read; raised before the work begins.
    """
    for path in paths:
        outside.read_metrics(path, ())

    def read(measured: Measurements, _: Encoder) -> ExtraMetrics:
        rows = list(zip(measured.changes, measured.systems, strict=True))
        return ExtraMetrics(
            tuple(
                Metric(name=one.name, values=one.values, variant=f"read from {path.name}")
                for path in paths
                for one in outside.read_metrics(path, rows)
            )
        )

    return read


def _baselines(measured: Measurements, encoder: Encoder) -> ExtraMetrics:
    rows = [(row.change, row.review) for row in measured.rows]
    return published.baseline_values(rows, encoder=_token_encoder(encoder))


def _token_encoder(encoder: Encoder) -> Encoder:
    """Return the default encoder where the run's exposes no tokens and weights are available."""
    if isinstance(encoder, TokenEncoder):
        return encoder
    if plugins.load("encoders", TOKENS).missing() is not None:
        return encoder
    made: Encoder = plugins.create("encoders", TOKENS, {"offline": True})
    return made
