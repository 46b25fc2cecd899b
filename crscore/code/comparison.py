"""Compares the code of two systems for the same problems by a paired bootstrap."""

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
MIN_PROBLEMS: Final = 30
"""Minimum number of problems for a reliable bootstrap."""


class MetricComparison(Struct, frozen=True, kw_only=True):
    """Comparison of two systems by one metric; scores are from 0 to 100."""

    metric: str
    """Name of the metric."""
    identity: str
    """Name, variant and versions of the metric."""
    first: float
    """Score of the first system."""
    second: float
    """Score of the second system."""
    difference: float
    """Score of the first system minus score of the second system."""
    low: float | None
    """Lower end of the 95 % interval of the difference; None if there is only one problem."""
    high: float | None
    """Upper end of the same interval."""
    wins: float
    """Share of the bootstrap's resamples, from 0 to 1, in which the first system scores higher."""
    losses: float
    """Share of the resamples in which the first system scores lower."""
    p: float | None
    """Two-sided p-value of the difference; None if there is only one problem."""
    corrected_p: float | None
    """The p-value after Holm's correction for the number of metrics."""
    better: int
    """1 if the first system is significantly better, -1 if the second system is, else 0. A
    difference is significant if its corrected p-value is below 0.05 and its interval excludes 0."""


class CodeComparison(Struct, frozen=True, kw_only=True):
    """Comparison of two systems by several metrics."""

    schema: Literal["urn:crscore:code-comparison:1"] = SCHEMA
    first: str
    """Name of the first system."""
    second: str
    """Name of the second system."""
    samples: int
    """Number of pairs of samples."""
    problems: int
    """Number of distinct problems; the bootstrap resamples problems, not pairs."""
    resamples: int
    """Number of the bootstrap's resamples."""
    seed: int
    """Seed of the bootstrap's random numbers."""
    metrics: tuple[MetricComparison, ...]
    """Comparison by each metric."""
    notes: tuple[str, ...]
    """Warnings, and for each metric that was left out the reason."""


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
    """Compare the code of two systems.

    Samples are paired by their ids. Samples without an id are paired in order, and so are several
    samples with the same id.

    Args:
        first: Samples of the first system.
        second: Samples of the second system, for the same problems.
        metrics: Names of metrics; None for all that apply and whose packages are installed.
        labels: Names of the two systems.
        preset: Preset, which is used by the metrics that have presets.
        resamples: Number of the bootstrap's resamples, at least 1.
        seed: Seed of the bootstrap's random numbers.

    Raises:
        ConfigError: A metric does not know the preset.
        CRScoreError: A metric in `metrics` cannot score the samples, or its package or model is
            missing.
        InputError: There are no samples, they cannot be paired, or the references of a pair differ.
        UnknownPluginError: There is no such metric.
    """
    pairs = _pair(first, second, labels)
    # Both systems are measured in one call, so that a metric is computed for both or for neither.
    samples = [sample for side in zip(*pairs, strict=True) for sample in side]
    # Each pair without an id counts as a separate problem. The null character keeps its number
    # apart from the ids of other pairs.
    problems = [
        f"\0{index}" if sample.id is None else sample.id for index, (sample, _) in enumerate(pairs)
    ]
    weights = bootstrap.weight_matrix(problems, resamples=resamples, seed=seed)
    measurements, skipped = measure(samples, metrics, preset=preset)
    tests = [compare_by(measurement, weights, len(set(problems))) for measurement in measurements]
    # With nine metrics, the published rule (a system is better if it wins in 95 % of the resamples)
    # often declares one of two equal systems better. With corrected p-values, this happens in 2 to
    # 3 % of the trials (`benchmarks/code_compare.py`).
    corrected = paired.correct(test for _, test in tests)
    notes = tuple(f"{name} is left out: {reason}" for name, reason in skipped.items())
    if len(set(problems)) < MIN_PROBLEMS:
        few = f"only {count_noun(len(set(problems)), 'problem')}: with fewer than {MIN_PROBLEMS}, "
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
    """Pair the samples of two systems.

    Raises:
        InputError: There are no samples, a sample has no partner, or the references of a pair
            differ.
    """
    keyed = _index_samples(first), _index_samples(second)
    for (samples, partners), label in zip((keyed, keyed[::-1]), labels, strict=True):
        unpaired = [key for key in samples if key not in partners]
        if unpaired:
            raise InputError(
                f"{label} has {count_noun(len(unpaired), 'sample')} that the other system lacks, "
                f"the first with the id {unpaired[0][0]!r}; both systems need the same ids, or the "
                "same number of samples without ids"
            )
    if not first:
        raise InputError("no samples to compare")
    pairs = [(sample, keyed[1][key]) for key, sample in keyed[0].items()]
    for number, (left, right) in enumerate(pairs, 1):
        if left.references != right.references:
            raise InputError(f"the systems' references of sample {left.id or number} differ")
    return pairs


