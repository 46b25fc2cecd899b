"""Study of metrics: how well their scores agree with people's grades, or with tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.code.measure import measure
from crscore.code.samples import Sample
from crscore.lab.study.code import correlate
from crscore.lab.study.code.graded import GradedCode
from crscore.lab.study.formats import count, number, ranged
from crscore.reports.layout import Card, Report, Section, Table, make_table
from crscore.statistics import bootstrap, ranks, resampled

Floats = npt.NDArray[np.float64]

SCHEMA: Final = "urn:crscore:code-study:1"
"""Schema identifier of the document."""
DEFAULT_RESAMPLES: Final = 1000
EDIT: Final = "edit"
"""Metric that is a trivial baseline too: it is always there."""


class Estimate(Struct, frozen=True, kw_only=True):
    """Statistic with its 95 % interval, by a bootstrap over problems."""

    value: float | None
    """In [-1, 1]; None when a side is constant."""
    low: float | None
    """Lower end; None when there is none."""
    high: float | None
    """Upper end; None when there is none."""


class Agreement(Struct, frozen=True, kw_only=True):
    """Agreement of one metric with the grades."""

    metric: str
    """Name of the metric or baseline."""
    identity: str
    """Variant and versions: the same identity gives the same scores."""
    is_baseline: bool
    """Whether it knows nothing of code."""
    kendall: Estimate
    """Kendall's tau within problems; scores less than 0.001 apart are ties, which count."""
    pearson: Estimate
    """Over all candidates."""
    spearman: Estimate
    """Over all candidates."""
    kendall_b: float | None
    """Kendall's tau-b over all candidates; None when a side is constant."""


class CodeStudy(Struct, frozen=True, kw_only=True):
    """Agreement of metrics with people or with tests."""

    schema: Literal["urn:crscore:code-study:1"] = SCHEMA
    sha256: str
    """Hash of the data."""
    judged_by: str
    """`people` or `tests`."""
    problems: int
    """Number of problems."""
    candidates: int
    """Number of graded candidates."""
    pairs: int
    """Pairs of one problem with different grades."""
    resamples: int
    """Draws of whole problems; 0 for no intervals."""
    seed: int
    """Seed of the draws."""
    agreements: tuple[Agreement, ...]
    """Metrics by falling Kendall's tau, then baselines."""
    notes: tuple[str, ...]
    """Metrics that could not judge, and why."""


class _Scored(NamedTuple):
    name: str
    identity: str
    scores: Floats
    is_baseline: bool


class _Block(NamedTuple):
    weights: Floats
    """How often each draw takes each row, shape (b, N)."""
    grades: resampled.RankedColumn
    """Grades in each draw."""


