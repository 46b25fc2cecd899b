"""Correlation of metrics of code with people's grades, or with the results of tests."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from crscore.code.metrics.measurement import measure
from crscore.code.samples import Sample
from crscore.statistics.intervals import Doubles
from crscore_lab.code.graded import GradedCode
from crscore_lab.statistics import ranks, resampled
from crscore_lab.statistics.ranks import Indices
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.tables import format_interval, make_table

SCHEMA: Final = "urn:crscore:code-study:1"
"""Schema identifier of the document."""
DEFAULT_RESAMPLES: Final = 1000
EDIT: Final = "edit"
"""Metric that is always included, because it is also a baseline."""
TIE: Final = 0.001
"""Difference below which two scores are a tie in `kendall`."""


class Estimate(Struct, frozen=True, kw_only=True):
    """Correlation with its 95 % interval from a bootstrap of the problems."""

    value: float | None
    """In [-1, 1]; None if all scores or all grades are the same."""
    low: float | None
    """Lower end of the interval; None if there is no interval."""
    high: float | None
    """Upper end of the interval; None if there is no interval."""


class Agreement(Struct, frozen=True, kw_only=True):
    """Agreement of one metric with the grades."""

    metric: str
    """Name of the metric or baseline."""
    identity: str
    """Variant of the metric and versions of its packages; the same identity gives the same
    scores."""
    is_baseline: bool
    """Whether this is a baseline that knows nothing of code."""
    kendall: Estimate
    """Kendall's tau over the pairs of candidates of one problem whose grades differ. A pair whose
    scores are less than 0.001 apart is a tie, which counts as 0."""
    pearson: Estimate
    """Pearson's correlation over all candidates."""
    spearman: Estimate
    """Spearman's correlation over all candidates."""
    kendall_b: float | None
    """Kendall's tau-b over all candidates; None if all scores or all grades are the same."""


class CodeStudy(Struct, frozen=True, kw_only=True):
    """Agreement of metrics of code with people or with tests."""

    schema: Literal["urn:crscore:code-study:1"] = SCHEMA
    sha256: str
    """Hash of the data file after decompression."""
    judged_by: str
    """Source of the grades: `people` or `tests`."""
    problems: int
    """Number of problems."""
    candidates: int
    """Number of graded candidates."""
    pairs: int
    """Number of pairs of candidates of one problem with different grades."""
    resamples: int
    """Number of bootstrap resamples of the problems; 0 for no intervals."""
    seed: int
    """Seed of the bootstrap."""
    agreements: tuple[Agreement, ...]
    """Metrics, then baselines, each sorted by Kendall's tau, the highest first."""
    notes: tuple[str, ...]
    """Metrics that were left out and why, one sentence each."""


class _Column(NamedTuple):
    name: str
    identity: str
    scores: Doubles
    is_baseline: bool


def concordance(scores: Doubles, better: Indices, worse: Indices) -> Doubles:
    """Return 1 for each pair whose scores are ordered as the grades, -1 if opposite, 0 for a tie.

    Args:
        scores: Score of each candidate, shape (N,).
        better: Index of the candidate with the higher grade of each pair, shape (K,).
        worse: Index of the other candidate of each pair, shape (K,).

    Returns:
        Shape (K,).
    """
    difference = scores[better] - scores[worse]
    agreement: Doubles = np.where(np.abs(difference) < TIE, 0.0, np.sign(difference))
    return agreement


def kendall(scores: Doubles, grades: Doubles, problems: Sequence[str]) -> float | None:
    """Compute Kendall's tau over pairs of candidates of the same problem ("da-RR").

    It is (C - D) / (C + D + T), where C is the number of pairs whose scores are ordered as the
    grades, D the number of pairs in the opposite order, and T the number of pairs whose scores are
    less than 0.001 apart. Pairs with equal grades are left out.

    Args:
        scores: Score of each candidate, shape (N,).
        grades: Grade by people, or 1 for passed and 0 for failed tests, shape (N,).
        problems: Problem of each candidate, N names.

    Returns:
        In [-1, 1]; None if no two candidates of a problem have different grades.

    Source:
        Zhou et al., "CodeBERTScore", EMNLP 2023, section 4.1; Ma et al., WMT 2018.

    Example:
        Two pairs are ordered as the grades, and one is a tie.

        >>> kendall(np.array([0.1, 0.2, 0.2]), np.array([0.0, 1.0, 2.0]), ["a", "a", "a"])
        0.6666666666666666
    """
    agreement = concordance(scores, *ranks.graded_pairs(problems, grades))
    return float(agreement.mean()) if len(agreement) else None


