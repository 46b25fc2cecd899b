"""Comparison of two systems on the same problems by a paired bootstrap."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from crscore.code.metrics.measurement import Measurement, measure
from crscore.code.samples import Sample
from crscore.errors import InputError
from crscore.reports.blocks import make_table
from crscore.reports.layout import Report, Section
from crscore.reports.view import UNDEFINED, count_noun
from crscore.statistics import bootstrap, paired, resampled
from crscore.statistics.paired import SIGNIFICANCE, PairedComparison

Doubles = npt.NDArray[np.float64]

SCHEMA: Final = "urn:crscore:code-comparison:1"
"""Schema identifier of the document."""
# This is the default of sacrebleu (`--paired-bs-n`).
DEFAULT_RESAMPLES: Final = 1000
FEW_PROBLEMS: Final = 30
"""Minimum number of problems for a reliable bootstrap."""


class MetricComparison(Struct, frozen=True, kw_only=True):
    """Two systems by one metric; scores and differences in points of 100."""

    metric: str
    """Name of the metric."""
    identity: str
    """Variant and versions."""
    first: float
    """Score of the first system."""
    second: float
    """Score of the second one."""
    difference: float
    """First minus second."""
    low: float | None
    """Lower end of the 95 % interval of the difference; None for a single problem."""
    high: float | None
    """Upper end of the same interval."""
    wins: float
    """Share of the resamples in which the first system is strictly above the second."""
    losses: float
    """Share in which it is strictly below."""
    p: float | None
    """Two-sided p-value of the difference; None for a single problem."""
    corrected_p: float | None
    """The same, corrected for the number of metrics by Holm's method."""
    better: int
    """1 when the first system is significantly better, -1 when the second is, else 0. A
    difference is significant if its corrected p is below 0.05 and its interval excludes 0."""


class CodeComparison(Struct, frozen=True, kw_only=True):
    """Two systems by several metrics."""

    schema: Literal["urn:crscore:code-comparison:1"] = SCHEMA
    first: str
    """Name of the first system."""
    second: str
    """Name of the second one."""
    samples: int
    """Number of pairs of samples."""
    problems: int
    """Number of their problems, the unit of the draws."""
    resamples: int
    """Draws of the bootstrap."""
    seed: int
    """Seed of the draws."""
    metrics: tuple[MetricComparison, ...]
    """Comparison by each metric."""
    notes: tuple[str, ...]
    """Warnings, and metrics that were left out, with the reason."""


def compare(
    first: Sequence[Sample],
    second: Sequence[Sample],
    metrics: Sequence[str] | None = None,
    *,
    labels: tuple[str, str] = ("A", "B"),
    preset: str | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 42,
) -> CodeComparison:
    """Compare two systems' code.

    Samples are paired by id, or by their order without ids; several samples of one id are paired in
    their order.

    Args:
        first: Samples of one system.
        second: Samples of the other one, for the same problems.
        metrics: Names of metrics; None for all whose packages are installed.
        labels: Names of the systems.
        preset: Preset of the metrics that have one.
        resamples: Draws of the bootstrap, at least 1.
        seed: Seed of the draws.

    Raises:
        ConfigError: A metric does not know the preset.
        CRScoreError: A named metric fails: its package or its model is missing.
        InputError: The samples cannot be paired, or references of a pair differ.
        UnknownPluginError: There is no such metric.
    """
    pairs = _pair(first, second, labels)
    # Both systems are measured together, because CrystalBLEU ignores the commonest n-grams of all
    # references.
    samples = [sample for side in zip(*pairs, strict=True) for sample in side]
    # Without an id, each pair is a problem of its own.
    problems = [
        str(index) if sample.id is None else sample.id for index, (sample, _) in enumerate(pairs)
    ]
    weights = bootstrap.weight_matrix(problems, resamples=resamples, seed=seed)
    measurements, skipped = measure(samples, metrics, preset=preset)
    tests = [paired_test(measurement, weights, len(set(problems))) for measurement in measurements]
    # With nine metrics, the published rule (0.95 of the resamples) often finds one of two equal
    # systems better. With corrected p-values, this happens in 2 to 3 % of the trials
    # (`benchmarks/code_compare.py`).
    corrected = paired.correct(test for _, test in tests)
    notes = tuple(f"{name} is left out: {reason}" for name, reason in skipped.items())
    if len(set(problems)) < FEW_PROBLEMS:
        few = f"only {count_noun(len(set(problems)), 'problem')}: below {FEW_PROBLEMS}, "
        notes = (few + "intervals and p-values of a bootstrap are unreliable", *notes)
    return CodeComparison(
        first=labels[0],
        second=labels[1],
        samples=len(pairs),
        problems=len(set(problems)),
        resamples=resamples,
        seed=seed,
        metrics=tuple(
            replace(row, corrected_p=test.p, better=test.direction)
            for (row, _), test in zip(tests, corrected, strict=True)
        ),
        notes=notes,
    )


