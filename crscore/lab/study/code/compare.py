"""Comparison of two systems on the same problems: paired bootstrap, and what people would say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.code.measure import Measurement, measure
from crscore.code.samples import Sample
from crscore.errors import InputError
from crscore.lab.study.formats import NOTHING, count, percent
from crscore.reports.layout import Card, Report, Section, make_table
from crscore.statistics import bootstrap, resampled
from crscore.statistics.intervals import percentiles

Floats = npt.NDArray[np.float64]

SCHEMA: Final = "urn:crscore:code-comparison:1"
"""Schema identifier of the document."""
DEFAULT_RESAMPLES: Final = 1000
SMALL: Final = 2.0
"""Difference in points below which the paper advises against claims of one metric."""


class Rates(NamedTuple):
    """How often people disagreed with a metric about pairs of systems."""

    told: tuple[float, float, float, float]
    """Share of the pairs that the metric told apart, by difference: below 2 points, 2 to 5, 5 to
    10, and more."""
    told_small: int
    """Number of pairs behind the first of them."""
    not_told: float
    """Share of the pairs that the metric did not tell apart, nearly all below 2 points."""
    pairs_not_told: int
    """Number of pairs behind it."""

    @property
    def small(self) -> float:
        """Share of the pairs less than 2 points apart, told apart or not."""
        disagreed = self.told[0] * self.told_small + self.not_told * self.pairs_not_told
        return disagreed / (self.told_small + self.pairs_not_told)


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
"""Rates by metric: "Out of the BLEU", Table 4, CoNaLa, 3,321 pairs of models of one-line Python. Of
other metrics there are none."""
_LIMITS: Final = (2.0, 5.0, 10.0)
# A rate at or below the first would convince most readers, one above the second few.
_CONVINCING: Final = 0.05
_DOUBTFUL: Final = 0.10


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
    """First less second."""
    low: float
    """Lower end of the 95 % interval of the difference."""
    high: float
    """Upper end of it."""
    wins: float
    """Share of the resamples in which the first system is strictly above the second."""
    losses: float
    """Share in which it is strictly below."""
    better: int
    """1 when the first system is significantly better, -1 when the second is, else 0."""
    disagreement: float | None
    """Share of such pairs of systems about which people disagreed with the metric: the published
    rate for a difference of this size, or for no significant one; None for a metric without."""
    verdict: str
    """In words, whether the difference would convince people."""


class CodeComparison(Struct, frozen=True, kw_only=True):
    """Two systems by several metrics."""

    schema: Literal["urn:crscore:code-comparison:1"] = SCHEMA
    first: str
    """Name of the first system."""
    second: str
    """Name of the second one."""
    samples: int
    """Pairs of samples."""
    problems: int
    """Problems that they answer; whole problems are drawn."""
    resamples: int
    """Draws of the bootstrap."""
    seed: int
    """Seed of the draws."""
    needed: float
    """Share of resamples that a significant difference wins: 0.95, or 0.975 when two-sided."""
    metrics: tuple[MetricComparison, ...]
    """One of each metric."""
    notes: tuple[str, ...]
    """Metrics that could not judge, and why."""


def compare(
    first: Sequence[Sample],
    second: Sequence[Sample],
    names: Sequence[str] | None = None,
    *,
    labels: tuple[str, str] = ("A", "B"),
    preset: str | None = None,
    two_sided: bool = False,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 42,
) -> CodeComparison:
    """Compare two systems' code.

    Samples are paired by id, several of one id in their order; without ids, by their order.

    Args:
        first: Samples of one system.
        second: Samples of the other one, for the same problems.
        names: Metrics; None for all whose packages are installed.
        labels: Names of the systems.
        preset: Preset of the metrics that have one.
        two_sided: Whether a difference needs to win 0.975 of the resamples instead of 0.95.
        resamples: Draws of the bootstrap, at least 1.
        seed: Seed of the draws.

    Raises:
        ConfigError: A metric does not know the preset.
        CRScoreError: A named metric fails: its package or its model is missing.
        InputError: The samples cannot be paired, or references of a pair differ.
        UnknownPluginError: No such metric.
    """
    one, two = _paired(first, second, labels)
    problems = [sample.id if sample.id is not None else str(n) for n, sample in enumerate(one)]
    counts = bootstrap.weight_matrix(problems, resamples=resamples, seed=seed)
    needed = bootstrap.TWO_SIDED if two_sided else bootstrap.ONE_SIDED
    # Together: a metric may depend on all references it is given.
    measured = measure([*one, *two], names, preset=preset)
    return CodeComparison(
        first=labels[0],
        second=labels[1],
        samples=len(one),
        problems=len(set(problems)),
        resamples=resamples,
        seed=seed,
        needed=needed,
        metrics=tuple(_compare(found, counts, needed) for found in measured.measurements),
        notes=measured.notes,
    )


def _paired(
    first: Sequence[Sample], second: Sequence[Sample], labels: tuple[str, str]
) -> tuple[list[Sample], list[Sample]]:
    lists = [_by_key(first), _by_key(second)]
    for (here, there), label in zip((lists, lists[::-1]), labels, strict=True):
        alone = [key for key in here if key not in there]
        if alone:
            raise InputError(
                f"{label} has {count(len(alone), 'sample')} without a partner, the first one "
                f"{alone[0][0]!r}; both need the same ids, or the same number of samples without"
            )
    if not first:
        raise InputError("there are no samples to compare")
    ordered = [(lists[0][key], lists[1][key]) for key in lists[0]]
    for one, two in ordered:
        if one.references != two.references:
            raise InputError(f"the references of {one.id!r} differ between the two systems")
    return [one for one, _ in ordered], [two for _, two in ordered]


def _by_key(samples: Sequence[Sample]) -> dict[tuple[str | None, int], Sample]:
    keyed: dict[tuple[str | None, int], Sample] = {}
    seen: dict[str | None, int] = {}
    for sample in samples:
        place = seen.get(sample.id, 0)
        seen[sample.id] = place + 1
        keyed[sample.id, place] = sample
    return keyed


def _compare(measurement: Measurement, counts: Floats, needed: float) -> MetricComparison:
    name, metric, statistics = measurement
    parts = statistics.reshape(2, len(statistics) // 2, -1)
    one, two = metric.corpus_scores(parts.sum(axis=1))
    drawn = resampled.corpus_scores(parts, metric.corpus_scores, counts)
    low, high = percentiles(drawn[0] - drawn[1])
    shares = bootstrap.wins(drawn[0], drawn[1])
    better = shares.better(needed)
    points = 100 * float(one - two)
    rates = RATES.get(name)
    return MetricComparison(
        metric=name,
        identity=metric.identity,
        first=100 * float(one),
        second=100 * float(two),
        difference=points,
        low=100 * low,
        high=100 * high,
        wins=shares.first,
        losses=shares.second,
        better=better,
        disagreement=None if rates is None else _rate(rates, points, better),
        verdict=_verdict(rates, points, better),
    )


def _rate(rates: Rates, points: float, better: int) -> float:
    if not better:
        return rates.not_told
    return rates.told[sum(abs(points) >= limit for limit in _LIMITS)]


def _verdict(rates: Rates | None, points: float, better: int) -> str:
    if rates is None:
        told = "a difference" if better else "no difference"
        return f"{told}; nobody has studied whether people see what this metric sees"
    if not better:
        return (
            "does not tell them apart, which says little: people told "
            f"{percent(rates.not_told)} of such pairs apart"
        )
    if abs(points) < SMALL:
        return (
            "too small to convince people: of pairs less than 2 points apart they disagreed about "
            f"{percent(rates.small)}"
        )
    rate = _rate(rates, points, better)
    how = "would convince" if rate <= _CONVINCING else "would probably convince"
    how = "may not convince" if rate > _DOUBTFUL else how
    return f"{how} people: they disagreed about {percent(rate)} of such pairs"


def comparison_report(found: CodeComparison) -> Report:
    """Lay out a comparison."""
    ahead = [one.metric for one in found.metrics if one.better > 0]
    behind = [one.metric for one in found.metrics if one.better < 0]
    return Report(
        title="Comparison of code",
        heading=f"{found.first} against {found.second}",
        facts=(
            f"{count(found.samples, 'pair')} of samples for {count(found.problems, 'problem')}; "
            f"{found.resamples:,} draws of whole problems, seed {found.seed}; significant: wins at "
            f"least {found.needed:g} of them",
        ),
        notes=found.notes,
        cards=(
            Card(f"{found.first} better", str(len(ahead)), ", ".join(ahead) or NOTHING),
            Card(f"{found.second} better", str(len(behind)), ", ".join(behind) or NOTHING),
        ),
        sections=(
            Section(
                "scores",
                "Scores",
                "Scores in points of 100",
                tables=(
                    make_table(
                        "Scores",
                        found.metrics,
                        ("Metric", lambda one: one.metric),
                        (found.first, lambda one: f"{one.first:.2f}"),
                        (found.second, lambda one: f"{one.second:.2f}"),
                        ("difference", _difference),
                        ("wins", lambda one: f"{one.wins:.3f}"),
                        ("better", lambda one: _better(found, one)),
                        ("people disagree", lambda one: percent(one.disagreement)),
                    ),
                ),
            ),
            Section(
                "people",
                "People",
                "Would people see the difference?",
                intro=tuple(f"{one.metric}: {one.verdict}." for one in found.metrics),
                notes=(
                    'The rates are those of Table 4 of "Out of the BLEU": systems that write one '
                    "line of Python, and that paper's variants of the metrics.",
                ),
            ),
        ),
        signatures=tuple(one.identity for one in found.metrics),
    )


def _difference(one: MetricComparison) -> str:
    return f"{one.difference:+.2f} [{one.low:+.2f}, {one.high:+.2f}]"


def _better(found: CodeComparison, one: MetricComparison) -> str:
    return {1: found.first, -1: found.second, 0: "not significant"}[one.better]