def correlate(
    graded: GradedCode,
    metrics: Sequence[str] | None = None,
    *,
    preset: str | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> CodeStudy:
    """Correlate metrics with grades.

    Args:
        graded: Candidates with grades.
        metrics: Names of metrics; None for all metrics whose packages are installed. The baselines
            `edit`, `length` and `constant` are added.
        preset: Preset of the metrics that have one.
        resamples: Number of bootstrap resamples of the problems for the intervals; 0 for none.
        seed: Seed of the bootstrap.

    Raises:
        ConfigError: A metric does not know the preset.
        CRScoreError: A metric in `metrics` fails.
        DependencyError: scipy or rapidfuzz is not installed.
        UnknownPluginError: There is no such metric.
    """
    # If `metrics` is None, all metrics are computed, and `edit` is one of them.
    measurements, skipped = measure(graded.samples, metrics and (*metrics, EDIT), preset=preset)
    columns = [
        _Column(name, metric.identity, metric.sentence_scores(statistics), name == EDIT)
        for name, metric, statistics in measurements
    ]
    columns += _baselines(graded.samples)
    pairs = ranks.graded_pairs(graded.problems, graded.grades)
    resampling: Resampling = {"resamples": resamples, "seed": seed}
    agreements = [_agreement(column, graded, pairs, resampling) for column in columns]
    return CodeStudy(
        sha256=graded.sha256,
        judged_by=graded.kind,
        problems=len(set(graded.problems)),
        candidates=len(graded.samples),
        pairs=len(pairs[0]),
        **resampling,
        agreements=tuple(sorted(agreements, key=_rank_key)),
        notes=tuple(f"{name} is left out: {reason}" for name, reason in skipped.items()),
    )


def _rank_key(agreement: Agreement) -> tuple[bool, float]:
    tau = agreement.kendall.value
    # Lower values are sorted first; 2 is higher than any -tau, so an undefined tau is the last.
    return agreement.is_baseline, 2.0 if tau is None else -tau


def _baselines(samples: Sequence[Sample]) -> list[_Column]:
    lengths = [
        max(_length_ratio(sample.candidate, reference) for reference in sample.references)
        for sample in samples
    ]
    return [
        _Column("length", "shorter / longer text", np.array(lengths), is_baseline=True),
        _Column("constant", "one score for all", np.ones(len(samples)), is_baseline=True),
    ]


def _length_ratio(candidate: str, reference: str) -> float:
    shorter, longer = sorted((len(candidate), len(reference)))
    return shorter / longer if longer else 1.0


def _agreement(
    column: _Column, graded: GradedCode, pairs: tuple[Indices, Indices], resampling: Resampling
) -> Agreement:
    scores, grades = column.scores, graded.grades
    agreement = concordance(scores, *pairs)
    # Each pair is counted at one of its candidates. A resample of the problems contains both
    # candidates of a pair equally often.
    agreed = np.bincount(pairs[0], agreement, minlength=len(scores)).astype(np.float64)
    compared = np.bincount(pairs[0], minlength=len(scores)).astype(np.float64)

    def estimate(value: float | None, statistic: Callable[[Doubles], Doubles]) -> Estimate:
        low, high = resampled.interval(statistic, graded.problems, **resampling)
        return Estimate(value=value, low=low, high=high)

    def spearman(weights: Doubles) -> Doubles:
        return resampled.spearman(*(resampled.rank(side, weights) for side in (scores, grades)))

    return Agreement(
        metric=column.name,
        identity=column.identity,
        is_baseline=column.is_baseline,
        kendall=estimate(
            float(agreement.mean()) if len(agreement) else None,
            partial(resampled.ratio, agreed, compared),
        ),
        pearson=estimate(ranks.pearson(scores, grades), partial(resampled.pearson, scores, grades)),
        spearman=estimate(ranks.spearman(scores, grades), spearman),
        kendall_b=ranks.kendall(scores, grades),
    )


def render_study(study: CodeStudy, **_: object) -> str:
    """Render a study as Markdown."""
    judges = "people's grades" if study.judged_by == "people" else "passed and failed tests"
    table = make_table(
        f"How well metrics of code agree with {judges}",
        study.agreements,
        ("metric", lambda row: row.metric + (" *" if row.is_baseline else "")),
        *((name, _estimate_of(name.lower())) for name in ("Kendall", "Pearson", "Spearman")),
        ("tau-b", "kendall_b"),
        ("identity", "identity"),
    )
    facts = (
        f"{study.candidates:,} candidates of {study.problems:,} problems, {study.pairs:,} pairs of "
        "one problem with different grades. 95 % intervals are from a bootstrap of the problems "
        f"({study.resamples:,} resamples, seed {study.seed}). Kendall is over these pairs, the "
        "others are over all candidates. Rows with * are baselines that know nothing of code."
    )
    return "\n\n".join((table, facts, *study.notes)) + "\n"


def _estimate_of(name: str) -> Callable[[Agreement], str]:
    def get(row: Agreement) -> str:
        estimate: Estimate = getattr(row, name)
        return format_interval(estimate.value, estimate.low, estimate.high)

    return get
