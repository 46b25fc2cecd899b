"""Makes metrics by name, and measures samples by every metric that applies to them."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from crscore import plugins
from crscore.code.metrics.metric import Doubles, Metric
from crscore.code.samples import Sample
from crscore.errors import CRScoreError, InputError


class Measurement(NamedTuple):
    """Statistics of samples by one metric."""

    name: str
    """Name of the metric, with the options that were given."""
    metric: Metric
    statistics: Doubles
    """Shape (N, S), see `Metric.statistics`."""

    @property
    def corpus_score(self) -> float:
        """Score of all samples together."""
        totals = self.statistics.sum(axis=0, keepdims=True)
        return float(self.metric.corpus_scores(totals)[0])

    @property
    def sentence_scores(self) -> list[float]:
        """Score of each sample."""
        scores: list[float] = self.metric.sentence_scores(self.statistics).tolist()
        return scores


def names() -> tuple[str, ...]:
    """Return the names of all metrics in alphabetical order."""
    return plugins.names("metrics")


def make(name: str, **options: Any) -> Metric:
    """Make a metric.

    Args:
        name: One of `names()`.
        **options: Options of the metric.

    Raises:
        ConfigError: An option is unknown or has a wrong value.
        UnknownPluginError: There is no such metric.
    """
    metric: Metric = plugins.create("metrics", name, options)
    return metric


def make_metrics(
    specs: Sequence[str] | None = None, *, preset: str | None = None
) -> dict[str, Metric]:
    """Make metrics.

    Args:
        specs: Metrics as NAME or NAME:OPTION=VALUE:OPTION=VALUE; None for all metrics.
        preset: Preset, which is used by the metrics that have presets.

    Returns:
        The metric of each spec; a spec that is repeated occurs once.

    Raises:
        ConfigError: An option is unknown or has a wrong value.
        UnknownPluginError: There is no such metric.
    """
    metrics = {}
    for spec in names() if specs is None else specs:
        # A colon that no `OPTION=` follows belongs to a value.
        name, *options = re.split(r":(?=\w+=)", spec)
        values = dict(option.partition("=")[::2] for option in options)
        # The preset is only offered, because some metrics, such as edit similarity, have no preset.
        offered = {"preset": preset} if preset else {}
        metrics[spec] = plugins.create("metrics", name, values, offered=offered)
    return metrics


def measure(
    samples: Sequence[Sample], specs: Sequence[str] | None = None, *, preset: str | None = None
) -> tuple[list[Measurement], dict[str, str]]:
    """Measure samples by metrics.

    Args:
        samples: At least one sample.
        specs: Metrics as for `make_metrics`, each of which must apply; None for all that apply.
        preset: Preset, which is used by the metrics that have presets.

    Returns:
        The measurements by the metrics that apply, and a mapping of each other metric's spec to the
        reason why it was left out.

    Raises:
        ConfigError: An option is unknown or has a wrong value.
        CRScoreError: A metric in `specs` does not apply, or its package is missing.
        UnknownPluginError: There is no such metric.
    """
    measurements: list[Measurement] = []
    skipped: dict[str, str] = {}
    for spec, metric in make_metrics(specs, preset=preset).items():
        try:
            reason = metric.find_obstacle(samples)
            if reason is not None:
                raise InputError(f"{spec} cannot score these samples: {reason}")
            measurements.append(Measurement(spec, metric, metric.statistics(samples)))
        except CRScoreError as exc:
            # Leaving out a metric that the caller named would be a surprise.
            if specs is not None:
                raise
            skipped[spec] = str(exc)
    return measurements, skipped


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
        references: The reference, or the references, of each candidate.
        metrics: Names of metrics.
        language: Language of all candidates and references.

    Returns:
        Two items for each metric: under its name the corpus score, in [0, 1], and under
        `<name>_scores` the list of the candidates' scores.

    Raises:
        InputError: The lists differ in length or are empty, a candidate has no reference, or a
            metric cannot score the candidates.
        DependencyError: A metric needs a package that is not installed.
        UnknownPluginError: There is no such metric.

    Example:
        >>> compute(predictions=["a + b + c"], references=["a + b + c"], metrics=["bleu"])
        {'bleu': 1.0, 'bleu_scores': [1.0]}
    """
    if len(predictions) != len(references) or not predictions:
        raise InputError(
            f"{len(predictions)} predictions and {len(references)} references; expected the same "
            "number of both, and at least one"
        )
    samples = [
        Sample(
            candidate=candidate,
            references=(texts,) if isinstance(texts, str) else tuple(texts),
            language=language,
        )
        for candidate, texts in zip(predictions, references, strict=True)
    ]
    if not all(sample.references for sample in samples):
        raise InputError("a prediction has no reference to be compared with")
    scores: dict[str, Any] = {}
    for measurement in measure(samples, metrics)[0]:
        scores[measurement.name] = measurement.corpus_score
        scores[f"{measurement.name}_scores"] = measurement.sentence_scores
    return scores