def _index_samples(samples: Sequence[Sample]) -> dict[tuple[str | None, int], Sample]:
    """Index samples by their id and their position among the samples with the same id."""
    counts: Counter[str | None] = Counter()
    keyed: dict[tuple[str | None, int], Sample] = {}
    for sample in samples:
        keyed[sample.id, counts[sample.id]] = sample
        counts[sample.id] += 1
    return keyed


def compare_by(
    measurement: Measurement, weights: Doubles, problems: int
) -> tuple[MetricComparison, PairedComparison]:
    """Compare two systems by one metric.

    Args:
        measurement: Statistics of the first system's N samples, then of the second system's.
        weights: How often each of B resamples contains each of the N pairs, shape (B, N).
        problems: Number of problems.

    Returns:
        The comparison, and the test that it is based on. Both have the p-value without a correction
        for the number of metrics.

    Source:
        Koehn, EMNLP 2004; for the wins, Evtikhiev et al., "Out of the BLEU", section 5.
    """
    statistics = measurement.statistics.reshape(2, weights.shape[1], -1)
    score = measurement.metric.corpus_scores
    first, second = (100 * score(statistics.sum(axis=1))).tolist()
    scores = 100 * resampled.corpus_scores(statistics, score, weights)
    test = paired.compare(first - second, scores[0] - scores[1], units=problems, is_mean=True)
    row = MetricComparison(
        metric=measurement.name,
        identity=measurement.metric.identity,
        first=first,
        second=second,
        difference=first - second,
        low=test.low,
        high=test.high,
        wins=float((scores[0] > scores[1]).mean()),
        losses=float((scores[0] < scores[1]).mean()),
        p=test.p,
        corrected_p=test.p,
        better=test.direction,
    )
    return row, test


def _format_p(p: float | None) -> str:
    if p is None:
        return UNDEFINED
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def comparison_report(comparison: CodeComparison) -> Report:
    """Return the report of a comparison, with a table of the metrics."""
    names = {1: comparison.first, -1: comparison.second, 0: "not significant"}
    table = make_table(
        "Scores",
        comparison.metrics,
        ("Metric", lambda row: row.metric),
        (comparison.first, lambda row: f"{row.first:.2f}"),
        (comparison.second, lambda row: f"{row.second:.2f}"),
        ("difference", _format_difference),
        ("wins", lambda row: f"{row.wins:.3f}"),
        ("p, corrected", lambda row: _format_p(row.corrected_p)),
        ("better", lambda row: names[row.better]),
    )
    return Report(
        title="Comparison of code",
        heading=f"{comparison.first} against {comparison.second}",
        facts=(
            f"{count_noun(comparison.samples, 'pair')} of samples for "
            f"{count_noun(comparison.problems, 'problem')}; {comparison.resamples:,} bootstrap "
            f"resamples of problems, seed {comparison.seed}; a difference is significant if p, "
            f"corrected by Holm's method for {count_noun(len(comparison.metrics), 'metric')}, is "
            f"below {SIGNIFICANCE:g} and the interval excludes 0",
        ),
        notes=comparison.notes,
        cards=(),
        sections=(Section("scores", "Scores", "Scores from 0 to 100", tables=(table,)),),
        signatures=tuple(row.identity for row in comparison.metrics),
    )


def _format_difference(row: MetricComparison) -> str:
    if row.low is None or row.high is None:
        return f"{row.difference:+.2f}"
    return f"{row.difference:+.2f} [{row.low:+.2f}, {row.high:+.2f}]"
