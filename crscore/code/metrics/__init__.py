"""Metrics of code against code, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crscore import plugins
from crscore.code.samples import Sample
from crscore.errors import InputError

if TYPE_CHECKING:
    from crscore.code.metrics.base import Metric


def names() -> tuple[str, ...]:
    """Return the names of all metrics, sorted."""
    return plugins.names("metrics")


def make(name: str, **options: Any) -> Metric:
    """Make a metric.

    Args:
        name: One of `names()`.
        **options: Values of its `Options`.

    Raises:
        ConfigError: An option is unknown or has a wrong value.
        UnknownPluginError: No such metric.
    """
    made: Metric = plugins.create("metrics", name, options)
    return made


def compute(
    *,
    predictions: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    metrics: Sequence[str] = ("chrf",),
    language: str | None = None,
) -> dict[str, Any]:
    """Compute metrics as the modules of Hugging Face's `evaluate` do.

    Args:
        predictions: N candidates.
        references: The reference of each, or its references.
        metrics: Names of metrics.
        language: Language of all of them.

    Returns:
        For each metric its corpus score in [0, 1], and under `<name>_scores` those of the
        candidates.

    Raises:
        InputError: The lists differ in length, are empty, a candidate has no reference, or a
            metric cannot judge them.
        DependencyError: A metric needs a package that is not installed.

    Example:
        >>> compute(predictions=["a + b"], references=["a + b"], metrics=["exact"])
        {'exact': 1.0, 'exact_scores': [1.0]}
    """
    if len(predictions) != len(references) or not predictions:
        raise InputError(
            f"{len(predictions)} predictions and {len(references)} references; expected as many, "
            "and at least one"
        )
    from crscore.code.measure import measure  # noqa: PLC0415  (it imports this module)

    samples = [
        Sample(
            candidate=candidate,
            references=(found,) if isinstance(found, str) else tuple(found),
            language=language,
        )
        for candidate, found in zip(predictions, references, strict=True)
    ]
    if not all(sample.references for sample in samples):
        raise InputError("a prediction has no reference to be compared with")
    result: dict[str, Any] = {}
    for name, metric, statistics in measure(samples, metrics).measurements:
        result[name] = float(metric.corpus_scores(statistics.sum(axis=0, keepdims=True))[0])
        result[f"{name}_scores"] = metric.sentence_scores(statistics).tolist()
    return result