def study(
    graded: GradedCode,
    names: Sequence[str] | None = None,
    *,
    preset: str | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> CodeStudy:
    """Correlate metrics with grades.

    Args:
        graded: Candidates with grades.
        names: Metrics; None for all whose packages are installed. Character edit similarity and
            the baselines are added.
        preset: Preset of the metrics that have one.
        resamples: Draws of whole problems for the intervals; 0 for none.
        seed: Seed of the draws.

    Raises:
        ConfigError: A metric does not know the preset.
        CRScoreError: A named metric fails.
        DependencyError: scipy or rapidfuzz is missing.
        UnknownPluginError: No such metric.
    """
    chosen = None if names is None else (*names, EDIT)
    measured = measure(graded.samples, chosen, preset=preset)
    scored = [
        _Scored(name, metric.identity, metric.sentence_scores(rows), name == EDIT)
        for name, metric, rows in measured.measurements
    ]
    scored += _baselines(graded.samples)
    pairs = correlate.pairs_within(graded.problems)
    drawn = list(bootstrap.draw_weights(graded.problems, resamples=resamples, seed=seed))
    blocks = [_Block(weights, resampled.rank(graded.grades, weights)) for weights in drawn]
    found = [_agreement(one, graded, pairs, blocks) for one in scored]
    return CodeStudy(
        sha256=graded.sha256,
        judged_by=graded.kind,
        problems=len(set(graded.problems)),
        candidates=len(graded.samples),
        pairs=int((graded.grades[pairs.first] != graded.grades[pairs.second]).sum()),
        resamples=resamples,
        seed=seed,
        agreements=tuple(sorted(found, key=lambda one: (one.is_baseline, -_value(one.kendall)))),
        notes=measured.notes,
    )


def _value(estimate: Estimate) -> float:
    return -2.0 if estimate.value is None else estimate.value


def _baselines(samples: Sequence[Sample]) -> list[_Scored]:
    lengths = [
        max(_length_ratio(sample.candidate, reference) for reference in sample.references)
        for sample in samples
    ]
    return [
        _Scored("length", "shorter / longer text", np.array(lengths), True),
        _Scored("constant", "one score for all", np.ones(len(samples)), True),
    ]


def _length_ratio(one: str, two: str) -> float:
    shorter, longer = sorted((len(one), len(two)))
    return shorter / longer if longer else 1.0


def _agreement(
    scored: _Scored,
    graded: GradedCode,
    pairs: correlate.Pairs,
    blocks: Sequence[_Block],
) -> Agreement:
    scores, rows = scored.scores, len(scored.scores)
    agreeing = correlate.concordance(scores, graded.grades, pairs)
    counted = agreeing > -2
    # Both rows of a pair are of one problem, so they are drawn together.
    agreed, compared = (
        np.bincount(pairs.first[counted], parts[counted], minlength=rows).astype(np.float64)
        for parts in (agreeing, np.ones(len(agreeing)))
    )

    def estimate(value: float | None, draw: Callable[[_Block], Floats]) -> Estimate:
        draws = np.concatenate([draw(block) for block in blocks] or [np.zeros(0)])
        low, high = bootstrap.percentile_interval(draws, clusters=len(set(graded.problems)))
        return Estimate(value=value, low=low, high=high)

    total = compared.sum()
    return Agreement(
        metric=scored.name,
        identity=scored.identity,
        is_baseline=scored.is_baseline,
        kendall=estimate(
            float(agreed.sum() / total) if total else None,
            lambda block: resampled.ratio(agreed, compared, block.weights),
        ),
        pearson=estimate(
            ranks.pearson(scores, graded.grades),
            lambda block: resampled.pearson(scores, graded.grades, block.weights),
        ),
        spearman=estimate(
            ranks.spearman(scores, graded.grades),
            lambda block: resampled.spearman(resampled.rank(scores, block.weights), block.grades),
        ),
        kendall_b=ranks.kendall(scores, graded.grades),
    )


def study_report(found: CodeStudy) -> Report:
    """Lay out a study."""
    best = found.agreements[0]
    judges = "people's grades" if found.judged_by == "people" else "passed and failed tests"
    facts = [
        f"{count(found.candidates, 'candidate')} of {count(found.problems, 'problem')}, "
        f"{count(found.pairs, 'pair')} of one problem with different grades"
    ]
    if found.resamples:
        facts.append(
            f"95 % intervals from {found.resamples:,} draws of whole problems, seed {found.seed}"
        )
    return Report(
        title="Metrics of code",
        heading=f"How well metrics of code agree with {judges}",
        facts=tuple(facts),
        notes=found.notes,
        cards=(Card("Best tau", ranged(*_parts(best.kendall)), f"by {best.metric}"),),
        sections=(
            Section(
                "agreement",
                "Agreement",
                "Do scores order candidates as the grades do?",
                tables=(_table(found.agreements),),
                notes=(
                    "tau: within problems, ties counted; the others over all candidates. A line "
                    "with * is a baseline that knows nothing of code.",
                ),
            ),
        ),
        signatures=tuple(f"{one.metric}: {one.identity}" for one in found.agreements),
    )


def _parts(one: Estimate) -> tuple[float | None, float | None, float | None]:
    return one.value, one.low, one.high


def _table(agreements: Iterable[Agreement]) -> Table:
    return make_table(
        "Agreement",
        agreements,
        ("Metric", lambda one: one.metric + (" *" if one.is_baseline else "")),
        ("tau", lambda one: ranged(*_parts(one.kendall))),
        ("Pearson", lambda one: ranged(*_parts(one.pearson))),
        ("Spearman", lambda one: ranged(*_parts(one.spearman))),
        ("tau-b", lambda one: number(one.kendall_b)),
    )