def _pair(
    first: Sequence[Sample], second: Sequence[Sample], labels: tuple[str, str]
) -> list[tuple[Sample, Sample]]:
    """Pair the samples of two systems; a sample without a partner is an error."""
    keyed = _by_key(first), _by_key(second)
    for (samples, partners), label in zip((keyed, keyed[::-1]), labels, strict=True):
        unpaired = [key for key in samples if key not in partners]
        if unpaired:
            raise InputError(
                f"{label} has {count_noun(len(unpaired), 'sample')} without a partner, the first "
                f"one {unpaired[0][0]!r}; both need the same ids, or the same number of samples "
                "without ids"
            )
    if not first:
        raise InputError("no samples to compare")
    pairs = [(sample, keyed[1][key]) for key, sample in keyed[0].items()]
    for left, right in pairs:
        if left.references != right.references:
            raise InputError(f"the references of {left.id!r} differ between the two systems")
    return pairs


def _by_key(samples: Sequence[Sample]) -> dict[tuple[str | None, int], Sample]:
    counts: Counter[str | None] = Counter()
    keyed: dict[tuple[str | None, int], Sample] = {}
    for sample in samples:
        keyed[sample.id, counts[sample.id]] = sample
        counts[sample.id] += 1
    return keyed


def paired_test(
    measurement: Measurement, weights: Doubles, problems: int
) -> tuple[MetricComparison, PairedComparison]:
    """Test the difference of two systems by one metric, uncorrected for the number of metrics.

    Args:
        measurement: Statistics of the first system's samples, then of the second's.
        weights: How often each draw takes each pair, shape (B, N).
        problems: Number of problems.

    Source:
        Koehn, EMNLP 2004; Evtikhiev et al., "Out of the BLEU", section 5, for the wins.
    """
    statistics = measurement.statistics.reshape(2, weights.shape[1], -1)
    score = measurement.metric.corpus_scores
    first, second = (100 * score(statistics.sum(axis=1))).tolist()
    draws = 100 * resampled.corpus_scores(statistics, score, weights)
    test = paired.compare(first - second, draws[0] - draws[1], units=problems, is_mean=True)
    row = MetricComparison(
        metric=measurement.name,
        identity=measurement.metric.identity,
        first=first,
        second=second,
        difference=first - second,
        low=test.low,
        high=test.high,
        wins=float((draws[0] > draws[1]).mean()),
        losses=float((draws[0] < draws[1]).mean()),
        p=test.p,
        corrected_p=test.p,
        better=test.direction,
    )
    return row, test


def _probability(p: float | None) -> str:
    if p is None:
        return UNDEFINED
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def comparison_report(comparison: CodeComparison) -> Report:
    """Lay out a comparison."""
    names = {1: comparison.first, -1: comparison.second, 0: "not significant"}
    table = make_table(
        "Scores",
        comparison.metrics,
        ("Metric", lambda row: row.metric),
        (comparison.first, lambda row: f"{row.first:.2f}"),
        (comparison.second, lambda row: f"{row.second:.2f}"),
        ("difference", _difference),
        ("wins", lambda row: f"{row.wins:.3f}"),
        ("p, corrected", lambda row: _probability(row.corrected_p)),
        ("better", lambda row: names[row.better]),
    )
    return Report(
        title="Comparison of code",
        heading=f"{comparison.first} against {comparison.second}",
        facts=(
            f"{count_noun(comparison.samples, 'pair')} of samples for "
            f"{count_noun(comparison.problems, 'problem')}; {comparison.resamples:,} draws of "
            f"whole problems, seed {comparison.seed}; significant: p below {SIGNIFICANCE:g}, "
            f"corrected by Holm's method for {count_noun(len(comparison.metrics), 'metric')}, with "
            "an interval without 0",
        ),
        notes=comparison.notes,
        cards=(),
        sections=(Section("scores", "Scores", "Scores in points of 100", tables=(table,)),),
        signatures=tuple(row.identity for row in comparison.metrics),
    )


def _difference(row: MetricComparison) -> str:
    if row.low is None or row.high is None:
        return f"{row.difference:+.2f}"
    return f"{row.difference:+.2f} [{row.low:+.2f}, {row.high:+.2f}]"
