"""Comparison of two systems on the same problems: paired bootstrap and expected human verdict."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.code.metrics.measurement import Measurement, measure
from crscore.code.samples import Sample
from crscore.errors import InputError
from crscore.reports.blocks import make_table
from crscore.reports.layout import Card, Report, Section
from crscore.reports.view import UNDEFINED, count_noun
from crscore.statistics import bootstrap, paired, resampled
from crscore.statistics.paired import SIGNIFICANCE, PairedComparison

Floats = npt.NDArray[np.float64]

SCHEMA: Final = "urn:crscore:code-comparison:1"
"""Schema identifier of the document."""
# As many as sacrebleu draws by default (`--paired-bs-n`).
DEFAULT_RESAMPLES: Final = 1000
FEW_PROBLEMS: Final = 30
"""Minimum number of problems for a reliable bootstrap."""
SMALL: Final = 2.0
"""Difference in points below which the paper advises against claims of one metric."""


class Rates(NamedTuple):
    """How often people disagreed with a metric about pairs of systems."""

    significant: tuple[float, float, float, float]
    """Share of the pairs with a significant difference, by its size: below 2 points, 2 to 5, 5 to
    10, and more."""
    small_pairs: int
    """Number of pairs that the first share is taken from."""
    not_significant: float
    """Share of the other pairs, nearly all below 2 points."""
    other_pairs: int
    """Number of pairs that this share is taken from."""

    @property
    def small(self) -> float:
        """Share of the pairs less than 2 points apart, significant or not."""
        disagreed = self.significant[0] * self.small_pairs + self.not_significant * self.other_pairs
        return disagreed / (self.small_pairs + self.other_pairs)


# https://arxiv.org/abs/2208.03133
RATES: Final[Mapping[str, Rates]] = MappingProxyType(
    {
        "bleu": Rates((0.027, 0.151, 0.120, 0.006), 187, 0.855, 427),
        "rouge_l": Rates((0.067, 0.120, 0.037, 0.0), 254, 0.720, 293),
        "chrf": Rates((0.052, 0.162, 0.028, 0.0), 248, 0.647, 218),
        "meteor": Rates((0.047, 0.148, 0.093, 0.0), 190, 0.815, 336),
        "ruby": Rates((0.066, 0.210, 0.047, 0.0), 213, 0.859, 468),
        "codebleu": Rates((0.060, 0.094, 0.058, 0.0), 382, 0.809, 486),
    }
)
"""Rates by metric: "Out of the BLEU", Table 4, CoNaLa, 3,321 pairs of models of one-line Python.
Other metrics were not studied."""
# The bounds of Table 4 of the paper.
_LIMITS: Final = (2.0, 5.0, 10.0)
# A rate up to the first limit convinces most readers; a rate above the second, few.
_CONVINCING_MAX_RATE: Final = 0.05
_DOUBTFUL_MIN_RATE: Final = 0.10


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
    disagreement: float | None
    """Share of such pairs of systems on which people disagreed with the metric: the published
    rate for a difference of this size and significance; None for a metric without rates."""
    verdict: str
    """Whether the difference would convince people, in words."""


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


class ScoredPair(NamedTuple):
    """Two systems by one metric, in points of 100."""

    first: float
    second: float
    wins: bootstrap.Wins
    comparison: PairedComparison
    """p is not corrected for the number of metrics."""


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
    # Measured together: CrystalBLEU ignores the commonest n-grams of all references.
    samples = [sample for side in zip(*pairs, strict=True) for sample in side]
    # Without an id, each pair is a problem of its own.
    problems = [
        str(index) if sample.id is None else sample.id for index, (sample, _) in enumerate(pairs)
    ]
    weights = bootstrap.weight_matrix(problems, resamples=resamples, seed=seed)
    measured = measure(samples, metrics, preset=preset)
    tests = [
        paired_test(measurement, weights, len(set(problems)))
        for measurement in measured.measurements
    ]
    # With nine metrics, the published rule (0.95 of the resamples) often calls one of two equal
    # systems better; corrected, in 2 to 3 % of the trials (`benchmarks/code_compare.py`).
    corrected = paired.correct(test.comparison for test in tests)
    notes = measured.notes
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
        metrics=tuple(map(_comparison, measured.measurements, tests, corrected)),
        notes=notes,
    )


def _pair(
    first: Sequence[Sample], second: Sequence[Sample], labels: tuple[str, str]
) -> list[tuple[Sample, Sample]]:
    keyed = _by_key(first), _by_key(second)
    for (samples, partners), label in zip((keyed, keyed[::-1]), labels, strict=True):
        unpaired = [key for key in samples if key not in partners]
        if unpaired:
            raise InputError(
                f"{label} has {count_noun(len(unpaired), 'sample')} without a partner, the first "
                f"one {unpaired[0][0]!r}; both need the same ids, or the same number of samples "
                "without"
            )
    if not first:
        raise InputError("no samples to compare")
    pairs = [(sample, keyed[1][key]) for key, sample in keyed[0].items()]
    for left, right in pairs:
        if left.references != right.references:
            raise InputError(f"the references of {left.id!r} differ between the two systems")
    return pairs


def _by_key(samples: Sequence[Sample]) -> dict[tuple[str | None, int], Sample]:
    # Several samples of one id are paired in their order.
    counts: Counter[str | None] = Counter()
    keyed: dict[tuple[str | None, int], Sample] = {}
    for sample in samples:
        keyed[sample.id, counts[sample.id]] = sample
        counts[sample.id] += 1
    return keyed


def paired_test(measurement: Measurement, weights: Floats, problems: int) -> ScoredPair:
    """Test the difference of two systems by one metric.

    Args:
        measurement: Statistics of the first system's samples, then of the second's.
        weights: How often each draw takes each pair, shape (B, N).
        problems: Number of problems.
    """
    statistics = measurement.statistics.reshape(2, weights.shape[1], -1)
    score = measurement.metric.corpus_scores
    first, second = (100 * score(statistics.sum(axis=1))).tolist()
    draws = 100 * resampled.corpus_scores(statistics, score, weights)
    comparison = paired.compare(first - second, draws[0] - draws[1], units=problems, is_mean=True)
    return ScoredPair(first, second, bootstrap.wins(*draws), comparison)


def _comparison(
    measurement: Measurement, test: ScoredPair, corrected: PairedComparison
) -> MetricComparison:
    better, difference = corrected.direction, test.first - test.second
    rate, verdict = _judge(RATES.get(measurement.name), difference, better)
    return MetricComparison(
        metric=measurement.name,
        identity=measurement.metric.identity,
        first=test.first,
        second=test.second,
        difference=difference,
        low=corrected.low,
        high=corrected.high,
        wins=test.wins.first,
        losses=test.wins.second,
        p=test.comparison.p,
        corrected_p=corrected.p,
        better=better,
        disagreement=rate,
        verdict=verdict,
    )


def _judge(rates: Rates | None, points: float, better: int) -> tuple[float | None, str]:
    """Return the published rate of disagreement for such a difference, and the verdict in words."""
    if rates is None:
        significance = "significant" if better else "not significant"
        return None, f"{significance}; no study has asked whether people agree with this metric"
    if not better:
        return rates.not_significant, (
            "not significant, which is weak evidence: people saw a difference in "
            f"{_percent(rates.not_significant)} of such pairs"
        )
    rate = rates.significant[sum(abs(points) >= limit for limit in _LIMITS)]
    if abs(points) < SMALL:
        return rate, (
            "too small to convince people: they disagreed with the metric on "
            f"{_percent(rates.small)} of the pairs less than 2 points apart"
        )
    effect = "would convince" if rate <= _CONVINCING_MAX_RATE else "would probably convince"
    effect = "may not convince" if rate > _DOUBTFUL_MIN_RATE else effect
    return rate, (
        f"{effect} people: they disagreed with the metric on {_percent(rate)} of such pairs"
    )


def _percent(share: float | None) -> str:
    """Format a share as a whole percentage, with one decimal below ten."""
    if share is None:
        return UNDEFINED
    # From 0.0995 on, one decimal would give "10.0".
    return f"{100 * share:.{1 if 0 < share < 0.0995 else 0}f} %"


def _probability(p: float | None) -> str:
    if p is None:
        return UNDEFINED
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def comparison_report(comparison: CodeComparison) -> Report:
    """Lay out a comparison."""
    better = {
        sign: [row.metric for row in comparison.metrics if row.better == sign] for sign in (1, -1)
    }
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
        ("people disagree", lambda row: _percent(row.disagreement)),
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
        cards=tuple(
            Card(f"{names[sign]} better", str(len(metrics)), ", ".join(metrics) or UNDEFINED)
            for sign, metrics in better.items()
        ),
        sections=(
            Section("scores", "Scores", "Scores in points of 100", tables=(table,)),
            Section(
                "people",
                "People",
                "Would people see the difference?",
                intro=tuple(f"{row.metric}: {row.verdict}." for row in comparison.metrics),
                notes=(
                    'The rates are from Table 4 of "Out of the BLEU": systems that write one '
                    "line of Python, and that paper's variants of the metrics.",
                ),
            ),
        ),
        signatures=tuple(row.identity for row in comparison.metrics),
    )


def _difference(row: MetricComparison) -> str:
    if row.low is None or row.high is None:
        return f"{row.difference:+.2f}"
    return f"{row.difference:+.2f} [{row.low:+.2f}, {row.high:+.2f}]"
